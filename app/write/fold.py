"""Folding: which faded memories are one group, what it comes to in one sentence, and the rows of that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from uuid import UUID

import numpy as np

from app import ids
from app.db.folding import Member
from app.memory import confidence, normalise
from app.memory.actions import Action
from app.memory.candidate import Candidate
from app.memory.grouping import cosines, groups
from app.memory.registry import Registry
from app.model import ConfidenceParts, LinkKind, Scope, Status
from app.text.said import Said, numbers
from app.text.speech_acts import SKIPPED, speech_act
from app.text.suspicion import suspicions
from app.text.words import count_words
from app.write.leaves import leaves
from app.write.plan import Plan
from app.write.rows import add_link, audit

SUMMARY = "semantic"
"""The type that a group becomes."""

LONGEST = 400
"""Characters of a summary by a model."""

LEAST_SHARED = 0.5
"""Share of a summary's words that its members must have said."""

_FEWEST_WORDS = 3
_ONE = "1"
"""The number that `a` and `once` stand for, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Faded memories that are alike, the medoid first; `likeness` is each one's cosine to it."""

    members: tuple[Member, ...]
    likeness: tuple[float, ...]

    @property
    def best(self) -> Member:
        """The best-supported member: trusted most, then said most often, then most like the others."""
        ranked = zip(self.members, self.likeness, strict=True)
        return max(ranked, key=lambda one: (one[0].confidence, one[0].mentions, one[1], one[0].stated_at, one[0].id))[0]

    @property
    def nearest_first(self) -> list[Member]:
        """The members, those most like the medoid first."""
        ranked = sorted(zip(self.likeness, self.members, strict=True), key=lambda one: (-one[0], one[1].id))
        return [member for _, member in ranked]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a group comes to in a sentence, and who wrote it."""

    sentence: str
    by: str


def grouped(members: Sequence[Member], types: Registry) -> list[Group]:
    """Return the groups among memories about one subject, whatever their order.

    Left out are those that look like secrets or orders, and those that only suppose, play, quote, joke or ask:
    what nobody meant is not known by being repeated. What is denied is apart from what is said.
    """
    sides: dict[bool, list[Member]] = defaultdict(list)
    for member in sorted(members, key=lambda one: one.id):
        if _meant(member, types):
            sides[normalise.negated(member.content)].append(member)
    return [group for side in sides.values() for group in _alike(side)]


def _meant(member: Member, types: Registry) -> bool:
    if suspicions(member.content):
        return False
    act = speech_act(_own_words(member, types))
    return act not in SKIPPED and act not in confidence.UNCERTAIN_ACTS


def _own_words(member: Member, types: Registry) -> str:
    """Return what was said, without the name of who said it in front."""
    spoken = member.payload.get("speaker")
    return member.content.removeprefix(f"{spoken}: ") if spoken and types.find(member.type) else member.content


def _alike(members: Sequence[Member]) -> Iterator[Group]:
    if not members:
        return
    similarity = cosines(np.stack([one.vector for one in members]))
    for places in groups(similarity):
        yield Group(
            members=tuple(members[place] for place in places),
            likeness=tuple(float(similarity[places[0], place]) for place in places),
        )


def counted(group: Group) -> str:
    """Return the best-supported member with the count of the others and the months they are from."""
    text = group.best.content.rstrip().removesuffix(".")
    more = len(group.members) - 1
    return f"{text} (and {more} more like it, noted {_months([one.stated_at for one in group.members])})"


def _months(times: Sequence[datetime]) -> str:
    first, last = min(times).astimezone(UTC), max(times).astimezone(UTC)
    if (first.year, first.month) == (last.year, last.month):
        return f"{last:%B %Y}"
    return f"{first:%B} to {last:%B %Y}" if first.year == last.year else f"{first:%B %Y} to {last:%B %Y}"


def unfounded(summary: str, notes: Sequence[str], *, language: str) -> str | None:
    """Return what is wrong with a summary of notes, in words without its content; None when nothing is.

    Every number and every name in it must be in the notes, and half of its words; it denies what they deny. A
    capital at the start of a sentence counts as a name unless the notes have the word: rather no summary than one
    that names a stranger.
    """
    said = Said.of(notes, language)
    found = leaves({"summary": summary}, exempt=frozenset(), language=language)
    terms = [term for leaf in found for term in leaf.terms]
    figures = numbers(summary) | (Said.of((summary,), language).numbers - {_ONE})
    faults = (
        (not found or "\n" in summary or count_words(summary) < _FEWEST_WORDS, "it is no sentence"),
        (len(summary) > LONGEST, f"it is longer than {LONGEST} characters"),
        (not figures <= said.numbers, "it holds a number that is in none of them"),
        (not all(said.holds(name.casefold()) for name in _capitals(summary)), "it names something none of them names"),
        (sum(map(said.holds, terms)) < LEAST_SHARED * len(terms), "most of its words are in none of them"),
        (normalise.negated(summary) != normalise.negated(notes[0]), "it denies what they say, or the other way round"),
        (bool(suspicions(summary)), "it looks like an order or a secret"),
    )
    return next((why for wrong, why in faults if wrong), None)


def _capitals(text: str) -> list[str]:
    """Return the words with a capital, without punctuation, endings of possession, and `I`."""
    words = (word.strip(".,;:!?()[]\"'\u2018\u2019\u201c\u201d") for word in text.split())
    bare = (word.removesuffix("'s").removesuffix("\u2019s") for word in words)
    return [word for word in bare if word[:1].isupper() and word not in {"I", "A", "The"}]


def candidate(group: Group, written: Written, scope: Scope, types: Registry, now: datetime) -> Candidate:
    """Return what a group becomes: believed as its members are, said as often as there are members.

    It holds from now on, since its members held until now, and fades from when the last of them was stated.
    """
    spec = types.get(SUMMARY)
    subjects = {one.subject for one in group.members}
    subject = subjects.pop() if len(subjects) == 1 else None
    topics = {one.topic for one in group.members}
    parts = reduce(confidence.merged, [_parts(one) for one in group.members])
    return Candidate(
        type=spec,
        payload=spec.payload.model_validate({"content": written.sentence, "entity_id": subject}),
        scope=scope,
        stated_at=max(one.stated_at for one in group.members),
        valid_from=now,
        source_strength=parts.source,
        extractor_confidence=parts.extractor,
        mentions=len(group.members),
        importance=max(one.importance for one in group.members),
        topic=topics.pop() if len(topics) == 1 else None,
        provenance={"folded": len(group.members), "written_by": written.by},
    )


def _parts(member: Member) -> ConfidenceParts:
    return ConfidenceParts(source=member.source, extractor=member.extractor, prior=0.0, mentions=member.mentions)


def add_fold(plan: Plan, into: UUID, group: Group, written: Written) -> None:
    """Add to a plan that holds the summary what ties its members to it, and the record of that."""
    summary = ids.public(ids.MEMORY, into)
    for member, likeness in zip(group.members, group.likeness, strict=True):
        add_link(plan, into, LinkKind.DERIVED_FROM, member.id)
        told: Mapping[str, object] = {
            "into": summary,
            "reason": f"faded, and like {len(group.members) - 1} others: they were folded into one",
            "freshness": round(member.freshness, 4),
            "likeness": round(likeness, 4),
            "status": [Status.ACTIVE, Status.SUPERSEDED],
            "confidence": member.confidence,
        }
        audit(plan, Action.MEMORY_FOLDED, member.id, told)
    of = {"members": len(group.members), "least_likeness": round(min(group.likeness), 4), "written_by": written.by}
    audit(plan, Action.MEMORY_CONSOLIDATED, into, of)
