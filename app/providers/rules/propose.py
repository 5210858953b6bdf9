"""From a turn to the memories it proposes. Pure, linear in the length of the turn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from app.memory.extraction import MOST_PROPOSALS, Proposal, Role, Turn
from app.memory.vocabulary import USER
from app.providers.rules import elliptic, stances
from app.providers.rules.clause import Said
from app.providers.rules.corrected import corrected
from app.providers.rules.drafts import Draft
from app.providers.rules.sentences import HIDDEN, sentences
from app.providers.rules.speakers import Found, of_speaker, of_user

LEAST_IMPORTANCE: Final = 0.2
"""What matters less is not proposed (seed 003)."""

_PERSON: Final = re.compile(
    r"\b([A-Z][a-z]+)(?:'s)? (?:said|says|told|thinks|manages|leads|reports|is (?:the|my|our|a|an) (?:\w+ ){0,3}?"
    r"(?:manager|lead|engineer|boss|director|ceo|cto|friend|sister|brother|colleague|designer|developer))\b"
)
_MAY_STATE: Final = re.compile(
    r"[A-Z]|\b(?:i|im|i'm|i've|we|we're|we've|my|our|user|me|you|he|she|they|her|his|decided|always|never|please|keep|for"
    r"|call)\b"
)
_OF_USER: Final = re.compile(
    r"\buser(?:'s)?\b|\b(?:you|your)(?:['\u2019](?:re|ve))?\s+(?:\w+\s+){0,3}?(?:works?|lives?|prefers?|is|are|use|report"
    r"|likes?|loves?|have|study|speak|manage|lead|said|told|mentioned|allergic|an?|from|name|called|married)\b",
    re.IGNORECASE,
)
_SENTENCES: Final = frozenset({"object", "preference_value", "event_description", "decision", "rationale"})
"""Fields that hold more than a name."""
_LONGEST_NAME: Final = 200
_MOST_CONTEXT: Final = 2_000
_LONGEST_OWN: Final = 1_500
"""A longer turn of a user may be pasted: what it says of others is not the user's to state."""


def propose(turn: Turn, context: Sequence[Turn] = ()) -> tuple[Proposal, ...]:
    """Return the few memories a turn proposes, in its order.

    `context` tells whose names are people's, and what a short answer was asked.
    """
    if turn.role is not Role.USER and _OF_USER.search(turn.content) is None:
        return ()
    statement = elliptic.answered(turn, context)
    if statement is not None:
        return tuple(_answer(one, turn) for one in _proposed(replace(turn, content=statement), context))
    return _proposed(turn, context)


def _answer(proposal: Proposal, turn: Turn) -> Proposal:
    """Return what an answer says in full, as it was said."""
    return replace(proposal, quote=turn.content.strip(), confidence=round(proposal.confidence * elliptic.SURE, 2))


def _proposed(turn: Turn, context: Sequence[Turn]) -> tuple[Proposal, ...]:
    return tuple(_proposal(one, turn) for one in _best(_read(turn, _said(turn, context))))


def _said(turn: Turn, context: Sequence[Turn]) -> Said:
    turns = (turn, *context)
    speakers = {one.speaker.lower() for one in turns if one.speaker}
    named = {name.lower() for one in turns for name in _PERSON.findall(one.content[:_MOST_CONTEXT])}
    return Said(
        speaker=turn.first_person,
        addressee=USER if turn.role is Role.ASSISTANT and turn.speaker is None else None,
        now=turn.occurred_at.astimezone(turn.zone),
        people=frozenset(speakers | named),
    )


def _read(turn: Turn, said: Said) -> list[Found]:
    found: list[Found] = []
    playing, pasted = False, len(turn.content) > _LONGEST_OWN
    for sentence in sentences(turn.content, corrected):
        text = sentence.text
        if stances.takes_back(text):
            found.clear()
            continue
        playing = playing or stances.begins_play(text)
        if stances.is_joke(text) or not _MAY_STATE.search(text):
            continue
        if turn.role is Role.USER:
            found.extend(of_speaker(sentence, said, playing=playing, pasted=pasted))
        elif _OF_USER.search(text):
            found.extend(of_user(sentence, said))
    return found


def _best(found: Sequence[Found]) -> list[Found]:
    """Return the most that a turn may propose: the surest and most important, each said once, in its order."""
    unique: dict[str, Found] = {}
    for one in found:
        if one.draft.importance >= LEAST_IMPORTANCE and _is_sound(one.draft):
            known = unique.setdefault(_key(one.draft), one)
            if known.draft.confidence < one.draft.confidence:
                unique[_key(one.draft)] = one
    ranked = sorted(unique.values(), key=lambda one: -one.draft.confidence * one.draft.importance)
    chosen = {id(one) for one in ranked[:MOST_PROPOSALS]}
    return [one for one in unique.values() if id(one) in chosen]


def _is_sound(draft: Draft) -> bool:
    """Tell whether nothing in it was someone else's words, and every name is one a type would take."""
    return all(
        HIDDEN not in value and (field in _SENTENCES or len(value) <= _LONGEST_NAME)
        for field, given in draft.payload.items()
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


def _proposal(found: Found, turn: Turn) -> Proposal:
    draft = found.draft
    return Proposal(
        type=draft.type,
        payload=draft.payload,
        quote=turn.content[found.start : found.end].strip(),
        speech_act=found.act,
        confidence=draft.confidence,
        importance=draft.importance,
        topic=draft.topic,
        ends=draft.ends,
        ended_at=draft.ended_at,
    )
