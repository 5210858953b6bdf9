"""Stage: every value of a proposal must stand in the turn.

Quotations are looked up word for word. Numbers and names must have been said, and of other words enough: a model that
says `dark` for `dark mode` passes, one that makes up a place of work does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, time
from functools import partial
from typing import Final

from app.english.grounding_terms import GroundingTerms, is_german_noun, numbers
from app.english.leads import own_sentences
from app.english.word_lists import word_set
from app.lexical.bm25 import terms, text_language
from app.lexical.tokens import count_words, locate_quote
from app.memory import normalise, vocabulary
from app.memory.extraction import ASSISTANT, SHORT_TURN, Proposal, Role, Turn
from app.memory.fields import texts_in
from app.memory.registry import Registry
from app.memory.vocabulary import FIRST_PERSON
from app.write.reference_lines import NOTHING_REFERRED, ReferredLines

MOST: Final = 100
"""Values of a payload that are looked at."""

_LABEL: Final = re.compile(r"(?:^|_)(?:type|key|predicate|precision|severity|category|class|kind|status)$")
"""Fields, by their wire names, whose values are chosen from a vocabulary rather than said."""

_ELSEWHERE: Final = re.compile(r"(?:^|_)(?:id|at|from|until|since|date|ttl|seconds|timezone)$|^sequence_number$")
"""Fields that hold times and ids: dates are resolved, not quoted, and ids come with the request."""

_MOST_BITS: Final = 128
"""Of a whole number: a longer one was never said, and Python refuses to write the longest."""

_ENDS_OF_EDGES: Final = frozenset({"from_entity", "to_entity"})

_HYPHENATED: Final = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)+")

_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"

_DATES: Final = re.compile(
    rf"\b\d{{4}}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?)?\b|\b\d{{1,2}}:\d\d(?::\d\d)?\b|"
    rf"\b(?:mon|tues?|wednes|thurs?|fri|satur|sun)days?\b|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{1,2}}(?:st|nd|"
    rf"rd|th)? (?:of )?{_MONTH}\b|(?a:\b(?:19|20)\d\d\b)|"
    r"(?<!\d)\d{1,2}月\d{1,2}[日号號]|"
    rf"\b(?:in|of|since|until|last|next|this) {_MONTH}(?!\w)",
    re.IGNORECASE,
)

_NAME: Final = re.compile(
    r"(?<![\w'])[^\W\d_a-z][\w'&.\u2019-]{0,40}(?: (?:(?:of|the|de|la|le|van|von|der|di|da|al|"
    r"el) ){0,2}[^\W\d_a-z][\w'&.\u2019-]{0,40}){0,5}"
)
"""Words that begin with a capital, together with what joins them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One value: its field by its wire name, its words without dates, their terms, and the names among them.

    `label`: chosen from a vocabulary. `detail`: from a map of attributes. `names` have terms of their own.
    """

    field: str
    text: str
    terms: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]
    label: bool
    detail: bool


def leaves(
    payload: Mapping[str, object], *, exempt: frozenset[str], language: str, chosen: frozenset[str] = frozenset()
) -> tuple[Leaf, ...]:
    """Return the values that say something, in their order; `exempt` are normalised names that need no saying.

    `chosen` are fields whose values are chosen from a vocabulary, besides those whose names say so.
    Numbers are no terms: they are compared as numbers.
    """
    found = []
    for field, value, detail in _walk(payload):
        text = " ".join(_DATES.sub(" ", value).split())
        if not any(map(str.isalnum, text)) or normalise.normalise_name(value) in exempt:
            continue
        picked = field in chosen or _LABEL.search(field) is not None
        label = not detail and (picked or _HYPHENATED.fullmatch(text) is not None)
        found.append(
            Leaf(
                field=field,
                text=text,
                terms=_terms(text.replace("-", " ") if label else text, exempt, language),
                names={}
                if label
                else {name: _terms(name, exempt, language) for name in _names(text, exempt, language)},
                label=label,
                detail=detail,
            )
        )
    return tuple(found)


def dates(payload: Mapping[str, object]) -> tuple[str, ...]:
    """Return the dates as they are written in the values of a payload."""
    return tuple(found[0] for _, value, _ in _walk(payload) for found in _DATES.finditer(value))


def _terms(text: str, exempt: frozenset[str], language: str) -> tuple[str, ...]:
    found = dict.fromkeys(one for one in terms(text, language) if not one[:1].isdigit())
    return tuple(one for one in found if one not in exempt)


def _names(text: str, exempt: frozenset[str], language: str) -> Iterator[str]:
    """Yield the names in a value; its first word is one only when the whole value is: sentences begin with capitals.

    German writes every noun so: one that its ending or the word before it shows is no name.
    """
    for found in _NAME.finditer(text):
        if language == "german" and is_german_noun(found[0], text[: found.start()]):
            continue
        name = found[0].rstrip(".")
        if found.start() == 0 and found.end() < len(text):
            name = name.partition(" ")[2]
        if name and name[:1].isupper() and normalise.normalise_name(name) not in exempt:
            yield name


def _walk(payload: Mapping[str, object]) -> Iterator[tuple[str, str, bool]]:
    """Yield field, value as text, and whether it is a detail, however the payload is nested."""
    waiting: list[tuple[str, object, bool]] = [(field, value, False) for field, value in list(payload.items())[::-1]]
    for _ in range(MOST):
        if not waiting:
            return
        field, value, detail = waiting.pop()
        if _ELSEWHERE.search(field) and field not in _ENDS_OF_EDGES and not detail:
            continue
        if isinstance(value, Mapping):
            waiting += [(str(key), one, True) for key, one in list(value.items())[::-1]]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += [(field, one, detail) for one in reversed(list(value))]
        elif value is not None and not isinstance(value, bool | date | time):
            absurd = isinstance(value, int) and value.bit_length() > _MOST_BITS
            yield field, "9" * MOST if absurd else str(value), detail


LEAST: Final = 1 / 3
"""Share of a payload's words, names counted twice, that the turn and its context must hold."""

