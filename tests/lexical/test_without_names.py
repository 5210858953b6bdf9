"""Names left out of a text: word by word where that is enough, else by one pattern; both must agree."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.lexical.embedding_text import pattern, without_names

_WORDS = ("Melanie", "Mel", "Anna", "anna", "ANNA", "Maria", "maria", "Lee", "Le", "O'Brien", "user", "the", "met", "é")
_JOINS = (" ", "  ", "'s ", "\u2019s ", ": ", "-", ", ", "_", "'", "s ")

words = st.sampled_from(_WORDS)
names = st.frozensets(st.lists(words, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=3)
texts = st.lists(st.tuples(words, st.sampled_from(_JOINS)), max_size=12).map(
    lambda parts: "".join(word + join for word, join in parts)
)


@given(names=names, text=texts)
@example(names=frozenset({"Anna Maria"}), text="anna maria met Anna Maria: Mari's mother")
def test_looking_at_each_word_leaves_what_the_pattern_leaves(names: frozenset[str], text: str) -> None:
    """The pattern defines what a name is; it is only not compiled where it need not be."""
    assert without_names(names, text) == (" ".join(pattern(names).sub(" ", text).split()) or text)


@pytest.mark.parametrize(
    ("given_names", "text", "left"),
    [
        ({"Melanie Ray"}, "Melanie Ray's dog likes Mel: and Ray", "dog likes and"),
        ({"user"}, "User likes tea", "likes tea"),
        ({"Melanie"}, "Me and Melody", "Me and Melody"),
        ({"Anna"}, "Anna", "Anna"),
        (set(), "Anna met Mel", "Anna met Mel"),
    ],
)
def test_names_are_left_out(given_names: set[str], text: str, left: str) -> None:
    """Whole names, their words and short forms go; a text of nothing else stays."""
    assert without_names(frozenset(given_names), text) == left
