"""Descriptions of audit events as sentences, one for each action."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from app.amounts import amount
from app.memory.audit import AuditAction
from app.model import MemoryStatus

Detail = Mapping[str, Any]

Sentence = Callable[[Detail], str]

_LOOKED_AT = ("freshness", "confidence")

_COUNTS = {"aliases": "names", "memories": "memories", "events": "events"}
"""What a number in the detail of an event counts."""


def with_reason(detail: Detail) -> str:
    """Return the reason of an event after a colon, the empty string without one."""
    reason = detail.get("reason")
    return f": {reason}" if reason else ""


def _by_reviewer(detail: Detail) -> str:
    reviewer = detail.get("reviewer")
    return f" by {reviewer}" if reviewer else ""


def pair(detail: Detail, name: str) -> tuple[Any, Any]:
    """Return the values before and after a change; a single value stands for both."""
    value = detail.get(name)
    if isinstance(value, list | tuple):
        return value[0], value[1]
    return value, value


def as_text(value: object) -> str:
    """Return a value as text for people."""
    match value:
        case None:
            return "nothing"
        case float():
            return f"{value:.2f}"
        case list() | tuple():
            return ", ".join(str(one) for one in value) or "nothing"
        case _:
            return str(value)


def words(name: str) -> str:
    """Return a field's name as words."""
    return name.replace("_", " ")


def plainly(what: str) -> Sentence:
    """Return the function that describes an event by a fixed text, its reason and the numbers of its detail."""

    def sentence(detail: Detail) -> str:
        numbers = [f"{name} {pair(detail, name)[1]:.2f}" for name in _LOOKED_AT if _is_number(pair(detail, name)[1])]
        return f"{what} @{with_reason(detail)}{'; it had ' if numbers else ''}{', '.join(numbers)}"

    return sentence


def filled(template: str) -> Sentence:
    """Return the function that describes an event by a template of its detail's fields.

    `reason` has its colon, and a count its noun.
    """

    def sentence(detail: Detail) -> str:
        told = {**detail, "reason": with_reason(detail), "reviewed_by": _by_reviewer(detail)}
        told |= {name: amount(detail[name], things) for name, things in _COUNTS.items() if name in detail}
        return template.format_map(defaultdict(lambda: None, told))

    return sentence


def _is_number(value: object) -> bool:
    return isinstance(value, float | int)


def _with_confidence(detail: Detail) -> str:
    _, after = pair(detail, "confidence")
    return "" if after is None else f" with confidence {after:.2f}"


def _parts(detail: Detail) -> str:
    parts = {name: pair(detail.get("parts", {}), name)[1] for name in ("source", "extractor", "prior", "mentions")}
    if parts["source"] is None:
        return ""
    return (
        f" (source {parts['source']:.2f}, extractor {parts['extractor']:.2f}, "
        f"type prior {parts['prior']:.2f}, {amount(parts['mentions'], 'mentions')})"
    )


def _added(detail: Detail) -> str:
    _, status = pair(detail, "status")
    what = f"{detail.get('type', 'memory')}{_with_confidence(detail)}{_parts(detail)}{with_reason(detail)}"
    if status == MemoryStatus.PENDING:
        return f"Put aside @ until a person has looked at it: {what}"
    if status == MemoryStatus.SUPERSEDED:
        return f"Added @ as history, followed by {detail.get('by')}: {what}"
    review = "; a person should look at it" if "review" in detail else ""
    return f"Added @: {what}{review}"


def _accepted(detail: Detail) -> str:
    _, status = pair(detail, "status")
    history = f" as history, followed by {detail.get('by')}" if status == MemoryStatus.SUPERSEDED else ""
    return f"Accepted @{history}{_with_confidence(detail)}{with_reason(detail)}"


def _merged(detail: Detail) -> str:
    before, after = pair(detail, "confidence")
    told = "" if before is None else f"; confidence went from {before:.2f} to {after:.2f}"
    words = "; its words were completed" if detail.get("rewritten") else ""
    _, until = pair(detail, "valid_until")
    ends = "" if until is None else f"; it ends {until}"
    return f"Stated again @{with_reason(detail)}{told}{_parts(detail)}{words}{ends}"


def _superseded(detail: Detail) -> str:
    _, confidence = pair(detail, "confidence")
    had = "" if confidence is None else f"; it had confidence {confidence:.2f}"
    new = detail.get("by_confidence")
    against = "" if new is None else f", the newer one {new:.2f}"
    return f"Superseded @ by {detail.get('by')}{with_reason(detail)}{had}{against}"


