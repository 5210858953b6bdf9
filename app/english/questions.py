"""Templates of hypothetical questions that a memory answers (seed 001, stage 7), and cues in questions, in English.

A question about the user is in the first person: "Where do I work?". Cues show whether a question asks about the past
or the present, for a type, or excludes something.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal

from app.english.predicates import AUXILIARIES, PredicateForm, predicate_form
from app.english.verbs import base_of, form_of, looks_past
from app.english.word_lists import expanded, grouped, lines, pairs, pattern, word_set
from app.lexical.bm25 import STOP_WORDS, text_language
from app.memory import normalise, vocabulary

QUESTION_HINTS: Final[Mapping[str, tuple[str, ...]]] = {
    predicate: tuple(expanded("questions", words).split(" | ")) for predicate, words in lines("questions", "hints")
}
"""Words of questions that hint at a predicate or a relation."""

_CUES: Final[Mapping[str, list[tuple[int, str, str]]]] = defaultdict(list)
"""The same with their places, and the words as they stand among others, by the first of these."""

for _place, (_predicate, _hints) in enumerate(QUESTION_HINTS.items()):
    for _hint in _hints:
        _CUES[_hint.partition(" ")[0]].append((_place, _predicate, f" {_hint} "))

MOST = 3
"""Most questions of a memory (seed 001)."""

LONGEST = 25
LONGEST_CHARACTERS = 250
"""Most words, and characters, of a value that a question repeats."""

KEYWORDS = 12
"""Most words of a sentence that a question about it repeats."""

FACTS: Final = grouped("questions", "facts")
"""Questions about predicates that people ask in words other than the predicate's."""

RELATIONS: Final = grouped("questions", "relations")
"""Questions about each relation of the vocabulary, from either end."""

