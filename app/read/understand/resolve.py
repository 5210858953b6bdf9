"""From a question's words to its meaning in the store: names become entities, hints become filters."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final
from uuid import UUID

from app.db.entities.query_lookup import KnownEntity, QueryLookup
from app.english import questions
from app.english.verbs import past_forms
from app.lexical.bm25 import STOP_WORDS, index_of, searched_terms, terms, text_language
from app.lexical.labels import labels_of
from app.memory import normalise, vocabulary
from app.memory.registry import Registry
from app.model import ReadMode
from app.read.understand import parse
from app.read.understand.parse import (
    choose_names,
    overlaps,
    predicates,
    speaks_of_self,
    without,
)
from app.read.values import (
    Before,
    Exclusions,
    Gram,
    Mentioned,
    NamedEntity,
    ParsedQuery,
    QuestionReading,
    Span,
    TypeFilter,
)

ABOUT: Final = 0.05
"""Least rarity of a name of which everything is asked for, however many memories mention it."""

_WORD = re.compile(r"[\w'-]+")

_EMPTY: Final = questions.FILLERS | questions.NAMING

_EMPTY_OF_OWN: Final = _EMPTY | parse.NOUNS
"""Words of a question that ask for nothing but who or what is named, or is called one's own."""


def resolve_question(reading: QuestionReading, known: QueryLookup, *, types: Registry) -> ParsedQuery:
    """Return the question with its names resolved to the entities of the visible scopes."""
    by_alias, every = _by_alias(known, named=True), _by_alias(known, named=False)
    said = [gram for gram in choose_names(reading.grams, by_alias) if _may_name(gram, reading)]
    own = _own(reading, said, every)
    by_alias |= {gram.name: list(entities) for gram, entities in own}
    by_alias, namesakes = _told_apart(reading, by_alias, every)
    found = _with_own(said, [gram for gram, _ in own])
    rest = _rest(reading, [gram.span for gram, _ in own])
    asked = predicates(rest, () if found else reading.own_asked)
    unwanted = _excluded(reading.text, found)
    excluded = [gram for gram in found if gram.span in unwanted]
    names_only = not asked and _says_names_only(reading, found)
    named = [gram for gram in found if gram.span not in unwanted]
    about = _about(reading, [entity for gram in named for entity in by_alias[gram.name]])
    of_asker = speaks_of_self(rest) and (not about or vocabulary.USER in about)
    about_asker = names_only and not named and questions.ABOUT_ASKER.search(reading.text) is not None
    mentioned = _mentioned(
        reading.text,
        named,
        by_alias,
        known,
        least=ABOUT if names_only else 0.0,
        asker=ABOUT if about_asker else 0.0 if asked and of_asker else None,
    )
    before = _before(reading, found, by_alias)
    about_past = reading.about_past or (before is not None and _noun_before(reading, found))
    spare = [span for span in reading.excluded_spans if not any(overlaps(span, gram.span) for gram in found)]
    types_asked = _type_filter(reading, found, types)
    lent = _lent(reading, [entity for gram, entities in own if gram.span not in unwanted for entity in entities])
    return ParsedQuery(
        reading=reading,
        dense_text=_dense(reading, [*(gram.span for gram in found if gram in said or rest != reading.text), *spare]),
        terms=(*_lexical_terms(reading, [*unwanted, *spare, *_unsought(reading)]), *lent),
        lent=lent,
        mentioned=mentioned,
        anchors=_anchors(reading, mentioned, by_alias),
        types=types_asked,
        excluded=Exclusions(
            entities=(*_ids((gram.name for gram in excluded), by_alias), *namesakes),
            names=tuple(gram.name for gram in excluded),
            words=_spare_words(reading, spare),
        ),
        predicates=asked,
        relations=_relations(asked),
        about_now=reading.about_now and not about_past,
        about_past=about_past,
        before=before if about_past else None,
        wants_newest=reading.wants_newest and not about_past,
        names_only=names_only and (about_asker or bool(mentioned)),
        assistants=frozenset(_ids(vocabulary.ASSISTANTS, by_alias)),
        unknown_names=_unknown_names(reading, found),
        labels=labels_of(without(reading.text, reading.window_spans)),
        about=about,
        specificity=_specificity(reading, names=len(mentioned), types=len(types_asked.only), predicates=len(asked)),
        mode=ReadMode.HISTORICAL if about_past and not reading.mode_given else reading.mode,
    )


