from hypothesis import given
from hypothesis import strategies as st

from app.lexical.embedding_text import MAX_PARTS, split_chunks


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_a_short_text_is_one_part() -> None:
    assert split_chunks("I like tea. You like coffee.") == ("I like tea. You like coffee.",)


def test_a_text_without_words_has_no_parts() -> None:
    assert split_chunks("") == ()
    assert split_chunks(" \n\t ") == ()


def test_a_long_text_is_cut_into_equal_parts() -> None:
    parts = split_chunks(" ".join(f"w{i}" for i in range(90)))
    assert [len(part.split()) for part in parts] == [30, 30, 30]
    assert [len(part.split()) for part in split_chunks("word " * 41)] == [20, 21]


def test_a_script_without_spaces_is_cut_as_well() -> None:
    parts = split_chunks("茶" * 300)
    assert sum(len(part) for part in parts) == 300
    assert {len(part) for part in parts} <= {74, 76}


def test_a_very_long_text_keeps_everything_in_a_bounded_number_of_parts() -> None:
    text = " ".join(f"word{i}" for i in range(10_000))
    parts = split_chunks(text)
    assert len(parts) <= MAX_PARTS
    assert " ".join(parts) == text
    sizes = [len(part.split()) for part in parts]
    assert max(sizes) - min(sizes) <= 1


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=600), st.integers(1, 12), st.integers(1, 8))
def test_nothing_is_lost_and_order_is_kept(text: str, max_words: int, max_parts: int) -> None:
    parts = split_chunks(text, max_words, max_parts=max_parts)
    assert squeezed(" ".join(parts)) == squeezed(text)
    assert len(parts) <= max_parts
    assert all(part == " ".join(part.split()) and part for part in parts)


@given(st.lists(st.from_regex(r"[a-z]{1,8}[.,!?]?", fullmatch=True), max_size=200), st.integers(1, 50))
def test_parts_of_words_keep_to_the_limit_and_are_as_few_and_equal_as_can_be(words: list[str], max_words: int) -> None:
    parts = split_chunks(" ".join(words), max_words, max_parts=1000)
    sizes = [len(part.split()) for part in parts]
    assert sum(sizes) == len(words)
    assert all(size <= max_words for size in sizes)
    assert not sizes or max(sizes) - min(sizes) <= 1
    assert len(sizes) == -(-len(words) // max_words)
