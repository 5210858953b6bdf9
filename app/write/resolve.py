"""Stage: resolve names to entities, by exact name, alias, plain misspelling, or a language model.

Entities of another type are left aside. A name that is merely near to known ones, or an alias that several entities
have, becomes an entity of its own unless a model says which one is meant; the answer lists what it resembles.

Pure but for `ask`, which the writer calls between reading and writing, outside of transactions:

    questions = open_questions(resolved, known)
    known = apply_answers(known, questions, await ask(judge, questions))

and then resolves again.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import partial
from itertools import chain, islice
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from app.english.name_identity import TieMatch, compare_ties, may_be_one, misspelt, variants
from app.errors import InvalidInput, ProviderError
from app.memory import confidence, normalise
from app.model import UNKNOWN_TYPE, EntityRef, Mention, SpeechAct
from app.providers.protocols import Judge
from app.write.values import Prepared, Resolved

UNKNOWN_ID = "there is no such entity in the scope that this is written to: give its name, or write to its scope"

PERSON = "person"

SIMILAR = 0.85
"""Least likeness of two spellings that may be one name (seed 001, stage 3)."""

_SHORTER = SIMILAR / (2 - SIMILAR)
"""Share of the longer one's characters that the shorter of two such names has at least."""

SHORTEST = 5
"""Names under this many characters match exactly or not at all."""

LONGEST = 64
"""Characters of a name that is compared by spelling."""

MOST = 100
"""Unknown names of one write that are compared with near spellings; further ones are taken as they are."""

MOST_NOMINATED = 10
"""Known names that are looked at because they share letters, or words, with an unknown one."""

MOST_COMPARED = 50
"""Known names that share the most letters with an unknown one, of which the order of the letters is compared."""

