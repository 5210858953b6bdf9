"""What a speaker was doing with a sentence: asserting, supposing, playing a role, joking, quoting, asking, denying.

Rules over English wording. A sentence in another language, or one whose mood the words don't show, counts as an
assertion: an extractor that understands it may know better, and `more_cautious` takes the worse of two verdicts.
"""

from __future__ import annotations

import re
from typing import Final

from app.model import SpeechAct
from app.text.clauses import asks, denies, labelled, quotes
from app.text.pretence import held, plays, supposes
from app.text.tokens import normalise
from app.text.wording import LEAD

SKIPPED: Final = frozenset({SpeechAct.QUESTION, SpeechAct.SARCASM})
"""Acts that state nothing, so that nothing is stored of them (DESIGN, disagreement 3)."""

_CAUTION: Final = (
    SpeechAct.QUESTION,
    SpeechAct.SARCASM,
    SpeechAct.ROLEPLAY,
    SpeechAct.HYPOTHETICAL,
    SpeechAct.QUOTATION,
    SpeechAct.NEGATION,
    SpeechAct.ASSERTION,
)
"""Most cautious first: what is skipped, what is hardly believed, what may not replace a belief, what may."""

_HEAD, _TAIL = 3_000, 1_000
"""Characters at either end of a text that are looked at: an endless sentence shows its mood there."""

_CHEER = (
    r"(?:great|wonderful|fantastic|perfect|lovely|brilliant|"
    r"terrific|joy|super|fabulous|goody|yay|hooray|marvell?ous|splendid)"
)
_DREARY = (
    r"(?:meetings?|stand-?up|bugs?|outage|deadlines?|debug\w*|tickets?|overtime|mondays?|traffic|tax(?:es)?|paperwork|"
    r"on[- ]call|crash\w*|rewrit\w+|refactor\w*|cancel\w*|delay\w*|commut\w+|dentist|weekend|broken?|fail\w*|"
    r"spreadsheets?)"
)
_SARCASM: Final = re.compile(
    rf"{LEAD}(?:oh|ah|wow|gee|ugh|well)?,? ?{_CHEER}[,.!:\u2026-]{{0,3}} ?(?:another|yet another|one more|more|"
    r"just what i)\b|"
    rf"^(?:oh|ah|gee|ugh),? (?:{_CHEER}|nice|awesome|good)[,.!\u2026]{{0,3}} (?:now|more|the|my|our|it's|here)\b|"
    rf"^(?:oh|gee),? {_CHEER}[.!\u2026]{{0,3}}$|"
    r"^(?:oh |well )?yeah right\b(?! now| after| before| here| there| next)|\byeah,? right[.!\u2026]{0,3}$|"
    rf"(?:^|[,\u2014\u2013] ?|- )(?:{_CHEER}[,.!]? )?just what i (?:always )?(?:needed|wanted)"
    r"(?:[.!\u2026]{0,3}$|[:,] (?:another|more|an?)\b)|"
    rf"^(?:yay|hooray|whoop-?ee|woohoo),? [^.!?]{{0,30}}\b{_DREARY}[^.!?]{{0,30}}\bagain\b|"
    r"^(?:oh,? )?what a (?:surprise|shock), |"
    r"^as if\b|[\s(]/s\)?[.!]?$|\(sarcasm\)|"
    rf"\b(?:thrilled|overjoyed|delighted|ecstatic|so excited|can't wait|love) [^.!?]{{0,60}}\b{_DREARY}[^.!?]{{0,40}}"
    r"\b(?:again|for the (?:third|fourth|fifth|\w{1,9}teenth|hundredth|millionth) time)\b|"
    rf"\b(?:thrilled|overjoyed|delighted|ecstatic|can't wait) [^.!?]{{0,40}}\b(?:another|"
    rf"one more) (?:\w{{1,20}} )?{_DREARY}|"
    r"\bi (?:just |simply |absolutely |really )?love (?:it )?(?:when|how) [^.!?]{0,50}"
    r"\b(?:crash|break|fail|freez|delay|cancel|los(?:e|t)|ignor|interrupt)\w*|"
    r"\bsaid no one ever\b|\bthanks for nothing\b|\bwhat could (?:possibly )?go wrong\b|"
    r"^(?:oh,? |yeah,? )?(?:sure|right),? because\b|\b(?:because|like) i have nothing better to do\b|"
    r"^(?:oh,? )?how (?:original|delightful|convenient)[.!\u2026]{0,3}$|\btell me something i don't know\b|"
    r"\b(?:just|only|i'm|i am|was) (?:kidding|joking)\b|\bjk\b"
)
_OPENING: Final = re.compile("[\u201c\u201e\u00ab]")
_CLOSING: Final = re.compile("[\u201d\u00bb]")
_STRAIGHT: Final = re.compile(r'(?<!\d)"')
_QUOTES: Final = {ord(mark): '"' for mark in "\u201c\u201d\u201e\u00ab\u00bb\u201f"}


def speech_act(sentence: str, before: str = "") -> SpeechAct:
    """Return what the speaker does with a sentence; `before` is what came before it in the same turn.

    A sentence that asserts something of the speaker first and then asks, reports or denies is an assertion.
    """
    text = _plain(sentence)
    if labelled(text) or _inside_quotation(before):
        return SpeechAct.QUOTATION
    for act, does in _MOODS:
        if does(text):
            return act
    framed = held(text, _plain(before)) if before else None
    if framed is not None:
        return framed
    if quotes(text):
        return SpeechAct.QUOTATION
    return SpeechAct.NEGATION if denies(text) else SpeechAct.ASSERTION


def more_cautious(first: SpeechAct, second: SpeechAct) -> SpeechAct:
    """Return the one of two verdicts on the same words that believes less of them."""
    return min(first, second, key=_CAUTION.index)


def _jokes(text: str) -> bool:
    return _SARCASM.search(text) is not None


_MOODS: Final = (
    (SpeechAct.ROLEPLAY, plays),
    (SpeechAct.HYPOTHETICAL, supposes),
    (SpeechAct.SARCASM, _jokes),
    (SpeechAct.QUESTION, asks),
)
"""What a sentence shows by itself, in this order: `what if I were a doctor?` supposes before it asks."""


def _plain(text: str) -> str:
    """Return the text in lower case, with straight quotes and single spaces, and only its ends if it is endless."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} {text[-_TAIL:]}"
    return " ".join(normalise(text).translate(_QUOTES).split())


def _inside_quotation(before: str) -> bool:
    """Tell whether a quotation opened earlier in the paragraph is still open; `6"` are inches."""
    paragraph = before.rpartition("\n\n")[2]
    if len(_OPENING.findall(paragraph)) > len(_CLOSING.findall(paragraph)):
        return True
    return len(_STRAIGHT.findall(paragraph)) % 2 == 1
