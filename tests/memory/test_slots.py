from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.memory.confidence import READ_FLOOR
from app.memory.slots import accumulate, latest_statement_wins, one_identity, only_removed, transition
from app.memory.versions import (
    TOLERANCE,
    Chosen,
    ConflictPolicy,
    Ended,
    Removed,
    SlotClaim,
    SlotEvent,
    SlotVerdict,
    Stated,
    Version,
)
from app.model import ConfidenceParts, MemoryStatus, ReviewReason, SpeechAct

NOW = datetime(2026, 5, 9, tzinfo=UTC)
OLD = SlotClaim(value="dark", stated_at=NOW, confidence=0.65)

claims = st.builds(
    SlotClaim,
    value=st.sampled_from(["dark", "light"]),
    stated_at=st.datetimes(timezones=st.just(UTC)),
    confidence=st.floats(0, 1),
    speech_act=st.sampled_from(SpeechAct),
)


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        (SlotClaim(value="light", stated_at=NOW + timedelta(days=60), confidence=0.65), SlotVerdict.SUPERSEDE),
        (SlotClaim(value="light", stated_at=NOW, confidence=0.65), SlotVerdict.SUPERSEDE),
        (SlotClaim(value="light", stated_at=NOW + timedelta(days=1), confidence=0.51), SlotVerdict.SUPERSEDE),
        (SlotClaim(value="light", stated_at=NOW + timedelta(days=1), confidence=0.49), SlotVerdict.CONTRADICT),
        (SlotClaim(value="light", stated_at=NOW - timedelta(seconds=1), confidence=1.0), SlotVerdict.HISTORY),
        (SlotClaim(value="dark", stated_at=NOW - timedelta(days=9), confidence=0.1), SlotVerdict.MERGE),
        (
            SlotClaim(
                value="light", stated_at=NOW + timedelta(days=1), confidence=1.0, speech_act=SpeechAct.HYPOTHETICAL
            ),
            SlotVerdict.CONTRADICT,
        ),
    ],
)
def test_who_wins_a_slot(new: SlotClaim, verdict: SlotVerdict) -> None:
    assert latest_statement_wins(OLD, new) is verdict


@given(claims, claims)
def test_only_a_newer_trusted_assertion_ever_supersedes(old: SlotClaim, new: SlotClaim) -> None:
    if latest_statement_wins(old, new) is SlotVerdict.SUPERSEDE:
        assert new.value != old.value
        assert new.speech_act is SpeechAct.ASSERTION
        assert new.stated_at >= old.stated_at
        assert new.confidence >= old.confidence - TOLERANCE
        assert new.confidence >= READ_FLOOR or old.confidence < READ_FLOOR, "what is recalled is never hidden"


def version(number: int, value: str, day: float, **fields: Any) -> Version:
    """Return a version of one slot, stated on a day, that holds from then on."""
    stated = NOW + timedelta(days=day)
    parts = ConfidenceParts(source=0.9, extractor=0.9, prior=0.15)
    fields = {"confidence": 0.65, "parts": parts, "status": MemoryStatus.ACTIVE, "valid_from": stated, **fields}
    return Version(id=UUID(int=number), type="fact", slot="s", value=value, stated_at=stated, **fields)


def over(number: int, value: str, day: float) -> Version:
    """Return a version whose time was over when it was stated."""
    begins = NOW - timedelta(days=2_000 - number)
    return version(number, value, day, valid_from=begins, valid_until=begins + timedelta(days=365))


Slot = dict[UUID, Version]


def after(slot: Slot, event: SlotEvent, policy: ConflictPolicy = latest_statement_wins) -> Slot:
    """Return the versions of a slot after an event."""
    found = transition(slot.values(), event, policy=policy, now=NOW + timedelta(days=1_000))
    changed = {one.before.id: one.after for one in found.changes}
    gone = event.versions if isinstance(event, Removed) and event.status is None else frozenset()
    new = {} if found.new is None else {found.new.id: found.new}
    return {key: one for key, one in {**slot, **changed, **new}.items() if key not in gone}


def chained(slot: Slot) -> list[str | None]:
    """Return the values along the chain, after checking that it is one, that it is linear and that its ends agree."""
    for one in slot.values():
        before = slot.get(one.supersedes) if one.supersedes else None
        assert before is None or before.superseded_by == one.id
        following = slot.get(one.superseded_by) if one.superseded_by else None
        assert following is None or following.supersedes == one.id
    [first] = [one for one in slot.values() if one.supersedes is None]
    values, at = [], first
    while True:
        values.append(at.value)
        if at.superseded_by is None:
            break
        at = slot[at.superseded_by]
    assert len(values) == len(slot)
    return values


def uncontested(slot: Slot) -> list[Version]:
    return [one for one in slot.values() if one.active and not one.contested]


FEW = 3
"""Times a value is said: one that is said more often is trusted so much that another value contradicts it."""

statements = (
    st.lists(st.sampled_from("abc"), min_size=1, max_size=7)
    .filter(lambda values: max(Counter(values).values()) <= FEW)
    .flatmap(lambda values: st.permutations(list(enumerate(values))))
)


