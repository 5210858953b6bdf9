"""Synthetic memories of five types, and questions about them: the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from bench.words import pool

NOW = datetime(2026, 5, 14, 12, tzinfo=UTC)
"""The present of every synthetic world; questions carry it, so that answers don't depend on the day."""

DAYS = 400
"""How far back the memories reach."""

SUPERSEDED = 0.3
"""Share of preferences that replaced an older one, which is kept as history."""

_SHARES = {"fact": 30, "preference": 15, "event": 20, "relation": 10, "episodic": 25}
TYPES = tuple(_SHARES)
"""The types of the memories."""

_PLAIN_PREDICATES = ("likes", "dislikes", "owns", "recommends", "collects", "avoids", "learns", "repairs")
_RELATIONS = ("works-with", "manages", "member-of", "uses", "created", "owns")
_TURNS_A_SESSION = 24
_TRIES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One memory to be: its type, its payload, what a candidate says beside it, and a question it answers.

    `older` is the payload of the statement that this one replaced.
    """

    type: str
    payload: dict[str, Any]
    about: dict[str, Any]
    question: str
    older: dict[str, Any] | None = None


@dataclass(slots=True)
class Grammar:
    """The memories of one scope, of these types. No two compete for a slot or say the same, but for an older one."""

    seed: str
    types: tuple[str, ...] = TYPES
    _random: Random = field(init=False)
    _taken: set[str] = field(default_factory=set)
    _turn: int = 0
    _last_words: str | None = None

    def __post_init__(self) -> None:
        self._random = Random(self.seed)  # noqa: S311 - reproducible, not secret

    def drafts(self, count: int) -> Iterator[Draft]:
        """Yield `count` memories; one that has an older statement counts as two."""
        kinds: dict[str, Callable[[], Draft | None]] = {
            "fact": self._fact,
            "preference": self._preference,
            "event": self._event,
            "relation": self._relation,
            "episodic": self._episodic,
        }
        shares = [_SHARES[one] for one in self.types]
        made = 0
        while made < count:
            kind = self._random.choices(self.types, weights=shares)[0]
            draft = next((one for _ in range(_TRIES) if (one := kinds[kind]()) is not None), None)
            draft = draft or self._episodic()
            if draft.older is not None and made + 2 > count:
                continue
            made += 1 if draft.older is None else 2
            yield draft

    def _draw(self, name: str) -> str:
        return pool(name).draw(self._random)

    def _person(self) -> str:
        return "user" if self._random.random() < 0.3 else self._draw("people")  # noqa: PLR2004 - a share

    def _thing(self) -> str:
        return f"{self._draw('adjectives')} {self._draw('nouns')}"

    def _named_thing(self) -> str:
        return f"{self._draw('names')} {self._draw('nouns')}"

    def _new(self, key: str) -> bool:
        """Tell whether the key is used for the first time."""
        if key in self._taken:
            return False
        self._taken.add(key)
        return True

    def _about(self, **more: object) -> dict[str, Any]:
        age = timedelta(minutes=self._random.randrange(60, DAYS * 24 * 60))
        topic = self._draw("topics") if self._random.random() < 0.6 else None  # noqa: PLR2004 - a share
        return {"stated_at": NOW - age, "topic": topic, **more}

    def _fact(self) -> Draft | None:
        subject = self._person()
        if self._random.random() < 0.3:  # noqa: PLR2004 - a share
            predicate, value, question = self._random.choice(
                (
                    ("works-at", self._draw("names"), f"Where does {subject} work?"),
                    ("lives-in", self._draw("places"), f"Where does {subject} live?"),
                    ("has-role", self._draw("roles"), f"What is the role of {subject}?"),
                )
            )
            if not self._new(f"{subject}|{predicate}"):
                return None
            payload = {"subject": subject, "predicate": predicate, "object": value}
            return Draft(type="fact", payload=payload, about=self._about(), question=question)
        predicate, value = self._random.choice(_PLAIN_PREDICATES), f"the {self._thing()} and {self._named_thing()}"
        if not self._new(f"{subject}|{predicate}|{value}"):
            return None
        more = {"subject": subject, "predicate": predicate, "object": value, "stateful": False}
        question = f"What {value.split()[2]} does {subject} have to do with?"
        return Draft(type="fact", payload=more, about=self._about(), question=question)

    def _preference(self) -> Draft | None:
        subject, domain, attribute = self._person(), self._draw("domains"), self._draw("attributes")
        if not self._new(f"{subject}|{domain}.{attribute}"):
            return None
        base = {"preference_key": f"{domain}.{attribute}", "subject": subject}
        replaced = self._random.random() < SUPERSEDED
        return Draft(
            type="preference",
            payload={**base, "preference_value": self._thing()},
            older={**base, "preference_value": f"{self._thing()} before"} if replaced else None,
            about=self._about(),
            question=f"Which {attribute} does {subject} prefer for {domain}?",
        )

    def _event(self) -> Draft | None:
        about = self._about()
        day: date = about["stated_at"].date()
        what = f"{self._draw('verbs')} the {self._thing()} of {self._draw('names')} in {self._draw('places')}"
        if not self._new(f"{what}|{day}"):
            return None
        people = [self._draw("people") for _ in range(self._random.choice((0, 1, 1, 2)))]
        payload = {
            "event_description": what,
            "event_at": day.isoformat(),
            "event_at_precision": self._random.choice(("day", "day", "day", "week", "month")),
            "participants": list(dict.fromkeys(people)),
        }
        when = f"in {day:%B %Y}" if self._random.random() < 0.5 else "then"  # noqa: PLR2004 - a share
        return Draft(type="event", payload=payload, about=about, question=f"Who {what} {when}?")

    def _relation(self) -> Draft | None:
        start = self._draw("people")
        kind = "reports-to" if self._random.random() < 0.4 else self._random.choice(_RELATIONS)  # noqa: PLR2004 - a share
        end = self._draw("people") if kind in {"reports-to", "works-with", "manages"} else self._named_thing()
        key = f"{start}|{kind}" if kind == "reports-to" else f"{start}|{kind}|{end}"
        if start == end or not self._new(key):
            return None
        payload = {"from_entity": start, "relation_type": kind, "to_entity": end}
        question = f"Who does {start} report to?" if kind == "reports-to" else f"How is {start} related to {end}?"
        return Draft(type="relation", payload=payload, about=self._about(), question=question)

    def _episodic(self) -> Draft:
        session, sequence = divmod(self._turn, _TURNS_A_SESSION)
        self._turn += 1
        if sequence == 0:
            self._last_words = None
        clauses = [self._clause() for _ in range(self._random.choice((1, 1, 2, 3)))]
        text = " ".join(clauses)
        speaker = self._random.choice(("user", self._draw("people")))
        about = self._about(session_id=f"{self.seed}-{session}", sequence_number=sequence, context=self._last_words)
        payload = {
            "content": text,
            "session_id": f"{self.seed}-{session}",
            "sequence_number": sequence,
            "speaker": speaker,
        }
        self._last_words = text
        words = clauses[0].rstrip(".").split()[-2:]
        return Draft(
            type="episodic", payload=payload, about=about, question=f"What did we say about {' '.join(words)}?"
        )

    def _clause(self) -> str:
        return (
            f"I {self._draw('verbs')} the {self._thing()} with {self._draw('people')} "
            f"because of the {self._draw('nouns')} and the {self._named_thing()}."
        )
