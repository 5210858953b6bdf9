"""Bodies of review decisions: one, or several at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from pydantic import ConfigDict, Field, ValidationError

from app import ids
from app.features.review.items import ReviewAction, ReviewDecision
from app.http import models
from app.http.models import Instant, RequestBody, with_example
from app.http.problems import FieldError, InvalidFields, field_errors, unknown_type
from app.memory.fields import Name, Sentence
from app.memory.registry import Registry

MOST_DECISIONS = 200

EXAMPLE_ITEM = "rev_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"
_VERSION = "984c74443316f9a2fa973356376c6180"
_NAMES_ANOTHER = frozenset({ReviewAction.SUPERSEDE_WITH, ReviewAction.MERGE})


class ReviewerStatement(RequestBody):
    """A reviewer's own statement: a memory's type and that type's fields."""

    type: Name = Field(examples=["fact"])
    payload: dict[str, object] = Field(examples=[{"predicate": "works-at", "object": "Volkswagen"}])


class DecideBody(RequestBody, **with_example({"action": "accept", "version": _VERSION, "reason": "seen the contract"})):
    """A decision, and the version of the item that the reviewer saw."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    action: ReviewAction
    version: Name = Field(description="The item's `version` as it was read; if it moved since, nothing is done.")
    with_: Name | ReviewerStatement | None = Field(
        default=None,
        alias="with",
        description="For `merge` a memory's id; for `supersede_with` a memory's id, or what holds instead.",
        examples=["mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"],
    )
    since: Instant | None = Field(default=None, description="For `end`: when it stopped being true; by default now.")
    reason: Sentence | None = Field(default=None, max_length=2000, description="Kept in the audit log.")
    reviewer: Name | None = Field(
        default=None, description="The person, where several share a key; kept in the audit log."
    )

    def choice(self, registry: Registry, now: datetime, *prefix: str | int) -> ReviewDecision:
        """Return the decision; raise InvalidFields for an invalid statement, NotFound for a malformed id."""
        for name, fault in (("with", self._fault()), ("since", self._fault_of_since(now))):
            if fault is not None:
                raise InvalidFields([FieldError(field=".".join(map(str, (*prefix, name))), message=fault)])
        choice = ReviewDecision(
            action=self.action,
            version=self.version,
            reason=self.reason,
            since=models.aware(self.since, UTC),
            reviewer=self.reviewer,
        )
        if not isinstance(self.with_, ReviewerStatement):
            named = None if self.with_ is None else ids.parse(ids.MEMORY, self.with_)
            return replace(choice, named=named)
        spec = registry.find(self.with_.type)
        if spec is None:
            field = ".".join(map(str, (*prefix, "with", "type")))
            raise InvalidFields([FieldError(field=field, message=unknown_type(self.with_.type, registry.by_name))])
        try:
            payload = spec.payload.model_validate(self.with_.payload)
        except ValidationError as error:
            raise InvalidFields(field_errors(error.errors(include_url=False), *prefix, "with", "payload")) from None
        return replace(choice, statement=payload, statement_type=spec.name)

    def types(self) -> frozenset[str]:
        """Return the names of types that the decision needs."""
        return frozenset([self.with_.type] if isinstance(self.with_, ReviewerStatement) else [])

    def _fault(self) -> str | None:
        """Return the fault of `with`, None without one."""
        if self.action in _NAMES_ANOTHER and self.with_ is None:
            return f"is required for {self.action}"
        if self.action not in _NAMES_ANOTHER and self.with_ is not None:
            return f"has no meaning for {self.action}"
        if self.action is ReviewAction.MERGE and isinstance(self.with_, ReviewerStatement):
            return "must be a memory's id for merge"
        return None

    def _fault_of_since(self, now: datetime) -> str | None:
        since = models.aware(self.since, UTC)
        if since is not None and self.action is not ReviewAction.END:
            return f"has no meaning for {self.action}"
        return models.future_fault(since, now)


class BulkDecision(DecideBody, **with_example({"id": EXAMPLE_ITEM, "action": "accept", "version": _VERSION})):
    """A decision on one of several items."""

    id: Name = Field(examples=[EXAMPLE_ITEM])


class BulkBody(RequestBody):
    """Decisions that are applied one after another, each by itself."""

    decisions: list[BulkDecision] = Field(min_length=1, max_length=MOST_DECISIONS)