@given(statements, st.sets(st.integers(0, 6)))
@example([(1, "a"), (0, "b")], {1})
def test_whatever_the_order_of_arrival_the_slot_is_one_chain_that_ends_in_the_last_statement(
    arriving: list[tuple[int, str]], past: set[int]
) -> None:
    """What was over when it was stated, on the days of `past`, stands beside the chain."""
    slot: Slot = {}
    beside: Slot = {}
    for day, value in arriving:
        new = over(day, value, day) if day in past else version(day, value, day)
        slot = after(slot, Stated(new=new))
        if day in past:
            beside[new.id] = replace(new, status=MemoryStatus.EXPIRED)
        chain = {key: one for key, one in slot.items() if key not in beside}
        assert {key: slot[key] for key in beside} == beside
        assert len(uncontested(chain)) <= 1
        assert not chain or chained(chain)
    stated = {day: value for day, value in arriving if day not in past}
    assert [one.value for one in uncontested(slot)] == ([stated[max(stated)]] if stated else [])


@given(st.permutations(range(6)))
def test_distinct_values_are_chained_in_the_order_in_which_they_were_stated(days: list[int]) -> None:
    slot: Slot = {}
    for day in days:
        slot = after(slot, Stated(new=version(day, str(day), day)))
    assert chained(slot) == [str(day) for day in range(6)]
    ends = [slot[UUID(int=day)].ended_at for day in range(6)]
    assert ends == [*(NOW + timedelta(days=day) for day in range(1, 6)), None]


@given(st.permutations(range(6)), st.sets(st.integers(0, 5), min_size=1, max_size=5))
def test_a_deletion_links_the_neighbours_to_one_another(days: list[int], gone: set[int]) -> None:
    slot: Slot = {}
    for day in days:
        slot = after(slot, Stated(new=version(day, str(day), day)))
    slot = after(slot, Removed(versions=frozenset(UUID(int=one) for one in gone), status=None))
    assert chained(slot) == [str(day) for day in range(6) if day not in gone]


trusts = st.floats(0.3, 1.0)
happenings = st.sampled_from(["state", "end", "reject", "choose"])
spoken = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 20), trusts, happenings), max_size=12)


@given(spoken, st.sampled_from([latest_statement_wins, only_removed, one_identity, accumulate]))
def test_whatever_happens_a_slot_has_at_most_one_uncontested_version(
    said: list[tuple[str, int, float, str]], policy: ConflictPolicy
) -> None:
    slot: Slot = {}
    for number, (value, day, trust, what) in enumerate(said):
        standing = sorted((one for one in slot.values() if one.active), key=lambda one: one.id)
        slot = after(slot, _event(what, standing, version(number, value, day, confidence=trust)), policy)
        assert len(uncontested(slot)) <= 1
        if what in {"reject", "choose"} and any(one.active for one in slot.values()):
            assert len(uncontested(slot)) == 1
        for one in slot.values():
            before = slot.get(one.supersedes) if one.supersedes else None
            assert before is None or before.superseded_by == one.id
            assert one.status is not MemoryStatus.SUPERSEDED or one.superseded_by is not None
            assert not one.active or one.ended_at is None


def _event(what: str, standing: list[Version], new: Version) -> SlotEvent:
    if what == "state" or not standing:
        return Stated(new=new, importance=0.8)
    ids = frozenset(one.id for one in standing)
    if what == "end":
        return Ended(versions=ids, claim=new.claim, at=new.stated_at)
    if what == "reject":
        return Removed(versions=frozenset({standing[0].id}), status=MemoryStatus.FORGOTTEN)
    winner, *losers = [one.id for one in standing]
    return Chosen(winner=winner, losers=tuple(losers), since=new.stated_at, reason="chosen")


def test_what_is_not_recalled_does_not_hide_what_is() -> None:
    old = SlotClaim(value="Lyon", stated_at=NOW, confidence=0.55)
    new = SlotClaim(value="Dresden", stated_at=NOW + timedelta(days=1), confidence=0.495)
    assert latest_statement_wins(old, new) is SlotVerdict.CONTRADICT


def test_a_contest_goes_on_when_only_a_pending_memory_gives_way_to_one_side() -> None:
    side = version(1, "Rivian", 1, confidence=0.4, contested=True)
    pending = replace(version(2, "Rivian", 2), slot=None, status=MemoryStatus.PENDING)
    event = Chosen(winner=side.id, losers=(pending.id,), since=side.stated_at, reason="they say the same")
    found = transition([side, pending], event, policy=latest_statement_wins, now=NOW)
    assert found.holder is not None
    assert found.holder.contested


def test_a_side_of_a_contest_that_comes_back_alone_is_contested_no_more() -> None:
    gone = {"status": MemoryStatus.EXPIRED}
    holder = version(1, "Lyon", 1, **gone)
    side = version(2, "Dresden", 2, contested=True, review=ReviewReason.CONTRADICTION, review_note="which?", **gone)
    slot = after({one.id: one for one in (holder, side)}, Stated(new=version(3, "Dresden", 3)))
    assert slot[holder.id] == holder
    back = slot[side.id]
    assert (back.status, back.contested, back.review, back.review_note) == (MemoryStatus.ACTIVE, False, None, None)