_LETTERS = 32
"""Kinds of letters that are told apart before names are compared in earnest: a to z fall into kinds of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownName:
    """An alias row: the name it was looked up for, the normalised alias, and the entity it leads to.

    `meant`: a model says that the name means this entity. `tie`: what it is to whom, where that was said. `created`: it
    is created by a candidate before, in the same wave.
    """

    wanted: str
    alias: str
    entity_id: UUID
    canonical: str
    entity_type: str
    mention_count: int
    meant: bool = False
    tie: str | None = None
    created: bool = False


@dataclass(slots=True)
class WaveNames:
    """The names that each candidate of a wave is resolved among: those known, and those that the ones before create.

    `near` are the names of the wave, by name, that may mean the same without being the same.
    """

    known: dict[str, list[KnownName]]
    near: Mapping[str, Sequence[str]]
    _created: dict[str, list[KnownName]] = field(default_factory=lambda: defaultdict(list))
    _types: dict[UUID, str] = field(default_factory=dict)

    def resolved(self, wave: Sequence[Prepared], scope_id: UUID) -> list[Resolved]:
        """Return the candidates as `resolve` does, one after another."""
        found = []
        for one in wave:
            rows = [row for name in sorted(names_of([one])) for row in self._of(name)]
            found.append(resolve(one, rows, scope_id))
            self._learn(found[-1])
        return found

    def _of(self, name: str) -> list[KnownName]:
        """Return what a normalised name may lead to by now."""
        aliases = dict.fromkeys((name, *self.near.get(name, ())))
        created = (row for alias in aliases for row in self._created.get(alias, ()))
        rows = chain(self.known.get(name, ()), (replace(row, wanted=name) for row in created))
        return [self._typed(row) for row in rows]

    def _typed(self, row: KnownName) -> KnownName:
        """Return the row with the type that a candidate before has said."""
        said = self._types.get(row.entity_id, row.entity_type)
        return row if said == row.entity_type else replace(row, entity_type=said)

    def _learn(self, resolved: Resolved) -> None:
        """Note the entities that a candidate creates, and the types that it says; what is not believed names nobody."""
        candidate = resolved.prepared.candidate
        sure = resolved.prepared.confidence >= confidence.WRITE_FLOOR
        if candidate.ending is not None or candidate.review is not None or not sure:
            return
        for mention in resolved.prepared.mentions:
            ref = resolved.refs.get(mention.role)
            if ref is None:
                continue
            if ref.entity_type != UNKNOWN_TYPE:
                self._types[ref.id] = ref.entity_type
            alias = normalise.normalise_name(ref.name)
            if ref.created and all(row.entity_id != ref.id for row in self._created[alias]):
                row = KnownName(
                    wanted=alias,
                    alias=alias,
                    entity_id=ref.id,
                    canonical=ref.name,
                    entity_type=ref.entity_type,
                    mention_count=1,
                    tie=mention.tie,
                    created=True,
                )
                self._created[alias].append(row)


def resolve(prepared: Prepared, known: Sequence[KnownName], scope_id: UUID) -> Resolved:
    """Return the candidate with each mention as an entity of its scope, existing or to be created.

    Only an assertion claims its slot: what was supposed, played or quoted competes with nothing. Raises InvalidInput
    for the id of an entity that is not known.
    """
    refs: dict[str, EntityRef] = {}
    unified: list[tuple[UUID, UUID]] = []
    for mention in prepared.mentions:
        found = _find(mention, known)
        if found is not None:
            refs[mention.role] = found
            unified += _unified(mention, found, known)
        elif mention.entity is not None:
            raise InvalidInput(UNKNOWN_ID, field="entity_id")
        elif mention.creates:
            refs[mention.role] = _created(mention, known, scope_id)
    payload = prepared.candidate.payload
    claims = prepared.candidate.speech_act is SpeechAct.ASSERTION
    return Resolved(
        prepared=prepared,
        refs=refs,
        slot=payload.slot(refs) if claims else None,
        value=payload.value(refs) if claims else None,
        unified=tuple(dict.fromkeys(unified)),
    )


def names_of(prepared: Iterable[Prepared]) -> set[str]:
    """Return every normalised name the candidates use, aliases they declare included."""
    return {
        normalise.normalise_name(name)
        for one in prepared
        for mention in one.mentions
        for name in (mention.name, *mention.aliases)
    } - {""}


def nominated(names: Collection[str], aliases: Sequence[str], *, shared: bool) -> dict[str, list[str]]:
    """Return, for each unknown name that has any, the known ones that may mean the same.

    They are spelled alike or are forms of one name, as far as they are compared; with `shared`, those that share a
    word are found, too.
    """
    compared = sorted(name for name in names if len(name) <= LONGEST)[:MOST]
    spelled = [name for name in compared if len(name) >= SHORTEST]
    ways = [alike(spelled, aliases), variants(compared, aliases), near_names(spelled, aliases) if shared else {}]
    found = {name: list(dict.fromkeys(one for way in ways for one in way.get(name, ()))) for name in compared}
    return {name: near for name, near in found.items() if near}


def alike(names: Sequence[str], aliases: Sequence[str]) -> dict[str, list[str]]:
    """Return, for each name that has any, the aliases that could be `SIMILAR` to it, the nearest of them first.

    Two names match in at most the letters they share, thus in no more than the shorter has, so neither counting letters
    nor lengths leaves out an alias that is.
    """
    lengths_asked = [len(name) for name in names]
    least, most = min(lengths_asked, default=0) * _SHORTER, max(lengths_asked, default=0) / _SHORTER
    sizes = np.fromiter(map(len, aliases), np.int64, len(aliases))
    aliases = [aliases[place] for place in np.flatnonzero((least <= sizes) & (sizes <= most)).tolist()]
    if not aliases:
        return {}
    known, lengths = _letters(aliases)
    found = {}
    for name, own in zip(names, _letters(names)[0], strict=True):
        shared = np.minimum(known, own).sum(axis=1, dtype=np.int64)
        near = np.flatnonzero(2 * shared >= SIMILAR * (lengths + len(name)))
        if near.size:
            likeliest = near[np.argsort(-shared[near] / (lengths[near] + len(name)), kind="stable")][:MOST_COMPARED]
            spelled = sorted(
                (aliases[place] for place in likeliest.tolist()), key=partial(similarity, name), reverse=True
            )
            found[name] = spelled[:MOST_NOMINATED]
    return found


def _letters(names: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return how many letters of each kind each name has, up to 255, and how many in all."""
    lengths = np.fromiter(map(len, names), np.int64, len(names))
    codes = np.frombuffer("".join(names).encode("utf-32-le", "surrogatepass"), np.uint32) % _LETTERS
    cells = np.repeat(np.arange(len(names)) * _LETTERS, lengths) + codes
    counts = np.bincount(cells, minlength=len(names) * _LETTERS).reshape(-1, _LETTERS)
    return counts.clip(max=255).astype(np.uint8), lengths


