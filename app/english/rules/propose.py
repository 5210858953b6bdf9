"""From a turn to the drafts of what it states. Pure, linear in the length of the turn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import islice
from typing import Final, Protocol

from app.amounts import amount
from app.english import speech_acts
from app.english.chitchat import bare_state
from app.english.names import COMMON, PERSON, is_group, kind_of, token_names, words_of
from app.english.rules.clause import (
    HIDDEN,
    LONGEST,
    Clause,
    Sentence,
    SpeakerContext,
    Subject,
    Tense,
    Who,
    count_too_long,
    sentences,
)
from app.english.rules.clause_splitting import clauses
from app.english.rules.drafts import Draft
from app.english.rules.event_time import CUE
from app.english.rules.grammar import is_verb, parse
from app.english.rules.noun_phrases import BREAKERS
from app.english.rules.table import read_clause, read_sentence
from app.english.verbs import form_of
from app.english.word_lists import DOSE, NUMBERS, pattern, words
from app.memory.vocabulary import USER
from app.model import SpeechAct

_TAKEN_BACK: Final = pattern("proposals", "taken back", re.IGNORECASE)
"""Words with which a speaker takes back what was just said: what is left can't be told, so nothing is read."""

_UNREAL: Final = frozenset({SpeechAct.HYPOTHETICAL, SpeechAct.ROLEPLAY})
_BELIEVABLE: Final = frozenset({"fact", "relation"})
_OTHERS: Final = frozenset({Who.NAMED, Who.PRONOUN})
_CORRECTION: Final = re.compile(r"(?:no|nope|actually)\b", re.IGNORECASE)
_BARE_ROLE: Final = re.compile(r"an?\s", re.IGNORECASE)
_FIRST_VERB: Final = pattern("proposals", "first verb", re.IGNORECASE)
_BARE_ATTITUDE: Final = pattern("proposals", "bare attitude", re.IGNORECASE)
_BARE_LIKING: Final = pattern("proposals", "bare liking", re.IGNORECASE)
_LEAD: Final = re.compile(r"(?:(?:and|so|yeah|yes|well|honestly|afternoon|evening|morning)[,: ]+)*", re.IGNORECASE)
_ABBREVIATED: Final = words("names", "abbreviated")
_DOTTED: Final = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_INITIALS: Final = re.compile(r", (?:[A-Z]\.){2,4}")
_PARTS: Final = words("quotations", "parts of a conversation")
_ASSUMED: Final = 0.9
"""How sure it is that who speaks means themselves where no subject is named."""

_PASSED_ON: Final = 0.7
_UNKNOWN_NAME: Final = 0.8
"""How sure it is that an unknown word is a name that has a capital inside a sentence, too."""

_SUPPOSED_IMPORTANCE: Final = 0.3


@dataclass(frozen=True, slots=True)
class LocatedDraft:
    """A draft, where the words it relies on begin and end in the turn, and what was done with them."""

    draft: Draft
    start: int
    end: int
    act: SpeechAct = SpeechAct.ASSERTION


def speaker_statements(
    sentence: Sentence, said: SpeakerContext, *, playing: bool, pasted: bool = False, riddle: bool = False
) -> Iterator[LocatedDraft]:
    """Yield what a user's sentence states; `playing`: the turn has said that it is played.

    Of a `pasted` text, and of a `riddle`, only what `I` say is taken for the user's own; a riddle may end in a request.
    """
    act = SpeechAct.ROLEPLAY if playing else speech_acts.speech_act(sentence.text)
    if act in _UNREAL or act is SpeechAct.SARCASM:
        yield from _supposed(sentence, said, act) if act in _UNREAL else ()
        return
    speaker = _speaker(sentence, said)
    for draft in read_sentence(sentence.text, speaker, said, asks=sentence.asks, pasted=pasted):
        yield LocatedDraft(draft, sentence.start, sentence.end)
    for clause in (*clauses(sentence, said), *_subjectless(sentence, said)):
        if not ((pasted or riddle) and _is_anyones(clause)):
            yield from _stated(clause, said)