def _ids(names: Iterable[str], by_alias: Mapping[str, Sequence[KnownEntity]]) -> Iterator[UUID]:
    """Yield the ids of the entities that are known by these names."""
    return (one for name in names for entity in by_alias.get(name, ()) for one in entity.ids)


def _anchors(
    reading: QuestionReading, mentioned: Sequence[Mentioned], by_alias: Mapping[str, Sequence[KnownEntity]]
) -> tuple[UUID, ...]:
    """Return the ids of those whom the question names, and of the one who asks, where it speaks of them."""
    named = (one for each in mentioned for entity in each.entities for one in entity.ids)
    own = _ids([vocabulary.USER] if speaks_of_self(reading.text) else [], by_alias)
    return tuple(dict.fromkeys(chain(named, own)))


def _says_names_only(reading: QuestionReading, found: Sequence[Gram]) -> bool:
    rest = without(reading.text, [gram.span for gram in found])
    return not _says_more(rest, reading.language, _EMPTY)


def _specificity(reading: QuestionReading, *, names: int, types: int, predicates: int) -> float:
    """Return the specificity of the question; a type that its words hint at counts half."""
    return specificity(
        names=names,
        windows=len(reading.windows),
        types=types or len(reading.hinted) / 2,
        predicates=predicates,
        terms=len(reading.terms),
    )


FEW: Final = 2
"""Content words of which a question says little where the index knows none of them."""


def says_little(query: ParsedQuery, known: QueryLookup) -> bool:
    """Return whether a question is so vague that other words for it may find more.

    It names nobody but its asker, no time, no kind of memory and nothing that a predicate stands for, and of its one or
    two content words the index knows none: `what about the other one?`.
    """
    narrowed = query.reading.windows or query.asked_predicates or query.types.only
    others = [one for one in query.mentioned if normalise.normalise_name(one.text) not in vocabulary.FIRST_PERSON]
    # A question of function words alone is searched by these.
    empty = STOP_WORDS.get(text_language(query.reading.text), frozenset())
    content = [one for one in query.reading.terms if one not in empty]
    if narrowed or others or len(content) > FEW:
        return False
    return not content or knows_no_word(query, known)


def knows_no_word(query: ParsedQuery, known: QueryLookup) -> bool:
    """Tell whether no visible memory has any word of the question."""
    return bool(query.terms) and not any(known.frequencies.get(index_of(term)) for term in query.terms)


def respell(query: ParsedQuery, near: Mapping[str, Mapping[str, int]]) -> ParsedQuery:
    """Return the question with terms that memories have, and how many, in place of those that are near to them."""
    lent = {term: documents for said in near.values() for term, documents in said.items()}
    kept = (term for term in query.terms if term not in near)
    return replace(query, terms=(*kept, *lent), lent={**query.lent, **lent}) if lent else query


def _by_alias(known: QueryLookup, *, named: bool) -> dict[str, list[KnownEntity]]:
    """Return the entities by the alias that leads to them; `named`: only those whose name it is."""
    found: dict[str, list[KnownEntity]] = {}
    for entity in known.entities:
        if not named or entity.through == "name":
            found.setdefault(entity.alias, []).append(entity)
    return found