def similarity(first: str, second: str) -> float:
    """Return the likeness of two normalised names in 0..1: matching characters over all characters.

    The ratio is Ratcliff and Obershelp's. Likeness by trigrams puts `volkswagon` and `volkswagen` at .57, under the .85
    that the seed sets for just this pair.
    """
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def compatible(first: str | None, second: str | None) -> bool:
    """Return whether two entity types may be one entity: equal, or either not known."""
    return first is None or second is None or UNKNOWN_TYPE in {first, second} or first == second


def _find(mention: Mention, known: Sequence[KnownName]) -> EntityRef | None:
    """Return the entity that a mention means, None where nothing or more than one entity is found."""
    wanted = normalise.normalise_name(mention.name)
    fitting = [one for one in known if compatible(mention.entity_type, one.entity_type) and _may_have_tie(mention, one)]
    exact = _exact(mention, wanted, fitting)
    if exact is not None:
        return _ref(exact, mention)
    declared = [one for one in fitting if mention.declares and _is_named_by(one, mention)]
    if declared:
        best = min(declared, key=lambda one: (-one.mention_count, str(one.entity_id)))
        return _ref(best, mention)
    misspellings = [one for one in fitting if one.wanted == wanted and _is_misspelling(mention, wanted, one)]
    found = _only(misspellings)
    return None if found is None else _ref(found, mention)


def _exact(mention: Mention, wanted: str, fitting: Sequence[KnownName]) -> KnownName | None:
    """Return the entity of just this name: the one a model means, the one it is the name of, or whose alias it is.

    Of several of one name, the one of the mention's tie; without a tie, the one of which none is known; then the one
    that is written so: names of several writings may be two entities of the time before writings were one.
    """
    exact = [one for one in fitting if one.alias == wanted]
    meant = [one for one in exact if one.meant]
    own = [one for one in exact if normalise.normalise_name(one.canonical) == wanted]
    of_type = [one for one in own if one.entity_type == (mention.entity_type or UNKNOWN_TYPE)]
    tied = [one for one in exact if mention.tie is not None and one.tie is not None]
    untied = [one for one in own if one.tie is None]
    written = [one for one in own if one.canonical == mention.name]
    ways = (meant, tied, of_type, own or exact, untied, written)
    return next((found for rows in ways if (found := _only(rows)) is not None), None)


def _may_have_tie(mention: Mention, known: KnownName) -> bool:
    """Return whether a known entity can be what the mention is to somebody; where that is unsure, a model decides."""
    match = compare_ties(mention.tie, known.tie)
    return match is TieMatch.SAME or (known.meant and match is TieMatch.UNSURE)


def _only(rows: Sequence[KnownName]) -> KnownName | None:
    return rows[0] if len({one.entity_id for one in rows}) == 1 else None


def _is_named_by(known: KnownName, mention: Mention) -> bool:
    """Return whether the declaration names the entity outright: a nickname two people share is no proof."""
    names = {normalise.normalise_name(name) for name in (mention.name, *mention.aliases)}
    return known.alias in names and normalise.normalise_name(known.canonical) in names


def _is_misspelling(mention: Mention, wanted: str, known: KnownName) -> bool:
    """Return whether the name is plainly a known one misspelt; never of people, whose names are near one another."""
    return PERSON not in {mention.entity_type, known.entity_type} and misspelt(wanted, known.alias)


