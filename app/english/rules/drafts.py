"""Drafts of proposals: payloads by type, how sure, how important; and clauses retold in the third person."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.english.descriptions import is_plural
from app.english.names import ORGANIZATION, PERSON, PLACE, kind_of, token_names, words_of
from app.english.rules import event_time
from app.english.rules.clause import Clause, SpeakerContext, Tense, Who
from app.english.rules.event_time import ClauseTime
from app.english.rules.noun_phrases import BREAKERS
from app.english.verbs import form_of, third_person
from app.english.word_lists import TOOLS, pairs, pattern, word_set
from app.memory import vocabulary

_MOST_WORDS: Final = 26
_CUT: Final = pattern("drafts", "cut", re.IGNORECASE)
"""Where another thought begins."""

_DEICTIC: Final = re.compile(r"\b(?:all )?(this|that|these|those)\s+(?=([a-z0-9][\w'-]*+)(?!$))", re.IGNORECASE)
_THAT_DID: Final = re.compile(r"(?P<before>[\w'-]+) that (?P<verb>[a-z]+)\b")
_SPELLS: Final = word_set("season year term semester")
"""What is over before the belief is: `more closely this season`."""

_ITS_VERB: Final = re.compile(r",\s(?:is|are|was|were)\b", re.IGNORECASE)
"""The verb of a thing that stands before the comma: `a class and the teacher, Mr Roe, was kind`."""

_ARTICLES: Final = {"this": "a", "that": "the", "these": "some", "those": "the"}
_OPEN: Final = pattern("drafts", "open", re.IGNORECASE)
"""Words that point at something the sentence does not name."""

_OTHERS: Final = re.compile(r"\b(?:he|she|they|him|her|hers|them|his|their|theirs)\b", re.IGNORECASE)
_SOMEONE: Final = re.compile(r"\b(?:he|she|they|him|them)\b", re.IGNORECASE)
"""Of these, who is not the one spoken of: `Tom spotted them`."""

_FIRST: Final = re.compile(r"\b(my|our|mine|me|us|myself|ourselves)\b", re.IGNORECASE)
_OWN: Final = {"my": "their", "our": "their", "mine": "theirs", "me": "them", "us": "them"}
_FILLER: Final = pattern("drafts", "filler", re.IGNORECASE)
_ENDING: Final = pattern("drafts", "ending", re.IGNORECASE)
_STATE: Final = re.compile(r"^[^,;:.]*?(?<!that)(?<!which)(?<!who)\s(?:is|are)\s", re.IGNORECASE)
_FROM_NOW: Final = re.compile(r"\b(?:last|next|this|ago|yesterday|today|tomorrow|tonight)\b", re.IGNORECASE)
"""Words of time that mean something only beside the day they are said on."""
_WITH: Final = word_set("with met meet and by helped told from to for at joined saw of")
"""Words after which a name takes part in what is told."""


def who(clause: Clause) -> str:
    """Return the subject as a sentence begins with it."""
    return " and ".join(clause.subject.names) or clause.subject.name


def retell(clause: Clause, said: SpeakerContext, time: event_time.ClauseTime | None = None) -> str | None:
    """Return the clause as a sentence about its subject, without its time; None when it does not stand alone."""
    if clause.subject.who is Who.PRONOUN or (clause.happened and _STATE.search(clause.rest)):
        return None  # "my land inherited from her is in Rome"
    others = clause.subject.who in {Who.NAMED, Who.POSSESSED}
    whole = event_time.without(clause.rest, time, offset=len(clause.whole) - len(clause.rest))
    rest = main_part(whole)
    if len(rest) < len(whole) and _ITS_VERB.match(whole, len(rest)):
        return None
    if (_SOMEONE if others else _OTHERS).search(rest):
        return None
    rest = _DEICTIC.sub(_introduced, _first_person(rest, clause, said))
    if _OPEN.search(rest) or len(rest.split()) > _MOST_WORDS:
        return None
    rest = _ENDING.sub("", _FILLER.sub("", rest).rstrip(" ,.-")).strip(" ,.-")
    if time is not None and time.at is None and _FROM_NOW.search(rest):
        return None
    words = time.words if time is not None else ""
    return " ".join(f"{who(clause)} {_verbal(clause)} {rest} {words}".split())


def participants(clause: Clause, said: SpeakerContext, description: str) -> list[str]:
    """Return who took part, as far as the description names them: the subject first."""
    found = list(clause.subject.names) or [clause.subject.name]
    rest = description.removeprefix(who(clause))
    found.extend(one for one in token_names(rest) if _takes_part(one, rest, said))
    return list(dict.fromkeys(found))


def _takes_part(name: str, rest: str, said: SpeakerContext) -> bool:
    kind = kind_of(name, said.people)
    if kind == PLACE or name.lower() in TOOLS or event_time.CUE.fullmatch(name):
        return False
    if kind in {PERSON, ORGANIZATION} or " " in name:
        return True
    before = words_of(rest[: rest.index(name)])[-1:]
    return bool(before) and before[0].lower in _WITH and not name.isupper()


def main_part(rest: str) -> str:
    """Return the rest up to where another thought begins, without words that lead to it."""
    end = end_of_thought(rest)
    return _ENDING.sub("", rest[:end].rstrip(" ,")) if end < len(rest) else rest


def end_of_thought(rest: str) -> int:
    """Return where another thought begins, the length of the text where none does."""
    cut = _CUT.search(rest)
    did = next((found for found in _THAT_DID.finditer(rest) if _is_relative(found)), None)
    return min(cut.start() if cut else len(rest), did.end("before") if did else len(rest))


def _is_relative(found: re.Match[str]) -> bool:
    """Tell whether `that` tells more of a thing: `the one that cost too much`, but not `at that place`."""
    form = form_of(found["verb"])
    return form is not None and "past" in form.kinds


def _first_person(rest: str, clause: Clause, said: SpeakerContext) -> str:
    """Return the text with the speaker's own words made theirs, or their name's where others are spoken of.

    With a capital they are a part of a name: `Dances with My Father`.
    """

    def replaced(found: re.Match[str]) -> str:
        word = found.group().lower()
        if found.group()[0].isupper():
            return found.group()
        whose = word in {"my", "our", "mine"}
        if clause.subject.own or (whose and clause.subject.mine):
            return _OWN.get(word, "themselves")
        return f"{said.speaker}'s" if whose else said.speaker

    return _FIRST.sub(replaced, rest)


def _introduced(found: re.Match[str]) -> str:
    """Give a thing that is pointed at an article: `this amazing deal` is news to whoever reads it."""
    word, following = found.group(1).lower(), found.group(2)
    if following in BREAKERS or following in _SPELLS:
        return found.group()
    article = "an" if word == "this" and following[0] in "aeiou" else _ARTICLES[word]
    return f"{article} "


def _verbal(clause: Clause) -> str:
    """Return the verb with its auxiliaries."""
    subject = clause.subject
    many = len(subject.names) > 1 or (subject.noun is not None and subject.given is None and is_plural(subject.noun))
    if clause.used_to:
        return f"used to {clause.lemma}"
    if clause.modal == "will":
        return f"will be {clause.verb}" if clause.progressive else f"will {clause.lemma}"
    if clause.copula or clause.progressive or clause.passive:
        return f"{_be(clause, many=many)} {'' if clause.copula else clause.verb}"
    if clause.perfect:
        return f"{'have' if many else 'has'} {clause.verb}"
    if clause.tense is Tense.PRESENT:
        return clause.lemma if many else third_person(clause.lemma)
    form = form_of(clause.verb)
    base = form is not None and "base" in form.kinds and "past" not in form.kinds  # "I did go", but not `read`
    return f"did {clause.verb}" if base else clause.verb


def _be(clause: Clause, *, many: bool) -> str:
    if clause.perfect:
        return "have been" if many else "has been"
    if clause.tense is Tense.PAST:
        return "were" if many else "was"
    return "are" if many else "is"


_BY_SUBJECT: Final = {
    Who.SPEAKER: 1.0,
    Who.USER: 1.0,
    Who.NAMED: 0.95,
    Who.POSSESSED: 0.95,
    Who.PRONOUN: 0.9,
}
"""How much of a rule's precision is left, by who the clause is about."""

