"""The terms of a text in its language, and BM25 as an inner product of two sparse vectors.

Stop words are by Snowball language name: English ones here, others with the words that tell languages apart. `may`,
`will` and other words that are also names or months are left out on purpose. A language without an entry has none.

`terms` is used at write and at read alike:

- a word: its Snowball stem, without accents; stop words are dropped, unless the text has nothing else;
- a possessive or contraction: the word before it (`Caroline's` is `carolin`, `don't` is a stop word);
- a hyphenated or apostrophed word: written together, and its parts (`check-in` is `checkin`, `check`);
- an identifier (with a digit, a dot, `_`, `@`, `&`, ...): whole and unstemmed, and its parts
  (`pg_trgm` is `pg_trgm`, `pg`, `trgm`; `v1.2.3` is `1.2.3`, `v1`, `2`, `3`; `#42` is `#42`, `42`);
- a script without spaces: character bigrams, and single ideographs.

The language is decided for each text by itself, by its function words and letters, in the same way when it is stored
and when it is asked for. It takes microseconds, and errs with texts of a few words: then the words are found in the
form in which they stand.

A Snowball stemmer takes 0.3 microseconds to create and is not thread-safe, so each call creates its own.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Final

import Stemmer
from pgvector import SparseVector

from app.lexical.tokens import HAN, SPACELESS_LETTER, fold_accents, normalise, tokenize
from app.section_files import read_sections

_ENGLISH: Final = """
a about above after again against ain't all also am an and any are as at be because been before being below
between both but by can can't cannot cant could did didnt do does doesnt doing don't dont down during each few
for from further had has have having he her here hers herself him himself his how i if im in into is isnt it
its itself ive just let me more most my myself no nor not now of off on once only or other our ours ourselves
out over own same shan't she should so some such than that the their theirs them themselves then there these
they this those through to too under until up us very was we were what when where which while who whom whose
why with won't wont would you your yours yourself yourselves
"""


@cache
def function_words() -> Mapping[str, frozenset[str]]:
    """Return the function words and letters of each language that is recognised, the default one not among them."""
    return _words_by_language("function_words")


@cache
def _common_words() -> Mapping[str, frozenset[str]]:
    return _words_by_language("common_words")


def _words_by_language(name: str) -> Mapping[str, frozenset[str]]:
    sections = read_sections("app.lexical", name)
    return {language: frozenset(" ".join(lines).split()) for language, lines in sections.items()}


STOP_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {**function_words(), "english": frozenset(_ENGLISH.split())}
)

DIMENSIONS: Final = 1_000_000_000
"""Dimensions of the sparse vectors: pgvector's maximum, which makes hash collisions rarest."""

MAX_ENTRIES: Final = 16_000
"""Non-zero entries that pgvector stores in one sparsevec (SPARSEVEC_MAX_NNZ)."""

MAX_TERM_LENGTH: Final = 64
"""Most characters of a term; Postgres allows lexemes of up to 2,046 bytes."""

MAX_LEXEME_BYTES: Final = 1_000_000
"""Most bytes of all lexemes of a tsvector; Postgres allows less than 1 MiB (MAXSTRPOS)."""

_MOST_BYTES: Final = 4
"""Most bytes of a character in UTF-8."""

_IDEOGRAPH: Final = re.compile(f"[{HAN}]")

_KANA: Final = re.compile("[\u3040-\u30ff]")

_WORDLIKE: Final = re.compile(f"[{HAN}]{{2}}|[\u30a0-\u30ff]{{2}}")

_HEAD: Final = re.compile(f"(?<![{HAN}])(?:[{HAN}]{{2,}})?([{HAN}])(?![{HAN}])")
"""An ideograph that stands alone, or is the last of three and more: what the word as a whole is."""

_CONTRACTION: Final = re.compile(r"(?:n't|'(?:s|m|d|ll|re|ve))$")

_VERSION: Final = re.compile(r"v(?=\d+\.\d)")

_JOINER: Final = re.compile(r"[_.@&'\-+:#]+")

_SIMPLE: Final = re.compile(r"[^\W_]+")


K1: Final = 1.2
"""BM25's saturation of repetition."""

B: Final = 0.75
"""BM25's penalty of length."""


def terms(text: str, language: str = "english") -> tuple[str, ...]:
    """Return the text's terms in order, repeated as often as they occur.

    `language` is a Snowball algorithm; an unknown one has neither stems nor stop words.
    """
    return _terms(tokenize(normalise(text)), language)