def _is_anyones(clause: Clause) -> bool:
    """Tell whether a text someone else wrote would say it: of others, of `we`, or of nobody named."""
    subject = clause.subject
    return subject.who in _OTHERS or subject.plural or clause.subjectless


def of_user(sentence: Sentence, said: SpeakerContext) -> Iterator[LocatedDraft]:
    """Yield what an assistant, a tool or a system says of the user by that word."""
    for clause in () if sentence.asks else clauses(sentence, said):
        if USER in {clause.subject.name, clause.subject.owner}:
            yield from _stated(replace(clause, sure=min(clause.sure, _PASSED_ON)), said)


def _stated(clause: Clause, said: SpeakerContext) -> Iterator[LocatedDraft]:
    clause = replace(clause, sure=clause.sure * _known_subject(clause, said))
    if clause.sure > 0:
        for draft in read_clause(clause, said):
            yield LocatedDraft(draft, clause.first, clause.start + len(clause.text))


def _known_subject(clause: Clause, said: SpeakerContext) -> float:
    """Return how sure it is that a name that is the subject names somebody: what opens a sentence has a capital."""
    subject = clause.subject
    if subject.who is not Who.NAMED:
        return 1.0
    sure = min(_known_name(name, said) for name in subject.names)
    return max(sure, _UNKNOWN_NAME) if _NAME_BY_FORM.match(clause.text) else sure


def _known_name(name: str, said: SpeakerContext) -> float:
    words = name.split()
    if kind_of(name, said.people) is not None or is_group(name):
        return 1.0
    if len(words) > 1:
        return 0.0 if any(word.lower() in COMMON for word in words) else 1.0
    plain = name.lower() in _PARTS or name.endswith(("s", "ed", "ing", "ly")) or form_of(name.lower()) is not None
    return _UNKNOWN_NAME if name in said.named and not plain else 0.0


def _supposed(sentence: Sentence, said: SpeakerContext, act: SpeechAct) -> Iterator[LocatedDraft]:
    """Yield what would be so, were it true: to be stored under the floor, never as a belief."""
    text = sentence.text[speech_acts.lead_of_supposition(sentence.text) :].lstrip()
    inner = Sentence(text=text, start=sentence.end - len(text), asks=False)
    read = next(iter(clauses(inner, said)), None) or _role_alone(inner, said)
    if read is None or not read.subject.own:
        return
    clause = replace(read, tense=Tense.PRESENT, adverbs=frozenset(), modal=None, correction=False)
    for draft in read_clause(clause, said):
        if draft.type in _BELIEVABLE:
            importance = min(draft.importance, _SUPPOSED_IMPORTANCE)
            low = replace(draft, confidence=speech_acts.UNSURE, importance=importance)
            yield LocatedDraft(low, sentence.start, sentence.end, act)


def _role_alone(sentence: Sentence, said: SpeakerContext) -> Clause | None:
    """Read `pretending to be a doctor`, whose subject is the speaker."""
    if _BARE_ROLE.match(sentence.text) is None:
        return None
    return parse(f"I'm {sentence.text}", sentence.start, said)


def _subjectless(sentence: Sentence, said: SpeakerContext) -> Iterator[Clause]:
    """Read `Just moved to Berlin`, `Love hiking`, `Not a fan of sushi`: the speaker is not named."""
    lead = _LEAD.match(sentence.text)
    text = sentence.text[lead.end() :] if lead else sentence.text
    if sentence.asks:
        return
    found = _FIRST_VERB.match(sentence.text)
    form = form_of(found["verb"].lower()) if found else None
    done = form is not None and "past" in form.kinds and "base" not in form.kinds
    state = bare_state(text)
    text = text if state is None else text[text.index(state) :]
    liking = state is not None or _BARE_LIKING.match(text) is not None
    if not (done or liking or _BARE_ATTITUDE.match(text)):
        return
    start = sentence.end - len(text)
    whose = "I'm" if liking else "I"
    read = parse(f"{whose} {text[0].lower()}{text[1:]}", start, said)
    if read is not None and (read.tense is Tense.PAST) is done:
        yield replace(read, text=text, start=start, first=sentence.start, sure=_ASSUMED, subjectless=True)


