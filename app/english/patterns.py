"""Patterns over English, kept in data files.

A section of a file under `data` is one pattern, an alternative a line; `<<NAME>>` stands for a line of its section
`fragments`.
"""

from __future__ import annotations

import re
from typing import Final

from app.english.word_lists import listed, pairs

_FRAGMENT: Final = re.compile(r"<<([A-Z_]+)>>")


def pattern(name: str, title: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of a section of a file."""
    return re.compile("|".join(expanded(name, line) for line in listed(name, title)), flags)


def expanded(name: str, text: str) -> str:
    """Return a line of a file with its fragments in place of their names."""
    fragments = pairs(name, "fragments")
    return _FRAGMENT.sub(lambda found: expanded(name, fragments[found[1]]), text)
