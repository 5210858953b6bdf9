"""Consolidation: cluster faded memories and make each group's summary (docs/decisions/lifecycle.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app import ids
from app.amounts import amount
from app.db.memories.fading import FOLDED
from app.english.content_words import swaps_content, swaps_roles
from app.english.decisive_words import decisive_key, exclude_one_another
from app.english.grounding_terms import GroundingTerms, numbers
from app.english.screening import screen
from app.english.speech_acts import SKIPPED, speech_act
from app.features.lifecycle.sql.consolidation import Member
from app.lexical.tokens import count_words
from app.memory import confidence, normalise
from app.memory.audit import AuditAction
from app.memory.candidate import Candidate
from app.memory.registry import Registry
from app.memory.slots import accumulate, transition
from app.memory.versions import Chosen, Version
from app.model import ConfidenceParts, EventTime, LinkKind, MemoryStatus, Precision, Scope
from app.write.ground import leaves
from app.write.rows import PendingRows, add_link, audit

FADED: Final = 0.20
"""Freshness under which an episode may be folded."""

ALIKE: Final = 0.70
"""Cosine that each member has at least to the medoid of its group."""

FEWEST: Final = 5
"""Members of a group."""

_DIGITS: Final = 9
"""After which sums of similarities are taken for equal: the order of adding must not decide."""

Similarity = NDArray[np.float64]


def cosines(vectors: NDArray[np.float32]) -> Similarity:
    """Return the cosine of each pair of rows, exactly symmetric; a zero vector is like nothing but itself."""
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit = wide / np.where(lengths == 0, 1.0, lengths)
    product: Similarity = unit @ unit.T
    product = (product + product.T) / 2
    np.fill_diagonal(product, 1.0)
    return product


def clusters(similarity: Similarity) -> list[tuple[int, ...]]:
    """Return the groups among memories whose similarities these are, each as places, its medoid first.

    In each group of at least `FEWEST` every member has a similarity of `ALIKE` or more to the medoid: the member
    that is most like the others in sum. Groups don't overlap. The one around whoever has the most others near (of
    equals: the nearest) goes first; what it leaves is grouped in turn. The order of the memories doesn't matter.
    """
    near = similarity >= ALIKE
    closeness = np.where(near, similarity, 0.0)
    free = np.ones(len(similarity), dtype=bool)
    seeds = free.copy()
    neighbours, strength = near.sum(axis=1), closeness.sum(axis=1)
    found: list[tuple[int, ...]] = []
    while True:
        candidates = np.flatnonzero(seeds & (neighbours >= FEWEST))
        if not len(candidates):
            return found
        by_rank = np.lexsort((-strength[candidates].round(_DIGITS), -neighbours[candidates]))
        seed = int(candidates[by_rank[0]])
        members = _around_medoid(np.flatnonzero(near[seed] & free), similarity)
        if len(members) < FEWEST:
            seeds[seed] = False
            continue
        found.append(members)
        gone = list(members)
        free[gone] = seeds[gone] = False
        neighbours -= near[:, gone].sum(axis=1)
        strength -= closeness[:, gone].sum(axis=1)


def _around_medoid(members: NDArray[np.intp], similarity: Similarity) -> tuple[int, ...]:
    """Return the members near their medoid, which comes first; as some go it may become another one."""
    while len(members):
        among = similarity[np.ix_(members, members)]
        medoid = int(among.sum(axis=1).round(_DIGITS).argmax())
        kept = among[medoid] >= ALIKE
        if kept.all():
            first = int(members[medoid])
            return (first, *(int(one) for one in members if one != first))
        members = members[kept]
    return ()


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
    """The sentence that sums up a group, and its author."""

    sentence: str
    by: str


def group_faded(members: Sequence[Member], types: Registry) -> list[Group]:
    """Return the groups among memories about one subject, whatever their order.

    Left out are those that look like secrets or orders, and those that only suppose, play, quote, joke or ask:
    what nobody meant is not known by being repeated. The members of a group agree in names, numbers and denials.
    """
    sides: dict[tuple[bool, str], list[Member]] = defaultdict(list)
    for member in sorted(members, key=lambda one: one.id):
        if _meant(member, types):
            sides[normalise.negated(member.content), decisive_key(_sentences(member))].append(member)
    return [group for side in sides.values() for group in _alike(side)]


def _meant(member: Member, types: Registry) -> bool:
    if screen(member.content):
        return False
    act = speech_act(_own_words(member, types))
    return act not in SKIPPED and act not in confidence.UNCERTAIN_ACTS


def _own_words(member: Member, types: Registry) -> str:
    """Return the content without the speaker's name in front."""
    spoken = member.payload.get("speaker")
    return member.content.removeprefix(f"{spoken}: ") if spoken and types.find(member.type) else member.content


def _sentences(member: Member) -> str:
    """Return the sentences of a memory's payload, without its time and speaker; its content where there are none."""
    sentences = [one for one in member.payload.values() if isinstance(one, str) and " " in one]
    return "\n".join(sentences) or member.content


def _alike(members: Sequence[Member]) -> Iterator[Group]:
    """Yield groups of members that are near one another and agree; those left over are grouped again."""
    left = list(members)
    while True:
        found = list(_near(left))
        yield from found
        grouped = {one.id for group in found for one in group.members}
        if not grouped:
            return
        left = [one for one in left if one.id not in grouped]


