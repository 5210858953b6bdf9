"""Reading a clause: its subject, then its auxiliaries and adverbs, then its verb."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from app.providers.rules.clause import Clause, Said, Subject, Tense, Who
from app.providers.rules.names import words_of
from app.providers.rules.reading import ADVERBS, BE, DO, HAVE, MODALS, UNCONTRACTED, Reading
from app.providers.rules.subjects import read_subject
from app.providers.rules.verbs import Form, form_of, looks_past

_CAPITAL_NAMES: Final = frozenset({"May", "Will"})
"""A month and a man, not what may or will be."""
_NOT: Final = {"won't": "will", "can't": "can", "cannot": "can"}
_HAS_GOT: Final = re.compile(r"\s+(?!married|engaged|divorced|back|to\b|into\b|used\b|over\b)\w")
_OVER: Final = re.compile(r"\b(?:ago|yesterday|last (?:week|month|year|night|\w+day))\b", re.IGNORECASE)
_PAST: Final = frozenset({"past", "participle"})


@dataclass(slots=True)
class _Verbal:
    """What the auxiliaries and adverbs before a verb say."""

    tense: Tense = Tense.PRESENT
    negated: bool = False
    modal: str | None = None
    perfect: bool = False
    be: bool = False
    do: bool = False
    used_to: bool = False
    adverbs: set[str] = field(default_factory=set)


def parse(text: str, start: int, said: Said) -> Clause | None:
    """Return the clause that the text is; None when it has no subject or verb that is known here.

    `start` is where the text stands in the turn.
    """
    reading = Reading(text, words_of(text))
    subject = read_subject(reading, said)
    return None if subject is None else _predicate(reading, subject, start)


def parse_after(text: str, start: int, subject: Subject) -> Clause | None:
    """Return the clause of a text that leaves its subject out: `and work at Volkswagen`."""
    return _predicate(Reading(text, words_of(text)), subject, start)


def _predicate(reading: Reading, subject: Subject, start: int) -> Clause | None:
    """Return the clause with its main verb; a copula's rest begins right after the auxiliaries."""
    verbal = _auxiliaries(reading)
    if reading.at >= len(reading.words):
        return None
    word = reading.words[reading.at]
    form = form_of(word.lower) or (Form(word.lower, _PAST) if looks_past(word.lower) and not verbal.modal else None)
    clause = Clause(
        text=reading.text, start=start, first=start, subject=subject, verb=word.lower,
        lemma="" if form is None else form.lemma, rest=reading.text[word.end :], tense=verbal.tense,
        negated=verbal.negated, modal=verbal.modal, perfect=verbal.perfect, used_to=verbal.used_to,
        adverbs=frozenset(verbal.adverbs),
    )  # fmt: skip
    if not verbal.be:
        return None if form is None else _finite(clause, form, verbal)
    if form is not None and "ing" in form.kinds:
        return replace(clause, progressive=True)
    if form is not None and "participle" in form.kinds and "base" not in form.kinds and form_of(word.lower):
        return replace(clause, passive=True)
    return replace(clause, verb="be", lemma="be", rest=reading.text[word.start :], copula=True)


def _auxiliaries(reading: Reading) -> _Verbal:
    """Read auxiliaries and adverbs up to the main verb."""
    verbal = _Verbal()
    for word in reading.pending:
        _take(word, verbal, reading)
    while reading.at < len(reading.words) and reading.words[reading.at].text not in _CAPITAL_NAMES:
        word = reading.word()
        if word.endswith("n't") or word == "cannot" or word in UNCONTRACTED:
            verbal.negated = True
            word = UNCONTRACTED[word][0] if word in UNCONTRACTED else _NOT.get(word, word.removesuffix("n't"))
        if not _take(word, verbal, reading):
            break
        reading.at += 1
    return verbal


def _take(word: str, verbal: _Verbal, reading: Reading) -> bool:
    """Note what the word says; False when it is no auxiliary or adverb, or is the main verb itself."""
    if word in {"not", "never"} or (word == "no" and _is_over(verbal, reading)):
        verbal.negated = True
        verbal.adverbs.update({word} & {"never"})
    elif word in ADVERBS or word == "longer":
        verbal.adverbs.add(word)
    elif word == "used" and reading.word(1) == "to" and not verbal.be:
        verbal.used_to = True
    elif word == "to" and verbal.used_to and reading.word(-1) == "used":
        pass
    else:
        return _auxiliary(word, verbal, reading)
    return True


def _is_over(verbal: _Verbal, reading: Reading) -> bool:
    """Tell whether `no` begins `no longer`, or `no more a fan of jazz` that compares with nothing."""
    more = reading.word(1) == "more" and verbal.be and reading.word(2) in {"a", "an", "the", "my", "in", "on", "at"}
    if more and " than " not in reading.text:
        verbal.adverbs.add("longer")
        reading.at += 1
        return True
    return reading.word(1) == "longer"


def _auxiliary(word: str, verbal: _Verbal, reading: Reading) -> bool:
    if word in BE and not verbal.be:
        verbal.tense, verbal.be = BE[word], True
    elif word in {"been", "be"} and (verbal.perfect or verbal.modal or verbal.used_to):
        verbal.be = True
    elif word in HAVE and not verbal.do and _participle_follows(reading):
        verbal.perfect, verbal.tense = True, HAVE[word]
    elif word in DO and not verbal.do and _base_follows(reading):
        verbal.tense, verbal.do = DO[word], True
    elif word == "will":
        verbal.tense, verbal.modal = Tense.FUTURE, "will"
    elif word == "would" and reading.pending and _only_participle_follows(reading):
        verbal.perfect, verbal.tense = True, Tense.PAST  # "I'd been" is no wish but the past of the past
    elif word in MODALS and verbal.modal is None:
        verbal.modal = word
    else:
        return False
    return True


def _participle_follows(reading: Reading) -> bool:
    word = reading.after_adverbs(1 if reading.word() in HAVE else 0)
    form = form_of(word)
    return word in {"been", "had"} or (form is not None and "participle" in form.kinds) or looks_past(word)


def _only_participle_follows(reading: Reading) -> bool:
    word = reading.after_adverbs(0)
    form = form_of(word)
    return word == "been" or (form is not None and "participle" in form.kinds and "base" not in form.kinds)


def _base_follows(reading: Reading) -> bool:
    form = form_of(reading.after_adverbs(1))
    return form is not None and "base" in form.kinds


def _finite(clause: Clause, form: Form, verbal: _Verbal) -> Clause | None:
    """Return the clause with the tense its verb shows; None when the verb is not one by itself."""
    if verbal.perfect and clause.verb == "got" and _HAS_GOT.match(clause.rest):
        return replace(clause, verb="have", lemma="have", perfect=False, tense=Tense.PRESENT)
    if verbal.perfect or verbal.do or verbal.modal or verbal.used_to:
        return clause
    past, base = "past" in form.kinds, "base" in form.kinds
    if past and base and (form.lemma == "quit" or _OVER.search(clause.rest)):
        return replace(clause, tense=Tense.PAST)  # "I quit smoking", "I read it last week"
    one = clause.subject.who in {Who.NAMED, Who.USER} and not clause.subject.plural
    if not (form.kinds & {"past", "base", "s"}) or (base and one and not past):
        return None  # "Networking help ...": no sentence
    return replace(clause, tense=Tense.PAST) if past and (one or not base) else clause
