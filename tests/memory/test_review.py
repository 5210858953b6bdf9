from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.features.review.items import ReviewAction, ReviewItem, ReviewSide, suggestion, version_of
from app.model import Category, ConfidenceParts, LinkKind, Memory, MemoryStatus, ReviewReason, Scope, ScopeKind

START = datetime(2026, 5, 9, tzinfo=UTC)


def memory(
    *,
    confidence: float = 0.6,
    day: int = 0,
    reason: ReviewReason | None = ReviewReason.CONTRADICTION,
    status: MemoryStatus = MemoryStatus.ACTIVE,
    note: str | None = None,
    supersedes: UUID | None = None,
) -> Memory:
    at = START + timedelta(days=day)
    return Memory(
        id=uuid4(),
        scope=Scope(kind=ScopeKind.GLOBAL),
        type="fact",
        category=Category.SEMANTIC,
        status=status,
        content="user works at Volkswagen",
        payload={},
        subject="user",
        slot="user|works-at",
        contested=False,
        parts=ConfidenceParts(source=0.9, extractor=0.9, prior=0.15),
        confidence=confidence,
        importance=0.9,
        topic=None,
        session_id=None,
        sequence_number=None,
        stated_at=at,
        valid_from=at,
        valid_until=None,
        recorded_at=at,
        retired_at=None,
        supersedes=supersedes,
        superseded_by=None,
        review=reason,
        review_note=note,
        review_since=None if reason is None else at,
        half_life_days=180,
        floor=0,
        access_count=0,
        last_accessed_at=None,
    )


def item(one: Memory, *others: Memory, same: bool = False, relation: LinkKind = LinkKind.CONTRADICTS) -> ReviewItem:
    sides = tuple(ReviewSide(memory=other, relation=relation, same_value=same) for other in others)
    return ReviewItem(memory=one, sides=sides, version="v")


@pytest.mark.parametrize("why", ["it holds a password", "it orders to forget other orders"])
def test_what_was_kept_back_for_what_it_says_is_better_rejected(why: str) -> None:
    found = suggestion(item(memory(status=MemoryStatus.PENDING, reason=ReviewReason.DOUBTFUL, note=why)))
    assert found.action is ReviewAction.REJECT
    assert why in found.reason


def test_the_newer_and_surer_one_wins() -> None:
    old, new = memory(confidence=0.5), memory(confidence=0.7, day=1)
    assert suggestion(item(new, old)).action is ReviewAction.ACCEPT
    found = suggestion(item(old, new))
    assert (found.action, found.other) == (ReviewAction.SUPERSEDE_WITH, new.id)


def test_a_newer_but_weaker_one_stays_beside() -> None:
    assert suggestion(item(memory(confidence=0.4, day=1), memory(confidence=0.7))).action is ReviewAction.KEEP_BOTH


def test_what_says_the_same_is_merged_into_the_surest() -> None:
    weak, strong = memory(confidence=0.5), memory(confidence=0.8)
    found = suggestion(item(memory(), weak, strong, same=True))
    assert (found.action, found.other) == (ReviewAction.MERGE, strong.id)


def test_a_rule_does_not_compete_with_what_breaks_it() -> None:
    one = memory(reason=ReviewReason.CONSTRAINT, confidence=0.9, day=1)
    assert suggestion(item(one, memory(), relation=LinkKind.CONFLICTS_WITH)).action is ReviewAction.KEEP_BOTH


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        (ReviewReason.CONTRADICTION, ReviewAction.ACCEPT),
        (ReviewReason.REPORTED_WRONG, ReviewAction.REJECT),
        (ReviewReason.VOLATILE, ReviewAction.ACCEPT),
        (ReviewReason.ASKED, ReviewAction.ACCEPT),
    ],
)
def test_without_sides_the_reason_decides(reason: ReviewReason, expected: ReviewAction) -> None:
    assert suggestion(item(memory(reason=reason))).action is expected


@pytest.mark.parametrize("status", [MemoryStatus.PENDING, MemoryStatus.SUPERSEDED, MemoryStatus.EXPIRED])
def test_what_was_reported_wrong_is_better_rejected_whatever_it_is(status: MemoryStatus) -> None:
    one = memory(status=status, reason=ReviewReason.REPORTED_WRONG, note="reported wrong")
    assert suggestion(item(one, memory(confidence=0.9, day=1))).action is ReviewAction.REJECT


@pytest.mark.parametrize("status", [MemoryStatus.SUPERSEDED, MemoryStatus.EXPIRED, MemoryStatus.FORGOTTEN])
def test_what_is_past_competes_with_nothing(status: MemoryStatus) -> None:
    found = suggestion(item(memory(status=status, day=1, confidence=0.9), memory()))
    assert (found.action, f"it is {status} already" in found.reason) == (ReviewAction.ACCEPT, True)


def test_rejecting_says_what_stays_replaced() -> None:
    before = uuid4()
    found = suggestion(item(memory(reason=ReviewReason.REPORTED_WRONG, supersedes=before)))
    assert f"mem_{before.hex}" in found.reason


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 5)), min_size=1, max_size=5),
    st.sampled_from(ReviewReason),
    st.sampled_from((MemoryStatus.ACTIVE, MemoryStatus.PENDING)),
)
def test_a_suggestion_names_a_side_whenever_its_action_needs_one(
    sides: list[tuple[float, int]], reason: ReviewReason, status: MemoryStatus
) -> None:
    one = memory(reason=reason, status=status)
    whole = item(one, *(memory(confidence=confidence, day=day) for confidence, day in sides))
    found = suggestion(whole)
    assert (found.other is not None) == (found.action in {ReviewAction.MERGE, ReviewAction.SUPERSEDE_WITH})
    assert found.other in {None, *(side.memory.id for side in whole.sides)}
    assert found.reason
    assert suggestion(replace(whole, version="other")) == found


@given(st.dictionaries(st.uuids(), st.text(max_size=5), min_size=1, max_size=4), st.text(max_size=5))
def test_a_version_is_that_of_every_stamp(stamps: dict[UUID, str], other: str) -> None:
    version = version_of(stamps)
    assert version_of(dict(reversed(stamps.items()))) == version
    for one, stamp in stamps.items():
        assert (version_of({**stamps, one: other}) == version) == (other == stamp)
    assert version_of({**stamps, UUID(int=0): "x"}) != version or UUID(int=0) in stamps