def _contradicted(detail: Detail) -> str:
    _, confidence = pair(detail, "confidence")
    new = detail.get("by_confidence")
    numbers = "" if confidence is None or new is None else f", confidence {confidence:.2f} against {new:.2f}"
    return f"Contradicted @ by {detail.get('by')}{with_reason(detail)}{numbers}"


def _rejected(detail: Detail) -> str:
    return f"A {detail.get('type', 'memory')} was not stored @{with_reason(detail)}{_parts(detail)}"


def _changed(detail: Detail) -> str:
    values: Mapping[str, Any] = detail.get("values", {})
    told = [f"{words(name)} from {as_text(pair[0])} to {as_text(pair[1])}" for name, pair in values.items()]
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
    changes = [f"{name} {as_text(new)}, not {as_text(old)}" for name, (old, new) in pairs.items() if old != new]
    return f"Imported @ in another state than its log says: {'; '.join(changes) or 'the same one'}"


def _reclassified(detail: Detail) -> str:
    told = f"Made a {detail.get('to')} @, from a {detail.get('from')}{with_reason(detail)}"
    if "by" in detail:
        told += f"; superseded by {detail['by']}"
    if "review" in detail:
        told += "; a person should look at it"
    return f"{told} ({detail.get('backfill')})"


def _unreclassified(detail: Detail) -> str:
    what = f"Made a {detail['to']} again @" if "to" in detail else "Put back @ as it was"
    return f"{what}: {detail.get('backfill')} was undone"


MEMORY_TEXTS: Mapping[str, Sentence] = {
    AuditAction.MEMORY_ADDED: _added,
    AuditAction.MEMORY_ACCEPTED: _accepted,
    AuditAction.MEMORY_MERGED: _merged,
    AuditAction.MEMORY_SUPERSEDED: _superseded,
    AuditAction.MEMORY_RELINKED: filled(
        "Made a neighbour @ of {between}, a statement between it and the one it stood beside"
    ),
    AuditAction.MEMORY_CONTRADICTED: _contradicted,
    AuditAction.MEMORY_CONFLICTED: filled("Found in conflict @ with {by}{reason}"),
    AuditAction.MEMORY_REJECTED: _rejected,
    AuditAction.MEMORY_JUDGED_USEFUL: filled("Called useful @{reason}"),
    AuditAction.MEMORY_JUDGED_NOT_USEFUL: filled("Called not useful @{reason}"),
    AuditAction.MEMORY_JUDGED_WRONG: filled("Called wrong @{reason}"),
    AuditAction.MEMORY_REVIVED: filled("Held again @{reason}"),
    AuditAction.MEMORY_REVERTED: plainly("Made what it was before"),
    AuditAction.MEMORY_CHANGED: _changed,
    AuditAction.MEMORY_ERASED: _erased,
    AuditAction.MEMORY_STANDING: _standing,
    AuditAction.MEMORY_ENDED: plainly("Said to be over"),
    AuditAction.MEMORY_ENDING_DOUBTED: plainly("Doubtfully said to be over"),
    AuditAction.MEMORY_ERASURE_ASKED: plainly("Sent to review, to be erased"),
    AuditAction.MEMORY_EXPIRED: plainly("Expired"),
    AuditAction.MEMORY_FORGOTTEN: plainly("Forgotten"),
    AuditAction.MEMORY_PURGED: plainly("Removed for good"),
    AuditAction.MEMORY_PROMOTED: plainly("Became core"),
    AuditAction.MEMORY_ECHOED: plainly("Heard again, and not counted"),
    AuditAction.MEMORY_VOLATILE: plainly("Found to change too often"),
    AuditAction.MEMORY_SETTLED: plainly("Settled"),
    AuditAction.MEMORY_FOLDED: filled("Folded @ into {into}{reason}"),
    AuditAction.MEMORY_CONSOLIDATED: filled("Made @ of {members} faded memories"),
    AuditAction.MEMORY_RECLASSIFIED: _reclassified,
    AuditAction.MEMORY_RECLASSIFICATION_UNDONE: _unreclassified,
}


def _reviewed(detail: Detail) -> str:
    action = words(str(detail.get("action")))
    return f"Reviewed @{_by_reviewer(detail)}, and decided to {action}{with_reason(detail)}"


def _review_undone(detail: Detail) -> str:
    action = words(str(detail.get("action")))
    return f"The decision to {action} was undone @{_by_reviewer(detail)}{with_reason(detail)}"


def _policy(detail: Detail) -> str:
    return f"The policy was changed @: {_differences(detail)}"