def searched_terms(text: str, default: str) -> tuple[str, ...]:
    """Return the terms by which a text is searched for, or searches: by its own language, else the default one."""
    tokens = tokenize(normalise(text))
    return _terms(tokens, _language(tokens, default))


def content_terms(text: str, default: str) -> tuple[str, ...]:
    """Return the terms of a text, in its own language, else the default one, that tell what it is about.

    Texts are stored with more: common words that several languages share, and what is elided before an apostrophe.
    """
    tokens = tokenize(normalise(text))
    language = _language(tokens, default)
    common = _common_words().get(language, frozenset())
    kept = [word for token in tokens if (word := _without_elision(token, common)) not in common]
    return _terms(kept or tokens, language)


def asked_terms(text: str, default: str) -> tuple[str, ...]:
    """Return the content terms by which a question is searched: of Japanese, no particles, nor words with one."""
    found = content_terms(text, default)
    return _of_content(found, normalise(text)) if _KANA.search(text) else found


def _without_elision(token: str, common: Collection[str]) -> str:
    elided, _, rest = token.partition("'")
    return rest if rest and elided in common else token


def _of_content(found: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the terms of a Japanese text that are words: pairs of ideographs or of katakana, and heads of words."""
    heads = set(_HEAD.findall(text)) - _common_words()["japanese"]
    kept = tuple(one for one in found if one in heads or _WORDLIKE.fullmatch(one) or not SPACELESS_LETTER.match(one))
    return kept or tuple(found)


def text_language(text: str) -> str:
    """Return the language of a text as its Snowball algorithm, English where it can't be told."""
    return _language(tokenize(normalise(text)), "english")


def _language(tokens: Sequence[str], default: str) -> str:
    return language_of(tokens, default, STOP_WORDS.get(default, frozenset()))


def _terms(tokens: Sequence[str], language: str) -> tuple[str, ...]:
    stop = STOP_WORDS.get(language, frozenset())
    forms = [form for token in tokens for form in _forms(token, stop)]
    if not forms:
        return tuple(fold_accents(token)[:MAX_TERM_LENGTH] for token in tokens)
    stemmed = iter(_stem_all(language)([form for form, stemmable in forms if stemmable]))
    return tuple(fold_accents(next(stemmed) if stemmable else form)[:MAX_TERM_LENGTH] for form, stemmable in forms)


def _stem_all(language: str) -> Callable[[Sequence[str]], Sequence[str]]:
    try:
        stem: Callable[[Sequence[str]], Sequence[str]] = Stemmer.Stemmer(language).stemWords
    except KeyError:
        return lambda words: words
    return stem


def _forms(token: str, stop: frozenset[str]) -> Iterator[tuple[str, bool]]:
    """Yield each form of a token in the index, and whether it is stemmed."""
    if token in stop:
        return
    if SPACELESS_LETTER.match(token):
        yield from ((gram, False) for gram in _grams(token))
    elif _SIMPLE.fullmatch(token):
        yield token, True
    else:
        yield from _compound(_CONTRACTION.sub("", token), stop)


def _grams(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
        return
    yield from (first + second for first, second in pairwise(run))
    yield from _IDEOGRAPH.findall(run)


def _compound(token: str, stop: frozenset[str]) -> Iterator[tuple[str, bool]]:
    token = token.replace(",", "")
    parts = [part for part in _JOINER.split(token) if part]
    if parts == [token]:
        if token not in stop:
            yield token, True
        return
    joiners = {character for joiner in _JOINER.findall(token) for character in joiner}
    together = "".join(parts)
    if joiners <= {"-", "'"} and not any(map(str.isdigit, token)):
        yield together, True
    elif joiners == {"."} and together.isalpha() and len(together) == len(parts) and together not in stop:
        yield together, False
    else:
        yield _VERSION.sub("", token, count=1) if _VERSION.match(token) else token, False
    for part in parts:
        if part not in stop and (len(part) > 1 or part.isdigit() or len(parts) == 1):
            yield part, True


def lexemes_of(found: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct terms, sorted; the last ones are left out beyond the limit of a tsvector."""
    kept = list(dict.fromkeys(found))
    if _MOST_BYTES * sum(map(len, kept)) > MAX_LEXEME_BYTES:
        ends = accumulate(len(term.encode()) for term in kept)
        kept = [term for term, end in zip(kept, ends, strict=True) if end <= MAX_LEXEME_BYTES]
    return tuple(sorted(kept))


@lru_cache(maxsize=50_000)
def index_of(term: str) -> int:
    """Return the term's index in the sparse vectors, 1..DIMENSIONS: a hash that is equal on every machine."""
    digest = blake2b(term.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % DIMENSIONS + 1


def document_weights(found: Sequence[str], *, average_length: float) -> dict[int, float]:
    """Return a document's half of BM25: `tf (k1 + 1) / (tf + k1 (1 - b + b length / average_length))`.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), formula 3.15.
    Without an average (nothing written yet) the document counts as one of average length.
    """
    relative = len(found) / average_length if average_length > 0 else 1.0
    saturation = K1 * (1 - B + B * relative)
    weights: dict[int, float] = {}
    for term, frequency in Counter(found).items():
        index = index_of(term)
        weights[index] = weights.get(index, 0.0) + frequency * (K1 + 1) / (frequency + saturation)
    return weights


def idf(document_frequency: int, documents: int) -> float:
    """Return `ln(1 + (N - df + 0.5) / (df + 0.5))`: Lucene's form, which never falls to zero or below.

    Kamphuis et al., "Which BM25 Do You Mean?" (ECIR 2020), table 1, "Lucene (accurate)". Counters may lag
    behind the documents, so a frequency above the count is taken as the count.
    """
    documents = max(documents, document_frequency)
    return math.log(1 + (documents - document_frequency + 0.5) / (document_frequency + 0.5))


def query_weights(found: Sequence[str], frequencies: Mapping[str, int], documents: int) -> dict[int, float]:
    """Return a query's half of BM25: each term's idf, times its occurrences in the query.

    `frequencies` are the numbers of the `documents` with a term; a missing term counts as new, the rarest.
    """
    weights: dict[int, float] = {}
    for term, occurrences in Counter(found).items():
        index = index_of(term)
        weights[index] = weights.get(index, 0.0) + occurrences * idf(frequencies.get(term, 0), documents)
    return weights


def as_tsvector(terms: Sequence[str]) -> str:
    """Return terms in tsvector's text format, quoted, so that no term is read as syntax."""
    return " ".join(map(_quoted, lexemes_of(terms)))


def as_tsquery(terms: Sequence[str]) -> str:
    """Return `'a' | 'b'` in tsquery's text format, quoted, so that no term is read as syntax."""
    return " | ".join(map(_quoted, terms))


def _quoted(term: str) -> str:
    return f"'{term}'" if term.isalnum() else "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def to_sparsevec(weights: Mapping[int, float]) -> SparseVector:
    """Return the weights as pgvector's sparse vector; zeros are left out, past MAX_ENTRIES the heaviest are kept."""
    entries = {index - 1: weight for index, weight in weights.items() if weight}
    if len(entries) > MAX_ENTRIES:
        entries = dict(sorted(entries.items(), key=lambda entry: (-abs(entry[1]), entry[0]))[:MAX_ENTRIES])
    return SparseVector(entries, DIMENSIONS)


@cache
def _languages_of_words() -> Mapping[str, tuple[str, ...]]:
    found = defaultdict[str, tuple[str, ...]](tuple)
    for language, words in function_words().items():
        for word in words:
            found[word] += (language,)
    return dict(found)


def language_of(tokens: Collection[str], default: str, default_words: Collection[str]) -> str:
    """Return the language that most of the tokens' function words and letters speak for, else the default.

    A language needs more of them than the default has; `default_words` are the default's. Of languages with equally
    many, or none, the one is taken that most of the common words are of.
    """
    words = set(tokens)
    known = _languages_of_words()
    votes = Counter(language for word in words for language in known.get(word, ()))
    if not (letters := "".join(words)).isascii():
        signs = {letter for letter in letters if not letter.isascii()}
        votes.update(language for letter in signs for language in known.get(letter, ()))
    most, defaults = max(votes.values(), default=0), sum(word in default_words for word in words)
    if most < defaults or (most and most == defaults):
        return default
    best = [language for language in function_words() if votes[language] == most]
    if len(best) == 1:
        return best[0]
    of_language = _common_words()
    telling = words - of_language["ambiguous"]
    common = {language: len(telling & of_language.get(language, frozenset())) for language in best}
    likely = max(best, key=common.__getitem__)
    return likely if most or common[likely] else default
