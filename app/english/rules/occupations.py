"""Professions: `a senior backend engineer at Acme`, `CTO of Acme`, `head of marketing`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from app.english.names import PERSON, kind_of
from app.english.rules.noun_phrases import Phrase, noun_phrase, value, without_article
from app.english.word_lists import NOT_TITLES, ROLE_HEADS, ROLE_OF, word_set

_ARTICLE: Final = re.compile(r"\s*(?:(?:a|an|the|our|their|his|her|its|currently|now)\s+)?(?:new\s+)?", re.IGNORECASE)
_SUFFIX: Final = re.compile(
    r"\w{3,}(?:ologist|ographer|ician|iatrist|ineer|keeper|writer|woman|smith|therapist|maker)s?", re.IGNORECASE
)
_EMPLOYER: Final = re.compile(r"\s*(?:,\s*)?(?:at|for|with|working (?:at|for)|here at|over at)\s+(?=\S)", re.IGNORECASE)
_OF: Final = re.compile(r"\s+(?:of|for)\s+(?:the\s+)?", re.IGNORECASE)
_POSSESSIVE: Final = re.compile(r"'s\b|s'(?=\s)")
_MOST_WORDS: Final = 6
_ARTICLES: Final = frozenset({"a", "an", "the"})
_NO_EMPLOYER: Final = word_set("home night heart now work fun years least all free living last")
_NOBODY: Final = frozenset({"the moment", "the team", "my team", "our team"})


@dataclass(frozen=True, slots=True)
class Occupation:
    """A role, who employs, and where in the text both end."""

    role: str
    employer: str | None
    end: int


def position(text: str) -> Occupation | None:
    """Return the role that the text begins with, and its employer when one is named; None when it is no role."""
    lead = _ARTICLE.match(text)
    found = noun_phrase(text, lead.end() if lead else 0, through=frozenset(), most=_MOST_WORDS)
    if found is None or not is_role(found.text):
        return None
    role, end = found.text, found.end
    of = _OF.match(text, end)
    target = noun_phrase(text, of.end()) if of and found.text.split()[-1].lower() in ROLE_OF else None
    if target is not None and target.text[0].isupper():
        return Occupation(role, organisation(target.text), target.end)
    if target is not None:
        role, end = f"{role} of {without_article(target.text)}", target.end
    employer = employer_at(text, end)
    return Occupation(role, None, end) if employer is None else Occupation(role, employer.text, employer.end)


def is_role(text: str) -> bool:
    """Tell whether a noun phrase names a profession or position."""
    low = text.lower()
    words = [low] if low in ROLE_HEADS else low.replace("-", " ").split()
    if not words or NOT_TITLES.intersection(words) or _ARTICLES.intersection(words):  # "dating a nurse"
        return False
    if len(words) > 1 and text[:1].isupper() and kind_of(text) == PERSON:  # "Tim Cook"
        return False
    head = words[-1]
    return head in ROLE_HEADS or head.removesuffix("s") in ROLE_HEADS or _SUFFIX.fullmatch(head) is not None


def employer_at(text: str, at: int) -> Phrase | None:
    """Return the employer named at the place: `at Volkswagen's EV division`."""
    lead = _EMPLOYER.match(text, at)
    if lead is None:
        return None
    found = noun_phrase(text, lead.end())
    name = None if found is None else organisation(found.text)
    return None if found is None or name is None else Phrase(name, found.end)


def organisation(text: str) -> str | None:
    """Return an organisation's name as it is stored: `Volkswagen's EV division` is `Volkswagen EV division`."""
    found = value(_POSSESSIVE.sub("", text) if text[:1].isupper() else text)
    if found is None or found.lower() in _NOBODY or found.split()[0].lower() in _NO_EMPLOYER:
        return None
    return found
