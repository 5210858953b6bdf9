"""Parsing of a question by its words alone: windows, types, predicates, tense, exclusions, names and possessives.

Every run of words is a candidate for a name; the alias index decides.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import chain, islice
from typing import Final

from app.db.entities.query_lookup import Belongings, KnownEntity, Own
from app.english import pronouns, questions
from app.english.asked_abroad import in_english
from app.english.dates import TemporalSpan, find_spans
from app.english.descriptions import gender_of_noun
from app.english.name_identity import own_tie
from app.english.names import gender_of
from app.english.own_life import own_life_asked, own_predicates
from app.english.requests import requests
from app.english.verbs import past_forms
from app.english.word_lists import COLLEAGUES, DOCTORS, KIN, PETS
from app.lexical.bm25 import STOP_WORDS, asked_terms, terms
from app.lexical.tokens import SPACELESS, sentence_spans
from app.memory import normalise, vocabulary
from app.memory.registry import Registry
from app.model import ReadMode
from app.read.values import Belonging, Gram, QueryRequest, QuestionReading, Span, Window

_WEEK = timedelta(days=7)

MOST_TERMS = 128
"""Distinct terms of a question that are looked for."""

MOST_WINDOWS = 8
"""Windows of a question that are searched, its first ones; each is a scan."""

MOST_NAMES = 512
"""Runs of words or characters that are looked up as names, which is each in every scope."""

_WORD = re.compile(r"[\w'-]+")
_FROM = re.compile(r"\bfrom\s+$", re.IGNORECASE)
_SINCE = re.compile(r"since\b", re.IGNORECASE)
_REACH = 8
_UP_TO_NEXT = re.compile(r"^(?:before|prior\s+to)\s+", re.IGNORECASE)

FEW: Final = 3
"""Entities that `my sister` may lead to, all of which are then meant; more are too many to know."""

RELATIONSHIP: Final = "relationship"
"""The attribute of an entity that says whose and what it is: `user's sister`."""

KIND: Final = "kind"
"""The attribute that says what kind of pet it is."""

_BROAD: Final = frozenset({"has-relative", "has-pet", "friend-of"})
"""Predicates that several nouns lead to that don't mean one another: an uncle is no cousin."""

_ANY_OF: Final = frozenset({"friend", "pet"})
"""Nouns that mean all of their predicate."""

NOUNS: Final = frozenset(
    (*(noun for words in pronouns.RELATED for noun in words.split()), *KIN, *COLLEAGUES, *DOCTORS, *PETS)
)
"""Nouns after `my` that are looked up as relationships: relatives, colleagues, doctors, pets."""

_ONE_OF: Final = "|".join(re.escape(noun) for noun in sorted(NOUNS, key=lambda noun: (-len(noun), noun)))

_OWN: Final = re.compile(
    rf"""\b(?P<owner>my|our|(?:the\s+)?user's)\s+
        (?:(?:own|dear|older|younger|elder|big|little|twin|best|good|current|present|new|direct|family|pet)\s+){{0,2}}
        (?P<noun>{_ONE_OF})s?(?:'s|')?(?![\w'-])""",
    re.IGNORECASE | re.VERBOSE,
)

_OF_ANOTHER: Final = re.compile(r"'s? | of ")


