from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from app.text.parts import MAX_PARTS, split_parts

SENTENCE = "One two three four five six seven eight nine ten."


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_a_short_text_is_one_part() -> None:
    assert split_parts("I like tea. You like coffee.") == ("I like tea. You like coffee.",)


def test_a_text_without_words_has_no_parts() -> None:
    assert split_parts("") == ()
    assert split_parts(" \n\t ") == ()


def test_sentences_are_packed_until_the_next_does_not_fit() -> None:
    parts = split_parts(" ".join([SENTENCE] * 9))
    assert [len(part.split()) for part in parts] == [40, 40, 10]
    assert all(part.endswith("ten.") for part in parts)


def test_a_sentence_is_not_broken_when_it_fits_a_part_of_its_own() -> None:
    long_sentence = " ".join(["word"] * 34) + " end."
    assert split_parts(f"{SENTENCE} {long_sentence} {SENTENCE}") == (SENTENCE, long_sentence, SENTENCE)


def test_a_sentence_longer_than_a_part_is_cut() -> None:
    parts = split_parts(" ".join(f"w{i}" for i in range(95)))
    assert [len(part.split()) for part in parts] == [40, 40, 15]


def test_abbreviations_numbers_and_initials_end_no_sentence() -> None:
    text = "Yesterday I saw Dr. Smith and J. Doe about 3.5 kg, e.g. nothing else. Then home."
    assert split_parts(text, max_words=14)[0].endswith("nothing else.")
    assert split_parts("It weighs 3.5 kilos now. Fine.", max_words=5) == ("It weighs 3.5 kilos now.", "Fine.")


def test_lines_and_wide_full_stops_end_sentences() -> None:
    assert split_parts("first item\nsecond item", max_words=2) == ("first item", "second item")
    assert split_parts("我喜欢喝茶。你喜欢咖啡。", max_words=4) == ("我喜欢喝茶。", "你喜欢咖啡。")


def test_a_script_without_spaces_is_cut_as_well() -> None:
    parts = split_parts("茶" * 300)
    assert [len(part) for part in parts] == [80, 80, 80, 60]


def test_a_very_long_text_keeps_everything_in_a_bounded_number_of_parts() -> None:
    text = " ".join(f"word{i}" for i in range(10_000))
    parts = split_parts(text)
    assert len(parts) <= MAX_PARTS
    assert " ".join(parts) == text
    sizes = [len(part.split()) for part in parts]
    assert max(sizes) - min(sizes[:-1]) == 0


@settings(deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=600), st.integers(1, 12), st.integers(1, 8))
def test_nothing_is_lost_and_order_is_kept(text: str, max_words: int, max_parts: int) -> None:
    parts = split_parts(text, max_words, max_parts=max_parts)
    assert squeezed(" ".join(parts)) == squeezed(text)
    assert len(parts) <= max_parts
    assert all(part == " ".join(part.split()) and part for part in parts)


@settings(deadline=None)
@given(st.lists(st.from_regex(r"[a-z]{1,8}[.,!?]?", fullmatch=True), max_size=200), st.integers(1, 50))
def test_parts_of_words_keep_to_the_limit_and_waste_no_room(words: list[str], max_words: int) -> None:
    parts = split_parts(" ".join(words), max_words, max_parts=1000)
    sizes = [len(part.split()) for part in parts]
    assert sum(sizes) == len(words)
    assert all(size <= max_words for size in sizes)
    assert all(first + second > max_words // 2 for first, second in pairwise(sizes))
