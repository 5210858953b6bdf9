"""Whether a reviewer's decision fits its item: the action its status, what it names or states what it is about."""

from __future__ import annotations

from uuid import UUID

from app import ids
from app.db import memories, review
from app.db.session import ReadSession
from app.errors import InvalidInput, NotFound
from app.memory import normalise
from app.memory.review import Action, Item
from app.model import Memory, Status
from app.write.review_log import Choice

_STANDING = frozenset({Status.PENDING, Status.ACTIVE, Status.EXPIRED})


def check_action(item: Item, action: Action) -> None:
    """Raise InvalidInput when the action has no meaning for a memory of the item's status."""
    status = item.memory.status
    if action is Action.KEEP_BOTH and status is Status.PENDING:
        raise InvalidInput("a pending memory stands beside nothing yet: accept it or reject it", field="action")
    if action in {Action.ACCEPT, Action.KEEP_BOTH} or status in _STANDING:
        return
    if status is not Status.SUPERSEDED:
        raise InvalidInput(f"the memory is {status} already: accept takes it off the queue", field="action")
    if action is not Action.REJECT:
        raise InvalidInput(
            "the memory is superseded already: accept keeps it as history, reject forgets it", field="action"
        )


def check_statement(item: Item, choice: Choice) -> None:
    """Raise InvalidInput when what the reviewer states is about something else than the item."""
    if choice.statement is not None:
        _same(item.memory, choice.statement.subject(), choice.statement_type, "the statement", field="with.payload")


async def named(session: ReadSession, tenant: UUID, item: Item, choice: Choice) -> Memory | None:
    """Return the memory that the choice names, None when it names none; raises NotFound, InvalidInput if it's unfit."""
    if choice.named is None:
        return None
    found = (await memories.fetch(session, tenant, [choice.named])).get(choice.named)
    name = ids.public(ids.MEMORY, choice.named)
    if found is None:
        raise NotFound(f"no such memory: {name}")
    if found.id == item.memory.id:
        raise InvalidInput("must name another memory than the one that is reviewed", field="with")
    if found.scope != item.memory.scope:
        raise InvalidInput(f"{name} is in another scope than the memory that is reviewed", field="with")
    if found.status is not Status.ACTIVE:
        raise InvalidInput(f"{name} is {found.status}: name an active memory", field="with")
    if choice.action is Action.MERGE and found.type != item.memory.type:
        raise InvalidInput(f"{name} is a {found.type}, not a {item.memory.type}", field="with")
    beside = found.id in {side.memory.id for side in item.sides}
    if not beside and not await review.of_one_subject(session, tenant, (found.id, item.memory.id)):
        _same(item.memory, found.subject, found.type, name, field="with")
    return found


def _same(memory: Memory, subject: str | None, kind: str | None, name: str, *, field: str) -> None:
    """Raise InvalidInput unless both are about the same; what has no subject must at least be of the same type."""
    ours = None if memory.subject is None else normalise.name(memory.subject)
    theirs = None if subject is None else normalise.name(subject)
    if ours != theirs or (ours is None and kind != memory.type):
        raise InvalidInput(
            f"{name} is {_about(kind, subject)}, and {ids.public(ids.MEMORY, memory.id)} "
            f"{_about(memory.type, memory.subject)}: one takes the other's place only where both are about the same",
            field=field,
        )


def _about(kind: str | None, subject: str | None) -> str:
    article = "an" if str(kind)[:1] in "aeiou" else "a"
    return f"{article} {kind} about {'nothing that has a name' if subject is None else repr(subject)}"
