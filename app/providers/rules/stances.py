"""What a speaker does with a sentence, as far as its words show: tell, pretend, suppose, joke."""

from __future__ import annotations

import re
from typing import Final

from app.model import SpeechAct

UNSURE: Final = 0.3
"""The most that what is supposed or pretended may be trusted (seed 003)."""

_PLAY: Final = r"(?:story|scenario|game|role-?\ ?play)"
_SUPPOSED: Final = re.compile(
    rf"""^\W*(?:(?:so|but|and|ok|okay|well|now|hey|just)\W+)*
    (?:(?P<suppose>what\ if|suppose(?:\ that)?|supposing|hypothetically(?:\ speaking)?
        |let(?:'s|\ us)\ (?:say|suppose|assume)(?:\ that)?|assum(?:e|ing)(?:\ that)?|say\ (?=i\b)
        |if\ (?=(?:i|we)\ (?:were|was|worked|lived|had|became|owned)\b)
        |i\ wish\ (?:that\ )?|imagine(?:\ (?:that|if))?|picture\ this)
      |(?P<pretend>(?:let's\ )?pretend(?:ing)?(?:\ (?:that|to\ be))?|act\ as\ (?:if|though)
        |let's\ (?:role-?\ ?play|play\ a\ game)|(?:in|for)\ this\ {_PLAY}|role-?play
        |(?:i'm|i\ am|i\ was)\ (?:just\ )?pretending(?:\ to\ be|\ that)?|you\ are\ now))
    \b[\s,:.-]*""",
    re.IGNORECASE | re.VERBOSE,
)
_LASTING: Final = re.compile(
    rf"\b(?:let's\ (?:role-?\s?play|pretend)|role-?\s?play(?:ing)?|in\ this\ {_PLAY}|you\ are\ now)\b",
    re.IGNORECASE | re.VERBOSE,
)
_SARCASM: Final = re.compile(
    r"""^\W*oh,?\ (?:great|good|wonderful|fantastic|lovely|perfect|joy|brilliant|fun)\b
    |^\W*(?:great|wonderful|fantastic|perfect|lovely|brilliant|awesome),\ (?:another|more|just\ what|now)\b
    |\bjust\ what\ i\ (?:needed|wanted)\b|\bsaid\ no\ one\ ever\b|\byeah,?\ right\b|\bbecause\ who\ doesn't\b
    |(?:\s|^)/s\b|\bnot!$|\bi\ (?:just\ |really\ |totally\ )?(?:love|adore|enjoy)\ (?:it\ )?when\b
    |\bwhat\ a\ (?:surprise|shock)\b|\bhow\ (?:fun|lovely|wonderful)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_KIDDING: Final = re.compile(r"\b(?:just|only|i'm|am|totally)\s+(?:kidding|joking)\b|\bjk\b", re.IGNORECASE)
_FICTION: Final = re.compile(
    r"\b(?:in (?:my|the|this|a) (?:novel|story|dream|book|film|movie|game|script|screenplay|poem|play|fan ?fic\w*)"
    r"|my (?:character|protagonist|avatar)|(?:dreamt|dreamed) (?:that|about))\b",
    re.IGNORECASE,
)
_RHETORICAL: Final = re.compile(
    r"\bi(?:'m| am) actually an?\b[^.;!?]{0,80}?[,;\u2014-]\s*(?:so|and so|therefore)\s+(?:please\s+)?"
    r"(?:walk|explain|tell|give|show|talk|go|break|be|get|don't|skip|you can|feel free|just|help|describe|discuss|use"
    r"|assume|answer|let's|speak)\b",
    re.IGNORECASE,
)
_LIKENED: Final = re.compile(
    r"\bi(?:'m| am) (?:basically|practically|virtually|pretty much|almost|kind of|sort of|kinda|sorta|like) an?\b",
    re.IGNORECASE,
)


def supposed(text: str) -> tuple[SpeechAct, int] | None:
    """Return what the sentence is when it supposes or pretends, and where what it supposes begins."""
    found = _SUPPOSED.match(text)
    if found:
        return (SpeechAct.ROLEPLAY if found["pretend"] else SpeechAct.HYPOTHETICAL), found.end()
    if _RHETORICAL.search(text):
        return SpeechAct.ROLEPLAY, 0
    return (SpeechAct.HYPOTHETICAL, 0) if _LIKENED.search(text) else None


def begins_play(text: str) -> bool:
    """Tell whether all that follows is said in a role."""
    return _LASTING.search(text) is not None


def is_joke(text: str) -> bool:
    """Tell whether the sentence is sarcastic, or tells a story that is not the speaker's."""
    return _SARCASM.search(text) is not None or _FICTION.search(text) is not None


def takes_back(text: str) -> bool:
    """Tell whether what was said before was only a joke."""
    return _KIDDING.search(text) is not None
