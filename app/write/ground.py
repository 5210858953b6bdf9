"""Stage 2, the gate behind extraction: what is proposed must stand in the turn, not in a prompt or in thin air.

A quotation is looked up word for word; numbers must have been said, names must have been named, and of the other
words enough. A model that says `dark` for `dark mode` passes, one that makes up a place of work does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.memory import normalise, vocabulary
from app.memory.extraction import ASSISTANT, Proposal, Turn
from app.memory.registry import Registry
from app.memory.vocabulary import FIRST_PERSON
from app.text.lexical import terms
from app.text.said import Said, numbers
from app.text.spans import locate
from app.text.wording import words
from app.text.words import count_words
from app.write.leaves import Leaf, dates, leaves

LEAST: Final = 1 / 3
"""Share of a payload's words, names counted twice, that the turn and its context must hold."""

SHORTEST: Final = 2
"""Words of a quotation that can carry a claim, unless it is the whole turn."""

TRANSLATED: Final = 0.5
"""Score of a payload in Latin letters from a turn without any: its words can't be compared."""

_THIRD_PERSON: Final = words("he she they it")
_STANCES: Final = words(
    "on off true false yes no enabled disabled enable disable none always never likes like dislikes dislike loves "
    "love hates hate enjoys enjoy prefers prefer wants want avoids avoid"
)
"""Values that only take a stance on their key; then the key's own words must be in the turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounded:
    """A proposal that stands in the turn: its quotation as the turn has it, where, and how well in 0..1."""

    quote: str
    span: tuple[int, int]
    score: float


def ground(
    proposal: Proposal, turn: Turn, context: Sequence[Turn], types: Registry, *, language: str = "english"
) -> Grounded | str:
    """Return how a proposal stands in its turn, or why it does not, in words without its content.

    `context` are the turns just before: they may have named whom `she` means, but something must be said in
    the turn itself. An ending that names no value stands by its quote alone. `types` hold the examples that the
    extractor was shown; `language` is a Snowball algorithm.
    """
    beside = (*(one.content for one in context), *_speakers(turn, context))
    return stands(proposal, turn.content, types, beside=beside, exempt=_persons(turn, context), language=language)


def stands(
    proposal: Proposal,
    text: str,
    types: Registry,
    *,
    beside: Sequence[str] = (),
    exempt: frozenset[str],
    language: str = "english",
) -> Grounded | str:
    """Return how a proposal stands in a text, or why it does not; `beside` may have named what the text refers to.

    `exempt` are normalised names that need no saying.
    """
    span = locate(proposal.quote, text)
    if span is None:
        return _not_said(proposal, types)
    quote = text[slice(*span)]
    spoken = quote.replace("'", "").replace("\u2019", "")
    if count_words(spoken) < SHORTEST and count_words(quote) < count_words(text):
        return "its quote is a single word, which carries no claim"
    here = Said.of((text,), language)
    known = Said.of((text, *beside), language)
    spec = types.find(proposal.type)
    chosen = frozenset[str]() if spec is None else spec.chosen
    found = leaves(proposal.payload, exempt=exempt, language=language, chosen=chosen)
    for example in () if spec is None else spec.examples:
        shown = (leaves(payload, exempt=exempt, language=language, chosen=chosen) for payload in example.payloads)
        if any(_copied(found, one, known) for one in shown) and not locate(example.utterance, text):
            return "it repeats an example of the prompt"
    translated = not known.latin and all(leaf.text.isascii() for leaf in found)
    unnamed = proposal.ends and all(leaf.label for leaf in found)
    dated = any(locate(one, text) for one in dates(proposal.payload))
    fault = None if translated or unnamed else _missing(found, here, known, dated=dated, language=language)
    if fault is not None:
        return fault
    score = TRANSLATED if translated else _score(found, known)
    if score < LEAST:
        return f"only {score:.0%} of what it says is in the turn"
    return Grounded(quote=quote, span=span, score=score)


def _not_said(proposal: Proposal, types: Registry) -> str:
    shown = (example.utterance for one in types for example in one.examples)
    if any(locate(proposal.quote, utterance) for utterance in shown):
        return "it quotes an example of the prompt"
    return "its quote is not in the turn" if proposal.quote.strip() else "it has no quote"


def _copied(found: Sequence[Leaf], shown: Sequence[Leaf], known: Said) -> bool:
    """Tell whether all that an example yields was proposed, although not all of its words were said."""
    values = {(leaf.field, normalise.sentence(leaf.text)) for leaf in found}
    told = [leaf for leaf in shown if not leaf.label]
    return (
        bool(told)
        and {(leaf.field, normalise.sentence(leaf.text)) for leaf in shown} <= values
        and not all(set(leaf.terms) <= _held(leaf, known) for leaf in told)
    )


def _missing(found: Sequence[Leaf], here: Said, known: Said, *, dated: bool, language: str) -> str | None:
    """Return what of the payload was never said; `dated`: a date of it stands in the turn, if nothing else does."""
    told = [leaf for leaf in found if not leaf.label]
    for leaf in told:
        if not numbers(leaf.text) <= known.numbers:
            return f"{leaf.field} holds a number that was not said"
        if not leaf.detail and not all(known.mentions(name, its) for name, its in leaf.names.items()):
            return f"{leaf.field} names something that was not named"
    if all(_takes_stance(leaf) for leaf in told):
        told = [leaf for leaf in found if leaf.label]
        here = known if dated else here
    if not any(
        _held(leaf, here) or numbers(leaf.text) & here.numbers or _called(leaf, here, language) for leaf in told
    ):
        return "none of what it says is in the turn"
    return None


def _called(leaf: Leaf, said: Said, language: str) -> bool:
    """Tell whether a predicate was said by another of its names: `my birthday` is when one was born."""
    if not leaf.label:
        return False
    others = (terms(normalise.words(name), language) for name in vocabulary.also_called(leaf.text))
    return any(bool(name) and all(map(said.holds, name)) for name in others)


def _score(found: Sequence[Leaf], known: Said) -> float:
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


def _held(leaf: Leaf, said: Said) -> set[str]:
    """Return which terms of a value were said, in full or by the short form of a name."""
    short = {term for name, its in leaf.names.items() if said.mentions(name, its) for term in its}
    return {term for term in leaf.terms if term in short or said.holds(term)}


def _takes_stance(leaf: Leaf) -> bool:
    return set(leaf.text.casefold().split()) <= _STANCES


def _persons(turn: Turn, context: Sequence[Turn]) -> frozenset[str]:
    """Return the names under which the speakers themselves go, and pronouns: who `I` is, or `her`, need not be said."""
    names = {*FIRST_PERSON, *_THIRD_PERSON, ASSISTANT, turn.first_person, turn.second_person, *_speakers(turn, context)}
    return frozenset(normalise.name(one) for one in names)


def _speakers(turn: Turn, context: Sequence[Turn]) -> tuple[str, ...]:
    return tuple(one.speaker for one in (turn, *context) if one.speaker)
