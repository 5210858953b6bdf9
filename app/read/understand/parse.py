"""Parsing of a question by its words alone: windows, types, predicates, tense, exclusions."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Literal

from app.english import questions
from app.english.dates import TemporalSpan, find_spans
from app.english.verbs import past_forms
from app.lexical.bm25 import STOP_WORDS, searched_terms, terms
from app.memory import normalise, vocabulary
from app.memory.registry import Registry
from app.model import ReadMode
from app.read.understand import names
from app.read.understand.names import ASSISTANTS, capitalised, grams, predicates, speaks_of_self
from app.read.values import QueryRequest, QuestionReading, Span, Window, happens

_WEEK = timedelta(days=7)

MOST_TERMS = 128
"""Distinct terms of a question that are looked for."""

_WORD = re.compile(r"[\w'-]+")
_UP_TO_NEXT = re.compile(r"^(?:before|prior\s+to)\s+", re.IGNORECASE)


def parse_question(request: QueryRequest, *, types: Registry, language: str) -> QuestionReading:
    """Return what the words of the request say; pure, some 0.3 ms."""
    text = request.query.replace("\u2019", "'")
    prefer: Literal["past", "future"] = "future" if questions.is_future(text) else "past"
    spans = tuple(span for span in find_spans(text, now=request.now, prefer=prefer) if _is_time(span, text, language))
    windows = tuple(dict.fromkeys(one for span in spans for one in _readings(span, request.now)))
    hinted = _hinted(text, types)
    asked = predicates(text)
    about_past = _asks_for_past(text, spans) or _past_state_in_window(
        request, windows, (*request.types, *hinted, *asked), types
    )
    state_then = _is_over(windows, request.now) and questions.STATE_THEN.search(text) is not None
    return QuestionReading(
        text=text,
        grams=grams(text, language),
        belongings=names.found(text),
        terms=tuple(dict.fromkeys((*searched_terms(text, language), *terms(past_forms(text), language))))[:MOST_TERMS],
        windows=windows,
        window_spans=tuple(Span(start=span.start, end=span.end) for span in spans),
        open_spans=tuple(Span(start=span.start, end=span.end) for span in spans if None in span.window),
        given_types=request.types,
        hinted=hinted,
        predicates=asked,
        excluded_words=tuple(
            normalise.normalise_name(found.group(1)) for found in questions.EXCLUDED_WORD.finditer(text)
        ),
        excluded_spans=tuple(
            Span(start=found.start(1), end=found.end(1)) for found in questions.EXCLUDED_WORD.finditer(text)
        ),
        denied=questions.DENIED.search(text) is not None,
        about_now=not about_past and questions.is_now(text),
        about_past=about_past,
        wants_newest=not about_past and questions.wants_newest(text),
        asks_back=questions.ASKS_BACK.search(text) is not None,
        looks_back=_is_over(windows, request.now) or questions.looks_back(text),
        before=_before(text, spans),
        capitalised=capitalised(text, language),
        asker_spans=tuple(Span(start=found.start(), end=found.end()) for found in questions.THE_USER.finditer(text)),
        mode=request.mode or (ReadMode.HISTORICAL if about_past or state_then else ReadMode.DEFAULT),
        asks_what_happened=questions.WHAT_HAPPENED.search(text) is not None,
        mode_given=request.mode is not None,
        language=language,
    )


def _asks_for_past(text: str, spans: Collection[TemporalSpan]) -> bool:
    """Tell whether a state that is over is asked for; "before March" names a time, "before Volkswagen" a state."""
    before = questions.BEFORE_IT.search(text)
    if before is None:
        return questions.is_past(text)
    starts = before.start("before" if before["before"] else "first")
    return questions.is_past(text) or not _timed(text, starts, spans)


def _before(text: str, spans: Collection[TemporalSpan]) -> Span | None:
    """Return where the question says before what; None where it doesn't, or names a time."""
    found = questions.BEFORE_WHAT.search(text)
    if found is None or _timed(text, found.start(), spans):
        return None
    return Span(start=found.start("what"), end=found.end("what"))


def _timed(text: str, before: int, spans: Collection[TemporalSpan]) -> bool:
    """Tell whether what follows `before`, which stands at this place, is a time."""
    follows = len(text) - len(_UP_TO_NEXT.sub("", text[before:]))
    return any(span.start <= follows and before < span.end for span in spans)


def _is_time(span: TemporalSpan, text: str, language: str) -> bool:
    """Tell whether the words ask about a time: not how long something takes, and not which thing is meant.

    A bare weekday, month, quarter or year before a noun says which thing: "the Monday team", "the Q2 report".
    """
    if span.kind == "duration" or questions.RATE.search(text[: span.end]) is not None:
        return False
    if text[: span.start].endswith("-"):
        return False
    follows = _WORD.match(text[span.end :].lstrip()) if text[span.end : span.end + 1] == " " else None
    leads = text[: span.start].split()
    if follows is None or " " in span.text.strip() or (leads and leads[-1].casefold() in questions.BEFORE_TIMES):
        return True
    return follows.group().casefold() in STOP_WORDS.get(language, frozenset()) or not follows.group().islower()


def _readings(span: TemporalSpan, now: datetime) -> tuple[Window, ...]:
    """Return the windows that the words may mean: "last Tuesday" is last week's or the one that came last."""
    lower, upper = span.window
    first = Window(lower=lower, upper=upper)
    if questions.LAST_WEEKDAY.fullmatch(span.text.strip()) is None or lower is None or upper is None:
        return (first,)
    later = Window(lower=lower + _WEEK, upper=upper + _WEEK)
    return (first, later) if later.upper is not None and later.upper <= now else (first,)


def _hinted(text: str, types: Registry) -> tuple[str, ...]:
    words = {word.casefold() for word in _WORD.findall(text)}
    by_word = [one.name for one in types if words.intersection(one.hints)]
    by_way = [name for name, way in questions.WH_TYPES.items() if types.find(name) and way.search(text)]
    return tuple(dict.fromkeys((*by_word, *by_way)))


def names_of(reading: QuestionReading) -> set[str]:
    """Return the names to look up: every run of words, and the asker's own when they speak of themselves."""
    own = {vocabulary.USER} if speaks_of_self(reading.text) else set()
    unnamed = (one.alias for one in reading.belongings)
    return own.union(ASSISTANTS, unnamed, (gram.name for gram in reading.grams))


def _past_state_in_window(
    request: QueryRequest, windows: tuple[Window, ...], asked: Collection[str], types: Registry
) -> bool:
    """Tell whether a state is asked for as of a time that is over: "what did I prefer last year?"."""
    over = _is_over(windows, request.now)
    event = any(found is not None and happens(found) for found in map(types.find, asked))
    return over and bool(asked) and not event and questions.PAST_TENSE.search(request.query) is not None


def _is_over(windows: tuple[Window, ...], now: datetime) -> bool:
    return any(window.upper is not None and window.upper <= now for window in windows)