def _speaker(sentence: Sentence, said: SpeakerContext) -> Clause:
    """Return a clause that says no more than who speaks."""
    return Clause(
        text=sentence.text, start=sentence.start, first=sentence.start, verb="", lemma="", rest="",
        subject=Subject(who=Who.SPEAKER, name=said.speaker), correction=_CORRECTION.match(sentence.text) is not None,
    )  # fmt: skip


LEAST_IMPORTANCE: Final = 0.2
"""What matters less is not proposed (seed 003)."""

_PERSON: Final = pattern("proposals", "person")
_NAME_BY_FORM: Final = re.compile(rf"[A-Z]\w+ (?:(?:he|she|died|passed away)\b|(?:is|was)\b.{{0,30}}?{DOSE})")
"""A first word that a pronoun repeats, that dies, or that has a dose."""
_INSIDE: Final = re.compile(r"(?<=[a-z,] )[A-Z][\w'-]+")
_MAY_STATE: Final = pattern("proposals", "may state")
_FIRST_PERSON: Final = re.compile(r"\b(?:my|me|we|our|us|mine|ours|I(?:'\w+)?(?= [a-z]))\b")
"""A word of the speaker's that was not retold: the value tells the rest of another clause."""

_TITLE: Final = re.compile(r'"[^"]*"')
_MOST_CONTEXT: Final = 2_000
_LONGEST_OWN: Final = 1_500
"""A longer turn of a user may be pasted: what it says of others is not the user's to state."""

_DIALOGUE: Final = pattern("proposals", "dialogue")
"""Speech as stories have it."""

_SPEAKER: Final = re.compile(r"\b(?:i|im|ive|me|my|we|our|us)\b", re.IGNORECASE)
_NOT_QUITE: Final = pattern("proposals", "not quite", re.IGNORECASE)
"""What takes back part of the sentence before it."""

_CORRECTS: Final = pattern("proposals", "corrects", re.IGNORECASE)
_AFTERTHOUGHT: Final = pattern("proposals", "afterthought", re.IGNORECASE)
_WITHDRAWS: Final = pattern("proposals", "withdraws", re.IGNORECASE)
"""What takes back the sentence before it, and goes on."""

_ASIDE: Final = re.compile(r"[,;(\u2013\u2014]")
_LONGEST_CORRECTION: Final = 4

_LONGEST_WRITTEN: Final = 4_000
"""A longer turn holds a document: only its first and last lines are sure to be the user's."""

_MANY_LINES: Final = 6

MOST_SENTENCES: Final = 1_000
"""Sentences of a turn that are read: with the longest sentence, the bound of the work on a turn."""

_LINE: Final = re.compile(r"^.*\w.*$", re.MULTILINE)
_TASK: Final = pattern("proposals", "task", re.IGNORECASE | re.MULTILINE)
_NOTE: Final = pattern("proposals", "note", re.IGNORECASE)


class Utterance(Protocol):
    """A turn as the rules read it: `first_person` is whom `I` means, `zone` that of words such as `yesterday`."""

    @property
    def role(self) -> str: ...  # noqa: D102 - as the class says
    @property
    def content(self) -> str: ...  # noqa: D102
    @property
    def speaker(self) -> str | None: ...  # noqa: D102
    @property
    def first_person(self) -> str: ...  # noqa: D102
    @property
    def occurred_at(self) -> datetime: ...  # noqa: D102
    @property
    def zone(self) -> tzinfo: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class QuotedDraft:
    """A draft, the words of the turn that it relies on, and what was done with them."""

    draft: Draft
    quote: str
    act: SpeechAct


