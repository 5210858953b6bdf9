"""The audit log in sentences, one for each kind of event, and what a memory's events say it went through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.memory.actions import Action

Detail = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a memory was from an instant on; `status` is None from when it is gone."""

    at: datetime
    action: str
    status: str | None
    confidence: float | None


def tell(action: str, at: datetime, actor: str, detail: Detail, *, redacted: bool = False) -> str:
    """Return what happened, as a sentence; `redacted`: its detail was emptied by an erasure."""
    when = f"{at.day} {at:%B %Y}"
    if redacted:
        return f"{_title(action)} on {when}, by {actor}; the details were erased."
    sentence = _SENTENCES.get(action)
    if sentence is None:
        return f"{_title(action)} on {when}, by {actor}{_because(detail)}."
    return f"{sentence(detail).replace('@', f'on {when}', 1)}."


def standings(events: Iterable[tuple[datetime, str, Detail]]) -> list[Standing]:
    """Return what one memory was, from first to last, by its events (instant, action, detail) in order alone.

    Raises ValueError where an event changes a status or a confidence that the events before it did not lead to.
    """
    found: list[Standing] = []
    now: dict[str, object] = {"status": None, "confidence": None}
    for at, action, detail in events:
        pairs = {name: detail[name] for name in now if isinstance(detail.get(name), list | tuple)}
        for name, (before, after) in pairs.items():
            if before != now[name]:
                raise ValueError(f"{action} finds {name} {before}, after it became {now[name]}")
            now[name] = after
        if pairs:
            found.append(Standing(at=at, action=action, **now))  # type: ignore[arg-type]
    return found


def _title(action: str) -> str:
    subject, _, verb = action.partition(".")
    return f"{subject.replace('_', ' ').capitalize()} {verb.replace('_', ' ')}"


def _because(detail: Detail) -> str:
    reason = detail.get("reason")
    return f": {reason}" if reason else ""


def _pair(detail: Detail, name: str) -> tuple[Any, Any]:
    """Return what was before and is after; one value stands for both."""
    value = detail.get(name)
    if isinstance(value, list | tuple):
        return value[0], value[1]
    return value, value


