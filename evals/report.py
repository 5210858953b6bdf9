"""From answered questions to tables: recall, rank and newest-first, per way of ranking and per category."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from rich.console import Console
from rich.table import Table

from evals import tables
from evals.answer_words import Shown
from evals.datasets import Conversation, Question
from evals.metrics import mean, ndcg_at, newest_first, recall_at, reciprocal_rank, session_recall_at
from evals.service import DEFAULTS, SERVICE, Asked

Score = Callable[[Asked, Sequence[str]], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A figure the service should reach on a set."""

    metric: str
    least: float


GOALS = {
    "LoCoMo dev": (Goal(metric="R@10", least=0.82),),
    "LongMemEval oracle dev": (Goal(metric="R@10", least=0.965), Goal(metric="newest", least=0.90)),
    "LongMemEval S dev": (Goal(metric="session R@5", least=0.97), Goal(metric="newest", least=0.90)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Every question of a set that has evidence, answered; `session_of` tells a turn's session."""

    name: str
    asked: Sequence[Asked]
    session_of: dict[str, str]
    speaker_of: dict[str, str]

    def scores(self) -> dict[str, Score]:
        """Return each metric: a question's score for a ranking, or None where it has none."""
        return {
            "R@5": lambda one, found: recall_at(found, one.question.evidence_turns, 5),
            "R@10": lambda one, found: recall_at(found, one.question.evidence_turns, 10),
            "R@20": lambda one, found: recall_at(found, one.question.evidence_turns, 20),
            "MRR": lambda one, found: reciprocal_rank(found, one.question.evidence_turns),
            "nDCG@10": lambda one, found: ndcg_at(found, one.question.evidence_turns),
            "session R@5": self._session_recall,
            "newest": _newest,
            **{f"R@10, the {role}": partial(self._said_by, role) for role in ("user", "assistant")},
        }

    def average(self, ranking: str, metric: str, *, category: str | None = None) -> float | None:
        """Return a metric's mean over the questions (of a category), None when none has it."""
        score = self.scores()[metric]
        chosen = [one for one in self.asked if category in {None, one.question.category}]
        values = [score(one, one.rankings.get(ranking, ())) for one in chosen]
        counted = [value for value in values if value is not None]
        return mean(counted) if counted else None

    def missed(self) -> list[str]:
        """Return what fell short: a goal, or the service under its best arm, in words."""
        short = []
        for goal in GOALS.get(self.name, ()):
            value = self.average(SERVICE, goal.metric)
            if value is not None and value < goal.least:
                short.append(f"{self.name}: {goal.metric} is {value:.3f}, the goal is {goal.least:g}")
        for metric in ("R@5", "R@10", "R@20", "session R@5"):
            own = self.average(SERVICE, metric) or 0.0
            arms = {name: self.average(name, metric) or 0.0 for name in self.rankings() if name.startswith("arm ")}
            best = max(arms, key=lambda name: arms[name], default="")
            if arms and arms[best] > own:
                short.append(f"{self.name}: {metric} is {own:.3f}, under its {best} alone with {arms[best]:.3f}")
        return short

    def rankings(self) -> list[str]:
        """Return the ways of ranking, the service first."""
        names = {name for one in self.asked for name in one.rankings}
        return [SERVICE, *sorted(names - {SERVICE})]

    def _said_by(self, role: str, one: Asked, found: Sequence[str]) -> float | None:
        """Return the recall of what one side of a chat with an assistant said."""
        said = [turn for turn in one.question.evidence_turns if self.speaker_of[turn] == role]
        return recall_at(found, said, 10) if said else None

    def _session_recall(self, one: Asked, found: Sequence[str]) -> float | None:
        wanted = one.question.evidence_sessions
        return session_recall_at(found, self.session_of, wanted, 5) if wanted else None


def results(name: str, conversations: Sequence[Conversation], asked: Sequence[Asked]) -> Results:
    """Return the answered questions of a set, ready to be scored."""
    sessions = {turn.id: turn.session_id for one in conversations for turn in one.turns}
    speakers = {turn.id: turn.speaker for one in conversations for turn in one.turns}
    return Results(name=name, asked=asked, session_of=sessions, speaker_of=speakers)


def show(console: Console, found: Results) -> None:
    """Print a set's tables: every way of ranking, then the service by category."""
    metrics = [metric for metric in found.scores() if found.average(SERVICE, metric) is not None]
    table = Table(title=f"{found.name}: {len(found.asked)} questions", title_justify="left")
    table.add_column("ranking")
    for metric in metrics:
        table.add_column(metric, justify="right")
    for name in found.rankings():
        values = [found.average(name, metric) for metric in metrics]
        style = "bold" if name == SERVICE else None
        table.add_row(name, *(_figure(value) for value in values), style=style)
    table.add_section()
    for category in sorted({one.question.category for one in found.asked}):
        count = sum(one.question.category == category for one in found.asked)
        values = [found.average(SERVICE, metric, category=category) for metric in metrics]
        table.add_row(f"{SERVICE}, {category} ({count})", *(_figure(value) for value in values))
    console.print(table)
    console.print(_blocks(found))


def _blocks(found: Results) -> Table:
    """Return the table of what blocks show of the evidence and the answers, in how many tokens."""
    titles = ("questions", "any evidence", "all evidence", "words of the answer", "all of them", "median tokens")
    table = tables.figures(f"{found.name}: what blocks show", "block", titles)
    asked = [one for one in found.asked if one.question.answerable and one.blocks]
    for name in dict.fromkeys(name for one in asked for name in one.blocks):
        style = "bold" if name == DEFAULTS else None
        table.add_row(name, *_block_cells([one.blocks[name] for one in asked]), style=style)
    table.add_section()
    for category in sorted({one.question.category for one in asked}):
        cells = _block_cells([one.blocks[DEFAULTS] for one in asked if one.question.category == category])
        table.add_row(f"{DEFAULTS}, {category}", *cells)
    return table


def _block_cells(shown: Sequence[Shown]) -> list[str]:
    evidence = [one.evidence for one in shown if one.evidence is not None]
    words = [one.words for one in shown if one.words is not None]
    shares = (
        mean(one > 0 for one in evidence),
        mean(one == 1 for one in evidence),
        mean(words),
        mean(one == 1 for one in words),
    )
    tokens = f"{median(one.tokens for one in shown):.0f}" if shown else ""
    return [str(len(shown)), *map(_figure, shares), tokens]


def scorable(question: Question) -> bool:
    """Return whether a question has evidence to find."""
    return bool(question.evidence_turns)


def _newest(one: Asked, found: Sequence[str]) -> float | None:
    if not (one.question.newest_turns and one.question.stale_turns):
        return None
    return float(newest_first(found, one.question.newest_turns, one.question.stale_turns))


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
