"""Import: stores the lines of an export as they were, in batches that are stored whole or not at all.

A file fills scopes that nothing was written to. Rows whose ids exist are left as they are, so an interrupted import is
simply sent again. A superseded memory waits for its successor, which comes first in the file unless it was stated late.
Nothing is embedded inside a transaction.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from app.errors import InvalidInput
from app.features.portability import storing
from app.features.portability.batch import ImportContext, Summary
from app.features.portability.index_rows import Imported
from app.features.portability.records import (
    KINDS,
    Line,
    UnreadableLine,
    line_size,
    parse,
    read,
    require_header,
)
from app.features.portability.storing import ImportStore, TypeDefinitionImport
from app.features.tenant_types.service import TenantTypes
from app.memory.extraction import TenantPolicy
from app.model import Actor
from app.services.extraction import ExtractionPolicies

IGNORED_KINDS = frozenset({"review_counts", "webhook_deliveries", "webhooks"})
"""Kinds of lines in older files that are skipped, because they are not exported any more."""

ALTERED = "this is not the file that was exported: its digest is another"

_STORED = KINDS.keys() - IGNORED_KINDS - {storing.KIND}
"""Kinds of lines that are stored in batches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imports:
    """Imports into the actor's tenant."""

    context: ImportContext
    own_types: TenantTypes
    policies: ExtractionPolicies

    async def run(
        self, actor: Actor, lines: AsyncIterator[tuple[int, bytes | None]], *, strict: bool = False
    ) -> Summary:
        """Store the lines of a file and return a summary. A line comes with its number, None for one that is too long.

        Raises InvalidInput when the file is no export, or, with `strict`, at the first wrong line or
        when the digest in the last one is another.
        """
        types = Imported(tenant=actor.tenant_id, types=await self.own_types.book.of(actor.tenant_id))
        summary = Summary(strict=strict)
        defining = TypeDefinitionImport(own_types=self.own_types, actor=actor, summary=summary, types=types)
        storing = ImportStore(context=self.context, actor=actor, summary=summary, types=types)
        running = _Import(
            importing=self, actor=actor, summary=summary, defining=defining, storing=storing, began=self.context.clock()
        )
        try:
            async for number, content in lines:
                await running.take(number, content)
            return await running.end()
        except BaseException:
            await storing.abort()
            raise


@dataclass(slots=True, kw_only=True)
class _Import:
    """The state of one import."""

    importing: Imports
    actor: Actor
    summary: Summary
    defining: TypeDefinitionImport
    storing: ImportStore
    began: datetime
    header: dict[str, Any] | None = None
    digest: Any = field(default_factory=hashlib.sha256)
    merged: set[UUID] = field(default_factory=set)
    ended: bool = False

    async def take(self, number: int, content: bytes | None) -> None:
        """Read the next line and store the batch that it completes."""
        if content is None and self.header is None:
            raise InvalidInput("is too long for the header of an export, or raise TM_MAX_BODY_BYTES", field="line 1")
        if content is None:
            self.summary.fail(number, "the line is too long: raise TM_MAX_BODY_BYTES")
            return
        content = content.removeprefix(codecs.BOM_UTF8) if number == 1 else content
        if not content.strip():
            return
        try:
            await self._take(number, content)
        except UnreadableLine as error:
            if self.header is None:
                raise
            if self.summary.strict:
                await self.storing.catch_up()  # an earlier line may be wrong, too
            self.summary.fail(number, error.message)
        self.digest.update(content)
        self.digest.update(b"\n")

    async def _take(self, number: int, content: bytes) -> None:
        found = parse(content)
        record = found["record"]
        if self.header is None:
            await self._begin(found, content)
        elif self.ended:
            raise UnreadableLine("comes after the last line")
        elif record == "end":
            await self._stop(found)
        elif record == "scope":
            self._weigh(found)
        elif record == storing.KIND:
            await self.defining.take(read(number, record, content, now=self.began).values)
        elif record in IGNORED_KINDS:
            return
        elif record in _STORED:
            await self._add(read(number, record, content, now=self.began), len(content))
        else:
            raise UnreadableLine(f"unknown record {record[:80]!r}")

    async def _add(self, line: Line, size: int) -> None:
        self._survives(line)
        await self.storing.add(line, size)

    async def _begin(self, header: dict[str, Any], content: bytes) -> None:
        require_header(header)
        self.header = header
        self.storing.file = hashlib.sha256(content).hexdigest()
        embedder = self.importing.context.indexer.embedder
        model = header.get("embedding_model")
        same = model == {"name": embedder.name, "dimensions": embedder.dimensions}
        self.storing.vectors = bool(header.get("vectors")) and same
        if header.get("vectors") and not same:
            self.summary.notices[f"the vectors are not of {embedder.name}: everything is embedded again"] += 1
        await self._adopt(header.get("policy"))

    async def _adopt(self, given: object) -> None:
        """Store the extraction policy of the file, if the tenant has set none."""
        if not given:
            return
        try:
            policy = TenantPolicy.model_validate(given)
        except ValueError:
            self.summary.notices["the policy of the file can't be read and is left out"] += 1
            return
        present = await self.importing.policies.get(self.actor.tenant_id)
        if present == TenantPolicy():
            await self.importing.policies.put(self.actor.tenant_id, policy, by=self.actor.name)
        elif present != policy:
            self.summary.notices["the tenant has a policy of its own, which stays"] += 1

    def _weigh(self, found: dict[str, Any]) -> None:
        scope, average = line_size(found)
        if average is not None:
            self.storing.averages[scope.id(self.actor.tenant_id)] = average

    async def _stop(self, found: dict[str, Any]) -> None:
        self.ended = True
        self.summary.complete = True
        self.summary.unaltered = found.get("sha256") == self.digest.hexdigest()
        if self.summary.unaltered:
            return
        if self.summary.strict:
            raise UnreadableLine(ALTERED)
        self.summary.notices[f"{ALTERED}; what was there is stored"] += 1

    def _survives(self, line: Line) -> None:
        """Refuse an entity that was merged into an entity that is merged itself: an export names the last survivor."""
        into = line.values.get("merged_into") if line.is_entity else None
        if into in self.merged:
            raise UnreadableLine("merged_into: names an entity that was merged itself")
        if into is not None and line.id is not None:
            self.merged.add(line.id)

    async def end(self) -> Summary:
        """Store the remaining lines, and return the summary."""
        if self.header is None:
            raise InvalidInput("there is nothing to import: the body is empty", field="line 1")
        await self.storing.end(complete=self.ended)
        if not self.ended:
            self.summary.notices["the file ends before its last line: it was cut off"] += 1
        return self.summary