def _own(
    reading: QuestionReading, said: Sequence[Gram], every: Mapping[str, list[KnownEntity]]
) -> list[tuple[Gram, tuple[KnownEntity, ...]]]:
    """Return what the question calls its asker's own as a name, with whom it means, where that is known.

    Where a name follows, `my sister Clara`, the name says it.
    """
    found = []
    for one in reading.belongings:
        entities = parse.match_possessives(one, every.get(one.alias, ()))
        named = any(reading.text[one.span.end : gram.span.start].strip(" ,") == "" for gram in _after(one.span, said))
        if entities and not named:
            found.append((Gram(name=one.alias, span=one.span, words=2), entities))
    return found


def _told_apart(
    reading: QuestionReading, by_alias: Mapping[str, list[KnownEntity]], every: Mapping[str, list[KnownEntity]]
) -> tuple[dict[str, list[KnownEntity]], tuple[UUID, ...]]:
    """Return whom each name means, and the ids of others of that name, whom it does not: `my sister Ines`.

    Of several of one name those are meant of whom the question says what they are to the user. The others are left out
    where something else is known of what they are.
    """
    own = [entity for one in reading.belongings for entity in parse.match_possessives(one, every.get(one.alias, ()))]
    ids = {one for entity in own for one in entity.ids}
    words = {word.casefold().removesuffix("'s") for word in _WORD.findall(reading.text)}
    meant: dict[str, list[KnownEntity]] = {}
    for alias, entities in by_alias.items():
        fitting = [one for one in entities if not ids.isdisjoint(one.ids) or not words.isdisjoint(parse.nouns_of(one))]
        meant[alias] = fitting or entities
    kept = {one for entities in meant.values() for entity in entities for one in entity.ids}
    named = {normalise.normalise_name(entity.name) for entities in meant.values() for entity in entities}
    others = [
        one
        for entity in (*chain.from_iterable(by_alias.values()), *chain.from_iterable(every.values()))
        if parse.nouns_of(entity) and normalise.normalise_name(entity.name) in named
        for one in entity.ids
        if one not in kept
    ]
    return meant, tuple(dict.fromkeys(others))


def _after(span: Span, said: Sequence[Gram]) -> list[Gram]:
    return [gram for gram in said if gram.span.start >= span.end]


def _with_own(said: Sequence[Gram], own: Sequence[Gram]) -> list[Gram]:
    """Return the names of both, in the order of the text; what is called one's own before names inside it."""
    names = [gram for gram in said if not any(overlaps(gram.span, one.span) for one in own)]
    return sorted([*names, *own], key=lambda gram: gram.span.start)


def _rest(reading: QuestionReading, own: Sequence[Span]) -> str:
    """Return the question without what it calls its asker's own, unless it asks who that is."""
    rest = without(reading.text, own) if own else reading.text
    return rest if _says_more(rest, reading.language, _EMPTY_OF_OWN) else reading.text


def _says_more(text: str, language: str, than: Collection[str] = ()) -> bool:
    """Tell whether there is a word that is neither a stop word nor one of these."""
    stop = STOP_WORDS.get(language, frozenset())
    return any(word.casefold() not in stop and word.casefold() not in than for word in _WORD.findall(text))


def _lent(reading: QuestionReading, own: Collection[KnownEntity]) -> dict[str, int]:
    """Return the terms of their names that the question does not say, with how many memories are about them."""
    return {
        term: entity.mentions
        for entity in own
        for term in terms(entity.name, reading.language)
        if term not in reading.terms
    }


def specificity(*, names: int, windows: int, types: float, predicates: int, terms: int) -> float:
    """Return how narrowly a question is put, 0..1: .30 a name, .20 a window, .15 a type, .15 a predicate, .20 words.

    Each counts in full from its first on (a type that is only hinted at: half); words count up to five,
    so that a question of content words alone says little.
    """
    return (
        0.30 * min(1, names)
        + 0.20 * min(1, windows)
        + 0.15 * min(1.0, types)
        + 0.15 * min(1, predicates)
        + 0.20 * min(1.0, terms / 5)
    )


