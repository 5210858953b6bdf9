"""What is said of what happened to all else of a tenant: entities, turns, jobs, keys, types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.memory.actions import Action
from app.memory.sentences.wording import Detail, Sentence, because, plainly, shown, words


def _reviewed(detail: Detail) -> str:
    return f"Reviewed @, and decided to {words(str(detail.get('action')))}{because(detail)}"


def _entity_merged(detail: Detail) -> str:
    numbers = f"{detail.get('aliases')} names and {detail.get('memories')} memories moved"
    return f"{detail.get('entity')} was merged @ into {detail.get('into')}; {numbers}{because(detail)}"


def _entity_unmerged(detail: Detail) -> str:
    numbers = f"{detail.get('aliases')} names and {detail.get('memories')} memories went back"
    return f"{detail.get('entity')} was taken out of {detail.get('from')} @; {numbers}"


def _backfill(verb: str) -> Sentence:
    def sentence(detail: Detail) -> str:
        return f"The backfill {detail.get('backfill')} of type {detail.get('type')} was {verb} @"

    return sentence


def _replayed(detail: Detail) -> str:
    return f"{detail.get('turn')} was sent through the pipeline again @"


def _job(verb: str) -> Sentence:
    def sentence(detail: Detail) -> str:
        return f"The {detail.get('was')} {detail.get('kind')} job {detail.get('job')} was {verb} @"

    return sentence


def _policy(detail: Detail) -> str:
    before, after = _flat(detail.get("before", {})), _flat(detail.get("after", {}))
    changed = [
        f"{words(name)} from {shown(before.get(name))} to {shown(after.get(name))}"
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
    return f"Key {detail.get('key')} was made @, for {shown(detail.get('roles', ()))}{until}"


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


def _imported(detail: Detail) -> str:
    return f"Imported @: {detail.get('stored')} of kind {detail.get('record')}"


OF_TENANTS: Mapping[str, Sentence] = {
    Action.IMPORT_BATCH: _imported,
    Action.REVIEW_DECIDED: _reviewed,
    Action.REVIEW_SETTLED: plainly("Taken out of review"),
    Action.USER_ERASED: plainly("Everything of a user was erased"),
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
