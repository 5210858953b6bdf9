"""Questions of a conversation: the last thing its user said, with what it leaves to the messages before, in English.

A pronoun of a person becomes the name that it stands for. A question about a thing that it doesn't name (`did I like
them?`), and a rest of a question (`and in May?`), gets the content words of what its user said before, without times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from app.english.chitchat import is_chit_chat
from app.english.dates import find_spans
from app.english.names import PERSON, Gender, NameMention, gender_of, names_in
from app.english.questions import FILLERS
from app.english.word_lists import pattern
from app.lexical.bm25 import STOP_WORDS, terms

MOST_BEFORE: Final = 4
"""Messages before the last one that are looked at: what is meant was mostly said just before."""

MOST_WORDS: Final = 12
"""Most words that a question takes from the messages before."""

LONGEST: Final = 2_000
"""Characters of a message that are looked at, its last ones."""

SHORT: Final = 2
"""Most content words of a question that only continues another."""

_THING: Final = pattern("follow_ups", "thing meant", re.IGNORECASE)
_NO_THING: Final = pattern("follow_ups", "no thing", re.IGNORECASE)
_OPENING: Final = pattern("follow_ups", "opening", re.IGNORECASE)
_PERSONS: Final = re.compile(r"\b(?:(?P<he>he|him)|(?P<his>his)|(?P<she>she)|(?P<her>her|hers))\b", re.IGNORECASE)
_OWNED: Final = re.compile(r"\W+(?!(?:about|after|and|at|before|for|from|in|on|or|that|the|to|when|with)\b)[a-z]")
_WORD: Final = re.compile(r"[^\W_][\w'\u2019-]*")
_POSSESSIVE: Final = re.compile(r"['\u2019](?:s|m|d|ll|re|ve)$")
_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message of a conversation: whether its user wrote it, and the text."""

    by_user: bool
    text: str


def question_of(messages: Sequence[Said]) -> str | None:
    """Return what the last message of the user asks, readable by itself; None without a message of the user."""
    place = next((place for place in range(len(messages) - 1, -1, -1) if messages[place].by_user), None)
    if place is None:
        return None
    before = messages[max(0, place - MOST_BEFORE) : place]
    question = _named(messages[place].text.strip(), before)
    lent = _lent(question, before) if _leans(question) else ()
    return f"{question} ({' '.join(lent)})" if lent else question


def _named(question: str, before: Sequence[Said]) -> str:
    """Return the question with the names of people in place of `he` and `she`, where it names nobody itself."""
    first = _PERSONS.search(question)
    if first is None or any(_is_person(one) for one in names_in(question[: first.start()], {})):
        return question
    gender = Gender.MALE if (first["he"] or first["his"]) else Gender.FEMALE
    name = next(_people(before, gender), None)
    if name is None:
        return question

    def named(found: re.Match[str]) -> str:
        of = found["he"] or found["his"]
        if (Gender.MALE if of else Gender.FEMALE) is not gender:
            return found.group()
        owned = found["his"] or (found["her"] and _OWNED.match(question, found.end()))
        return f"{name}'s" if owned else name

    return _PERSONS.sub(named, question)


def _people(before: Sequence[Said], gender: Gender) -> Iterator[str]:
    """Yield people who may be meant, the last named first; one whose gender is not known only after the others."""
    named = [one for said in before for one in names_in(said.text[-LONGEST:], {})]
    people = [one.name for one in reversed(named) if _is_person(one)]
    yield from (one for one in people if gender_of(one) is gender)
    yield from (one for one in people if gender_of(one) is None)


def _is_person(one: NameMention) -> bool:
    return one.entity_type == PERSON or gender_of(one.name) is not None


def _leans(question: str) -> bool:
    """Tell whether the question leaves what it is about to the messages before."""
    if _OPENING.search(question) is not None:
        return True
    return _THING.search(_NO_THING.sub(" ", question)) is not None and len(_content(question)) <= 2 * SHORT


def _lent(question: str, before: Sequence[Said]) -> list[str]:
    """Return the content words of the user's message before, else of the one answered, that the question lacks."""
    own = {*terms(question)}
    ordered = [*(one for one in reversed(before) if one.by_user), *(one for one in reversed(before) if not one.by_user)]
    for said in ordered:
        if is_chit_chat(said.text):
            continue
        words = [word for word in _content(_without_times(said.text[-LONGEST:])) if not own.issuperset(terms(word))]
        if words:
            return words[:MOST_WORDS]
    return []


def _content(text: str) -> list[str]:
    """Return the words that are neither stop words nor fillers, each once."""
    stop = STOP_WORDS["english"] | FILLERS
    bare = (_POSSESSIVE.sub("", word.group()) for word in _WORD.finditer(text))
    return list({word.casefold(): word for word in bare if word.casefold() not in stop}.values())


def _without_times(text: str) -> str:
    for span in reversed(find_spans(text, now=_ANY_TIME)):
        text = f"{text[: span.start]} {text[span.end :]}"
    return text
