"""Every kind of event has its sentence, and the sentences say what people ask."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import app
from app.features.webhooks.sql import TEST_EVENT
from app.memory import audit_text
from app.memory.audit import AuditAction
from app.model import WebhookEvent

AT = datetime(2026, 5, 3, 14, 30, tzinfo=UTC)
SOURCE = Path(app.__file__).parent
SUBJECTS = "|".join(sorted({one.partition(".")[0] for one in AuditAction}))


def test_every_action_has_a_sentence() -> None:
    assert set(audit_text._SENTENCES) == set(AuditAction)


def _without_wire_paths(code: str) -> str:
    """The code without the paths that name where a field of an answer comes from, such as `Source("memory.id")`."""
    return re.sub(r"(?:Source|public_id)\([^)]*\)", "", code)


def test_every_action_that_the_code_writes_is_named_in_one_place() -> None:
    written = {
        (found[1], path.name)
        for path in SOURCE.rglob("*.py")
        if path.name != "model.py"
        for found in re.finditer(rf'"((?:{SUBJECTS})\.[a-z_]+)"', _without_wire_paths(path.read_text()))
    }
    told_to_webhooks = {*WebhookEvent, TEST_EVENT}
    assert not {one for one in written if one[0] not in {*AuditAction, *told_to_webhooks}}
    sql = (SOURCE.parent / "migrations" / "base" / "audit_functions.sql").read_text()
    assert set(re.findall(rf"'((?:{SUBJECTS})\.[a-z_]+)'", sql)) <= set(AuditAction)


@pytest.mark.parametrize("action", AuditAction)
def test_a_sentence_is_one_whatever_is_missing(action: AuditAction) -> None:
    for detail in ({}, {"confidence": 0.65, "reason": "x"}):
        told = audit_text.describe(action, AT, "ana", detail)
        assert "on 3 May 2026" in told
        assert "@" not in told
        assert told.endswith(".")


@given(
    st.sampled_from(AuditAction),
    st.dictionaries(
        st.sampled_from(["by", "reason", "type", "entity", "into", "key", "kind", "job"]), st.text(max_size=10)
    ),
)
def test_any_words_of_ours_can_be_told(action: AuditAction, detail: dict[str, str]) -> None:
    assert audit_text.describe(action, AT, "ana", detail).endswith(".")


SAID = [
    (
        AuditAction.MEMORY_ADDED,
        {
            "type": "fact",
            "reason": "nothing like it was known",
            "status": [None, "active"],
            "confidence": [None, 0.65],
            "parts": {"source": 1.0, "extractor": 0.8, "prior": 0.15, "mentions": 1},
        },
        (
            "Added on 3 May 2026: fact with confidence 0.65 (source 1.00, extractor 0.80, type prior 0.15, 1 mention): "
            "nothing like it was known."
        ),
    ),
    (
        AuditAction.MEMORY_SUPERSEDED,
        {
            "by": "mem_1",
            "reason": "a newer statement about the same thing replaces the older one",
            "status": ["active", "superseded"],
            "confidence": 0.84,
            "by_confidence": 0.75,
        },
        (
            "Superseded on 3 May 2026 by mem_1: a newer statement about the same thing replaces the older one; "
            "it had confidence 0.84, the newer one 0.75."
        ),
    ),
    (
        AuditAction.MEMORY_CHANGED,
        {"changed": ["importance", "topic"], "values": {"importance": [0.5, 0.9]}},
        "Changed on 3 May 2026: importance from 0.50 to 0.90; topic.",
    ),
    (
        AuditAction.MEMORY_CHANGED,
        {"changed": ["needs_review"], "values": {"review": [None, "asked"]}},
        "Changed on 3 May 2026: review from nothing to asked.",
    ),
    (
        AuditAction.MEMORY_ERASED,
        {"type": "fact", "status": ["active", None], "confidence": [0.65, None]},
        "Erased on 3 May 2026; it was active with confidence 0.65.",
    ),
    (
        AuditAction.MEMORY_STANDING,
        {"status": ["active", "expired"], "confidence": [0.5, 0.5]},
        "Imported on 3 May 2026 in another state than its log says: status expired, not active.",
    ),
    (
        AuditAction.POLICY_CHANGED,
        {"before": {"prefilter": {"min_words": 5}, "a": 1}, "after": {"prefilter": {"min_words": 3}, "a": 1}},
        "The policy was changed on 3 May 2026: prefilter.min words from 5 to 3.",
    ),
    (
        AuditAction.KEY_CREATED,
        {"key": "key_1", "name": "x", "roles": ["read", "write"], "expires_at": None},
        "Key key_1 was made on 3 May 2026, for read, write.",
    ),
]


@pytest.mark.parametrize(("action", "detail", "sentence"), SAID, ids=[one[0] for one in SAID])
def test_what_people_read(action: AuditAction, detail: dict[str, object], sentence: str) -> None:
    assert audit_text.describe(action, AT, "ana", detail) == sentence


def test_what_an_erasure_emptied_says_no_more_than_that() -> None:
    told = audit_text.describe(AuditAction.MEMORY_ADDED, AT, "ana", {}, redacted=True)
    assert told == "Memory added on 3 May 2026, by ana; the details were erased."


def test_an_action_of_a_newer_release_is_told_plainly() -> None:
    told = audit_text.describe("memory.sung_to", AT, "ana", {"reason": "it asked"})
    assert told == "Memory sung to on 3 May 2026, by ana: it asked."
