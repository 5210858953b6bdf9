"""`typed-memory import`: store files of memories or conversations in a running service.

An export goes as one streamed request, other files in batches. Batches have idempotency keys, so that neither a lost
answer nor a repeated run stores an item twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import typer
from rich.progress import TimeElapsedColumn
from rich.table import Table

from app.command_line import terminal
from app.command_line.service_client import FieldProblem, ServiceClient, ServiceRejection, ServiceResponse, connect
from app.command_line.terminal import SESSION, AgentId, ApiKey, CommandFailed, TimeZone, Url, UserId, Whose, err, out
from app.errors import TypedMemoryError
from app.features.portability.commands import import_foreign, import_sources
from app.features.portability.commands.export import SHOWN, restore
from app.features.portability.commands.import_foreign import Origin
from app.features.portability.commands.import_sources import (
    BadMessage,
    Format,
    ImportItem,
    ImportSource,
    Read,
    SkippedMessage,
)

BATCH = 200
"""Most items of a batch."""

BATCH_BYTES = 2_000_000
"""Most bytes of a batch with more than one item."""

LANES = 4
"""Number of lanes, each with one batch in flight. Fixed, because a batch's key depends on its lane's other items."""

_ABOUT_ITEMS = frozenset({400, 404, 413, 422})
"""Statuses of answers that reject items, and not the whole upload."""

_PASSING = frozenset({409, 503, 504})
"""Statuses of items that may be stored when they are sent again."""

PAUSES = (0.2, 1.0, 5.0, 15.0)
"""Seconds before such items are sent again."""


def import_files(  # noqa: PLR0913 - one parameter an option
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Files to read; - is standard input.")],
    *,
    wanted: Annotated[
        Format, typer.Option("--format", help="The format of the files; detected by default.")
    ] = Format.AUTO,
    origin: Annotated[
        Origin | None, typer.Option("--from", help="The store that the files come from, if it is another one.")
    ] = None,
    user_id: UserId = None,
    agent_id: AgentId = None,
    scope: Whose = None,
    session_id: Annotated[
        str | None, typer.Option(*SESSION, help="The session of conversations and memories that name none.")
    ] = None,
    timezone: TimeZone = None,
    batch: Annotated[
        bool,
        typer.Option("--batch", help="Have conversations extracted by the model's batch endpoint, within a day."),
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first fault.")] = False,
    url: Url = None,
    key: ApiKey = None,
) -> None:
    """Import files of typed memories, of conversations, or of a whole store.

    ndjson: one typed write a line, as POST /memories/typed/{type} takes it. conversation: JSON, a list of messages with
    `role` and `content`, or an object with `messages` or `sessions`; each message becomes an episodic memory. export: a
    file of `typed-memory export`, stored as it was in scopes that nothing was written to, by a key with the role admin.
    --from takes files of other stores; fields that have no place here are counted as not carried over. With --batch,
    conversations are sent as turns that the model's batch endpoint extracts within a day.

    Name the user with --user-id (or the agent with --agent-id), where a file names none. Faults are listed by file and
    line, and skipped. Running the same import again within a day stores nothing twice. See "Files to import" in
    docs/api.md.

    For example:

      typed-memory import chat.json --user-id ana
      typed-memory import memories.ndjson more.ndjson --strict
      typed-memory import memories.json --from mem0 --user-id ana
      zcat memories.ndjson.gz | typed-memory import - --format ndjson
    """
    if origin is Origin.CHATGPT:
        wanted, origin = Format.CONVERSATION, None
    given = {"user_id": user_id, "agent_id": agent_id, "scope": scope, "timezone": timezone, "session_id": session_id}
    defaults = {name: value for name, value in given.items() if value is not None}
    sources = [import_sources.source(name) for name in files]
    exports = [source for source in sources if origin is None and import_sources.is_export(source, wanted)]
    others = [source for source in sources if source not in exports]
    read = partial(_everything, others, wanted, session_id, origin)
    total = _count(read(), owned=not defaults.keys().isdisjoint(("user_id", "agent_id", "scope")), batch=batch)
    complete = [restore(connect(url, key), source, strict=strict) for source in exports]
    if others:
        report = _upload(connect(url, key), read, total, defaults=defaults, strict=strict, batch=batch)
        complete.append(not report.bad)
        if report.bad and not report.stored and origin is None and wanted is Format.AUTO:
            err.print(f"A file of another store takes --from {', '.join(Origin)}", markup=False)
    if not all(complete):
        raise typer.Exit(1)


def _upload(
    client: ServiceClient,
    read: Callable[[], Iterator[Read]],
    total: int,
    *,
    defaults: Mapping[str, object],
    strict: bool,
    batch: bool,
) -> UploadReport:
    """Send all items and print a summary; raise CommandFailed where something stopped it."""
    with terminal.progress(TimeElapsedColumn()) as progress:
        task = progress.add_task("importing", total=total)
        sender = Uploader(
            client=client,
            defaults=defaults,
            strict=strict,
            advance=lambda count: progress.advance(task, count),
            batch=batch,
        )
        failure = asyncio.run(_import(client, sender, read()))
    _show(sender.report)
    if failure is not None:
        mend = "mend that, and run" if isinstance(failure, UploadAbort) else "run"
        raise CommandFailed(
            f"{failure}. {sender.report.stored} of {total} are stored: "
            f"{mend} the same command again to go on, nothing is stored twice"
        )
    return sender.report


def _count(found: Iterator[Read], *, owned: bool, batch: bool) -> int:
    """Return the number of items to send; raise CommandFailed for a conversation without a user, agent or scope."""
    total = 0
    for one in found:
        if batch and isinstance(one, ImportItem) and not _is_message(one):
            raise CommandFailed(f"{one.place}: --batch takes conversations: import typed memories without it")
        if not owned and isinstance(one, ImportItem) and one.said:
            raise CommandFailed(
                f"{one.place}: whose is this? Name --user-id (or --agent-id); "
                "--scope global shows it to every user of the tenant"
            )
        total += 1
    return total


def _everything(
    found: list[ImportSource], wanted: Format, session_id: str | None, origin: Origin | None
) -> Iterator[Read]:
    for source in found:
        if origin is None:
            yield from import_sources.read(source, wanted, session_id)
        else:
            document = import_sources.document(source, Format.CONVERSATION)
            yield from import_foreign.items(document, origin, place=source.name)


async def _import(
    client: ServiceClient, sender: Uploader, found: Iterator[Read]
) -> UploadAbort | TypedMemoryError | None:
    """Send everything; return the error that stopped it, None without one."""
    async with client:
        # Once, without retries, so that a wrong URL or key is reported at once.
        await client.get("/memories", limit=1)
        try:
            await sender.send(found)
        except (UploadAbort, TypedMemoryError) as error:
            return error
    return None


def _show(report: UploadReport) -> None:
    summary = Table(box=None, pad_edge=False, show_header=False)
    for decision, count in report.decisions.most_common():
        summary.add_row(decision, str(count))
    if report.replayed:
        summary.add_row("of these, stored by an earlier run", str(report.replayed))
    for why, count in report.left_out.most_common():
        summary.add_row(f"left out: {why}", str(count))
    for name, count in report.lost.most_common():
        summary.add_row(f"not carried over: {name}", str(count))
    summary.add_row("wrong", str(len(report.bad)))
    out.print(summary)
    if not report.bad:
        return
    for bad in sorted(report.bad, key=lambda one: _in_order(one.place))[:SHOWN]:
        err.print(f"{bad.place}: {bad.what}", markup=False, soft_wrap=True)
    if len(report.bad) > SHOWN:
        err.print(f"... and {len(report.bad) - SHOWN} more", markup=False)


def _in_order(place: str) -> list[tuple[int, str]]:
    """Return a key that sorts line 9 before line 10."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", place)]


