"""Comparison of two words letter by letter."""

from __future__ import annotations


def one_edit_apart(first: str, second: str) -> bool:
    """Return whether the words differ by one missing, added or changed letter, or by two swapped neighbours."""
    if len(first) > len(second):
        first, second = second, first
    same = next((place for place, letter in enumerate(first) if letter != second[place]), len(first))
    rest, other = first[same:], second[same:]
    if len(first) < len(second):
        return len(second) - len(first) == 1 and rest == other[1:]
    return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
