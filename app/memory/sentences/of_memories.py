"""What is said of what happened to a memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.memory.actions import Action
from app.memory.sentences.wording import Detail, Sentence, because, pair, plainly, shown, words
from app.model import Status


def _with_confidence(detail: Detail) -> str:
    _, after = pair(detail, "confidence")
    return "" if after is None else f" with confidence {after:.2f}"


def _parts(detail: Detail) -> str:
    parts = {name: pair(detail.get("parts", {}), name)[1] for name in ("source", "extractor", "prior", "mentions")}
    if parts["source"] is None:
        return ""
    mentions = f"{parts['mentions']} mention{'' if parts['mentions'] == 1 else 's'}"
    return (
        f" (source {parts['source']:.2f}, extractor {parts['extractor']:.2f}, "
        f"type prior {parts['prior']:.2f}, {mentions})"
    )


def _added(detail: Detail) -> str:
    _, status = pair(detail, "status")
    what = f"{detail.get('type', 'memory')}{_with_confidence(detail)}{_parts(detail)}{because(detail)}"
    if status == Status.PENDING:
        return f"Put aside @ until a person has looked at it: {what}"
    if status == Status.SUPERSEDED:
        return f"Added @ as history, followed by {detail.get('by')}: {what}"
    review = "; a person should look at it" if "review" in detail else ""
    return f"Added @: {what}{review}"


def _accepted(detail: Detail) -> str:
    _, status = pair(detail, "status")
    history = f" as history, followed by {detail.get('by')}" if status == Status.SUPERSEDED else ""
    return f"Accepted @{history}{_with_confidence(detail)}{because(detail)}"


def _merged(detail: Detail) -> str:
    before, after = pair(detail, "confidence")
    told = "" if before is None else f"; confidence went from {before:.2f} to {after:.2f}"
    words = "; its words were completed" if detail.get("rewritten") else ""
    _, until = pair(detail, "valid_until")
    ends = "" if until is None else f"; it ends {until}"
    return f"Stated again @{because(detail)}{told}{_parts(detail)}{words}{ends}"


def _superseded(detail: Detail) -> str:
    _, confidence = pair(detail, "confidence")
    had = "" if confidence is None else f"; it had confidence {confidence:.2f}"
    new = detail.get("by_confidence")
    against = "" if new is None else f", the newer one {new:.2f}"
    return f"Superseded @ by {detail.get('by')}{because(detail)}{had}{against}"


def _relinked(detail: Detail) -> str:
    return f"Made a neighbour @ of {detail.get('between')}, a statement between it and the one it stood beside"


def _contradicted(detail: Detail) -> str:
    _, confidence = pair(detail, "confidence")
    new = detail.get("by_confidence")
    numbers = "" if confidence is None or new is None else f", confidence {confidence:.2f} against {new:.2f}"
    return f"Contradicted @ by {detail.get('by')}{because(detail)}{numbers}"


def _conflicted(detail: Detail) -> str:
    return f"Found in conflict @ with {detail.get('by')}{because(detail)}"


def _rejected(detail: Detail) -> str:
    return f"A {detail.get('type', 'memory')} was not stored @{because(detail)}{_parts(detail)}"


def _revived(detail: Detail) -> str:
    return f"Held again @{because(detail)}"


def _changed(detail: Detail) -> str:
    values: Mapping[str, Any] = detail.get("values", {})
    told = [f"{words(name)} from {shown(pair[0])} to {shown(pair[1])}" for name, pair in values.items()]
    unsaid = {"needs_review": "review"}
    told += [words(name) for name in detail.get("changed", ()) if unsaid.get(name, name) not in values]
    return f"Changed @: {'; '.join(told) or 'nothing'}"


def _erased(detail: Detail) -> str:
    status, _ = pair(detail, "status")
    confidence, _ = pair(detail, "confidence")
    was = "" if status is None or confidence is None else f"; it was {status} with confidence {confidence:.2f}"
    return f"Erased @{was}"


def _standing(detail: Detail) -> str:
    pairs = {name: pair(detail, name) for name in ("status", "confidence")}
    changes = [f"its {name} went from {shown(old)} to {shown(new)}" for name, (old, new) in pairs.items() if old != new]
    return f"Found @: {' and '.join(changes) or 'nothing had changed'}"


def _folded(detail: Detail) -> str:
    return f"Folded @ into {detail.get('into')}{because(detail)}"


def _consolidated(detail: Detail) -> str:
    return f"Made @ of {detail.get('members')} faded memories"


def _reclassified(detail: Detail) -> str:
    told = f"Made a {detail.get('to')} @, from a {detail.get('from')}{because(detail)}"
    if "by" in detail:
        told += f"; superseded by {detail['by']}"
    if "review" in detail:
        told += "; a person should look at it"
    return f"{told} ({detail.get('backfill')})"


def _unreclassified(detail: Detail) -> str:
    what = f"Made a {detail['to']} again @" if "to" in detail else "Put back @ as it was"
    return f"{what}: {detail.get('backfill')} was undone"


def _judged(word: str) -> Sentence:
    return lambda detail: f"Called {word} @{because(detail)}"


OF_MEMORIES: Mapping[str, Sentence] = {
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
    Action.MEMORY_REVIVED: _revived,
    Action.MEMORY_CHANGED: _changed,
    Action.MEMORY_ERASED: _erased,
    Action.MEMORY_STANDING: _standing,
    Action.MEMORY_ENDED: plainly("Said to be over"),
    Action.MEMORY_ENDING_DOUBTED: plainly("Doubtfully said to be over"),
    Action.MEMORY_EXPIRED: plainly("Expired"),
    Action.MEMORY_FORGOTTEN: plainly("Forgotten"),
    Action.MEMORY_PURGED: plainly("Removed for good"),
    Action.MEMORY_PROMOTED: plainly("Became core"),
    Action.MEMORY_ECHOED: plainly("Heard again, and not counted"),
    Action.MEMORY_VOLATILE: plainly("Found to change too often"),
    Action.MEMORY_SETTLED: plainly("Settled"),
    Action.MEMORY_FOLDED: _folded,
    Action.MEMORY_CONSOLIDATED: _consolidated,
    Action.MEMORY_RECLASSIFIED: _reclassified,
    Action.MEMORY_RECLASSIFICATION_UNDONE: _unreclassified,
}
