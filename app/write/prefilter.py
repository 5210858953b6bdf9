"""Stage: which turns are worth extracting, told by length, wording and repetition (seed 001).

Pure and quick. A gate lets through too much rather than too little: what it drops is lost to extraction.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import chain
from typing import Final

from app.english.chitchat import asks, asks_of_you, is_chit_chat, is_foreign, is_yes_or_no, states_something
from app.english.erasure_requests import erasure_requests
from app.english.requests import only_asks
from app.english.role_play import RolePlayFrame, framing
from app.lexical.tokens import count_words, normalise, tokenize
from app.memory import normalise as memory_normalise
from app.memory.extraction import SHORT_TURN, PrefilterPolicy, Role, Turn
from app.memory.spec import GROUPS, HEED_GROUP


def framed(turn: Turn, session: Sequence[Turn]) -> RolePlayFrame:
    """Return the framing of a turn, given those of its session before it, oldest first; users open and end it."""
    before = [one.content for one in session if one.role is Role.USER]
    return framing(turn.content, before, opens=turn.role is Role.USER)


class Gate(StrEnum):
    """The gate that dropped a turn; rejections are counted under these names."""

    ROLE = "role"
    RECALLED = "recalled"
    WORDS = "words"
    CHIT_CHAT = "chit-chat"
    REPEAT = "repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentTurn:
    """An earlier turn of the same scope, with what shows a repetition; `asked` is the turn that it answered."""

    content: str
    occurred_at: datetime
    role: Role = Role.USER
    speaker: str | None = None
    asked: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedTurn:
    """A turn to extract from: its content without what was only recalled."""

    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedTurn:
    """A turn that holds nothing to remember, by which gate and why, in words without its content."""

    gate: Gate
    reason: str


def prefilter(
    turn: Turn,
    recent: Sequence[RecentTurn],
    policy: PrefilterPolicy,
    recalled: Sequence[str] = (),
    *,
    asked: str | None = None,
) -> AcceptedTurn | RejectedTurn:
    """Return what of the turn is worth extracting from, or why nothing is.

    `recent` are turns of the same scope; `recalled` the contents of memories that the turn may have been given;
    `asked` is the question that someone else asked right before, if one did.
    """
    if turn.role in policy.excluded_roles:
        return RejectedTurn(gate=Gate.ROLE, reason=f"turns of the {turn.role} are excluded")
    content = strip_recalled(turn.content, recalled)
    if not content and turn.content.strip():
        return RejectedTurn(gate=Gate.RECALLED, reason="it holds nothing but memories that were recalled")
    empty = _says_nothing(content, policy, asked)
    if empty is not None:
        return empty
    question = None if _stands_alone(content, SHORT_TURN) else asked
    near = [one for one in recent if _is_near(turn, content, one, policy)]
    said = tokenize(normalise(content)) if near else []
    telling = heapq.nlargest(_TELLING, said, key=len)
    if any(_repeats(content, said, telling, one, policy) and not _answers_another(one, question) for one in near):
        return RejectedTurn(gate=Gate.REPEAT, reason=f"the same was said within {policy.repeat_seconds:g} seconds")
    return AcceptedTurn(content=content)


def _says_nothing(content: str, policy: PrefilterPolicy, asked: str | None) -> RejectedTurn | None:
    words = count_words(content)
    if words > policy.max_words:
        return RejectedTurn(gate=Gate.WORDS, reason=f"it has {words} words; at most {policy.max_words} are read")
    if policy.chit_chat and is_chit_chat(content) and not _tells(content, asked):
        reason = "it is only a greeting, thanks or assent" if words else "it has no words"
        return RejectedTurn(gate=Gate.CHIT_CHAT, reason=reason)
    least = SHORT_TURN if policy.min_words is None else policy.min_words
    if _stands_alone(content, least) or (asked is not None and words and not asks(content)):
        return None
    length = "is a single word" if words == 1 else f"has {words or 'no'} words"
    return RejectedTurn(
        gate=Gate.WORDS,
        reason=f"it {length}, states nothing by itself and answers no question; min_words is {least}",
    )


def _tells(content: str, asked: str | None) -> bool:
    """Tell whether a yes or no says something of who gives it: `Do you smoke?`."""
    return asked is not None and is_yes_or_no(content) and asks_of_you(asked)


def _stands_alone(content: str, least: int) -> bool:
    """Tell whether the turn says something without its earlier turns: by at least so many words, or by what it says.

    A few words with a number say something (`Down to 74 kilos!`), and so do those that ask to forget.
    """
    words = count_words(content)
    if words >= least or states_something(content) or is_foreign(content) or erasure_requests(content):
        return True
    return words >= _FEW_WORDS and any(map(str.isdigit, content)) and not asks(content)


_FEW_WORDS: Final = 3


def _answers_another(earlier: RecentTurn, asked: str | None) -> bool:
    """Tell whether the same words answered another question before: `Berlin.` is where one lives, and was born."""
    return asked is not None and earlier.asked is not None and earlier.asked != asked


_MARK: Final = r"[ \t>]{0,40}(?:(?:[-*\u2022+]|\d{1,3}[.)])[ \t]{1,8})"

_LINE: Final = re.compile(rf"(?:{_MARK}|[ \t>]{{0,40}})\[mem_[0-9a-f]{{32}}\]")

_WITHIN: Final = re.compile(r"(?:[-*\u2022][ \t]{0,8})?\[mem_[0-9a-f]{32}\] \((?:noted )?\d{4}-\d\d-\d\d[^)\n]{0,40}\)")

_DAY: Final = r"\((?:noted )?\d{4}-\d\d-\d\d[^)\n]{0,80}\)"

_GROUP: Final = rf"#{{1,4}} (?:{'|'.join((HEED_GROUP, *GROUPS))})"

_DATED: Final = re.compile(rf"{_MARK}(?:\[\d{{1,3}}\] )?{_DAY} ")
"""A line of a block without ids; it counts as one under a heading of the block alone."""

_OWN_HEADING: Final = re.compile(rf"[ \t>]{{0,40}}{_GROUP}[ \t]{{0,40}}$")

_FLAT: Final = re.compile(rf"{_GROUP}[ \t]{{1,8}}[-*\u2022][ \t]{{1,8}}(?:\[\d{{1,3}}\] )?{_DAY}")
"""The beginning of a block without ids that lost its line breaks."""

_HEADING: Final = re.compile(r"[ \t>]{0,40}#{1,4} \w{1,30}:?[ \t]{0,40}$")

_BULLET: Final = re.compile(_MARK)

_EMPTY_QUOTE: Final = re.compile(r"[ \t]*>[ \t>]*$")


def strip_recalled(text: str, recalled: Sequence[str] = ()) -> str:
    """Return the text without lines of the service's own context block, and without list items that were recalled.

    A block's line begins with a memory's id, or with a day under a heading of the block; headings go with the lines
    below them. A memory that the text only names by its id stays: `forget [mem_...], I moved`.
    """
    known = {memory_normalise.sentence(one) for one in recalled}
    if "[mem_" not in text and "## " not in text and not known:
        return text.strip()
    kept: list[str] = []
    headings: list[str] = []
    gone = inside = False
    for line in text.splitlines():
        inside = bool(_OWN_HEADING.match(line)) or (inside and bool(_DATED.match(line)))
        if _LINE.match(line) or (inside and _DATED.match(line)) or _listed(line, known):
            headings, gone = [], True
        elif gone and _EMPTY_QUOTE.match(line):
            continue
        elif _HEADING.match(line) or (headings and not line.strip(" \t>")):
            headings.append(line)
        else:
            kept += chain(headings, _without_within(line))
            headings = []
    kept += headings
    return "\n".join(kept).strip() if gone or _begins_within(text) else text.strip()


def _listed(line: str, known: set[str]) -> bool:
    bullet = _BULLET.match(line)
    return bullet is not None and memory_normalise.sentence(line[bullet.end() :]) in known


def _begins_within(text: str) -> re.Match[str] | None:
    """Return where a block that lost its line breaks begins."""
    return _WITHIN.search(text) or _FLAT.search(text)


def _without_within(line: str) -> Iterable[str]:
    """Yield the line up to where a block that lost its line breaks begins."""
    found = _begins_within(line)
    if found is None:
        yield line
    elif line[: found.start()].strip():
        yield line[: found.start()].rstrip()


_TELLING: Final = 5
"""Longest words of a turn that are looked for in an earlier one before all are compared."""


def _is_near(turn: Turn, content: str, earlier: RecentTurn, policy: PrefilterPolicy) -> bool:
    """Tell whether the same speaker said it a moment ago, in about as many letters."""
    apart = abs((turn.occurred_at - earlier.occurred_at).total_seconds())
    if apart > policy.repeat_seconds or (earlier.role, earlier.speaker) != (turn.role, turn.speaker):
        return False
    shorter, longer = sorted((len(content), len(earlier.content)))
    return longer <= 2 * shorter


def _repeats(
    content: str, said: Sequence[str], telling: Sequence[str], earlier: RecentTurn, policy: PrefilterPolicy
) -> bool:
    """Tell whether a turn of these words, some of them telling, says nothing that an earlier one did not say.

    Every word must have stood in the earlier turn, in the same order: a corrected name is news. So is another
    number, a path or other code in another case, and a `not` that came or went.
    """
    if content == earlier.content:
        return True
    text = normalise(earlier.content)
    if not all(word in text for word in telling):
        return False
    before = tokenize(text)
    if not before or len(said) < policy.repeat_similarity * len(before):
        return False
    place = iter(before)
    return (
        all(word in place for word in said)
        and memory_normalise.numbers(content) == memory_normalise.numbers(earlier.content)
        and memory_normalise.codes(content) <= memory_normalise.codes(earlier.content)
        and memory_normalise.negated(content) == memory_normalise.negated(earlier.content)
    )


def question_before(turn: Turn, before: Sequence[Turn]) -> Turn | None:
    """Return the turn right before this one in its session, if it is someone else's and asks.

    `before` are those before it, oldest first. Turns outside any session follow one another. A person is asked by a
    question mark; the assistant also by tasks and by questions without one.
    """
    last = next((one for one in reversed(before) if one.session_id == turn.session_id), None)
    if last is None or (last.role, last.speaker) == (turn.role, turn.speaker):
        return None
    asked = asks(last.content) or (turn.role is Role.ASSISTANT and only_asks(last.content))
    return last if asked else None


def prefilter_with_question(
    turn: Turn, before: Sequence[Turn], policy: PrefilterPolicy
) -> tuple[AcceptedTurn | RejectedTurn, Sequence[Turn]]:
    """Return what the prefilter makes of a turn, given those before it, and the one that it answers, if any.

    What repeats a turn that nothing was made of is not dropped for that: it may be the same request, sent again.
    """
    question = question_before(turn, before)
    recent = [
        RecentTurn(
            content=one.content,
            occurred_at=one.occurred_at,
            role=one.role,
            speaker=one.speaker,
            asked=None if question is None else _content(question_before(one, before[:place])),
        )
        for place, one in enumerate(before)
        if not one.unread
    ]
    return prefilter(turn, recent, policy, asked=_content(question)), () if question is None else (question,)


def _content(turn: Turn | None) -> str | None:
    return None if turn is None else turn.content