_FIRST_PERSON: Mapping[str, str] = {"is": "am", "are": "am", "were": "was", "does": "do"}
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W_][\w'\u2019-]*")


def about_fact(subject: str, predicate: str, value: str) -> tuple[str, ...]:
    """Return questions about a predicate, by its own templates or else by the form of its words."""
    return question_of(FACTS.get(predicate) or _by_form(normalise.words(predicate)), subject, value)


def question_of(templates: Sequence[str], subject: str, value: str) -> tuple[str, ...]:
    """Return the questions of templates; `{does}` and the like agree with their subject: `do I`, `does Priya`."""
    me = subject == vocabulary.USER
    who = "I" if me else subject
    forms = {
        "who": who,
        "whom": "me" if me else who,
        "whose": "my" if me else f"{who}'s",
        "value": shorten(value),
        **{verb: f"{_FIRST_PERSON.get(verb, verb) if me else verb} {who}" for verb in AUXILIARIES},
    }
    return tuple(_tidy(template.format(**forms)) for template in templates)


def topic_question(text: str) -> tuple[str, ...]:
    """Return questions about a text, one for each of its most informative sentences, from their keywords."""
    told = [keywords(sentence) for sentence in _SENTENCE_END.split(text)]
    telling = sorted((words for words in told if words), key=len, reverse=True)[:MOST]
    return tuple(f"What was said about {' '.join(words[:KEYWORDS])[:LONGEST_CHARACTERS]}?" for words in telling)


def keywords(text: str) -> list[str]:
    """Return the words of a text that distinguish it from others."""
    return [word for word in _WORD.findall(text) if len(word) > 1 and word.casefold() not in STOP_WORDS["english"]]


def shorten(text: str) -> str:
    """Return the beginning of a text, long enough to recognise it."""
    return " ".join(text.split(maxsplit=LONGEST)[:LONGEST])[:LONGEST_CHARACTERS]


def _by_form(predicate: str) -> tuple[str, ...]:
    """Return templates for an unknown predicate, by its form: `drives`, `is-afraid-of`, `shoe-size`.

    Braces in its words, which are a caller's, are escaped.
    """
    said = predicate.replace("{", "{{").replace("}", "}}")
    first, _, rest = said.partition(" ")
    who = f"Who {said} {{value}}?"
    match predicate_form(predicate):
        case PredicateForm.AUXILIARY:
            return (f"What {{{first}}} {rest}?", f"{{{first}}} {rest} {{value}}?", who)
        case PredicateForm.HAS:
            return (f"What {rest} {{does}} have?", f"What is {{whose}} {rest}?", who)
        case PredicateForm.PAST:
            return (f"What did {{who}} {said}?", f"Did {{who}} {said} {{value}}?", who)
        case PredicateForm.PRESENT if first.endswith("s"):
            does = f"{{does}} {base_of(first)} {rest}"
            return (f"What {does}?", f"{does} {{value}}?", who)
        case PredicateForm.STATE | PredicateForm.PRESENT | PredicateForm.PLAIN:
            return (f"What {{is}} {said}?", f"{{is}} {said} {{value}}?", f"Who is {said} {{value}}?")
        case PredicateForm.NOUN:
            return (f"What is {{whose}} {said}?", f"Which {said} {{does}} have?", f"Is {{whose}} {said} {{value}}?")


def _tidy(question: str) -> str:
    """Return a question with a capital at its beginning and without double spaces."""
    text = " ".join(question.split()).replace(" ?", "?")
    return f"{text[:1].upper()}{text[1:]}"


_ANY_CASE = re.IGNORECASE
PAST_STATE: Final = pattern("question_cues", "past state", _ANY_CASE)
"""Asks about a former state, so that history is searched."""

BEFORE_IT: Final = pattern("question_cues", "before it", _ANY_CASE)
"""Asks for the predecessor of something that is no time."""

NOUN_BEFORE: Final = pattern("question_cues", "noun before", _ANY_CASE | re.DOTALL)
"""Asks for a predecessor without a verb in the past tense: "my manager before Priya?"."""

BEFORE_WHAT: Final = pattern("question_cues", "before what", _ANY_CASE)
"""The successor in such a question: "Volkswagen", "I moved to Berlin"."""

LAST_WEEKDAY = re.compile(r"last\s+(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?", _ANY_CASE)
PAST_TENSE = re.compile(r"\b(?:did|was|were|had)(?:n't)?\b", _ANY_CASE)
FUTURE: Final = pattern("question_cues", "future", _ANY_CASE)
"""Words for plans, with which a participle says nothing about the past: "what have I planned for December?"."""

AHEAD: Final = pattern("question_cues", "ahead", _ANY_CASE)
"""Asks for what is to come, at no time that it names: "what is coming up?"."""

Direction = Literal["past", "ahead", "either"]

_BE: Final = word_set("am is are be been being isn't aren't 's 're 'm get gets getting")
"""Verbs after which a past form is a participle that says nothing about the tense: `is invited`."""

_HAVE: Final = word_set("have has haven't hasn't 've")
_WITH_BASE: Final = word_set(
    """do does don't doesn't will won't shall can can't cannot may must mustn't should shouldn't would could need
    needn't 'll"""
)
_PRESENT: Final = (_BE | _HAVE | _WITH_BASE) - word_set("be been being get gets getting")

_SUBJECTS: Final = word_set("i you he she it we they who that which what")
"""Words right before a finite verb of theirs: `the hotel that I booked`, unlike `the hotel is booked`."""

_SHORT_FOR_IS: Final = re.compile(
    r"\b(i|you|he|she|it|we|they|who|that|which|what|when|where|how|there)'s\b", _ANY_CASE
)
"""What has a verb in its `'s`; after a name it is a genitive."""

_MONTH: Final = "May"
MOST_READ: Final = 64
"""Words of a question by which its tense is known: questions are shorter, pasted texts may not be."""

_TENSE_WORD: Final = re.compile(r"[^\W\d_]+n't\b|'(?:re|m|ve|ll)\b|[^\W\d_]+")

NOW: Final = pattern("question_cues", "now", _ANY_CASE)
"""Asks explicitly about the present."""

PRESENT: Final = pattern("question_cues", "present", _ANY_CASE)
LATELY: Final = pattern("question_cues", "lately", _ANY_CASE)
DATED: Final = pattern("question_cues", "dated", _ANY_CASE)
"""Asks about a past event, which has no newer version."""

_ASKS_BACK: Final = pattern("question_cues", "asks back", _ANY_CASE)
"""Asks for a statement of the assistant."""

_SHORT_SPELLINGS: Final = pairs("question_cues", "short spellings")
_SHORT: Final = re.compile(rf"\b(?:{'|'.join(map(re.escape, _SHORT_SPELLINGS))})\b(?!')", _ANY_CASE)
_GAP: Final = re.compile(r"\s{2,}")

_WAS_SAID: Final = pattern("question_cues", "was said", _ANY_CASE)
"""Asks what was said, by anybody."""

_GATHERS: Final = pattern("question_cues", "gathers", _ANY_CASE)
"""Asks for what is told in several places."""

ASKING_WORDS: Final = pattern("question_cues", "asking words")
"""Words by which a question asks, in scripts without spaces."""

THE_USER: Final = pattern("question_cues", "the user", _ANY_CASE)
"""The user, in the words of an agent that asks on their behalf."""

ABOUT_ASKER: Final = pattern("question_cues", "about the asker", _ANY_CASE)
"""Asks for the one who asks, or whom an agent asks for."""

ASKS_WHO: Final = pattern("question_cues", "asks who", _ANY_CASE)
"""Asks for people, whoever they are."""

_FOR_A_LIVING: Final = pattern("question_cues", "for a living", _ANY_CASE)

ASKS_FOR_WORK: Final = pattern("question_cues", "asks for work", _ANY_CASE)
"""Asks for somebody's work without a word for it."""

RATE = re.compile(r"^\W*how\s+(?:much|many|often|long)\b.*\b(?:in|per)\s+an?\s+\w+$", _ANY_CASE | re.DOTALL)
"""Asks for a rate, whose unit is no time of an event: "how much water do I drink in a day"."""

BEFORE_TIMES: Final = frozenset(
    "in on at during since before after until till by from of for around about".split()  # noqa: SIM905 - a list
)
"""Words after which a time expression is meant as one."""

ASKS_FOR_QUESTIONS: Final = re.compile(r"\b(?:ask(?:s|ed|ing)?|questions?|quer(?:y|ies))\b", re.IGNORECASE)
"""Asks what was asked."""

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*")  # noqa: RUF001 - full-width marks

FIRST_PERSON = re.compile(r"\b(?=[imwou])(?:i|me|my|mine|myself|we|our|us)\b", _ANY_CASE)
"""Pronouns of the first person."""

_THIRD_PERSON_PRONOUN: Final = pattern("question_cues", "third person", _ANY_CASE)

DENIED = re.compile(r"\b(?:not|never|no\s+longer|\w+n't)\b", _ANY_CASE)
BEFORE_EXCLUDED: Final = pattern("question_cues", "before excluded", _ANY_CASE)
"""Words before a name that the question excludes."""

ALSO_EXCLUDED = re.compile(r"^\s*(?:,|and|or|,\s*(?:and|or)|nor)\s*$", _ANY_CASE)
"""Words between two names that the question excludes."""

EXCLUDED_WORD: Final = pattern("question_cues", "excluded word", _ANY_CASE)
"""A word, not known as a name, that the question excludes."""

WHAT_HAPPENED: Final = pattern("question_cues", "what happened", _ANY_CASE)
WHAT_WAS_TOLD: Final = pattern("question_cues", "what was told", _ANY_CASE)
"""A question for whatever happened at a time."""

STATE_THEN: Final = pattern("question_cues", "state then", _ANY_CASE)
"""A question for a former state by what is somebody's: `what was my address in May?`."""

WH_TYPES: Mapping[str, re.Pattern[str]] = {
    "event": re.compile(
        r"^\W*(?:when\s+(?:did|was|were|is|will)|how\s+long\s+ago|whom?\s+(?:did|have|has)\b.*\b(?:meet|met|visit)(?:ed)?)\b",
        _ANY_CASE,
    ),
    "relation": re.compile(
        r"^(?>.*?\bwho\s+(?:does|do|is|are)\b).*\b(?:to|with|for)\b",  # of a line's first "who is" alone
        _ANY_CASE | re.MULTILINE,
    ),
}
"""Forms of questions that hint at a type without its hint words; types that don't exist are ignored."""

ASKING: Final = re.compile(
    r"\b(?:how (?:long|many|much|often|old|far|late|big|fast)|(?:what|which) (?:kinds?|sorts?|types?) of)\b", _ANY_CASE
)
"""Words by which a question asks, which no answer has."""

FILLERS: Final = frozenset(
    """all anything any everything every list show tell give find know knows remember remind please user think
    thing things stuff going go went take took place get got""".split()  # noqa: SIM905 - reads as a list of words
)
"""Words of a question without content."""

NAMING: Final = frozenset({"name", "named", "called", "who's", "whose"})
"""Words of a question for a person's identity."""


def spelled_out(text: str) -> str:
    """Return a question with the short spellings of English chats written out: `wat phone hav i` has `what`.

    And with `as a job` for what is done for a living, which has the word for where somebody lives.
    """
    text = _FOR_A_LIVING.sub("as a job", _GAP.sub(" ", text.replace("\u2019", "'")))
    if _SHORT.search(text) is None or text_language(text) != "english":
        return text
    return _GAP.sub(" ", _SHORT.sub(lambda found: _SHORT_SPELLINGS[found[0].casefold()], text)).strip()


def asks_back(text: str) -> bool:
    """Tell whether a statement of the assistant is asked for: by its cues, or by `you` with a past tense."""
    if _ASKS_BACK.search(text) is not None:
        return True
    said = [word.casefold() for word in _TENSE_WORD.findall(text)[:MOST_READ]]
    return any(before == "you" and _is_past_form(word) for before, word in pairwise(said))


def hinted_predicates(words: Sequence[str]) -> list[str]:
    """Return the predicates and relations that the words of a question hint at, in their order."""
    text = f" {' '.join(words)} "
    found = {(place, name) for word in words for place, name, hint in _CUES.get(word, ()) if hint in text}
    return [name for _, name in sorted(found)]


def is_past(text: str) -> bool:
    """Return whether the question asks about a former state."""
    return PAST_STATE.search(text) is not None


def looks_back(text: str) -> bool:
    """Tell whether the question asks how things were, or what was said: then words that no longer hold may answer."""
    return any(cue.search(text) for cue in (PAST_TENSE, DATED, _WAS_SAID)) or asks_back(text) or is_past(text)


def gathers(text: str) -> bool:
    """Tell whether the answer is made of several statements: a number, an order, all of something, a summary."""
    return _GATHERS.search(text) is not None


def speaks_of_somebody(text: str) -> bool:
    """Tell whether a text has a pronoun of a person, or the word for the user; names aside."""
    return any(cue.search(text) for cue in (FIRST_PERSON, _THIRD_PERSON_PRONOUN, THE_USER))


def speaks_of_speaker_alone(text: str) -> bool:
    """Tell whether a text has a pronoun of its speaker, and none of another person; names aside."""
    return FIRST_PERSON.search(text) is not None and _THIRD_PERSON_PRONOUN.search(text) is None


def speaks_of_others_alone(text: str) -> bool:
    """Tell whether a text has a pronoun of another person, and none of its speaker; names aside."""
    return FIRST_PERSON.search(text) is None and _THIRD_PERSON_PRONOUN.search(text) is not None


def direction(text: str) -> Direction:
    """Return where a day or a month without a year lies by the tense of the question: "in January" is past or ahead.

    A past tense anywhere counts, as the time may be its: `what is the name of the hotel I stayed at in March?`. Either
    for a phrase without a finite verb, unless it has a word for plans.
    """
    if PAST_TENSE.search(text) is not None:
        return "past"
    words = _TENSE_WORD.findall(_SHORT_FOR_IS.sub(r"\1 is", text))[:MOST_READ]
    said = [word.casefold() for word in words if word != _MONTH and not word.endswith("ly")]
    present = FUTURE.search(text) is not None
    for place, word in enumerate(said):
        if word in _PRESENT or (place and said[place - 1] in _SUBJECTS and _may_be_present(word)):
            present = True
        elif place and _is_past_form(word) and _is_finite(said, place):
            return "past"
    return "ahead" if present else "either"


def _may_be_present(word: str) -> bool:
    form = form_of(word)
    return form is not None and not form.kinds.isdisjoint({"base", "s"})


def _is_past_form(word: str) -> bool:
    """Tell whether a word is a past tense or a participle and nothing else, and no word for plans: `booked`."""
    form = form_of(word)
    past = looks_past(word) if form is None else form.kinds <= {"past", "participle"}
    return past and FUTURE.fullmatch(word) is None


def _is_finite(said: Sequence[str], place: int) -> bool:
    """Tell whether a past form is a past tense, or makes a perfect with a verb before it, rather than a participle.

    `I have got` is the present, and `what do I have arranged` has a participle.
    """
    form = form_of(said[place])
    if form is not None and form.kinds == {"past"}:
        return True
    verbs = [at for at in range(place) if said[at] in _BE | _HAVE | _WITH_BASE]
    if not verbs:
        return True
    last = verbs[-1]
    if said[last] in _HAVE:
        alone = not any(said[at] in _WITH_BASE for at in verbs)
        return alone and "got" not in said[last : place + 1]
    of_its_own = said[place - 1] in _SUBJECTS and last != place - 2
    return of_its_own or said[last] not in _BE


def is_now(text: str) -> bool:
    """Return whether the question asks explicitly about the present."""
    return NOW.search(text) is not None


def wants_newest(text: str) -> bool:
    """Return whether the newer of two answers is right: the question asks for it or is in the present tense."""
    if asks_back(text):
        return False
    if is_now(text) or LATELY.search(text) is not None:
        return True
    return DATED.search(text) is None and PRESENT.search(text) is not None


def told_share(text: str) -> float:
    """Return the share of a text's words that stand outside its questions, 0 to 1."""
    asked = told = 0
    for sentence in _SENTENCE.findall(text):
        words = len(sentence.split())
        if sentence.rstrip().endswith(("?", "？")):  # noqa: RUF001 - as above
            asked += words
        else:
            told += words
    return told / max(1, told + asked)