def _before(
    reading: QuestionReading, found: Sequence[Gram], by_alias: Mapping[str, list[KnownEntity]]
) -> Before | None:
    """Return what the question asks to look behind, and about whom it is asked."""
    if reading.before is None:
        return None
    inside = [gram for gram in found if overlaps(gram.span, reading.before)]
    outside = [gram for gram in found if not overlaps(gram.span, reading.before)]
    subjects = {entity.name for gram in outside for entity in by_alias[gram.name]} | {gram.name for gram in outside}
    own = {vocabulary.USER} if speaks_of_self(without(reading.text, [reading.before])) else set()
    return Before(
        entities=frozenset(str(one) for gram in inside for entity in by_alias[gram.name] for one in entity.ids),
        words=normalise.normalise_name(reading.text[reading.before.start : reading.before.end]),
        subjects=frozenset(normalise.normalise_name(one) for one in subjects | own),
    )


def _about(reading: QuestionReading, named: Sequence[KnownEntity]) -> frozenset[str]:
    """Return the names of those about whom something is asked; none where it asks who."""
    if questions.ASKS_WHO.search(reading.text) is not None:
        return frozenset()
    own = [one.span for one in reading.belongings]
    nouns = " ".join(one.noun for one in reading.belongings)
    asks_more = bool(own) and not {*predicates(reading.text)} <= {*predicates(nouns)}
    rest = without(reading.text, own) if asks_more else _rest(reading, own)
    asker = {vocabulary.USER} if speaks_of_self(rest) else set()
    names = (*(one.alias for one in reading.belongings), *(one.name for one in named))
    return frozenset(asker.union(map(normalise.normalise_name, names)))


def _noun_before(reading: QuestionReading, found: Sequence[Gram]) -> bool:
    """Tell whether a thing before a known name is asked for: "my manager before Priya?"."""
    return questions.NOUN_BEFORE.search(reading.text) is not None and any(gram.span == reading.before for gram in found)


def _unknown_names(reading: QuestionReading, found: Sequence[Gram]) -> tuple[str, ...]:
    spans = [*(gram.span for gram in found), *reading.window_spans, *reading.excluded_spans]
    unknown = [span for span in reading.capitalised if not any(overlaps(span, other) for other in spans)]
    return tuple(normalise.normalise_name(reading.text[span.start : span.end]) for span in unknown)


def _may_name(gram: Gram, reading: QuestionReading) -> bool:
    """Tell whether the words may be a name: not a time, and not the word for whoever a scope belongs to."""
    timed = any(overlaps(gram.span, window) for window in reading.window_spans)
    return not timed and gram.name != vocabulary.USER


def _excluded(text: str, found: Sequence[Gram]) -> set[Span]:
    """Return the spans of names that the asker does not want to hear of: "not Sarah", "except Tom and Ann"."""
    unwanted: set[Span] = set()
    previous: Gram | None = None
    for gram in found:
        before = text[max(0, gram.span.start - 40) : gram.span.start]
        follows = previous is not None and previous.span in unwanted
        between = "" if previous is None else text[previous.span.end : gram.span.start]
        if questions.BEFORE_EXCLUDED.search(before) or (follows and questions.ALSO_EXCLUDED.match(between)):
            unwanted.add(gram.span)
        previous = gram
    return unwanted


def _mentioned(
    text: str,
    named: Sequence[Gram],
    by_alias: Mapping[str, Sequence[KnownEntity]],
    known: QueryLookup,
    *,
    least: float,
    asker: float | None,
) -> tuple[Mentioned, ...]:
    """Return what the names stand for, each with at least the rarity `least`.

    With at least the rarity `asker`, if given, also whom the scope belongs to, unless a name stands for them, and who
    has the same name.
    """
    memories = known.memories
    found = tuple(
        Mentioned(
            span=gram.span,
            text=text[gram.span.start : gram.span.end],
            entities=_named(by_alias[gram.name], memories, least=least),
        )
        for gram in named
    )
    called = [one for one in known.entities if one.through == "own name"]
    own = _named((*by_alias.get(vocabulary.USER, ()), *called), memories, least=asker) if asker is not None else ()
    if not own or any(one.entities == own for one in found):
        return found
    return (*found, Mentioned(span=Span(start=0, end=0), text="I", entities=own))