STATED: Final = 0.9
"""Importance of an explicit preference or a correction, health and identity (seed 003: .8 to 1)."""

FACTUAL: Final = 0.7
"""Of facts offered in context (.5 to .8)."""

PASSING: Final = 0.4
"""Of what is mentioned once in passing (.2 to .5)."""

_FACTS: Final = pairs("facts", "facts")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory that a rule read in a clause; `ends`: it is no longer so, since `ended_at` where a time is named.

    `rule` is the name of the row of the table that made it.
    """

    type: str
    payload: Mapping[str, object]
    confidence: float
    importance: float
    topic: str | None = None
    ends: bool = False
    ended_at: str | None = None
    rule: str = ""


def confidence(clause: Clause) -> float:
    """Return how sure a clause is of what its rule reads in it: by whom it is about, and how it is said."""
    base = 1.0 if clause.subject.mine and clause.subject.given is None else _BY_SUBJECT[clause.subject.who]
    return base * clause.sure


def _draft(clause: Clause, kind: str, importance: float, topic: str | None, payload: Mapping[str, object]) -> Draft:
    """Return a draft of the fields that have a value; what corrects something matters more."""
    return Draft(
        type=kind,
        payload={name: value for name, value in payload.items() if value not in (None, [], {})},
        confidence=confidence(clause),
        importance=max(importance, STATED) if clause.correction else importance,
        topic=topic,
    )


def fact(
    clause: Clause, predicate: str, value: str, *, stateful: bool | None = None, subject: str | None = None,
    importance: float | None = None, topic: str | None = None,
) -> Draft:  # fmt: skip
    """Return a fact about the clause's subject, or about another one; `stateful` where the vocabulary can't tell.

    Its predicate gives topic and importance, unless they are given.
    """
    whose = clause.subject.name if subject is None else subject
    known = vocabulary.predicate(predicate)
    payload = {"subject": whose, "predicate": known, "object": value, "stateful": stateful}
    usual, weight = topic_of_predicate(known)
    return _draft(clause, "fact", weight if importance is None else importance, topic or usual, payload)


def topic_of_predicate(predicate: str) -> tuple[str | None, float]:
    """Return the topic and the importance of facts of a predicate."""
    topic, weight = _FACTS.get(predicate, "").partition(" ")[::2]
    return topic or None, float(weight) if weight else FACTUAL


def preference(
    clause: Clause, key: str, value: str, *, subject: str | None = None, importance: float = STATED,
    topic: str | None = None,
) -> Draft:  # fmt: skip
    """Return a preference of the clause's subject, or of another one."""
    whose = clause.subject.name if subject is None else subject
    other = None if whose == vocabulary.USER else whose
    payload = {"preference_key": key, "preference_value": value, "subject": other}
    return _draft(clause, "preference", importance, topic, payload)


