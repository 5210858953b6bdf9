"""Stories told to the service with the recorded model: what was stored, stopped, retired, lost, and what is stale."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Final
from uuid import UUID

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.model import Scope, ScopeKind
from evals import tables
from evals.chat.goals import Goal
from evals.chat.loops import gathered
from evals.chat.talk import Talk, told_at
from evals.service import Bench
from evals.truth.outcomes import Fate, Outcome, StoredMemory, is_lost, memories_at, outcomes, types_holding
from evals.truth.stories import BELIEVED, Exchange, RecordedMemory, Story

MOST_STOPPED: Final = 0.03
"""Share of right memories that the service stops."""

MOST_STALE: Final = 2 / 45
"""Share of active beliefs at the end of a story that are stale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What came of a story: the outcome of each recorded memory, the memories at the end, and turns that are lost."""

    name: str
    story: Story
    told: tuple[Outcome, ...]
    stored: Mapping[UUID, StoredMemory]
    lost: tuple[str, ...]

    @property
    def stopped(self) -> list[Outcome]:
        """The right memories that are not stored as they were meant."""
        return [one for one in self.told if one.stopped]

    @property
    def active(self) -> list[StoredMemory]:
        """The beliefs at the end."""
        return [one for one in self.stored.values() if one.believed]

    @property
    def true(self) -> list[RecordedMemory]:
        """The recorded memories that are true at the end."""
        return [one.recorded for one in self.told if one.recorded.believed and one.recorded.at_end == "true"]

    @property
    def retired(self) -> list[tuple[Outcome, StoredMemory]]:
        """The memories that were stored and are true at the end, and yet not active."""
        true = [one for one in self.told if one.recorded.believed and one.recorded.at_end == "true" and not one.stopped]
        return [(one, gone) for one in true if (gone := self._gone(one)) is not None]

    @property
    def stale(self) -> list[tuple[Outcome, StoredMemory]]:
        """The memories that are stale at the end, and yet active; one that says something true as well is not."""
        true = {one.memory for one in self.told if one.recorded.at_end == "true" and one.recorded.believed}
        kept = {one.memory: one for one in self.told if one.recorded.at_end == "stale" and one.memory not in true}
        pairs = [(one, self.stored.get(memory)) for memory, one in kept.items() if memory is not None]
        return [(one, held) for one, held in pairs if held is not None and held.believed]

    @property
    def incomplete(self) -> list[tuple[Outcome, str]]:
        """The true memories that are active without words that they were to keep, with those words."""
        found = []
        for one in self.told:
            held = None if one.memory is None else self.stored.get(one.memory)
            if held is not None and held.active and one.recorded.at_end == "true":
                found += [(one, words) for words in one.recorded.keeps if words.casefold() not in held.text.casefold()]
        return found

    @property
    def never_meant(self) -> list[StoredMemory]:
        """The beliefs that were never meant as fact."""
        supposed = {one.memory for one in self.told if one.recorded.speech_act not in BELIEVED} - {None}
        patterns = [re.compile(one, re.IGNORECASE) for one in self.story.never]
        return [one for one in self.active if one.id in supposed or any(each.search(one.text) for each in patterns)]

    def _gone(self, one: Outcome) -> StoredMemory | None:
        """Return the memory that a true one led to, unless it is active, or what says the same is."""
        held = None if one.memory is None else self.stored.get(one.memory)
        if held is None or held.active:
            return None
        again = [
            self.stored.get(each.memory)
            for each in self.told
            if each.memory is not None and each.recorded.same_as and one.recorded.is_meant_by(each.recorded.same_as)
        ]
        return None if any(each is not None and each.active for each in again) else held


async def live(bench: Bench, name: str, story: Story, *, at_once: bool = False) -> Life:
    """Tell a story exchange by exchange (`at_once`: each session in one request), and read what is stored then."""
    talk = Talk(bench=bench)
    told: list[Outcome] = []
    lost: list[str] = []
    exchanges = story.exchanges()
    for session, group in groupby(exchanges, key=lambda one: one.session):
        requests = [one.turns for one in group]
        for turns in [tuple(chain.from_iterable(requests))] if at_once else requests:
            for turn, results, gone in await _told(talk, Exchange(session=session, turns=turns)):
                told += results
                lost += [turn] if gone else []
    scope = Scope(kind=ScopeKind.USER, user_id=talk.user)
    stored = await memories_at(bench, scope, exchanges[-1].turns[-1][0])
    return Life(name=name, story=story, told=tuple(told), stored=stored, lost=tuple(lost))


async def _told(talk: Talk, one: Exchange) -> list[tuple[str, list[Outcome], bool]]:
    """Tell turns; return the text of each with what came of its memories, and whether a user's turn is lost."""
    bodies = [told_at(turn.role, turn.text, at) for at, turn in one.turns]
    processed = await talk.tell(one.session, bodies)
    found = []
    for (_, turn), stored in zip(one.turns, processed, strict=True):
        results = outcomes(turn.text, turn.answer, stored)
        counts = turn.role == "user" and not turn.idle
        lost = counts and is_lost(results, await types_holding(talk.bench, stored.turn.id))
        found.append((turn.text, results, lost))
    return found