SHORTEST: Final = 2
"""Words of a quotation that can carry a claim, unless it is the whole turn."""

TRANSLATED: Final = 0.5
"""Score of a payload in Latin letters from a turn without any: its words can't be compared."""

_THIRD_PERSON: Final = word_set("he she they it")

_STANCES: Final = word_set(
    "on off true false yes no enabled disabled enable disable none always never likes like dislikes dislike loves "
    "love hates hate enjoys enjoy prefers prefer wants want avoids avoid fears fear refuses refuse"
)
"""Values that only take a stance on their key; then the key's own words must be in the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding:
    """A proposal that stands in the turn: its quotation as the turn has it, where, and how well in 0..1."""

    quote: str
    span: tuple[int, int]
    score: float


def ground(
    proposal: Proposal,
    turn: Turn,
    context: Sequence[Turn],
    types: Registry,
    *,
    names: Sequence[str] = (),
    lines: ReferredLines = NOTHING_REFERRED,
    shown: Sequence[str] = (),
) -> Grounding | str:
    """Return how a proposal stands in its turn, or why it does not, in words without its content.

    `context` are the turns just before: they may have named whom `she` means, but something must be said in the turn
    itself. What stands in the `lines` that it refers to counts as said: only what it says anew must be in the turn,
    and an ending of such a line stands by its quote alone. `names` are those of whom it means by another name. An
    ending that names no value stands by its quote alone. Names in the texts that the extractor was `shown` as known
    were named. `types` hold the examples that the extractor was shown.
    Words are compared by stems of the language of the turn.
    """
    beside = (*(one.content for one in context), *_speakers(turn, context), *names, *lines.texts(proposal))
    return stands(
        proposal,
        turn.content,
        types,
        beside=beside,
        exempt=_persons(turn, context),
        language=text_language(turn.content),
        known=lines.fields(proposal),
        shown=shown,
    )


def is_told_by_user(proposal: Proposal, turn: Turn, context: Sequence[Turn], lines: ReferredLines) -> bool:
    """Return whether what a proposal of another's turn says stands in the user's turns before, or in what is known.

    Of an English turn the sentences without a first person don't count: they don't speak of their speaker.
    """
    turns = (one.content for one in context if one.role is Role.USER)
    said = (*(part for one in turns for part in own_sentences(one)), *lines.texts(proposal))
    language = text_language(turn.content)
    known = GroundingTerms.of(said, language)
    found = leaves(proposal.payload, exempt=_persons(turn, context), language=language)
    return all(
        set(leaf.terms) <= _held(leaf, known) and numbers(leaf.text) <= known.numbers
        for leaf in found
        if not leaf.label
    )


def stands(
    proposal: Proposal,
    text: str,
    types: Registry,
    *,
    beside: Sequence[str] = (),
    exempt: frozenset[str],
    language: str,
    known: Sequence[Mapping[str, object]] = (),
    shown: Sequence[str] = (),
) -> Grounding | str:
    """Return how a proposal stands in a text, or why it does not; `beside` may have named what the text refers to.

    `known` are the fields of stored memories that it refers to, whose values need no saying; names may stand in
    `shown`. `exempt` are normalised names that need no saying; `language` is a Snowball algorithm.
    """
    whole = _quoted(proposal, text, types)
    if isinstance(whole, str) or (proposal.ends and proposal.retires):
        return whole
    said = GroundingTerms.of((text, *beside), language)
    spec = types.find(proposal.type)
    chosen, states = (frozenset[str](), False) if spec is None else (spec.chosen, spec.states)
    read = partial(leaves, exempt=exempt, language=language, chosen=chosen)
    found = read(proposal.payload)
    for example in () if spec is None else spec.examples:
        copied = any(_copied(found, read(one), said) for one in example.payloads)
        if copied and not locate_quote(example.utterance, text):
            return "it repeats an example of the prompt"
    stored = {(leaf.field, normalise.sentence(leaf.text)) for one in known for leaf in read(one)}
    found = tuple(leaf for leaf in found if (leaf.field, normalise.sentence(leaf.text)) not in stored)
    again = proposal.repeats is not None and all(leaf.label for leaf in found)
    if stored and (again or not found):
        return whole
    if not said.latin and all(leaf.text.isascii() for leaf in found):
        score = TRANSLATED
    elif fault := _fault(proposal, found, (text, *beside), said, shown=shown, language=language, states=states):
        return fault
    else:
        score = _score(found, said)
    return replace(whole, score=score) if score >= LEAST else f"only {score:.0%} of what it says is in the turn"


def _quoted(proposal: Proposal, text: str, types: Registry) -> Grounding | str:
    """Return the quotation of a proposal as a text has it, or why it carries no claim."""
    span = locate_quote(proposal.quote, text)
    if span is None:
        return _not_said(proposal, types)
    quote = text[slice(*span)]
    spoken = quote.replace("'", "").replace("\u2019", "")
    if count_words(spoken) < SHORTEST and count_words(quote) < count_words(text):
        return "its quote is a single word, which carries no claim"
    return Grounding(quote=quote, span=span, score=1.0)


def _fault(
    proposal: Proposal,
    found: Sequence[Leaf],
    texts: Sequence[str],
    said: GroundingTerms,
    *,
    shown: Sequence[str],
    language: str,
    states: bool,
) -> str | None:
    """Return what was not said of what a proposal says: neither in the first of the texts, nor in those beside it."""
    text = texts[0]
    fault = None
    if not (proposal.ends and all(leaf.label for leaf in found)):
        fault = _missing(
            found,
            GroundingTerms.of((text,), language),
            said,
            GroundingTerms.of((*texts, *shown), language) if shown else said,
            dated=any(locate_quote(one, text) for one in dates(proposal.payload)),
            language=language,
            short=states and count_words(text) < SHORT_TURN,
        )
    names = (frozenset(terms(name[0], language)) for one in texts for name in _NAME.finditer(one))
    return fault or _misnamed(found, list(names), said)


LEAST_OF_SENTENCE: Final = 0.5
"""Share of a sentence's words, names counted twice, that were said or stand in the payload."""


