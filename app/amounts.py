"""Numbers with the nouns that they count, for messages."""

from __future__ import annotations

import re
from typing import Final

_ENDINGS: Final = ((r"ies$", "y"), (r"(ss|sh|ch|x|us|as)es$", r"\1"), (r"s$", ""))


def amount(number: int, things: str) -> str:
    """Return a number and what it counts, named in the plural: `3 memories`, but `1 memory`."""
    return f"{number} {things if number != 1 else _singular(things)}"


def _singular(things: str) -> str:
    for ending, one in _ENDINGS:
        if re.search(ending, things):
            return re.sub(ending, one, things)
    return things