class UploadAbort(Exception):
    """A strict upload stopped at its first fault."""

    def __init__(self, bad: BadMessage) -> None:
        """Build the error from the fault."""
        super().__init__(f"{bad.place}: {bad.what}")


@dataclass(slots=True)
class UploadReport:
    """The result of an upload: counts of decisions, of items left out, of fields not carried over, and faults."""

    decisions: Counter[str] = field(default_factory=Counter)
    replayed: int = 0
    bad: list[BadMessage] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)

    @property
    def stored(self) -> int:
        """The number of writes that the service answered."""
        return self.decisions.total()


@dataclass(slots=True, kw_only=True)
class Uploader:
    """Sends items in batches: those of one user or agent in order, others in parallel.

    A batch's idempotency key is derived from its content and its position in its lane, so that the service recognises a
    batch that it has stored, even when the file has grown since.
    """

    client: ServiceClient
    defaults: Mapping[str, object]
    strict: bool
    advance: Callable[[int], None]
    batch: bool = False
    report: UploadReport = field(default_factory=UploadReport)

    async def send(self, found: Iterable[Read]) -> None:
        """Send all items; raises UploadAbort (when strict), ServiceRejection or ServiceUnreachable."""
        try:
            await self._send(found)
        except ExceptionGroup as group:
            raise _first(group) from None

    async def _send(self, found: Iterable[Read]) -> None:
        queues = [asyncio.Queue[list[ImportItem]](maxsize=1) for _ in range(LANES)]
        lanes = [_Lane() for _ in range(LANES)]
        async with asyncio.TaskGroup() as group:
            for queue in queues:
                group.create_task(self._work(queue))
            stopped: UploadAbort | None = None
            for one in found:
                try:
                    item = self._checked(one)
                except UploadAbort as error:
                    # The items before it are sent first, as they may have faults, too.
                    stopped = error
                    break
                if item is None:
                    continue
                number = _lane_of(item.body)
                full = lanes[number].add(item)
                if full:
                    await queues[number].put(full)
            for queue, lane in zip(queues, lanes, strict=True):
                if lane.items:
                    await queue.put(lane.items)
                await queue.put([])
        if stopped is not None:
            raise stopped

    def _checked(self, one: Read) -> ImportItem | None:
        match one:
            case BadMessage():
                self._refuse(one)
                return None
            case SkippedMessage():
                self.report.left_out[one.why] += 1
                self.advance(1)
                return None
            case ImportItem():
                self.report.lost.update(one.lost)
                # In one order, so that a name from the options or from the file makes the same request.
                given = {name: value for name, value in one.body.items() if value is not None}
                return ImportItem(place=one.place, body=dict(sorted({**self.defaults, **given}.items())))

    async def _work(self, queue: asyncio.Queue[list[ImportItem]]) -> None:
        number = 0
        while batch := await queue.get():
            await self._store(batch, number)
            number += 1

    async def _store(self, batch: Sequence[ImportItem], number: int) -> None:
        """Store a batch without the items that the service refuses; halve a batch that it refuses as a whole.

        Items that could not be stored for a passing reason are sent again after a pause.
        """
        if self.batch:
            await self._queue(batch, number)
            return
        pauses = iter(PAUSES)
        while batch:
            body = {"memories": [dict(item.body) for item in batch]}
            try:
                answer = await self.client.post("/memories/batch", body, idempotency_key=_key(body, number))
            except ServiceRejection as refusal:
                batch = await self._without_refused(batch, number, refusal)
            else:
                pause = next(pauses, None)
                again = set() if pause is None else _passing(answer)
                self._count(batch, answer, besides=again)
                batch = [item for place, item in enumerate(batch) if place in again]
                if batch and pause is not None:
                    await asyncio.sleep(pause)

    async def _queue(self, batch: Sequence[ImportItem], number: int) -> None:
        """Send messages as turns that the model's batch endpoint reads; halve a request that is refused."""
        owner = {name: batch[0].body[name] for name in _OWNER if name in batch[0].body}
        body = {**owner, "turns": [_turn(item.body) for item in batch]}
        try:
            answer = await self.client.post("/turns?mode=batch", body, idempotency_key=_key(body, number))
        except ServiceRejection as refusal:
            if refusal.answered not in _ABOUT_ITEMS:
                raise
            if len(batch) == 1:
                self._refuse(BadMessage(place=batch[0].place, what=refusal.message))
                return
            middle = len(batch) // 2
            await self._queue(batch[:middle], number)
            await self._queue(batch[middle:], number)
        else:
            self.report.decisions[f"waits for {answer.body['job_id']}"] += len(batch)
            self.advance(len(batch))

    async def _without_refused(
        self, batch: Sequence[ImportItem], number: int, refusal: ServiceRejection
    ) -> Sequence[ImportItem]:
        if refusal.answered not in _ABOUT_ITEMS:
            raise refusal
        told = _by_item(refusal.faults, len(batch))
        if not told and len(batch) > 1:
            middle = len(batch) // 2
            await self._store(batch[:middle], number)
            return batch[middle:]
        if not told:
            told = {0: refusal.message}
        for place, what in sorted(told.items()):
            self._refuse(BadMessage(place=batch[place].place, what=what))
        return [item for place, item in enumerate(batch) if place not in told]

    def _refuse(self, bad: BadMessage) -> None:
        if self.strict:
            raise UploadAbort(bad)
        self.report.bad.append(bad)
        self.advance(1)

    def _count(self, batch: Sequence[ImportItem], answer: ServiceResponse, *, besides: Collection[int]) -> None:
        results = [one for one in answer.body["results"] if one["index"] not in besides]
        failed = {one["index"]: one["problem"]["detail"] for one in results if one.get("problem")}
        for place, what in failed.items():
            self._refuse(BadMessage(place=batch[place].place, what=what))
        self.report.decisions.update(one["decision"] for one in results if one["index"] not in failed)
        if answer.replayed:
            self.report.replayed += len(results)
        self.advance(len(results) - len(failed))