def _resembled(mention: Mention, known: Sequence[KnownName]) -> str | None:
    """Return the name of the entity that a mention may mean, as far as an alias or the spelling suggests it."""
    wanted = normalise.normalise_name(mention.name)
    near = [
        (similarity(wanted, one.alias), one.mention_count, one.canonical)
        for one in known
        if one.wanted == wanted
        and compatible(mention.entity_type, one.entity_type)
        and compare_ties(mention.tie, one.tie) is not TieMatch.OTHER
        and _is_near(wanted, one.alias)
    ]
    return max(near)[2] if near else None


def _is_near(wanted: str, alias: str) -> bool:
    if wanted == alias or may_be_one(wanted, alias):
        return True
    long = min(len(wanted), len(alias)) >= SHORTEST and max(len(wanted), len(alias)) <= LONGEST
    return long and normalise.numbers(wanted) == normalise.numbers(alias) and similarity(wanted, alias) >= SIMILAR


def _ref(known: KnownName, mention: Mention) -> EntityRef:
    return EntityRef(
        id=known.entity_id,
        name=mention.name if mention.declares else known.canonical,
        entity_type=mention.entity_type or known.entity_type,
        created=known.created,
    )


def _unified(mention: Mention, found: EntityRef, known: Sequence[KnownName]) -> list[tuple[UUID, UUID]]:
    """Return (merged, survivor) for entities that a declaration says are the one it declares."""
    if not mention.declares:
        return []
    return [
        (one.entity_id, found.id)
        for one in known
        if one.entity_id != found.id
        and compatible(mention.entity_type, one.entity_type)
        and compare_ties(mention.tie, one.tie) is TieMatch.SAME
        and _is_named_by(one, mention)
    ]


def _created(mention: Mention, known: Sequence[KnownName], scope_id: UUID) -> EntityRef:
    """Return a new entity, its id a UUIDv5 of the name in its scope; a namesake of another type or tie gets another."""
    wanted = normalise.normalise_name(mention.name) or mention.name
    taken = any(one.alias == wanted for one in known)
    entity_type = mention.entity_type or UNKNOWN_TYPE
    apart = [entity_type] if mention.tie is None else [entity_type, mention.tie]
    return EntityRef(
        id=uuid5(scope_id, "\x1f".join([wanted, *apart]) if taken else wanted),
        name=mention.name,
        entity_type=entity_type,
        created=True,
        resembles=_resembled(mention, known),
    )


MOST_QUESTIONS = 5
"""Names of one write that are asked about; further ones become entities of their own."""

MOST_OPTIONS = 5
"""Entities that a name is compared with."""

NEAR = 0.6
"""Least likeness of two spellings that is worth a question."""

SHORTEST_WORD = 3
"""Letters of a word that two names may share."""

