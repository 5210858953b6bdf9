"""A short chat that every adapter holds, and what its prompts may have: lines that answer, and hardly any other.

An adapter's test brings a function that sends one message of the user, has the model reply, and returns what the model
was given besides the conversation. Everything else is the same for all.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

Exchange = Callable[[str, str], Awaitable[str]]
"""Send what the user says, answer with the reply, and return the prompt's memories."""

MOST_NOISE: Final = 0.3
"""Lines that answer nothing, a question."""

TOLD: Final = (
    ("hi, I'm Noor and I live in Harstad", "Nice to meet you, Noor! Harstad must be beautiful."),
    ("I'm allergic to eggs, they give me hives", "Noted, I'll leave out eggs."),
    ("My brother Idris repairs boats.", "What a useful trade!"),
    ("we moved to Alta last week", "I hope you like it there."),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A message, what a line must have, what else a line may have, what no line may have, and the reply."""

    message: str
    reply: str
    need: str | None = None
    may: str | None = None
    stale: str | None = None


ASKED: Final = (
    Asked("Where do I live?", "You live in Alta.", need="Alta", stale="Harstad"),
    Asked("What does my brother do?", "He repairs boats.", need="boats", may="Idris"),
    Asked("Suggest a cake for Sunday.", "How about a vegan lemon cake?", need="eggs"),
    Asked("What is 12 times 12?", "144."),
    Asked("Thanks, bye!", "Bye, Noor!"),
)


async def hold_chat(exchange: Exchange) -> None:
    """Tell, then ask, and assert that each prompt has the answer, nothing replaced, and together little else."""
    for said, reply in TOLD:
        await exchange(said, reply)
    blocks = {asked: lines_of(await exchange(asked.message, asked.reply)) for asked in ASKED}
    missing = [asked.message for asked, lines in blocks.items() if not _has(lines, asked.need)]
    stale = [line for asked, lines in blocks.items() for line in lines if _is_stale(line, asked)]
    noise = [
        f"{asked.message} {line}"
        for asked, lines in blocks.items()
        for line in lines
        if not any(pattern and re.search(pattern, line) for pattern in (asked.need, asked.may))
    ]
    report = "\n".join(["missing:", *missing, "replaced, but unmarked:", *stale, "answer nothing:", *noise])
    assert not missing, report
    assert not stale, report
    assert len(noise) <= MOST_NOISE * len(ASKED), report


def lines_of(prompt: str) -> list[str]:
    """Return the lines of memories in a prompt: they start with a dash, or with an id in brackets."""
    return [line for line in prompt.split("\n") if line.startswith(("- ", "[mem_"))]


def _has(lines: list[str], pattern: str | None) -> bool:
    return pattern is None or any(re.search(pattern, line) for line in lines)


def _is_stale(line: str, asked: Asked) -> bool:
    says = asked.stale is not None and re.search(asked.stale, line) is not None
    return says and re.search(r"replaced|no longer|until", line) is None