@dataclass(slots=True)
class _Lane:
    items: list[ImportItem] = field(default_factory=list)
    size: int = 0

    def add(self, item: ImportItem) -> list[ImportItem] | None:
        """Add an item; return the batch that is full before it or with it, None if there is none."""
        size = len(json.dumps(item.body))
        full: list[ImportItem] | None = None
        if self.items and self.size + size > BATCH_BYTES:
            full = self._take()
        self.items.append(item)
        self.size += size
        if full is None and len(self.items) == BATCH:
            full = self._take()
        return full

    def _take(self) -> list[ImportItem]:
        taken, self.items, self.size = self.items, [], 0
        return taken


_OWNER = ("user_id", "agent_id", "scope", "timezone")
"""What says of all turns of a request whose they are."""


def _is_message(item: ImportItem) -> bool:
    return item.said and "sequence_number" in item.body


def _turn(body: Mapping[str, object]) -> dict[str, object]:
    """Return the turn of a message's write."""
    evidence = body.get("evidence")
    role = evidence[0]["role"] if isinstance(evidence, list) and evidence else "user"
    kept = ("content", "occurred_at", "session_id", "sequence_number")
    named = {"speaker": body["speaker"]} if "speaker" in body and body["speaker"] != role else {}
    return {"role": role, **named, **{name: body[name] for name in kept if body.get(name) is not None}}