def says_more(proposal: Proposal, turn: Turn, context: Sequence[Turn], said: Sequence[str]) -> bool:
    """Return whether a proposal's sentence brings in names, numbers or too many words that nobody said.

    Said is what stands in the turn and its context, in what is known of whom they mean (`said`), and in the payload,
    which was found to stand there; dates are worked out, not said.
    """
    if proposal.sentence is None:
        return False
    sentence, language = " ".join(_DATES.sub(" ", proposal.sentence).split()), text_language(turn.content)
    beside = (*(one.content for one in context), *_speakers(turn, context), *said, *texts_in(proposal.payload))
    known = GroundingTerms.of((turn.content, *beside), language)
    found = leaves({"sentence": sentence}, exempt=_persons(turn, context), language=language)
    if not found or not numbers(sentence) <= known.numbers:
        return True
    named = all(known.mentions(name, its) for leaf in found for name, its in leaf.names.items())
    return not named or _score(found, known) < LEAST_OF_SENTENCE


def _not_said(proposal: Proposal, types: Registry) -> str:
    shown = (example.utterance for one in types for example in one.examples)
    if any(locate_quote(proposal.quote, utterance) for utterance in shown):
        return "it quotes an example of the prompt"
    return "its quote is not in the turn" if proposal.quote.strip() else "it has no quote"


