"""What a memory is about, broadly: a namespace for retrieval, not a tag (seed 003)."""

from __future__ import annotations

import re
from typing import Final

_TOPICS: Final = {
    "health": re.compile(
        r"\b(?:doctor|dentist|hospital|surgery|surgeon|diagnos\w+|therap\w+|clinic|physician|medication|pregnan\w+|health|vaccin\w+"
        r"|injur\w+|broke\b.*\b(?:leg|arm|wrist|ankle)|yoga|gym|marathon|workout|diet)\b", re.IGNORECASE),
    "travel": re.compile(
        r"\b(?:trip|travel\w*|flew|flight|vacation|holiday|visited|camping|hiking|hotel|airport|tour|cruise"
        r"|road trip)\b",
        re.IGNORECASE),
    "tech": re.compile(
        r"\b(?:deploy\w*|api|database|server|code|repo\w*|software|python|typescript|javascript|docker|kubernetes|pipeline|bug"
        r"|framework|library|app|website|debug\w*|compiler)\b", re.IGNORECASE),
    "work": re.compile(
        r"\b(?:work\w*|job|team|project|meeting|interview|promoted|hired|company|office|manager|conference|client|business|startup"
        r"|colleague\w*|report|deadline|career|joined|career|store|studio)\b", re.IGNORECASE),
    "education": re.compile(
        r"\b(?:graduat\w+|degree|university|college|school|course|class|exam|thesis|lecture|student"
        r"|workshop)\b", re.IGNORECASE),
    "food": re.compile(r"\b(?:cook\w*|bake\w*|dinner|lunch|recipe|restaurant|meal|coffee|food)\b", re.IGNORECASE),
}  # fmt: skip


def topic_of(text: str) -> str:
    """Return the broad topic of a sentence, `personal` where no other fits."""
    return next((topic for topic, words in _TOPICS.items() if words.search(text)), "personal")