def drafts_of(turn: Utterance, context: Sequence[Utterance] = (), *, most: int) -> tuple[QuotedDraft, ...]:
    """Return at most so many drafts of a turn, in its order; `context` tells whose names are people's."""
    if turn.role != USER and USER not in turn.content.lower():
        return ()
    return tuple(_quoted(one, turn) for one in _best(_read(turn, _said(turn, context)), most))


def _said(turn: Utterance, context: Sequence[Utterance]) -> SpeakerContext:
    turns = (turn, *context)
    speakers = {one.speaker.lower() for one in turns if one.speaker}
    named = {name.lower() for one in turns for name in _PERSON.findall(one.content[:_MOST_CONTEXT])}
    return SpeakerContext(
        speaker=turn.first_person,
        now=turn.occurred_at.astimezone(turn.zone),
        people=frozenset(speakers | named),
        named=frozenset(name for one in turns for name in _INSIDE.findall(one.content[:_MOST_CONTEXT])),
    )


def _read(turn: Utterance, said: SpeakerContext) -> list[LocatedDraft]:
    found: list[LocatedDraft] = []
    playing, pasted, riddle = False, _is_pasted(turn.content), _is_riddle(turn.content)
    document, before, corrected = _document(turn.content) if turn.role == USER else range(0), 0, ""
    blank = "\n" * len(document)
    written = f"{turn.content[: document.start]}{blank}{turn.content[document.stop :]}"
    for sentence in islice(sentences(written), MOST_SENTENCES):
        text = sentence.text
        playing = playing or speech_acts.opens_play(text)
        dropped = speech_acts.retracts(text) or _NOT_QUITE.match(text) or _is_correction(text, corrected)
        if dropped or (_WITHDRAWS.match(text) and not sentence.asks):
            found = [one for one in found if one.end <= before]
        if not dropped and not (_TAKEN_BACK.search(text) or speech_acts.is_fiction(text)) and _MAY_STATE.search(text):
            found.extend(
                speaker_statements(sentence, said, playing=playing, pasted=pasted, riddle=riddle)
                if turn.role == USER
                else of_user(sentence, said)
            )
        before, corrected = sentence.start, text
    return found


def unread(turn: Utterance) -> str | None:
    """Return why some sentences of a turn are not read, in words without its content, or None."""
    if len(turn.content) <= LONGEST:
        return None
    left = max(0, sum(1 for _ in sentences(turn.content)) - MOST_SENTENCES) + count_too_long(turn.content)
    if not left:
        return None
    bounds = f"{LONGEST:,} characters, and at most {MOST_SENTENCES:,} of a turn"
    return f"{amount(left, 'sentences')} of it left to its episode: the rules read sentences of at most {bounds}"


def _is_correction(text: str, corrected: str) -> bool:
    """Tell whether a sentence is a value in place of one of the sentence before: `Sorry, Leicester`, `Three, sorry`.

    A person's name may as well be who is spoken to, unless that sentence named somebody.
    """
    found = _CORRECTS.match(text) or _AFTERTHOUGHT.match(text)
    said = {} if found is None else found.groupdict()
    value = "" if found is None else said.get("value") or text[found.end() :]
    words = words_of(_ASIDE.split(value)[0], most=_LONGEST_CORRECTION + 1)
    if found is None or len(words) > _LONGEST_CORRECTION or any(is_verb(word) for word in words):
        return False
    sure = said.get("sure") is not None
    if sure or not words:
        return sure and BREAKERS.isdisjoint(word.lower for word in words[:1])
    first = words[0].text
    if CUE.search(first) or first[0].isdigit() or first.lower() in NUMBERS:
        return True
    spoken_to = kind_of(first) == PERSON and not any(kind_of(name) == PERSON for name in token_names(corrected))
    return (first[0].isupper() or said.get("bare") is not None) and _is_a_noun(first.lower()) and not spoken_to