def _passing(answer: ServiceResponse) -> set[int]:
    """Return the places of the items that may be stored when they are sent again."""
    return {one["index"] for one in answer.body["results"] if one["status"] in _PASSING}


def _lane_of(body: Mapping[str, object]) -> int:
    """Return the lane of the item's scope, because writes to one scope must keep their order."""
    owner = "" if body.get("scope") == "global" else body.get("user_id") or body.get("agent_id") or ""
    return zlib.crc32(str(owner).encode("utf-8", "replace")) % LANES


def _key(body: Mapping[str, object], number: int) -> str:
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    return f"import-{number}-{digest}"


def _by_item(faults: Sequence[FieldProblem], size: int) -> dict[int, str]:
    """Return messages by the index of the item, from fields such as `memories.3.preference_key`."""
    told: dict[int, str] = {}
    for fault in faults:
        steps = fault.field.split(".", 2)
        if len(steps) < 2 or steps[0] != "memories" or not steps[1].isdecimal():  # noqa: PLR2004
            continue
        place = int(steps[1])
        what = f"{steps[2]}: {fault.message}" if len(steps) > 2 else fault.message  # noqa: PLR2004
        if place < size:
            told[place] = f"{told[place]}; {what}" if place in told else what
    return told


def _first(group: ExceptionGroup[Exception]) -> Exception:
    found: Exception = group
    while isinstance(found, ExceptionGroup):
        found = found.exceptions[0]
    return found