BEFORE = 300
"""Characters of what came before that go along with the sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NameQuestion:
    """A name that would become a new entity, the sentence it stands in, and entities it may mean instead."""

    wanted: str
    name: str
    sentence: str
    options: tuple[KnownName, ...]

    def told(self) -> list[str]:
        """Return the options as they are put to a model."""
        return [
            f"{one.canonical} ({one.entity_type})"
            if normalise.normalise_name(one.canonical) == one.alias
            else f"{one.canonical} ({one.entity_type}), also known as {one.alias}"
            for one in self.options
        ]


def near_names(names: Collection[str], aliases: Collection[str]) -> dict[str, list[str]]:
    """Return, for each unknown name that has any, the known ones that share a word with it, by the rarest; normalised.

    Spelling alone misses them: `lindqvist` is far from `sarah lindqvist`. Takes time linear in the words.
    """
    by_word: dict[str, list[str]] = defaultdict(list)
    for alias in aliases:
        for word in _words(alias):
            by_word[word].append(alias)
    found = {}
    for name in names:
        rarest_first = sorted((by_word[word] for word in _words(name) if word in by_word), key=len)
        sharing = (alias for found_by in rarest_first for alias in found_by if alias != name)
        near = list(dict.fromkeys(islice(sharing, MOST_NOMINATED)))
        if near:
            found[name] = near
    return found


def open_questions(resolved: Sequence[Resolved], known: Mapping[str, Sequence[KnownName]]) -> list[NameQuestion]:
    """Return what is worth asking about names that nothing known was found for, each name once.

    `known` holds, by the normalised name they were looked up for, the names that are spelled alike or share a
    word. A name that a payload declares is meant as it is; numbers and types that differ leave nothing to ask.
    """
    questions: dict[str, NameQuestion] = {}
    for one in resolved:
        for mention in _new_mentions(one):
            wanted = normalise.normalise_name(mention.name)
            options = _options(mention, wanted, known.get(wanted, ()))
            if options and wanted not in questions:
                questions[wanted] = NameQuestion(
                    wanted=wanted, name=mention.name, sentence=_sentence(one.prepared), options=options
                )
    return list(questions.values())[:MOST_QUESTIONS]


async def ask(judge: Judge, questions: Sequence[NameQuestion]) -> list[int | None]:
    """Return for each question the place of the option that is meant; None for none, and when nobody answered.

    All are asked at once. A model that fails leaves names to themselves: they become entities, which can be merged.
    """
    return list(await asyncio.gather(*(_answer(judge, one) for one in questions)))


def apply_answers(
    known: Mapping[str, Sequence[KnownName]], questions: Sequence[NameQuestion], answers: Sequence[int | None]
) -> dict[str, list[KnownName]]:
    """Return what is known together with what the answers say: those names lead to the options meant.

    An answer that is no option's place says nothing.
    """
    found = {name: list(rows) for name, rows in known.items()}
    for question, answer in zip(questions, answers, strict=True):
        if answer is not None and 0 <= answer < len(question.options):
            meant = replace(question.options[answer], wanted=question.wanted, alias=question.wanted, meant=True)
            found.setdefault(question.wanted, []).append(meant)
    return found


async def _answer(judge: Judge, question: NameQuestion) -> int | None:
    try:
        return await judge.which(question.name, question.sentence, question.told())
    except ProviderError:
        return None


def _new_mentions(resolved: Resolved) -> Iterator[Mention]:
    for mention in resolved.prepared.mentions:
        ref = resolved.refs.get(mention.role)
        if ref is not None and ref.created and not mention.declares:
            yield mention


def _options(mention: Mention, wanted: str, known: Sequence[KnownName]) -> tuple[KnownName, ...]:
    fitting = [
        (_spelling_likeness(wanted, one.alias), one)
        for one in known
        if compatible(mention.entity_type, one.entity_type)
        and compare_ties(mention.tie, one.tie) is not TieMatch.OTHER
        and normalise.numbers(wanted) == normalise.numbers(one.alias)
    ]
    fitting.sort(key=lambda pair: (-pair[0], -pair[1].mention_count, str(pair[1].entity_id)))
    nearest: dict[object, KnownName] = {}
    for likeness, one in fitting:
        if likeness >= NEAR:
            nearest.setdefault(one.entity_id, one)
    return tuple(nearest.values())[:MOST_OPTIONS]


def _spelling_likeness(wanted: str, alias: str) -> float:
    """Return how near two names are: by spelling, or wholly where one has all the words of the other or its forms."""
    first, second = set(_words(wanted)), set(_words(alias))
    contained = bool(first and second) and (first <= second or second <= first)
    return 1.0 if contained or may_be_one(wanted, alias) else similarity(wanted, alias)


def _words(name: str) -> list[str]:
    return [word for word in name.replace(".", " ").replace("-", " ").split() if len(word) >= SHORTEST_WORD]


def _sentence(prepared: Prepared) -> str:
    candidate = prepared.candidate
    quote = next((one.quote for one in candidate.evidence if one.quote), None)
    before = "" if candidate.context is None else candidate.context[-BEFORE:]
    return " ".join(f"{before} {candidate.said or quote or prepared.content}".split())
