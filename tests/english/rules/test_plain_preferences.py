"""Plain preferences in one sentence: how many yield a right belief, and how many of those read are wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.english.phrases import phrases
from tests.english.rules.said import proposed, rendered

LEAST_YIELD = 0.75
MOST_WRONG = 0.04

_AGAINST = re.compile(
    r"\b(?:dislikes|avoids|avoiding|fears|refuses|never|not|no|neither|without|does not|cannot\S*|must-not\S*)\b"
)
_WORD = re.compile(r"[^\W_]+")
_SMALL = frozenset(
    {
        "user", "likes", "prefers", "asks", "dislikes", "avoids", "fears", "refuses", "never", "not", "no", "always",
        "does", "has", "is", "a", "an", "the", "to", "of", "in", "on", "at", "for", "and", "or", "with", "by", "their",
        "only", "my", "be", "being", "cannot",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Gold:
    """A belief that a reader takes from a sentence."""

    wanted: bool
    needed: frozenset[str]
    allowed: frozenset[str]


def _stem(word: str) -> str:
    low = word.lower()
    return re.sub(r"(?:ing|e?s|e)$|(?<=(.))\1$", "", re.sub(r"(?:ing|(?<!s)s)$", "", low)) if len(low) > 3 else low


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text) if word.lower() not in _SMALL)


def _gold(text: str) -> Gold:
    return Gold(
        wanted=text.startswith("+"),
        needed=_stems(re.sub(r"\([^)]*\)", " ", text)),
        allowed=_stems(text.replace("(", " ").replace(")", " ")),
    )


def _judged(line: str) -> tuple[int, int, list[str]]:
    """Return how many beliefs a sentence yields, how many of them are wrong, and their sentences."""
    sentence, _, golds = line.rpartition(" = ")
    said = _stems(sentence)
    read = [one for one in proposed(sentence) if not one.ends]
    wrong = [
        text for text in map(rendered, read) if not _is_right(text, said, [_gold(g.strip()) for g in golds.split(";")])
    ]
    return len(read), len(wrong), [rendered(one) for one in read]


def _is_right(text: str, said: frozenset[str], golds: list[Gold]) -> bool:
    held = _stems(text) & said  # the other words gloss the key
    wanted = _AGAINST.search(text) is None
    return any(wanted == one.wanted and one.needed <= held <= one.allowed for one in golds)


@pytest.mark.parametrize("section", ["development", "held out"])
def test_plain_preferences_yield_right_beliefs(section: str) -> None:
    judged = {line: _judged(line) for line in phrases("plain_preferences", section)}
    yielding = sum(1 for count, bad, _ in judged.values() if count > bad)
    read = sum(count for count, _, _ in judged.values())
    wrong = sum(bad for _, bad, _ in judged.values())
    missed = [f"{line}: {texts}" for line, (count, bad, texts) in judged.items() if bad or not count]
    assert yielding >= LEAST_YIELD * len(judged), missed
    assert wrong <= MOST_WRONG * read, missed
