"""The key of a preference, so that the same choice made anew comes to the same key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.english.rules.noun_phrases import slug, without_article
from app.english.word_lists import AMBIGUOUS, GENERAL, REPLIES, SIZES, TOOLS, ToolKind

_SHORTER: Final = re.compile(r"-(?:work|apis?|code|projects?|development|programming|stuff|tasks?|services?|things)$")
_MODE: Final = re.compile(r"\s+(?:mode|themes?)$", re.IGNORECASE)
_CONTEXTUAL: Final = frozenset(
    {
        "programming language", "database", "web framework", "frontend framework", "channel", "drink", "editor",
        "test framework",
    }
)  # fmt: skip
"""Kinds of which what a choice is for makes it another choice."""
_BY_NAME: Final = frozenset({"language", "browser", "editor", "os"})
"""Domains whose ambiguous words count only when they are written as names: Go, not go."""
_PLATFORM: Final = re.compile(r"^(?:in|on|for)\s+", re.IGNORECASE)
_SMALL: Final = frozenset({"of", "to", "in", "on", "for", "with", "and"})
_PHRASE: Final = range(2, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceChoice:
    """A key, the value as it is stored, and a broad topic."""

    key: str
    value: str
    topic: str


def choice(chosen: str, *, purpose: str | None = None, instead: Sequence[str] = ()) -> PreferenceChoice | None:
    """Return the key of something chosen, for a purpose, rather than others; None when only its like could tell.

    A known kind gives the key (`editor.theme`); an adjective of size or style (`responses.length`); what is
    chosen for (`routine-questions.choice`); the head of the phrase (`seats.flights`).
    """
    kind = kind_of_choice(chosen) or next((one for other in instead if (one := kind_of_choice(other))), None)
    if kind is not None and not (kind.domain == "contact" and " " in chosen and purpose is None):
        return PreferenceChoice(key=_of_kind(kind, purpose), value=_short(chosen, kind), topic=kind.topic)
    return _described(chosen, purpose) or _purposed(chosen, purpose) or _headed(chosen, purpose)


def kind_of_choice(text: str) -> ToolKind | None:
    """Return the kind of tool or habit the words name; an ambiguous word counts only as a name."""
    word = without_article(text.strip())
    low = word.lower()
    kind = TOOLS.get(low)
    if kind is None and _MODE.search(low) and low.startswith(("dark ", "light ", "night ")):
        return TOOLS["dark mode"]
    ambiguous = kind is not None and low in AMBIGUOUS and kind.domain in _BY_NAME
    return None if ambiguous and not word[:1].isupper() else kind


def purpose_slug(purpose: str) -> str:
    """Return what a choice is for as a part of a key; nothing when it is for everything."""
    low = _PLATFORM.sub("", purpose.lower().strip())
    if low in GENERAL:
        return ""
    return _SHORTER.sub("", slug(low))


def _of_kind(kind: ToolKind, purpose: str | None) -> str:
    narrowed = purpose_slug(purpose) if purpose and kind.noun in _CONTEXTUAL else ""
    return f"{kind.domain}.{narrowed or kind.attribute}"


def _short(chosen: str, kind: ToolKind) -> str:
    """Return `dark` of `dark mode`: the key says the rest."""
    return _MODE.sub("", chosen) if kind.domain == "editor" else chosen


def _described(chosen: str, purpose: str | None) -> PreferenceChoice | None:
    """Read `concise explanations`, `short answers`."""
    words = without_article(chosen).lower().split()
    if len(words) not in _PHRASE or words[0] not in SIZES:
        return None
    head = words[-1]
    domain = REPLIES.get(head, slug(" ".join(words[1:])))
    narrowed = f"-{purpose_slug(purpose)}" if purpose and purpose_slug(purpose) else ""
    return PreferenceChoice(key=f"{domain}.{SIZES[words[0]]}{narrowed}", value=words[0], topic="personal")


def _purposed(chosen: str, purpose: str | None) -> PreferenceChoice | None:
    narrowed = purpose_slug(purpose) if purpose else ""
    if not narrowed or len(without_article(chosen).split()) > 1:
        return None
    return PreferenceChoice(key=f"{narrowed}.choice", value=chosen, topic="personal")


def _headed(chosen: str, purpose: str | None) -> PreferenceChoice | None:
    """Read `window seats` on flights, `dark roast coffee`."""
    words = without_article(chosen).split()
    if len(words) not in _PHRASE or _SMALL.intersection(word.lower() for word in words):
        return None
    head = slug(words[-1])
    narrowed = purpose_slug(purpose) if purpose else ""
    return PreferenceChoice(key=f"{head}.{narrowed or 'kind'}", value=chosen, topic="personal") if head else None