def _named(entities: Sequence[KnownEntity], memories: int, *, least: float) -> tuple[NamedEntity, ...]:
    """Return what a name stands for, each with its rarity among the memories, or the least one."""
    return tuple(
        NamedEntity(
            name=one.name,
            entity_type=one.entity_type,
            ids=one.ids,
            rarity=max(least, _rarity(one.mentions, memories)),
        )
        for one in entities
    )


def _rarity(mentions: int, memories: int) -> float:
    """Return the entity's inverse document frequency, scaled so that one mention in many memories is 1."""
    memories = max(memories, mentions, 1)
    if memories == 1:
        return 1.0
    return math.log(1 + (memories - mentions) / (mentions + 0.5)) / math.log(1 + (memories - 1) / 1.5)


def _dense(reading: QuestionReading, spans: Sequence[Span]) -> str:
    """Return the question without the names that are known: they drown what is asked about them."""
    rest = without(reading.text, spans) if spans else reading.text
    return rest if _says_more(rest, reading.language) else reading.text


def _lexical_terms(reading: QuestionReading, unwanted: Sequence[Span]) -> tuple[str, ...]:
    if not unwanted:
        return reading.terms
    rest = without(reading.text, unwanted)
    forms = (rest, past_forms(rest))
    wanted = {term for one in forms for way in (terms, searched_terms) for term in way(one, reading.language)}
    return tuple(term for term in reading.terms if term in wanted)


def _unsought(reading: QuestionReading) -> list[Span]:
    """Return what is said and not looked for: the bound in "before 2019", "the user's" in "the user's sister"."""
    return [*reading.open_spans, *reading.asker_spans, *(one.owner for one in reading.belongings)]


def _spare_words(reading: QuestionReading, spare: Sequence[Span]) -> tuple[str, ...]:
    pairs = zip(reading.excluded_words, reading.excluded_spans, strict=True)
    return tuple(word for word, span in pairs if span in spare and word)


def _type_filter(reading: QuestionReading, found: Sequence[Gram], types: Registry) -> TypeFilter:
    """Return the types that may answer.

    A hint is a hard filter only when the question says nothing else, and asks for no predicate: "what happened last
    Tuesday?" can only be answered by events, "what happened at the beach?" may be answered by anything about the beach.
    """
    inferred = not reading.given_types and not reading.predicates and _says_hints_only(reading, found)
    only = tuple(reading.hint_words) if inferred else reading.given_types
    return TypeFilter(
        only=only,
        preferred=() if only else reading.hinted,
        inferred=inferred,
        within=bool(reading.windows and only) and all(types.get(name).happens for name in only),
    )


def _says_hints_only(reading: QuestionReading, found: Sequence[Gram]) -> bool:
    """Tell whether the question has words that hint at a type, and else only names, times and fillers."""
    spans = [*reading.window_spans, *(gram.span for gram in found)]
    rest = {word.casefold() for word in _WORD.findall(without(reading.text, spans))}
    hints = reading.hint_words
    return bool(hints) and rest <= set().union(
        *hints.values(), questions.FILLERS, STOP_WORDS.get(reading.language, frozenset())
    )


def _relations(predicates: Sequence[str]) -> tuple[str, ...]:
    """Return the relation types that were asked about, with their inverses: an edge is read both ways."""
    asked = [vocabulary.relation(one) or one for one in predicates]
    both = [kind for one in asked for kind in (one, vocabulary.INVERSES.get(one)) if kind is not None]
    return tuple(dict.fromkeys(kind for kind in both if kind in vocabulary.INVERSES))
