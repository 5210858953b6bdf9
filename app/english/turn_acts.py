"""The speech act of a whole turn: what is not meant in any of its sentences is not meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.english.quotations import Span, is_quoted
from app.english.role_play import RolePlayFrame
from app.english.speech_acts import is_retracted, more_cautious, speech_act
from app.model import SpeechAct

_SENTENCE: Final = re.compile(r"\S(?:.*?)(?:[.!?]+(?=\s)|$)", re.MULTILINE)

_MOST_CHARACTERS: Final = 4_000
"""Characters of a turn that are looked at: a longer one is rarely all a joke."""

_UNMEANT: Final = frozenset({SpeechAct.HYPOTHETICAL, SpeechAct.ROLEPLAY, SpeechAct.SARCASM, SpeechAct.QUOTATION})


def act_of_turn(content: str, framing: RolePlayFrame, foreign: tuple[Span, ...]) -> SpeechAct:
    """Return the act that all its statements share where none is meant, else that it asserts.

    `framing` is the game it is said in, `foreign` what of it are not its speaker's words. What somebody is said to
    have said is the speaker's own statement. Questions state nothing; a turn of questions alone asserts.
    """
    text = content[:_MOST_CHARACTERS]
    if is_retracted(text):
        return SpeechAct.SARCASM
    acts = [act for act in _acts(text, framing, foreign) if act is not SpeechAct.QUESTION]
    if not acts or any(act not in _UNMEANT for act in acts):
        return SpeechAct.ASSERTION
    return acts[0]


def _acts(text: str, framing: RolePlayFrame, foreign: tuple[Span, ...]) -> Iterator[SpeechAct]:
    for found in _SENTENCE.finditer(text):
        if is_quoted(found.start(), foreign):
            yield SpeechAct.QUOTATION
            continue
        act = speech_act(found.group(), text[: found.start()])
        framed = framing.at(found.start(), found.group())
        act = act if framed is None else more_cautious(act, framed)
        yield SpeechAct.ASSERTION if act is SpeechAct.QUOTATION else act
