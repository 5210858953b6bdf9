"""What a scope counts of its memories adds up, and what is taken off again leaves nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.lexical.bm25 import index_of
from app.lexical.counts import ScopeCounts, total

texts = st.lists(st.lists(st.sampled_from(["tea", "harbour", "violin", "storm"]), max_size=6), max_size=8)


@given(texts)
def test_counts_are_of_texts_and_of_each_term_once_a_text(found: list[list[str]]) -> None:
    counts = total(ScopeCounts.of(one) for one in found)
    assert (counts.memories, counts.documents, counts.length) == (len(found), len(found), sum(map(len, found)))
    expected = {index_of(term): sum(term in one for one in found) for one in found for term in one}
    assert counts.by_term() == sorted(expected.items())


@given(texts, texts)
def test_what_is_taken_off_again_leaves_what_was_there(kept: list[list[str]], gone: list[list[str]]) -> None:
    left = total(ScopeCounts.of(one, contexts=1) for one in kept + gone)
    for one in gone:
        left += -ScopeCounts.of(one, contexts=1)
    alone = total(ScopeCounts.of(one, contexts=1) for one in kept)
    assert (left.memories, left.contexts, left.length) == (len(kept), len(kept), alone.length)
    assert left.by_term() == alone.by_term()
    assert bool(left) == bool(kept)


def test_a_text_alone_is_no_memory() -> None:
    changed = ScopeCounts.of(["tea", "tea"])
    changed += -ScopeCounts.of(["tea", "tea"], memories=0)
    assert (changed.memories, changed.documents, changed.length, changed.by_term()) == (1, 0, 0, [])
