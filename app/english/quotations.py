"""Recognition of parts of a turn that are not its speaker's words: pasted chats and mail, quotations, code, samples.

Such parts may be true of somebody else, but not of the speaker: `Tom: I live in Paris`, `Translate: I like tea`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Final

from app.english.names import is_given
from app.english.patterns import words

Span = tuple[int, int]

_FENCED: Final = re.compile(r"```.{0,20000}?(?:```|\Z)|`[^`\n]{0,300}`", re.DOTALL)
_QUOTED_LINES: Final = re.compile(r"^[ \t]{0,3}>.*(?:\n[ \t]{0,3}>.*)*", re.MULTILINE)
_MAIL: Final = re.compile(
    r"^[ \t]*(?:-{2,20} ?(?:original message|forwarded message|forwarded by|weitergeleitete nachricht)\b.*"
    r"|begin forwarded message:.*|on .{6,100}\bwrote:[ \t]*|from: .{1,200}\n(?:to|sent|date|subject|cc): .*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""Headers of a forwarded mail, after which all text is its author's."""

_PASSED_ON: Final = re.compile(
    r"(?:^|[.!?\n][ \t]*)(?:(?:fwd?|fw|forwarded|forwarding)\b(?!:? ?me\b)[^:\n]{0,60}"
    r"|(?!i\b|we\b)[^.!?:\n]{1,60}\b(?:wrote|writes|emailed|mailed|texted|messaged|posted|replied|reads)"
    r"(?: (?:me|us|back|this|that|to me|today|yesterday|in (?:his|her|the|an?|their) [\w-]+))?"
    r"|(?:this|that|it|the following|i found this) (?:was|is|stood|came) (?:written )?(?:in|from|on|inside) "
    r"(?:the|an?|my|our|this|that) [\w-]+(?: [\w-]+){0,2}"
    r"|(?:the |an? |this )?(?:message|mail|e-?mail|note|letter|text|post|excerpt|quote|document|pdf|page|article)"
    r"(?: (?:from|of|by) [^:\n.!?]{1,60}| (?:says|said|states|reads))) ?:(?=\s)",
    re.IGNORECASE,
)
"""Introductions of somebody else's words, which take up the rest of the paragraph."""

_TIME: Final = r"[\[(]?(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4},? ?)?\d{1,2}:\d\d(?::\d\d)? ?(?:[ap]m)?[\])]?"
_LABEL: Final = re.compile(
    rf"^[ \t*_]{{0,4}}(?P<stamp>{_TIME}[ \t-]{{0,3}})?(?P<name>[A-Z][\w'.-]{{0,30}}(?: [A-Z][\w'.-]{{0,30}}){{0,2}})"
    rf"(?P<after>[ \t]?{_TIME})?[*_]{{0,2}}[ \t]?:[*_]{{0,2}}(?=\s)",
    re.MULTILINE,
)
_OWN_LABELS: Final = words(
    "me i myself note notes update edit ps fyi btw tldr context background reminder correction answer question re "
    "about work home job location city name diet status today yesterday summary fact facts info important also"
)
"""Labels of the speaker's own words."""