def parse_question(request: QueryRequest, *, types: Registry, language: str) -> QuestionReading:
    """Return what the words of the request say; pure, some 0.3 ms."""
    text = questions.spelled_out(request.query)
    spans, windows, fallback = _named_times(text, request.now, language)
    by_word = hint_words(text, types)
    by_way = (name for name, way in questions.WH_TYPES.items() if types.find(name) and way.search(text))
    hinted = tuple(dict.fromkeys((*by_word, *by_way)))
    own = frozenset[str]() if questions.ABOUT_ASKER.search(text) else own_life_asked(text)
    asked = predicates(text, own)
    about_past = (
        _asks_for_past(text, spans)
        or questions.is_past(in_english(text))
        or _past_state_in_window(request, windows, (*request.types, *hinted, *asked), types)
    )
    state_then = _is_over(windows, request.now) and questions.STATE_THEN.search(text) is not None
    what_happened = questions.WHAT_HAPPENED.search(text) is not None
    window_spans = tuple(Span(start=span.start, end=span.end) for span in spans)
    timeless = " ".join(without(text, window_spans).split())
    was_told = bool(windows) and questions.WHAT_WAS_TOLD.search(timeless) is not None
    return QuestionReading(
        text=text,
        grams=grams(text, language),
        belongings=find_belongings(text),
        terms=tuple(dict.fromkeys((*asked_terms(text, language), *terms(past_forms(text), language))))[:MOST_TERMS],
        windows=windows,
        fallback=fallback,
        window_spans=window_spans,
        open_spans=tuple(Span(start=span.start, end=span.end) for span in spans if None in span.window),
        given_types=request.types,
        hinted=hinted,
        hint_words=by_word,
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
        asks_back=questions.asks_back(text),
        looks_back=_is_over(windows, request.now) or questions.looks_back(text),
        before=_before(text, spans),
        capitalised=capitalised(text, language),
        asker_spans=tuple(
            Span(start=found.start(), end=found.end())
            for words in (questions.THE_USER, questions.ASKING_WORDS)
            for found in words.finditer(text)
        ),
        own_asked=own,
        mode=request.mode or (ReadMode.HISTORICAL if about_past or state_then else ReadMode.DEFAULT),
        asks_what_happened=what_happened,
        asks_what_was_told=was_told,
        mode_given=request.mode is not None,
        goes_on=len(sentence_spans(text)) > 1,
        gathers=questions.gathers(text) or was_told or (what_happened and bool(windows)),
        language=language,
    )


def _named_times(
    text: str, now: datetime, language: str
) -> tuple[tuple[TemporalSpan, ...], tuple[Window, ...], tuple[Window, ...]]:
    """Return the times that the text names, the windows that they mean, and others to fall back on.

    A day or a month without a year is the last one in the past tense. In the present it is the next, or the last where
    only that is known of; in a phrase without a tense, and in other languages, it is both. What began then, or comes
    from then, is past.
    """
    direction = questions.direction(text) if language == "english" else "either"
    ahead = direction != "past" and questions.AHEAD.search(text) is not None
    behind = tuple(one for one in find_spans(text, now=now) if _is_time(one, text, language))
    if not behind:
        return (), (Window(lower=now, upper=None),) if ahead else (), ()
    spans = behind
    if direction != "past":
        found = {one.start: one for one in find_spans(text, now=now, prefer="ahead") if not _comes_from(one, text)}
        spans = tuple(found.get(one.start, one) for one in behind)
    windows = [one for span in spans for one in _readings(span, now)]
    if direction == "ahead":
        windows = [replace(one, lower=now) if _is_ahead(one, now) else one for one in windows]
    read = set(spans)
    last = [one for span in behind if span not in read for one in _readings(span, now)]
    if direction == "ahead":
        windows = [one if _is_over((one,), now) else replace(one, told=False) for one in windows]
    elif direction == "either" and requests(text) and not questions.looks_back(text):
        windows, last = ([replace(one, told=False) for one in each] for each in (windows, last))
    if direction == "either":
        return spans, tuple(dict.fromkeys((*windows, *last)))[:MOST_WINDOWS], ()
    fallback = [replace(one, told=False) for one in last]
    return spans, tuple(dict.fromkeys(windows))[:MOST_WINDOWS], tuple(dict.fromkeys(fallback))[:MOST_WINDOWS]


def _is_ahead(window: Window, now: datetime) -> bool:
    """Tell whether it has no beginning and an end ahead: "until Friday" of what is to come begins now."""
    return window.lower is None and window.upper is not None and window.upper > now


