"""Requests of a user to forget something that was said: `forget that I have a cat`, `lösche meine Adresse`.

What is meant is told by its content words, in English where a word of another language has an alias. A request without
any asks for nothing that can be found: `forget it`, `never mind`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from app.english.questions import QUESTION_HINTS
from app.english.word_lists import expanded, listed, pairs, words
from app.lexical.bm25 import STOP_WORDS
from app.lexical.tokens import normalise, sentence_spans, tokenize

LANGUAGES: Final = ("english", "german", "french", "spanish")

_PATTERNS: Final[Mapping[str, tuple[re.Pattern[str], ...]]] = {
    language: tuple(
        re.compile(expanded("erasure_requests", line), re.IGNORECASE) for line in listed("erasure_requests", language)
    )
    for language in LANGUAGES
}
_IDLE: Final = words("erasure_requests", "idle")
_FORMER: Final = words("erasure_requests", "former")
_ALIASES: Final = pairs("erasure_requests", "aliases")
_ELIDED: Final = re.compile(r"\b(?:j|l|d|m|t|qu)['\u2019](?=\w)", re.IGNORECASE)
"""French words that lean on the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureRequest:
    """A statement of a user that something is to be forgotten.

    `quote` is the sentence of the turn, word for word; `words` say what is meant, without function words; `predicates`
    are those that the words mean, where they name a kind of fact and no value: `my address`. `former`: what no longer
    holds is meant, if there is any. `memories` are the ids of those stored ones that an extractor was shown and that
    are meant.
    """

    quote: str
    words: tuple[str, ...]
    predicates: tuple[str, ...] = ()
    former: bool = False
    memories: tuple[UUID, ...] = ()


def erasure_requests(text: str) -> tuple[ErasureRequest, ...]:
    """Return the sentences of a text that ask to forget something, in their order."""
    return tuple(_requests(text))


def request_for(quote: str, what: str, language: str) -> ErasureRequest:
    """Return the request of a quote to forget something, by words for it in a language."""
    said = _content_words(what, language)
    meant = tuple(one for one in said if one not in _FORMER) or said
    return ErasureRequest(quote=quote, words=meant, predicates=_predicates(meant), former=meant != said)


def _requests(text: str) -> Iterator[ErasureRequest]:
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        for language, patterns in _PATTERNS.items():
            found = next((one for each in patterns if (one := each.match(sentence)) is not None), None)
            if found is not None:
                request = request_for(sentence, found["what"], language)
                if request.words:
                    yield request
                break


def _content_words(what: str, language: str) -> tuple[str, ...]:
    stop = STOP_WORDS.get(language, frozenset()) | STOP_WORDS["english"]
    tokens = tokenize(normalise(_ELIDED.sub("", what)))
    return tuple(dict.fromkeys(_ALIASES.get(one, one) for one in tokens if one not in stop and one not in _IDLE))


def _predicates(meant: tuple[str, ...]) -> tuple[str, ...]:
    """Return the predicates of which each of these words tells; none for most things."""
    return tuple(name for name, hints in QUESTION_HINTS.items() if set(meant).issubset({name, *hints}))