_SAMPLE: Final = re.compile(
    r"(?:^|[.!?\n][ \t]*)(?:(?:please|can you|could you|now|ok|okay|so|and)[, ]+){0,3}"
    r"(?P<what>(?:an? |another |the |my |this |some )?(?:(?:example|sample|test|dummy) ?(?:sentences?|texts?"
    r"|inputs?|data"
    r"|messages?|turns?|dialogues?)?|sentence|text|input|output|template|quote|lyrics|prompt|placeholder"
    r"|dialogue|script)"
    r"|(?:translate|proofread|rephrase|paraphrase|rewrite|reword|summari[sz]e|repeat|pronounce|spell|parse|transcribe"
    r"|read aloud|analy[sz]e|say)\b[^:\n.!?]{0,60}"
    r"|(?:correct|check|fix|improve|edit|polish|shorten) (?:this|the|my|these|it|following|grammar)[^:\n.!?]{0,60}"
    r"|(?:here(?:'s| is| are)|this is) (?:an? |the |my |our |some )?(?:\w+ ){0,2}(?:text|essay|draft|letter"
    r"|story|e-?mail|prompt"
    r"|dialogue|conversation|chat|transcript|poem|script|paragraph|passage|article|sentence|cover letter|message)"
    r"[^:\n.!?]{0,40}) ?:[ \t\n]",
    re.IGNORECASE,
)
_SPOKEN_OF: Final = re.compile(
    r"\b(?:say|translate|translation (?:of|for)|pronounce|spell|phrase|sentence|meaning of|does|mean by|word for)\b"
    r"[^'\n]{0,30}?'(?P<said>(?:[^'\n]|(?<=\w)'(?=\w)){3,300})'(?!\w)"
    r"|\bhow (?:do|would|can|to|should) (?:(?:you|i|we|one) )?(?:say|write|translate|spell"
    r"|pronounce) (?P<asked>[^?\n]{3,200}?) in"
    r" [A-Z]\w+"
    r"|\btranslate (?!me\b|for me\b)(?P<put>[^?\n]{3,200}?) (?:in)?to [A-Z]\w+",
    re.IGNORECASE,
)
_APOSTROPHES: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u00a0": " "})


def quoted_spans(content: str, speaker: str | None) -> tuple[Span, ...]:
    """Return start and end of the parts of a turn that are somebody else's words; `speaker` is the speaker's name."""
    text = content.translate(_APOSTROPHES)
    spoken = (found.span() for pattern in (_FENCED, _QUOTED_LINES, _SPOKEN_OF) for found in pattern.finditer(text))
    mail = ((found.start(), len(text)) for found in _MAIL.finditer(text))
    return tuple(sorted(chain(spoken, mail, _transcribed(text, speaker), _samples(text), _passed_on(text))))


def is_quoted(place: int, spans: tuple[Span, ...]) -> bool:
    """Return whether a position of the turn is in somebody else's words."""
    return any(start <= place < end for start, end in spans)


def _transcribed(text: str, speaker: str | None) -> Iterator[Span]:
    """Yield the words of others in a pasted chat: from each label to the next, or to the end of the paragraph."""
    labels = [found for found in _LABEL.finditer(text) if found["name"].lower() not in _OWN_LABELS]
    sure = [one for one in labels if _names_somebody(one)]
    if not sure:
        return
    chat = len({one["name"] for one in labels}) > 1
    every = {found.start() for found in _LABEL.finditer(text)}
    ends = [*sorted(every), len(text)]
    following = dict(pairwise(ends))
    for one in labels if chat else sure:
        if _is_speaker(one["name"], speaker):
            continue
        paragraph = text.find("\n\n", one.end())
        end = following[one.start()]
        yield one.start(), end if paragraph < 0 else min(end, paragraph)


def _names_somebody(label: re.Match[str]) -> bool:
    stamped = label["stamp"] is not None or label["after"] is not None
    return stamped or is_given(label["name"].split()[0])


def _is_speaker(name: str, speaker: str | None) -> bool:
    """Return whether a label is the speaker's name, or the beginning of it."""
    said, own = name.casefold().split(), (speaker or "").casefold().split()
    return bool(own) and (said == own or said == own[: len(said)] or own == said[: len(own)])


def _passed_on(text: str) -> Iterator[Span]:
    for found in _PASSED_ON.finditer(text):
        end = text.find("\n\n", found.end())
        yield found.end(), len(text) if end < 0 else end


def _samples(text: str) -> Iterator[Span]:
    """Yield samples of language: from the colon to the end of its paragraph."""
    for found in _SAMPLE.finditer(text):
        end = text.find("\n\n", found.end())
        yield found.end(), len(text) if end < 0 else end