def _near(members: Sequence[Member]) -> Iterator[Group]:
    if len(members) < FEWEST:
        return
    similarity = cosines(np.stack([one.vector for one in members]))
    for cluster in clusters(similarity):
        medoid = _sentences(members[cluster[0]])
        places = [place for place in cluster if _agree(medoid, _sentences(members[place]))]
        if len(places) < FEWEST:
            continue
        yield Group(
            members=tuple(members[place] for place in places),
            likeness=tuple(float(similarity[places[0], place]) for place in places),
        )


def _agree(medoid: str, other: str) -> bool:
    """Return whether one sentence may stand for two notes: neither says what the other does not, or rules out."""
    return not (exclude_one_another(medoid, other) or swaps_content(medoid, other) or swaps_roles(medoid, other))


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


def ungrounded_terms(summary: str, notes: Sequence[str], *, language: str) -> str | None:
    """Return what is wrong with a summary of notes, in words without its content; None when nothing is.

    Every number and every name in it must be in the notes, and half of its words; it denies what they deny. A
    capital at the start of a sentence counts as a name unless the notes have the word: rather no summary than one
    that names a stranger.
    """
    said = GroundingTerms.of(notes, language)
    found = leaves({"summary": summary}, exempt=frozenset(), language=language)
    terms = [term for leaf in found for term in leaf.terms]
    figures = numbers(summary) | (GroundingTerms.of((summary,), language).numbers - {_ONE})
    faults = (
        (not found or "\n" in summary or count_words(summary) < _FEWEST_WORDS, "it is no sentence"),
        (len(summary) > LONGEST, f"it is longer than {LONGEST} characters"),
        (not figures <= said.numbers, "it holds a number that is in none of them"),
        (not all(said.holds(name.casefold()) for name in _capitals(summary)), "it names something none of them names"),
        (sum(map(said.holds, terms)) < LEAST_SHARED * len(terms), "most of its words are in none of them"),
        (normalise.negated(summary) != normalise.negated(notes[0]), "it denies what they say, or the other way round"),
        (bool(screen(summary)), "it looks like an order or a secret"),
    )
    return next((why for wrong, why in faults if wrong), None)


def _capitals(text: str) -> list[str]:
    """Return the words with a capital, without punctuation, endings of possession, and `I`."""
    words = (word.strip(".,;:!?()[]\"'\u2018\u2019\u201c\u201d") for word in text.split())
    bare = (word.removesuffix("'s").removesuffix("\u2019s") for word in words)
    return [word for word in bare if word[:1].isupper() and word not in {"I", "A", "The"}]


def candidate(group: Group, written: Written, scope: Scope, types: Registry) -> Candidate:
    """Return what a group becomes: believed as its members are. Each tells of another time, so none confirms another.

    It covers their time, from the first to the end of the last, and fades from when the last of them was stated.
    """
    spec = types.get(SUMMARY)
    subjects = {one.subject for one in group.members}
    subject = subjects.pop() if len(subjects) == 1 else None
    topics = {one.topic for one in group.members}
    parts = reduce(confidence.merged_parts, [_parts(one) for one in group.members])
    return Candidate(
        type=spec,
        payload=spec.payload.model_validate({"content": written.sentence, "entity_id": subject}),
        scope=scope,
        stated_at=max(one.stated_at for one in group.members),
        valid_from=min(one.covers[0] for one in group.members),
        covers=_covered(group),
        source_strength=parts.source,
        extractor_confidence=parts.extractor,
        mentions=max(one.mentions for one in group.members),
        importance=max(one.importance for one in group.members),
        topic=topics.pop() if len(topics) == 1 else None,
        provenance={FOLDED: len(group.members), "written_by": written.by},
    )


def _covered(group: Group) -> EventTime:
    lower, upper = (bound(one.covers[side] for one in group.members) for side, bound in enumerate((min, max)))
    return EventTime(at=lower, precision=Precision.APPROXIMATE, lower=lower, upper=upper)


def _parts(member: Member) -> ConfidenceParts:
    return ConfidenceParts(source=member.source, extractor=member.extractor, prior=0.0, mentions=member.mentions)


def consolidation_rows(
    plan: PendingRows, into: UUID, group: Group, written: Written, versions: Mapping[UUID, Version]
) -> None:
    """Make the members of a group the history of a plan's summary, each once in its life, and record why."""
    summary, now = ids.public(ids.MEMORY, into), plan.around.now
    members = tuple(one.id for one in group.members)
    reason = f"faded, and like {amount(len(members) - 1, 'others')}: they were folded into one"
    event = Chosen(winner=into, losers=members, since=now, reason=reason)
    found = transition(versions.values(), event, policy=accumulate, now=now)
    plan.take(replace(found, links=()))
    for member, likeness in zip(group.members, group.likeness, strict=True):
        add_link(plan, into, LinkKind.DERIVED_FROM, member.id)
        plan.rows["memory_folds"].append(
            {"tenant_id": plan.around.tenant, "memory_id": member.id, "into_id": into, "folded_at": now}
        )
        told: Mapping[str, object] = {
            "into": summary,
            "reason": reason,
            "freshness": round(member.freshness, 4),
            "likeness": round(likeness, 4),
            "status": [MemoryStatus.ACTIVE, MemoryStatus.SUPERSEDED],
            "confidence": member.confidence,
        }
        audit(plan, AuditAction.MEMORY_FOLDED, member.id, told)
    of = {"members": len(members), "least_likeness": round(min(group.likeness), 4), "written_by": written.by}
    audit(plan, AuditAction.MEMORY_CONSOLIDATED, into, of)