def _is_a_noun(word: str) -> bool:
    """Tell whether a word alone may name a thing: `coffee`, but not `thanks`, `really` or `kidding`."""
    return word not in COMMON and form_of(word) is None and not word.endswith("ly")


def _is_pasted(content: str) -> bool:
    """Tell whether a turn may hold someone else's text: a long one, or a story."""
    return len(content) > _LONGEST_OWN or _DIALOGUE.search(content) is not None


def _is_riddle(content: str) -> bool:
    """Tell whether a turn asks or orders, and nobody in it is `I`: `Ada gave Bo a key. Who has the key?`."""
    return _SPEAKER.search(content) is None and (
        "?" in content or any(_is_order(one.text) for one in sentences(content))
    )


def _is_order(text: str) -> bool:
    """Tell whether a sentence begins with a verb: `Make a story of it`, but not `Note that Ada moved`."""
    form = form_of(text.split(maxsplit=1)[0].strip(",:").lower())
    stated = _NOTE.match(text) or _BARE_ATTITUDE.match(text)
    return form is not None and "base" in form.kinds and stated is None


def _document(content: str) -> range:
    """Return where the document stands that a long turn, or one of many lines, holds.

    It is between the first and the last line, or what follows the colon of an order.
    """
    for task in _TASK.finditer(content):
        ordered = task["what"] is not None or _is_order(task["order"])
        if ordered and _SPEAKER.search(task["order"]) is None:
            return range(task.end(), len(content))
    if len(content) <= _LONGEST_WRITTEN and len(_LINE.findall(content)) < _MANY_LINES:
        return range(0)
    return range(max(0, content.find("\n")), max(content.rfind("\n"), 0) or len(content))


def _best(found: Sequence[LocatedDraft], most: int) -> list[LocatedDraft]:
    """Return the most that a turn may propose: the surest and most important, each said once, in its order."""
    unique: dict[str, LocatedDraft] = {}
    for one in found:
        if one.draft.importance >= LEAST_IMPORTANCE and _is_sound(one.draft):
            unique.setdefault(_key(one.draft), one)
    ranked = sorted(unique.values(), key=lambda one: -one.draft.confidence * one.draft.importance)
    chosen = {id(one) for one in ranked[:most]}
    return [one for one in unique.values() if id(one) in chosen]


def _is_sound(draft: Draft) -> bool:
    """Tell whether nothing in it is said by someone."""
    return not any(
        HIDDEN in value or _FIRST_PERSON.search(_TITLE.sub("", value))
        for given in draft.payload.values()
        for value in _texts(given)
    )


def _texts(given: object) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, Mapping):
        yield from map(str, given.values())
    elif isinstance(given, list):
        yield from map(str, given)


def _key(draft: Draft) -> str:
    return f"{draft.type} {draft.ends} {sorted((name, str(one).casefold()) for name, one in draft.payload.items())}"


def _with_own_stop(value: object, said: str) -> object:
    """Return a value with the full stop that belongs to its last word, and the initials of where it lies.

    `Apple Inc.`, `Washington, D.C.`; a stop that only ends the sentence is none of its own. Of a value in other words
    than was said, such as `user met Ana Ruiz Jr.`, the last word is looked for.
    """
    if not isinstance(value, str) or not value.strip():
        return value
    last = value.split()[-1]
    found = value if value in said else f" {last}"
    before, _, after = said.partition(found)
    if len(before) == len(said):
        return value
    initials = _INITIALS.match(after)
    if initials is not None and found is value:
        return value + initials.group()
    own = _DOTTED.fullmatch(last) is not None or (last[:1].isupper() and last.lower() in _ABBREVIATED)
    return f"{value}." if own and after.startswith(".") else value


def _quoted(found: LocatedDraft, turn: Utterance) -> QuotedDraft:
    said = turn.content[found.start : found.end + 1]
    payload = {name: _with_own_stop(value, said) for name, value in found.draft.payload.items()}
    return QuotedDraft(replace(found.draft, payload=payload), turn.content[found.start : found.end].strip(), found.act)
