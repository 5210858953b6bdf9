"""Subject, denial, mood and time of the clause in which a value is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.english.names import is_given
from app.english.word_lists import COLLEAGUES, KIN, PETS, ROLE_HEADS, is_doctor, pattern, words
from app.lexical.tokens import normalise

Span = tuple[int, int]

_BREAK: Final = pattern("claims", "break", re.IGNORECASE)
"""Where one clause ends and the next begins, as far as a denial or a subject reaches."""

_JOINED: Final = re.compile(r"(?:,|\b(?:and|or|but|so|then))\s*$", re.IGNORECASE)

_PEOPLE: Final = frozenset({*KIN, *COLLEAGUES, *PETS}) | words("claims", "people")
_OF_OTHERS: Final = pattern("claims", "of others")
_OF_A_ROLE: Final = pattern("claims", "of a role")
_TOLD_ME: Final = pattern("claims", "told me")
_ABROAD: Final = pattern("claims", "abroad", re.IGNORECASE)
_SELF: Final = pattern("claims", "self")
_TO_YOU: Final = pattern("claims", "to you", re.IGNORECASE)
_LEFT_TO_CHOOSE: Final = pattern("claims", "left to choose", re.IGNORECASE)
_OF_USER: Final = pattern("claims", "of the user", re.IGNORECASE)
_MY: Final = re.compile(r"\bmy\b")
_OWN: Final = re.compile(r"\b(?:my|our)\b")
_IS_OWN: Final = re.compile(r"(?:\b(?:is|was|are|were)|'s|'re) (?:one of )?(?:my|our)\b")
_THIRD: Final = pattern("claims", "third person")
_NAMED: Final = pattern("claims", "named")

_DENIES: Final = pattern("claims", "denies", re.IGNORECASE)
_NO_DENIAL: Final = pattern("claims", "no denial", re.IGNORECASE)
_NEGATIVE: Final = pattern("claims", "negative", re.IGNORECASE)
"""Words by which a value or a predicate says itself that something is not so."""

_AHEAD: Final = pattern("claims", "ahead", re.IGNORECASE)
_BEGINS: Final = pattern("claims", "begins", re.IGNORECASE)
_WISHED: Final = pattern("claims", "wished", re.IGNORECASE)
_BEFORE: Final = pattern("claims", "before", re.IGNORECASE)

_GIVEN_UP: Final = pattern("exchanges", "before", re.IGNORECASE)
_TAKEN_OVER: Final = pattern("exchanges", "after", re.IGNORECASE)

_STILL_SO: Final = pattern("claims", "still so", re.IGNORECASE)
_KNOWN_AS: Final = pattern("claims", "known as")


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueClause:
    """The clause in which a value is said: all of it, and its part before the value."""

    text: str
    before: str


def clause_of(sentence: str, value: str, quote: str = "") -> ValueClause:
    """Return the clause of a sentence that says a value, by its rarest word that is there; else the whole sentence.

    What the quote has of the value counts first; without any of it, the clause is that of the quote.
    """
    folded, begins = normalise(sentence), max(sentence.find(quote), 0)
    inside = folded[begins : begins + len(quote)]
    within, offset = (inside, begins) if quote else (folded, 0)
    at = next((offset + within.find(word) for word in _telling(value) if word in within), -1)
    if len(folded) != len(sentence) or at < 0:
        return ValueClause(text=sentence, before=sentence)
    breaks = [found.end() for found in _BREAK.finditer(sentence)]
    start = max((end for end in breaks if end <= at), default=0)
    end = min((found.start() for found in _BREAK.finditer(sentence) if found.start() > at), default=len(sentence))
    return ValueClause(text=sentence[start:end], before=sentence[start:at])


def quoted_clause(sentence: str, quote: str) -> str:
    """Return the part of a sentence that a quote stands in, between the nearest breaks on both sides of it.

    A quote that follows a comma or a conjunction begins a clause of its own.
    """
    begins = sentence.find(quote)
    if begins < 0:
        return sentence
    ends = begins + len(quote)
    breaks = [found.span() for found in _BREAK.finditer(sentence)]
    start = max((end for _, end in breaks if end <= begins), default=0)
    end = min((first for first, _ in breaks if first >= ends), default=len(sentence))
    first = begins if _JOINED.search(sentence[:begins]) else start
    # The mark at the end of `can you help, I have ...?` is that of the request before it.
    return sentence[first:ends] if first > 0 and sentence[ends:end] == "?" else sentence[first:end]


def _telling(value: str) -> list[str]:
    """Return the words of a value as they are looked for, the longest first."""
    return sorted(re.findall(r"\w{2,}", normalise(value)), key=len, reverse=True)


def other_subject(clause: ValueClause) -> str | None:
    """Return whom the clause tells something of, where that is not its speaker: `son` of `my son is allergic`.

    Without a word for them it is empty.
    """
    head = clause.before
    plain = _TOLD_ME.sub("said", normalise(head))
    if (plain and _THIRD.match(normalise(clause.text))) or _ABROAD.match(plain):
        return ""
    named = _NAMED.match(head)
    if named is not None and is_given(named["name"]):
        return named["name"].casefold()
    found = _OF_OTHERS.search(plain)
    noun = None if found is None else found["words"].split()[-1]
    if found is None or noun is None or not _is_person(noun):
        return _role_of_subject(clause)
    # `My doctor upped my dose` is about the speaker, too.
    return None if _SELF.search(plain) or _OWN.search(plain, found.end()) else noun


def _is_person(noun: str) -> bool:
    return noun in _PEOPLE or is_doctor(noun)


def _role_of_subject(clause: ValueClause) -> str | None:
    """Return the role that names the subject of a clause without its speaker: `plumber` of `the plumber came`."""
    plain = _TOLD_ME.sub("said", normalise(clause.text))
    found = _OF_A_ROLE.match(plain)
    noun = None if found is None else found["words"]
    somebody = noun is not None and (_is_person(noun) or {noun, noun.removesuffix("s")} & (_PEOPLE | ROLE_HEADS))
    return noun if somebody and not (_SELF.search(plain) or _OWN.search(plain)) else None


def tie_of(noun: str) -> str | None:
    """Return the predicate or relation type of having somebody: `has-sibling` of `brother`."""
    return "has-pet" if noun in PETS else KIN.get(noun) or COLLEAGUES.get(noun)


def is_of_own(clause: ValueClause) -> bool:
    """Return whether the clause says who somebody is to the speaker: `she is my boss`."""
    return _IS_OWN.search(normalise(clause.text)) is not None


def is_still_so(clause: ValueClause) -> bool:
    """Return whether the clause denies an end: `I didn't quit`, but not `I don't work there any more`."""
    return is_denied(clause) and _STILL_SO.search(normalise(clause.text)) is None


def is_denied(clause: ValueClause) -> bool:
    """Return whether the clause denies its value; two denials make none."""
    before = _NO_DENIAL.sub(" ", normalise(clause.before))
    return sum(1 for _ in _DENIES.finditer(before)) % 2 == 1


def is_negative(text: str) -> bool:
    """Return whether a predicate or a value says itself that something is not so."""
    return _NEGATIVE.search(normalise(text)) is not None


def is_ahead(clause: ValueClause) -> bool:
    """Return whether the clause speaks of what is to come."""
    return any(pattern.search(normalise(text)) for pattern, text in ((_AHEAD, clause.before), (_BEGINS, clause.text)))


def is_wished(clause: ValueClause) -> bool:
    """Return whether the clause only wishes for its value, or thinks it possible."""
    return _WISHED.search(normalise(clause.before)) is not None


def is_told_to_somebody(clause: str) -> bool:
    """Tell whether a clause says something of whom it is said to: `you have agreed to ...`."""
    return _is_of_other(_TO_YOU, _LEFT_TO_CHOOSE.sub("", normalise(clause)))


def is_told_of_user(clause: str) -> bool:
    """Tell whether a clause speaks of `the user`, as no user does of themselves."""
    return _is_of_other(_OF_USER, clause)


def _is_of_other(subject: re.Pattern[str], clause: str) -> bool:
    plain = normalise(clause)
    return subject.search(plain) is not None and _SELF.search(plain) is None and _MY.search(plain) is None


def is_past(clause: ValueClause) -> bool:
    """Return whether the clause says that its value is no longer so."""
    return _BEFORE.search(normalise(clause.text)) is not None


def is_exchanged(value: str, text: str) -> bool:
    """Tell whether a text says that something takes the place of a value: `switched from X`, `instead of X`."""
    plain, sought = normalise(text), normalise(value)
    places = [found.span() for found in re.finditer(rf"(?<!\w){re.escape(sought)}", plain)] if sought else []
    return any(_GIVEN_UP.search(plain, 0, start) or _TAKEN_OVER.match(plain[end:]) for start, end in places)


def presupposed(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield noun and name of those whom a sentence takes for granted: `my sister Carmen told me ...`."""
    for found in _KNOWN_AS.finditer(sentence):
        if _is_person(found["noun"]):
            yield found["noun"], found["name"]