def _comes_from(span: TemporalSpan, text: str) -> bool:
    """Tell whether the question is about what began at a time, or comes from then, which is behind."""
    return (
        _FROM.search(text[max(0, span.start - _REACH) : span.start]) is not None or _SINCE.match(span.text) is not None
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
    leads = text[: span.start].rsplit(maxsplit=1)
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


def hint_words(text: str, types: Registry) -> dict[str, frozenset[str]]:
    """Return the words of a question that are hints at a type, in any of their forms, by type."""
    words = frozenset(word.group().casefold() for word in islice(_WORD.finditer(text), MOST_WORDS))
    stems = frozenset(terms(" ".join(words)))
    hinting = [one for one in types if words.intersection(one.hints) or not stems.isdisjoint(_stems(one.hints))]
    return {
        one.name: frozenset(
            word for word in words if word in one.hints or not _stems(one.hints).isdisjoint(terms(word))
        )
        for one in hinting
    }


@lru_cache(maxsize=1_024)
def _stems(hints: tuple[str, ...]) -> frozenset[str]:
    return frozenset(terms(" ".join(hints)))


def names_of(reading: QuestionReading) -> set[str]:
    """Return the names to look up: every run of words, and the asker's own when they speak of themselves."""
    own = {vocabulary.USER} if speaks_of_self(reading.text) else set()
    unnamed = (one.alias for one in reading.belongings)
    return own.union(vocabulary.ASSISTANTS, unnamed, (gram.name for gram in reading.grams))


def _past_state_in_window(
    request: QueryRequest, windows: tuple[Window, ...], asked: Collection[str], types: Registry
) -> bool:
    """Tell whether a state is asked for as of a time that is over: "what did I prefer last year?"."""
    over = _is_over(windows, request.now)
    event = any(found is not None and found.happens for found in map(types.find, asked))
    return over and bool(asked) and not event and questions.PAST_TENSE.search(request.query) is not None


def _is_over(windows: tuple[Window, ...], now: datetime) -> bool:
    return any(window.upper is not None and window.upper <= now for window in windows)


def find_belongings(text: str) -> tuple[Belonging, ...]:
    """Return what the text calls its asker's own, in its order."""
    return tuple(
        Belonging(
            alias=pronouns.alias(said["noun"]),
            noun=normalise.normalise_name(said["noun"]),
            span=Span(start=said.start(), end=said.end()),
            owner=Span(start=said.start("owner"), end=said.end("owner")),
        )
        for said in _OWN.finditer(text)
    )


def possessives_in(reading: QuestionReading, types: Registry) -> Belongings:
    """Return what to look up: the user's own name, and what the question calls the user's own."""
    under = {"predicate", "relation_type"}
    return Belongings(
        stated_by=tuple(one.name for one in types if one.held is not None and one.held.under in under),
        own=tuple(_own(noun, reading.language) for noun in dict.fromkeys(one.noun for one in reading.belongings)),
        oneself=bool(reading.predicates) and speaks_of_self(reading.text),
    )


def match_possessives(belonging: Belonging, entities: Sequence[KnownEntity]) -> tuple[KnownEntity, ...]:
    """Return those of the entities, which the alias leads to, that are meant; none where that can't be told.

    What is so named stands beside what a statement makes it; a description counts where there is no statement, for
    statements end, and descriptions stay.
    """
    named = [one for one in entities if one.through == "name"]
    stated = [one for one in entities if one.through == "statement" and _may_be(one, belonging.noun)]
    described = [one for one in entities if one.through == "description" and _is_described(one, belonging.noun)]
    every = {one.ids: one for one in (*named, *(stated or described))}
    return tuple(every.values()) if len(every) <= FEW else ()


def nouns_of(entity: KnownEntity) -> frozenset[str]:
    """Return the words for what an entity is said to be to the user: `older sister`; none where nothing says so."""
    return frozenset(_role(entity.attributes.get(RELATIONSHIP, "")).split())


def _own(noun: str, language: str) -> Own:
    words = dict.fromkeys(term for word in (RELATIONSHIP, noun) for term in terms(word, language))
    return Own(
        alias=pronouns.alias(noun),
        predicates=tuple((one, vocabulary.INVERSES.get(one)) for one in sorted(_predicates(noun))),
        described=" & ".join(f"'{word}'" for word in words),
    )


def _predicates(noun: str) -> set[str]:
    """Return what a memory may say of the user and what is theirs, as predicates and relation types are stored."""
    said = {*pronouns.predicates(noun), f"has-{noun}"}
    known = {KIN.get(noun), COLLEAGUES.get(noun), "has-pet" if noun in PETS else None} - {None}
    stored = {vocabulary.predicate(one) for one in said} | {one for one in map(vocabulary.relation, said) if one}
    return said | stored | {one for one in known if one}


def _may_be(entity: KnownEntity, noun: str) -> bool:
    """Tell whether nothing that is known of the entity says that it is another noun than this one."""
    role = _role(entity.attributes.get(RELATIONSHIP, "")) or normalise.normalise_name(entity.attributes.get(KIND, ""))
    role = role if role in NOUNS else role.rpartition(" ")[2]
    gender = gender_of_noun(noun)
    return role == noun or not (
        _excludes(role, noun) or (gender is not None and gender_of(entity.name) not in {None, gender})
    )


def _is_described(entity: KnownEntity, noun: str) -> bool:
    role = _role(entity.attributes.get(RELATIONSHIP, ""))
    return role == noun or role.endswith(f" {noun}")


def _role(relationship: str) -> str:
    """Return what someone is to the user, by the attribute that says so; empty where it is to somebody else."""
    role = own_tie(normalise.normalise_name(relationship.replace("\u2019", "'")))
    return "" if _OF_ANOTHER.search(role) else role


def _excludes(role: str, noun: str) -> bool:
    """Tell whether who is the one can't be called the other: a brother no sister, but a boss a manager."""
    shared = _kinds(role) & _kinds(noun)
    genders = {gender_of_noun(role), gender_of_noun(noun)} - {None}
    return bool(shared) and (len(genders) > 1 or (bool(shared & _BROAD) and noun not in _ANY_OF))


def _kinds(noun: str) -> set[str]:
    """Return the predicates that lead to the noun and to others, as memories have them."""
    found: Iterable[str | None] = (KIN.get(noun), COLLEAGUES.get(noun), "has-pet" if noun in PETS else None)
    return {one for one in found if one is not None}


LONGEST = 8
"""Words of the longest name that is looked up."""

USUAL = 5
"""Words of a name up to which every run is looked up; a longer one begins and ends with words that a name does."""

MOST_WORDS = 64
"""Words of a question that are searched for names; questions are shorter, pasted texts may not be."""

_EDGES = ".,;:!?\"'()[]"

_SPOKEN = re.compile(r"\S+")

_PLAIN = re.compile(r"[\w-]+")

_POSSESSIVE = re.compile(r"'s?$")

_RUN = re.compile(rf"[{SPACELESS}]+")

_LONGEST_RUN = 24

_LONGEST_RUN_NAME = 6

_SELF = frozenset({"i", "me", "my", "mine", "myself", "i'm", "i've"})


def grams(text: str, language: str) -> tuple[Gram, ...]:
    """Return runs of 1 to 8 words as aliases would be written, longest first, then left to right.

    A stop word by itself is no name, and neither does one begin or end a run of more than 5 words, unless it is written
    with a capital inside the text. Scripts without spaces yield their runs of 2 to 6 characters. Of a long text the
    first `MOST_NAMES` are returned.
    """
    stop = STOP_WORDS.get(language, frozenset())
    words = [_trimmed(match) for match in islice(_SPOKEN.finditer(text), MOST_WORDS)]
    edges = [_may_be_an_edge(text[start:end], place, stop) for place, (start, end) in enumerate(words)]
    found: dict[tuple[int, int], Gram] = {}
    for length in range(min(LONGEST, len(words)), 0, -1):
        for first in range(len(words) - length + 1):
            if length > USUAL and not (edges[first] and edges[first + length - 1]):
                continue
            start, end = words[first][0], words[first + length - 1][1]
            name = _name(text[start:end])
            if name and not (length == 1 and (name in stop or name in _SELF)):
                found.setdefault((start, end), Gram(name=name, span=Span(start=start, end=end), words=length))
    spaceless = (gram for run in _RUN.finditer(text) for gram in _inside(run))
    return tuple(islice(chain(found.values(), spaceless), MOST_NAMES))


def _may_be_an_edge(word: str, place: int, stop: Collection[str]) -> bool:
    """Tell whether a long name may begin or end with the word at this place of a text."""
    bare = word.casefold()
    return bare not in _SELF and (bare not in stop or (place > 0 and word[:1].isupper()))


def capitalised(text: str, language: str) -> tuple[Span, ...]:
    """Return the words that begin with a capital letter and are no stop words, without what says whose."""
    stop = STOP_WORDS.get(language, frozenset()) | _SELF
    words = (_trimmed(match) for match in islice(_SPOKEN.finditer(text), MOST_WORDS))
    bare = ((start, start + len(_POSSESSIVE.sub("", text[start:end]))) for start, end in words)
    return tuple(
        Span(start=start, end=end)
        for start, end in bare
        if text[start:end][:1].isupper() and text[start:end].casefold() not in stop
    )


def speaks_of_self(text: str) -> bool:
    """Tell whether the question is about the one who asks."""
    if questions.THE_USER.search(text) is not None:
        return True
    return any(word.strip('.,;:!?"()').casefold() in _SELF for word in text.split()[:MOST_WORDS])


def choose_names(grams: Collection[Gram], known: Collection[str]) -> list[Gram]:
    """Return the grams that are known names: the longest wherever two overlap, in the order of the text."""
    taken: list[Gram] = []
    for gram in sorted(grams, key=lambda one: (one.span.start - one.span.end, one.span.start)):
        if gram.name in known and not any(overlaps(gram.span, other.span) for other in taken):
            taken.append(gram)
    return sorted(taken, key=lambda one: one.span.start)


def overlaps(first: Span, second: Span) -> bool:
    """Tell whether two spans share a character."""
    return first.start < second.end and second.start < first.end


def without(text: str, spans: Collection[Span]) -> str:
    """Return the text with the spans cut out, white space collapsed, and no loose punctuation left."""
    pieces: list[str] = []
    at = 0
    for span in sorted(spans, key=lambda one: one.start):
        pieces.append(text[at : span.start])
        at = max(at, span.end)
    pieces.append(text[at:])
    return re.sub(r"\s+([,.;:!?])", r"\1", " ".join(" ".join(pieces).split())).strip(" ,;:")


def predicates(text: str, own: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the predicates and relations that words of the question ask about; `own` are known by other words."""
    said = _PLAIN.findall(questions.ASKS_FOR_WORK.sub(" job ", text).casefold())
    return tuple(dict.fromkeys((*questions.hinted_predicates(said), *own_predicates(own))))


def _trimmed(word: re.Match[str]) -> tuple[int, int]:
    """Return where the word begins and ends without the punctuation at its edges."""
    text = word.group()
    return word.end() - len(text.lstrip(_EDGES)), word.start() + len(text.rstrip(_EDGES))


def _name(words: str) -> str:
    name = normalise.normalise_name(words)
    return normalise.normalise_name(name[:-2]) if name.endswith("'s") else name


def _inside(run: re.Match[str]) -> list[Gram]:
    text = run.group()[:_LONGEST_RUN]
    return [
        Gram(
            name=normalise.normalise_name(text[first:last]),
            span=Span(start=run.start() + first, end=run.start() + last),
            words=1,
        )
        for first in range(len(text))
        for last in range(first + 2, min(first + _LONGEST_RUN_NAME, len(text)) + 1)
    ]