async def evaluate(
    bench: Bench, title: str, stories: Mapping[str, Story], console: Console, *, verbose: bool, at_once: bool = False
) -> list[Goal]:
    """Tell stories, print their figures, and return the goals with what was reached."""
    done = await gathered(live(bench, name, story, at_once=at_once) for name, story in stories.items())
    if verbose:
        for line in (line for one in done for line in _findings(one)):
            console.print(escape(line), soft_wrap=True)
    table = tables.figures(title, "figure", ("count",))
    for name, count in _counts(done).items():
        table.add_row(name, str(count))
    console.print(table)
    console.print(_reasons(title, done))
    right, active = sum(len(one.told) for one in done), sum(len(one.active) for one in done)
    return [
        Goal.most(f"{title}: right memories stopped", sum(len(one.stopped) for one in done) / right, MOST_STOPPED),
        Goal.most(f"{title}: true memories retired", sum(len(one.retired) for one in done), 0),
        Goal.most(
            f"{title}: stale among active, of 45",
            45 * sum(len(one.stale) for one in done) / max(1, active),
            45 * MOST_STALE,
        ),
        Goal.most(f"{title}: turns lost", sum(len(one.lost) for one in done), 0),
        Goal.most(f"{title}: never meant, stored as fact", sum(len(one.never_meant) for one in done), 0),
    ]


def _findings(one: Life) -> Iterator[str]:
    """Yield a line for each memory that was stopped, retired, stale or incomplete, and each turn that is lost."""
    for each in one.stopped:
        yield f"{one.name}: {each.fate}: {each.recorded.sentence} | {each.reason}"
    for each, held in one.retired:
        yield f"{one.name}: retired falsely: {each.recorded.sentence} | {held.content}: {held.why_not}"
    for each, held in one.stale:
        yield f"{one.name}: stale: {each.recorded.sentence} | {held.content}"
    for each, words in one.incomplete:
        yield f"{one.name}: incomplete: {each.recorded.sentence} | lacks {words}"
    for held in one.never_meant:
        yield f"{one.name}: never meant: {held.content}"
    for turn in one.lost:
        yield f"{one.name}: lost: {turn}"


def _counts(done: Sequence[Life]) -> dict[str, int]:
    told = [each for one in done for each in one.told]
    return {
        "stories": len(done),
        "languages": len({one.story.language for one in done}),
        "turns of users": sum(one.story.told for one in done),
        "right memories": len(told),
        **{f"  {fate}": sum(each.fate is fate for each in told) for fate in Fate},
        "true at the end": sum(len(one.true) for one in done),
        "  retired falsely": sum(len(one.retired) for one in done),
        "  without words that they were to keep": sum(len(one.incomplete) for one in done),
        "active at the end": sum(len(one.active) for one in done),
        "  stale": sum(len(one.stale) for one in done),
        "  never meant as fact": sum(len(one.never_meant) for one in done),
        "turns lost": sum(len(one.lost) for one in done),
    }


def _reasons(title: str, done: Sequence[Life]) -> Table:
    """Return how often each reason stopped a right memory; reasons are without what the memories say."""
    table = tables.figures(f"{title}: why right memories were stopped", "reason", ("count",))
    counted = Counter(f"{each.fate}: {each.reason}" for one in done for each in one.stopped)
    for reason, count in counted.most_common():
        table.add_row(escape(reason), str(count))
    return table
