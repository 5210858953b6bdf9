"""How many tokens a text costs a model, estimated without knowing the model."""

from __future__ import annotations

import re

_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|[^\W\d_]+|[^\w\s]|_")
_LETTERS_PER_TOKEN = 5
_DIGITS_PER_TOKEN = 2


def estimate(text: str) -> int:
    """Return about how many tokens the text is; rather too many than too few.

    A run of Latin letters is a token for each five of its letters or part of it, digits one for each two, every
    character of another script and every sign one. Byte-pair vocabularies of 32,000 entries and more
    need fewer for prose (most words are one token) and about as many for ids and code.
    """
    return sum(map(_cost, _PIECE.findall(text)))


def _cost(piece: str) -> int:
    if not piece.isascii():
        return len(piece)
    if piece.isdigit():
        return -(-len(piece) // _DIGITS_PER_TOKEN)
    return -(-len(piece) // _LETTERS_PER_TOKEN)