def relation(clause: Clause, kind: str, other: str, *, start: str | None = None, since: str | None = None) -> Draft:
    """Return a relation from the clause's subject, or from another one, to someone or something."""
    whose = clause.subject.name if start is None else start
    payload = {"from_entity": whose, "relation_type": kind, "to_entity": other, "since": since}
    return _draft(clause, "relation", FACTUAL, "work", payload)


def event(
    clause: Clause, description: str, when: ClauseTime | None, participants: Sequence[str] = (), *,
    importance: float = 0.5, topic: str | None = None, past: bool = False,
) -> Draft:  # fmt: skip
    """Return an event; without a time its precision is unknown, or approximate for a state that is `past`."""
    undated = "approximate" if past else "unknown"
    time = {
        "event_at": None if when is None else when.at,
        "event_at_precision": undated if when is None else str(when.precision),
    }
    payload = {"event_description": description, "participants": list(dict.fromkeys(participants))}
    draft = _draft(clause, "event", importance, topic, payload)
    return replace(draft, payload={**draft.payload, **time})


def entity(clause: Clause, name: str, kind: str, *, attributes: Mapping[str, str] | None = None) -> Draft:
    """Return a declaration of who or what something is."""
    payload = {"canonical_name": name, "entity_type": kind, "attributes": attributes}
    return _draft(clause, "entity", 0.5, "personal", payload)


def decision(
    clause: Clause, subject: str, decided: str, *, rationale: str | None = None, alternatives: Sequence[str] = (),
    topic: str | None = None,
) -> Draft:  # fmt: skip
    """Return a decision on a subject."""
    payload = {"subject": subject, "decision": decided, "rationale": rationale, "alternatives": list(alternatives)}
    return _draft(clause, "decision", 0.8, topic, payload)


def ending(clause: Clause, said: SpeakerContext, draft: Draft, *, dated: bool = True) -> Draft:
    """Return that what a draft says is no longer so; a value that is empty was not told.

    `dated`: the time that the clause names is that of the end.
    """
    time = event_time.find(clause.whole, said.now) if dated else None
    return replace(
        draft,
        payload={name: value for name, value in draft.payload.items() if value not in {"", None}},
        confidence=min(draft.confidence, confidence(clause)),
        importance=max(draft.importance, FACTUAL),
        ends=True,
        ended_at=None if time is None else time.at,
    )


_TOPICS: Final = {
    topic: pattern("topics", topic, re.IGNORECASE)
    for topic in ("health", "travel", "tech", "work", "education", "food")
}


def topic_of(text: str) -> str:
    """Return the broad topic of a sentence, `personal` where no other fits."""
    return next((topic for topic, words in _TOPICS.items() if words.search(text)), "personal")
