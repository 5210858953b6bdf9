"""Comparison of two words letter by letter."""

from __future__ import annotations


def one_edit_apart(first: str, second: str) -> bool:
    """Return whether one letter is left out, put in or another, or two neighbours are swapped."""
    if len(first) > len(second):
        first, second = second, first
    same = next((place for place, letter in enumerate(first) if letter != second[place]), len(first))
    rest, other = first[same:], second[same:]
    if len(first) < len(second):
        return len(second) - len(first) == 1 and rest == other[1:]
    return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
