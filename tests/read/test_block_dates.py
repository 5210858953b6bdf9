from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from app.model import Evidence, MemoryStatus
from app.read.assemble import Layout, assemble
from tests.read.test_assemble import TYPES, block, hit

MORNING = datetime(2026, 3, 9, 8, 5, tzinfo=UTC)
LATER = datetime(2026, 3, 9, 17, 40, tzinfo=UTC)
NEXT_DAY = datetime(2026, 3, 10, 17, 40, tzinfo=UTC)


def test_turns_of_one_day_have_the_time_of_day() -> None:
    text = block(
        hit(1, "episodic", "The gym is at six.", stated_at=MORNING),
        hit(2, "episodic", "The gym is at seven.", stated_at=LATER),
        hit(3, "episodic", "The gym has a sauna.", stated_at=NEXT_DAY),
    ).text
    assert "(2026-03-09 08:05) The gym is at six." in text
    assert "(2026-03-09 17:40) The gym is at seven." in text
    assert "(2026-03-10) The gym has a sauna." in text


def test_a_belief_has_the_time_beside_a_turn_but_not_beside_a_belief_about_something_else() -> None:
    cocoa = hit(1, content="the user drinks cocoa", slot="drink", stated_at=MORNING)
    other = hit(2, content="the user lives in Jena", slot="home", stated_at=LATER)
    turn = hit(3, "episodic", "I had a tea instead.", stated_at=LATER)
    assert "(2026-03-09) the user drinks cocoa" in block(cocoa, other).text
    assert "(2026-03-09 08:05) the user drinks cocoa" in block(cocoa, turn).text


def test_what_replaced_a_belief_within_a_day_has_the_time_and_so_has_that() -> None:
    old = hit(1, content="drinks tea", slot="drink", stated_at=MORNING, status=MemoryStatus.SUPERSEDED)
    new = hit(2, content="drinks cocoa", slot="drink", stated_at=LATER)
    text = block(old, new).text
    assert "(2026-03-09 08:05, superseded) drinks tea" in text
    assert "(2026-03-09 17:40) drinks cocoa" in text


def test_events_contradict_nothing() -> None:
    event = hit(1, "event", "the user met Ola, on 2026-03-08", stated_at=MORNING)
    turn = hit(2, "episodic", "The gym is at seven.", stated_at=LATER)
    text = block(event, turn).text
    assert "(noted 2026-03-09) the user met Ola" in text
    assert "(2026-03-09) The gym is at seven." in text


@pytest.mark.parametrize(
    ("timezone", "said", "shown"),
    [
        ("Asia/Seoul", "We moved in yesterday.", "We moved in yesterday (2026-03-09)."),
        ("UTC+09:00", "Today we moved in.", "Today (2026-03-10) we moved in."),
        ("UTC", "We moved in yesterday.", "We moved in yesterday."),
        ("Asia/Seoul", "We moved in on 3 March 2026.", "We moved in on 3 March 2026."),
        ("Asia/Seoul", "The fair is on Friday.", "The fair is on Friday."),
        (None, "We moved in yesterday.", "We moved in yesterday."),
    ],
)
def test_a_turn_of_another_day_in_its_own_zone_has_the_days_it_names(
    timezone: str | None, said: str, shown: str
) -> None:
    told = Evidence(stated_at=LATER, role="user", timezone=timezone)
    assert block(hit(1, "episodic", said, stated_at=LATER, evidence=(told,))).text.endswith(
        f"(2026-03-09) user: {shown}"
    )


def test_the_days_and_times_of_lines_are_those_of_the_question() -> None:
    hits = [
        hit(1, "episodic", "The gym is at six.", stated_at=MORNING),
        hit(2, "episodic", "The gym is at seven.", stated_at=LATER),
    ]
    text = assemble(hits, types=TYPES, layout=Layout(zone=ZoneInfo("Asia/Seoul"), budget=2000))[0].text
    assert "(2026-03-09) The gym is at six." in text
    assert "(2026-03-10) The gym is at seven." in text