def _shown(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case float():
            return f"{value:.2f}"
        case list() | tuple():
            return ", ".join(str(one) for one in value) or "nothing"
        case _:
            return str(value)


def _with_confidence(detail: Detail) -> str:
    _, after = _pair(detail, "confidence")
    return "" if after is None else f" with confidence {after:.2f}"


def _parts(detail: Detail) -> str:
    parts = {name: _pair(detail.get("parts", {}), name)[1] for name in ("source", "extractor", "prior", "mentions")}
    if parts["source"] is None:
        return ""
    mentions = f"{parts['mentions']} mention{'' if parts['mentions'] == 1 else 's'}"
    return (
        f" (source {parts['source']:.2f}, extractor {parts['extractor']:.2f}, "
        f"type prior {parts['prior']:.2f}, {mentions})"
    )


def _added(detail: Detail) -> str:
    _, status = _pair(detail, "status")
    what = f"{detail.get('type', 'memory')}{_with_confidence(detail)}{_parts(detail)}{_because(detail)}"
    if status == "pending":
        return f"Put aside @ until a person has looked at it: {what}"
    if status == "superseded":
        return f"Added @ as history, followed by {detail.get('by')}: {what}"
    review = "; a person should look at it" if "review" in detail else ""
    return f"Added @: {what}{review}"


def _accepted(detail: Detail) -> str:
    _, status = _pair(detail, "status")
    history = f" as history, followed by {detail.get('by')}" if status == "superseded" else ""
    return f"Accepted @{history}{_with_confidence(detail)}{_because(detail)}"


def _merged(detail: Detail) -> str:
    before, after = _pair(detail, "confidence")
    told = "" if before is None else f"; confidence went from {before:.2f} to {after:.2f}"
    words = "; its words were completed" if detail.get("rewritten") else ""
    return f"Stated again @{_because(detail)}{told}{_parts(detail)}{words}"


def _superseded(detail: Detail) -> str:
    _, confidence = _pair(detail, "confidence")
    had = "" if confidence is None else f"; it had confidence {confidence:.2f}"
    new = detail.get("by_confidence")
    against = "" if new is None else f", the newer one {new:.2f}"
    return f"Superseded @ by {detail.get('by')}{_because(detail)}{had}{against}"


def _relinked(detail: Detail) -> str:
    return f"Made a neighbour @ of {detail.get('between')}, a statement between it and the one it stood beside"


def _contradicted(detail: Detail) -> str:
    _, confidence = _pair(detail, "confidence")
    new = detail.get("by_confidence")
    numbers = "" if confidence is None or new is None else f", confidence {confidence:.2f} against {new:.2f}"
    return f"Contradicted @ by {detail.get('by')}{_because(detail)}{numbers}"


def _conflicted(detail: Detail) -> str:
    return f"Found in conflict @ with {detail.get('by')}{_because(detail)}"


def _rejected(detail: Detail) -> str:
    return f"A {detail.get('type', 'memory')} was not stored @{_because(detail)}{_parts(detail)}"


def _revived(detail: Detail) -> str:
    return f"Held again @{_because(detail)}"


def _changed(detail: Detail) -> str:
    values: Mapping[str, Any] = detail.get("values", {})
    told = [f"{_words(name)} from {_shown(pair[0])} to {_shown(pair[1])}" for name, pair in values.items()]
    unsaid = {"needs_review": "review"}
    told += [_words(name) for name in detail.get("changed", ()) if unsaid.get(name, name) not in values]
    return f"Changed @: {'; '.join(told) or 'nothing'}"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _erased(detail: Detail) -> str:
    status, _ = _pair(detail, "status")
    confidence, _ = _pair(detail, "confidence")
    was = "" if status is None or confidence is None else f"; it was {status} with confidence {confidence:.2f}"
    return f"Erased @{was}"


def _standing(detail: Detail) -> str:
    pairs = {name: _pair(detail, name) for name in ("status", "confidence")}
    changes = [
        f"its {name} went from {_shown(old)} to {_shown(new)}" for name, (old, new) in pairs.items() if old != new
    ]
    return f"Found @: {' and '.join(changes) or 'nothing had changed'}"


def _plainly(what: str) -> Callable[[Detail], str]:
    """Return a sentence of what happened and why, with the numbers that were looked at."""

    def sentence(detail: Detail) -> str:
        numbers = [f"{name} {_pair(detail, name)[1]:.2f}" for name in _LOOKED_AT if _is_number(_pair(detail, name)[1])]
        return f"{what} @{_because(detail)}{'; it had ' if numbers else ''}{', '.join(numbers)}"

    return sentence


_LOOKED_AT = ("freshness", "confidence")


def _is_number(value: object) -> bool:
    return isinstance(value, float | int)


def _folded(detail: Detail) -> str:
    return f"Folded @ into {detail.get('into')}{_because(detail)}"


def _consolidated(detail: Detail) -> str:
    return f"Made @ of {detail.get('members')} faded memories"


def _reviewed(detail: Detail) -> str:
    return f"Reviewed @, and decided to {_words(str(detail.get('action')))}{_because(detail)}"


def _entity_merged(detail: Detail) -> str:
    numbers = f"{detail.get('aliases')} names and {detail.get('memories')} memories moved"
    return f"{detail.get('entity')} was merged @ into {detail.get('into')}; {numbers}{_because(detail)}"


def _entity_unmerged(detail: Detail) -> str:
    numbers = f"{detail.get('aliases')} names and {detail.get('memories')} memories went back"
    return f"{detail.get('entity')} was taken out of {detail.get('from')} @; {numbers}"


def _reclassified(detail: Detail) -> str:
    told = f"Made a {detail.get('to')} @, from a {detail.get('from')}{_because(detail)}"
    if "by" in detail:
        told += f"; superseded by {detail['by']}"
    if "review" in detail:
        told += "; a person should look at it"
    return f"{told} ({detail.get('backfill')})"


def _unreclassified(detail: Detail) -> str:
    what = f"Made a {detail['to']} again @" if "to" in detail else "Put back @ as it was"
    return f"{what}: {detail.get('backfill')} was undone"


def _backfill(verb: str) -> Callable[[Detail], str]:
    def sentence(detail: Detail) -> str:
        return f"The backfill {detail.get('backfill')} of type {detail.get('type')} was {verb} @"

    return sentence


def _replayed(detail: Detail) -> str:
    return f"{detail.get('turn')} was sent through the pipeline again @"


def _job(verb: str) -> Callable[[Detail], str]:
    def sentence(detail: Detail) -> str:
        return f"The {detail.get('was')} {detail.get('kind')} job {detail.get('job')} was {verb} @"

    return sentence


def _policy(detail: Detail) -> str:
    before, after = _flat(detail.get("before", {})), _flat(detail.get("after", {}))
    changed = [
        f"{_words(name)} from {_shown(before.get(name))} to {_shown(after.get(name))}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    return f"The policy was changed @: {'; '.join(changed) or 'to what it was'}"


def _flat(values: Mapping[str, Any], under: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _flat(value, f"{under}{name}.") if isinstance(value, Mapping) else {f"{under}{name}": value}
    return found


def _key_created(detail: Detail) -> str:
    until = "" if detail.get("expires_at") is None else f", until {detail['expires_at']}"
    return f"Key {detail.get('key')} was made @, for {_shown(detail.get('roles', ()))}{until}"


def _key_rotated(detail: Detail) -> str:
    return f"Key {detail.get('replaces')} was replaced by {detail.get('key')} @"


def _key_revoked(detail: Detail) -> str:
    return f"Key {detail.get('key')} was revoked @"


def _tenant_created(_detail: Detail) -> str:
    return "The tenant was made @"


def _type_defined(detail: Detail) -> str:
    return f"Type {detail.get('type')} was defined @, as version {detail.get('version')}"


def _type_removed(detail: Detail) -> str:
    return f"Type {detail.get('type')} was removed @"


def _redacted(detail: Detail) -> str:
    return f"{detail.get('events')} events were emptied by an erasure @"


def _judged(word: str) -> Callable[[Detail], str]:
    return lambda detail: f"Called {word} @{_because(detail)}"


def _imported(detail: Detail) -> str:
    return f"Imported @: {detail.get('stored')} of kind {detail.get('record')}"


_SENTENCES: Mapping[str, Callable[[Detail], str]] = {
    Action.MEMORY_ADDED: _added,
    Action.MEMORY_ACCEPTED: _accepted,
    Action.MEMORY_MERGED: _merged,
    Action.MEMORY_SUPERSEDED: _superseded,
    Action.MEMORY_RELINKED: _relinked,
    Action.MEMORY_CONTRADICTED: _contradicted,
    Action.MEMORY_CONFLICTED: _conflicted,
    Action.MEMORY_REJECTED: _rejected,
    Action.MEMORY_JUDGED_USEFUL: _judged("useful"),
    Action.MEMORY_JUDGED_NOT_USEFUL: _judged("not useful"),
    Action.MEMORY_JUDGED_WRONG: _judged("wrong"),
    Action.IMPORT_BATCH: _imported,
    Action.MEMORY_REVIVED: _revived,
    Action.MEMORY_CHANGED: _changed,
    Action.MEMORY_ERASED: _erased,
    Action.MEMORY_STANDING: _standing,
    Action.MEMORY_ENDED: _plainly("Said to be over"),
    Action.MEMORY_ENDING_DOUBTED: _plainly("Doubtfully said to be over"),
    Action.MEMORY_EXPIRED: _plainly("Expired"),
    Action.MEMORY_FORGOTTEN: _plainly("Forgotten"),
    Action.MEMORY_PURGED: _plainly("Removed for good"),
    Action.MEMORY_PROMOTED: _plainly("Became core"),
    Action.MEMORY_ECHOED: _plainly("Heard again, and not counted"),
    Action.MEMORY_VOLATILE: _plainly("Found to change too often"),
    Action.MEMORY_SETTLED: _plainly("Settled"),
    Action.MEMORY_FOLDED: _folded,
    Action.MEMORY_CONSOLIDATED: _consolidated,
    Action.MEMORY_RECLASSIFIED: _reclassified,
    Action.MEMORY_RECLASSIFICATION_UNDONE: _unreclassified,
    Action.REVIEW_DECIDED: _reviewed,
    Action.REVIEW_SETTLED: _plainly("Taken out of review"),
    Action.USER_ERASED: _plainly("Everything of a user was erased"),
    Action.BACKFILL_COMMITTED: _backfill("committed"),
    Action.BACKFILL_UNDONE: _backfill("undone"),
    Action.ENTITY_MERGED: _entity_merged,
    Action.ENTITY_UNMERGED: _entity_unmerged,
    Action.TURN_REPLAYED: _replayed,
    Action.JOB_RETRIED: _job("tried again"),
    Action.JOB_CANCELLED: _job("cancelled"),
    Action.POLICY_CHANGED: _policy,
    Action.KEY_CREATED: _key_created,
    Action.KEY_ROTATED: _key_rotated,
    Action.KEY_REVOKED: _key_revoked,
    Action.TENANT_CREATED: _tenant_created,
    Action.TYPE_DEFINED: _type_defined,
    Action.TYPE_REMOVED: _type_removed,
    Action.AUDIT_REDACTED: _redacted,
}
"""What is said of each action; `@` stands for the date."""