def _copied(found: Sequence[Leaf], shown: Sequence[Leaf], known: GroundingTerms) -> bool:
    """Tell whether all that an example yields was proposed, although not all of its words were said."""
    values = {(leaf.field, normalise.sentence(leaf.text)) for leaf in found}
    told = [leaf for leaf in shown if not leaf.label]
    return (
        bool(told)
        and {(leaf.field, normalise.sentence(leaf.text)) for leaf in shown} <= values
        and not all(set(leaf.terms) <= _held(leaf, known) for leaf in told)
    )


def _missing(
    found: Sequence[Leaf],
    here: GroundingTerms,
    known: GroundingTerms,
    named: GroundingTerms,
    *,
    dated: bool,
    language: str,
    short: bool,
) -> str | None:
    """Return what of the payload was never said; `dated`: a date of it stands in the turn, if nothing else does.

    Names are looked for in `named`. Of a state in a `short` turn everything must have been said: among few words one is
    found by chance.
    """
    told = [leaf for leaf in found if not leaf.label]
    if short and not all(set(leaf.terms) <= _held(leaf, known) for leaf in told):
        return "a part of what it says was never said"
    for leaf in told:
        if not numbers(leaf.text) <= known.numbers:
            return f"{leaf.field} holds a number that was not said"
        if not leaf.detail and not all(named.mentions(name, its) for name, its in leaf.names.items()):
            return f"{leaf.field} names something that was not named"
    if all(_takes_stance(leaf) for leaf in told):
        told = [leaf for leaf in found if leaf.label]
        here = known if dated else here
    if not any(
        _held(leaf, here) or numbers(leaf.text) & here.numbers or _called(leaf, here, language) for leaf in told
    ):
        return "none of what it says is in the turn"
    return None


def _misnamed(found: Sequence[Leaf], said: Sequence[frozenset[str]], known: GroundingTerms) -> str | None:
    """Return which field has a name that shares words with another one that was said: `Oak Street` for `Elm Street`."""
    for leaf in found:
        for its in () if leaf.detail else leaf.names.values():
            unsaid = [term for term in its if not known.mentions(term, (term,))]
            if unsaid and any(name & {*its} and name - {*its} for name in said):
                return f"{leaf.field} names something else than was named"
    return None


def _called(leaf: Leaf, said: GroundingTerms, language: str) -> bool:
    """Tell whether a predicate was said by another of its names: `my birthday` is when one was born."""
    if not leaf.label:
        return False
    others = (terms(normalise.words(name), language) for name in vocabulary.synonyms_of(leaf.text))
    return any(bool(name) and all(map(said.holds, name)) for name in others)


def _score(found: Sequence[Leaf], known: GroundingTerms) -> float:
    """Return the share of the words that were said; one of a name, or a number, weighs as much as two others."""
    total = held = 0
    for leaf in found:
        if leaf.label or _takes_stance(leaf):
            continue
        named = {term for its in leaf.names.values() for term in its}
        weights = {term: 2 if term in named else 1 for term in leaf.terms}
        figures = 2 * len(numbers(leaf.text))
        total += figures + sum(weights.values())
        held += figures + sum(weights[term] for term in _held(leaf, known))
    return held / total if total else 1.0


def _held(leaf: Leaf, said: GroundingTerms) -> set[str]:
    """Return which terms of a value were said, in full or by the short form of a name."""
    short = {term for name, its in leaf.names.items() if said.mentions(name, its) for term in its}
    return {term for term in leaf.terms if term in short or said.holds(term)}


def _takes_stance(leaf: Leaf) -> bool:
    return set(leaf.text.casefold().split()) <= _STANCES


def _persons(turn: Turn, context: Sequence[Turn]) -> frozenset[str]:
    """Return the names under which the speakers themselves go, and pronouns: who `I` is, or `her`, need not be said."""
    names = {*FIRST_PERSON, *_THIRD_PERSON, ASSISTANT, turn.first_person, turn.second_person, *_speakers(turn, context)}
    return frozenset(normalise.normalise_name(one) for one in names)


def _speakers(turn: Turn, context: Sequence[Turn]) -> tuple[str, ...]:
    return tuple(one.speaker for one in (turn, *context) if one.speaker)