def _limits(detail: Detail) -> str:
    return f"The limits of {detail.get('of')} were changed @: {_differences(detail)}"


def _differences(detail: Detail) -> str:
    """Return the values that changed, from `before` to `after`."""
    before, after = _flat(detail.get("before", {})), _flat(detail.get("after", {}))
    changed = [
        f"{words(name)} from {as_text(before.get(name))} to {as_text(after.get(name))}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    return "; ".join(changed) or "to what it was"


def _flat(values: Mapping[str, Any], under: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _flat(value, f"{under}{name}.") if isinstance(value, Mapping) else {f"{under}{name}": value}
    return found


def _key_created(detail: Detail) -> str:
    until = "" if detail.get("expires_at") is None else f", until {detail['expires_at']}"
    return f"Key {detail.get('key')} was made @, for {as_text(detail.get('roles', ()))}{until}"


TENANT_TEXTS: Mapping[str, Sentence] = {
    AuditAction.IMPORT_BATCH: filled("Imported @: {stored} of kind {record}"),
    AuditAction.REVIEW_DECIDED: _reviewed,
    AuditAction.REVIEW_UNDONE: _review_undone,
    AuditAction.REVIEW_CLAIMED: filled("Claimed for review @{reviewed_by}"),
    AuditAction.REVIEW_COMMENTED: filled("Commented on in review @{reviewed_by}"),
    AuditAction.REVIEW_SETTLED: plainly("Taken out of review"),
    AuditAction.USER_ERASED: plainly("Everything of a user was erased"),
    AuditAction.DOCUMENT_ERASED: plainly("A document was erased"),
    AuditAction.BACKFILL_COMMITTED: filled("The backfill {backfill} of type {type} was committed @"),
    AuditAction.BACKFILL_UNDONE: filled("The backfill {backfill} of type {type} was undone @"),
    AuditAction.ENTITY_MERGED: filled("{entity} was merged @ into {into}; {aliases} and {memories} moved{reason}"),
    AuditAction.ENTITY_UNMERGED: filled("{entity} was taken out of {from} @; {aliases} and {memories} went back"),
    AuditAction.TURN_REPLAYED: filled("{turn} was sent through the pipeline again @"),
    AuditAction.JOB_RETRIED: filled("The {was} {kind} job {job} was tried again @"),
    AuditAction.JOB_CANCELLED: filled("The {was} {kind} job {job} was cancelled @"),
    AuditAction.POLICY_CHANGED: _policy,
    AuditAction.KEY_CREATED: _key_created,
    AuditAction.KEY_ROTATED: filled("Key {replaces} was replaced by {key} @"),
    AuditAction.KEY_REVOKED: filled("Key {key} was revoked @"),
    AuditAction.CONNECTION_GRANTED: filled("Connection {connection} was granted @: {scopes}"),
    AuditAction.CONNECTION_REVOKED: filled("Connection {connection} was revoked @{reason}"),
    AuditAction.INVITATION_CREATED: filled("Invitation {invitation} was made @: {scopes}"),
    AuditAction.INVITATION_DELETED: filled("Invitation {invitation} was deleted @"),
    AuditAction.LIMITS_CHANGED: _limits,
    AuditAction.TENANT_CREATED: filled("The tenant was made @"),
    AuditAction.WEBHOOK_CREATED: filled("Webhook {webhook} was made @"),
    AuditAction.WEBHOOK_CHANGED: filled("Webhook {webhook} was changed @"),
    AuditAction.WEBHOOK_DELETED: filled("Webhook {webhook} was deleted @"),
    AuditAction.TYPE_DEFINED: filled("Type {type} was defined @, as version {version}"),
    AuditAction.TYPE_REMOVED: filled("Type {type} was removed @"),
    AuditAction.AUDIT_REDACTED: filled("An erasure emptied {events} @"),
}

_SENTENCES = {**MEMORY_TEXTS, **TENANT_TEXTS}


def describe(action: str, at: datetime, actor: str, detail: Detail, *, redacted: bool = False) -> str:
    """Return an event as a sentence; `redacted` means that an erasure removed its detail."""
    when = f"{at.day} {at:%B %Y}"
    if redacted:
        return f"{_title(action)} on {when}, by {actor}; the details were erased."
    sentence = _SENTENCES.get(action)
    if sentence is None:
        return f"{_title(action)} on {when}, by {actor}{with_reason(detail)}."
    return f"{sentence(detail).replace('@', f'on {when}', 1)}."


def _title(action: str) -> str:
    subject, _, verb = action.partition(".")
    return f"{subject.replace('_', ' ').capitalize()} {verb.replace('_', ' ')}"
