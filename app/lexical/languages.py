"""The language of a text, by its function words and letters, as the name of its Snowball stemmer.

Decided for each text by itself, in the same way when it is stored and when it is asked for. It takes microseconds, and
errs with texts of a few words: then the words are found in the form in which they stand.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from functools import cache

from app.section_files import read_sections


@cache
def function_words() -> Mapping[str, frozenset[str]]:
    """Return the function words and letters of each language that is recognised, the default one not among them."""
    sections = read_sections("app.lexical", "function_words")
    return {language: frozenset(" ".join(lines).split()) for language, lines in sections.items()}


@cache
def _languages_of_words() -> Mapping[str, tuple[str, ...]]:
    found = defaultdict[str, tuple[str, ...]](tuple)
    for language, words in function_words().items():
        for word in words:
            found[word] += (language,)
    return dict(found)


def language_of(tokens: Collection[str], default: str, default_words: Collection[str]) -> str:
    """Return the language that most of the tokens' function words and letters speak for, else the default.

    A language needs more of them than the default has; `default_words` are the default's.
    """
    words = set(tokens)
    known = _languages_of_words()
    votes = Counter(language for word in words for language in known.get(word, ()))
    signs = {letter for letter in "".join(words) if not letter.isascii()}
    votes.update(language for letter in signs for language in known.get(letter, ()))
    ordered = sorted(votes.items(), key=lambda one: -one[1])
    if not ordered or ordered[0][1] <= sum(word in default_words for word in words):
        return default
    best = {language for language, count in ordered if count == ordered[0][1]}
    return next(language for language in function_words() if language in best)
