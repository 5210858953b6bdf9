"""Terms and their weights, and texts in other languages, stemmed by their own stemmer, stored and asked for alike."""

from __future__ import annotations

import math
import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.lexical.bm25 import (
    DIMENSIONS,
    MAX_ENTRIES,
    MAX_LEXEME_BYTES,
    MAX_TERM_LENGTH,
    asked_terms,
    document_weights,
    idf,
    index_of,
    lexemes_of,
    query_weights,
    searched_terms,
    terms,
    to_sparsevec,
)
from tests.support.bm25_reference import Ours, Reference, agreement, evaluation_data, locomo, same_top

ANY_TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=200)
TERM_LISTS = st.lists(st.sampled_from([f"t{i}" for i in range(30)]), min_size=1, max_size=60)

LINES = [
    tuple(part.strip() for part in line.split("|"))
    for line in (Path(__file__).parent / "other_languages.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
PAIRS = {
    language: [(said, asked) for _, said, asked in lines] for language, lines in groupby(LINES, key=lambda one: one[0])
}

Terms = Callable[[str], Sequence[str]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Caroline's painting, the cats' toys", ["carolin", "paint", "cat", "toy"]),
        ("I don't think they\u2019ve left", ["think", "left"]),
        ("use pg_trgm", ["use", "pg_trgm", "pg", "trgm"]),
        ("CVE-2024-1234", ["cve-2024-1234", "cve", "2024", "1234"]),
        ("v1.2.3 1.2.3", ["1.2.3", "v1", "2", "3", "1.2.3", "1", "2", "3"]),
        ("user@example.com", ["user@example.com", "user", "exampl", "com"]),
        ("fix #42, issue#7", ["fix", "#42", "42", "issu", "#7", "7"]),
        ("C++ and C#", ["c++", "c", "c#", "c"]),
        ("AT&T R&D", ["at&t", "r&d"]),
        ("check-ins well-being", ["checkin", "check", "in", "wellb", "well"]),
        ("O\u2019Brien", ["obrien", "brien"]),
        ("U.S. U.S.A.", ["u.s", "usa"]),
        ("at 10:30: $1,000,000", ["10:30", "10", "30", "1000000"]),
        ("note:this a/b", ["note", "b"]),
        ("José's café, CAFÉS", ["jose", "cafe", "cafe"]),
        ("\uff46\uff55\uff4c\uff4c \ufb01ne", ["full", "fine"]),
        ("我喜欢猫", ["我喜", "喜欢", "欢猫", "我", "喜", "欢", "猫"]),
        ("猫", ["猫"]),
        ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("", []),
        ("?! …", []),
    ],
)
def test_terms_of(text: str, expected: list[str]) -> None:
    assert list(terms(text)) == expected


@pytest.mark.parametrize(("text", "expected"), [("Who?", ["who"]), ("it is", ["it", "is"]), ("Don't", ["don't"])])
def test_a_text_of_stop_words_alone_stays_findable(text: str, expected: list[str]) -> None:
    assert list(terms(text)) == expected


def test_names_that_look_like_auxiliaries_are_not_stop_words() -> None:
    assert terms("Will in May") == ("will", "may")


def test_stems_follow_the_language_and_an_unknown_one_has_none() -> None:
    assert terms("les maisons", "french") == ("maison",)
    assert terms("the houses", "klingon") == ("the", "houses")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("De quoi est fait mon gâteau d'anniversaire ?", ["gateau", "anniversair"]),
        ("¿Qué le regalé a mi prima?", ["regal", "prim"]),
        ("Hab ich das Fahrrad schon repariert?", ["fahrrad", "repariert"]),
        ("Как зовут мою собаку?", ["зовут", "собак"]),
        ("母の誕生日はいつ?", ["誕生", "生日", "日", "母"]),
        ("コーヒーが好き?", ["コー", "ーヒ", "ヒー", "好"]),
        ("de la", ["de", "la"]),
        ("What is my sister's name?", ["sister", "name"]),
    ],
)
def test_a_question_is_searched_by_what_it_asks_about(question: str, expected: list[str]) -> None:
    assert sorted(asked_terms(question, "english")) == sorted(expected)


@given(ANY_TEXT)
def test_the_same_text_has_the_same_terms_however_it_is_cased_by_upper(text: str) -> None:
    assert terms(text) == terms(text)
    ascii_text = text.encode("ascii", "ignore").decode()
    assert terms(ascii_text.upper()) == terms(ascii_text.lower())


@given(ANY_TEXT)
def test_terms_are_bounded_lower_case_and_without_white_space(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= MAX_TERM_LENGTH
        assert "\0" not in term
        assert not any(map(str.isspace, term))


@given(st.lists(st.from_regex(r"[a-z]{2,10}", fullmatch=True), min_size=1, max_size=20))
def test_word_order_and_accents_do_not_change_what_is_found(words: list[str]) -> None:
    assert Counter(terms(" ".join(words))) == Counter(terms("\u00a0…".join(reversed(words))))


def test_odd_text_takes_no_longer_than_its_length_explains() -> None:
    assert len(terms("a." * 100_000 + "_" * 50_000 + "'" * 50_000)) > 0
    assert len(terms("é'-" * 50_000)) > 0


def test_threads_do_not_disturb_each_other() -> None:
    text = "running runners ran happily " * 50
    expected = terms(text)
    wrong: list[tuple[str, ...]] = []

    def work() -> None:
        wrong.extend(found for _ in range(50) if (found := terms(text)) != expected)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_lexemes_are_distinct_and_sorted() -> None:
    assert lexemes_of(terms("dogs bark, a dog barks")) == ("bark", "dog")
    assert lexemes_of(["b", "a", "b"]) == ("a", "b")


def test_lexemes_stop_where_a_tsvector_is_full() -> None:
    kept = lexemes_of(f"{number:064d}" for number in range(20_000))
    assert sum(map(len, kept)) <= MAX_LEXEME_BYTES
    assert len(kept) == MAX_LEXEME_BYTES // 64


def test_an_index_is_stable_and_within_the_dimensions() -> None:
    assert index_of("carolin") == 10_535_030
    assert all(1 <= index_of(f"term{i}") <= DIMENSIONS for i in range(1000))


def test_weights_follow_the_formula() -> None:
    found = ["a", "a", "b"]
    weights = document_weights(found, average_length=6)
    saturation = 1.2 * (0.25 + 0.75 * 0.5)
    assert weights[index_of("a")] == pytest.approx(2 * 2.2 / (2 + saturation))
    assert weights[index_of("b")] == pytest.approx(1 * 2.2 / (1 + saturation))
    assert idf(3, 10) == pytest.approx(math.log(1 + 7.5 / 3.5))
    assert query_weights(found, {"a": 3}, 10) == {
        index_of("a"): pytest.approx(2 * idf(3, 10)),
        index_of("b"): pytest.approx(idf(0, 10)),
    }


def test_nothing_written_yet_is_no_division_by_zero() -> None:
    assert document_weights(["a"], average_length=0) == {index_of("a"): pytest.approx(1.0)}
    assert document_weights([], average_length=0) == {}
    assert idf(0, 0) > 0


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_idf_is_positive_and_finite_even_when_counters_lag(frequency: int, documents: int) -> None:
    assert 0 < idf(frequency, documents) < math.inf


@given(TERM_LISTS, st.floats(0.1, 1e4))
def test_a_documents_weights_are_positive_and_saturate(found: list[str], average: float) -> None:
    weights = document_weights(found, average_length=average)
    assert weights.keys() == {index_of(term) for term in found}
    assert all(0 < weight < 2.2 for weight in weights.values())
    more = document_weights([*found, found[0]], average_length=average * (len(found) + 1) / len(found))
    assert more[index_of(found[0])] > weights[index_of(found[0])]


def test_a_sparsevec_is_written_sorted() -> None:
    assert to_sparsevec({7: 0.5, 3: 0.25, 9: 0.0}).to_text() == "{3:0.25,7:0.5}/1000000000"
    assert to_sparsevec({}).to_text() == "{}/1000000000"


def test_a_sparsevec_keeps_the_heaviest_entries_that_fit() -> None:
    written = to_sparsevec({number: float(number) for number in range(1, MAX_ENTRIES + 11)}).to_text()
    assert written.count(":") == MAX_ENTRIES
    assert written.startswith("{11:11.0,")


@given(st.dictionaries(st.integers(1, DIMENSIONS), st.floats(1e-6, 1e6), max_size=50))
def test_a_sparsevec_reads_back(weights: Mapping[int, float]) -> None:
    entries, _, dimensions = to_sparsevec(weights).to_text().partition("/")
    pairs = [entry.split(":") for entry in entries.strip("{}").split(",") if entry]
    assert int(dimensions) == DIMENSIONS
    assert {int(index): float(value) for index, value in pairs} == pytest.approx(weights, rel=1e-8)
    assert [int(index) for index, _ in pairs] == sorted(weights)


def synthetic(seed: int, documents: int) -> list[list[str]]:
    """Documents of Zipf-like terms: a few are everywhere, most are rare."""
    chance = random.Random(seed)  # noqa: S311
    vocabulary = [f"w{number}" for number in range(3000)]
    odds = [1 / (rank + 1) for rank in range(len(vocabulary))]
    return [chance.choices(vocabulary, odds, k=chance.randint(1, 60)) for _ in range(documents)]


@pytest.mark.long
def test_the_inner_product_ranks_like_the_reference_library() -> None:
    corpus, queries = synthetic(1, 4000), [query[:8] for query in synthetic(2, 300)]
    assert agreement(corpus, queries) == 1.0


def test_the_comparison_bites(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = synthetic(3, 500)
    query = ["w3", "w40", "w200"]
    scores = Reference(corpus).scores(query)
    right = Ours(corpus).top(query)
    assert same_top(right, scores)
    assert not same_top(right[::-1], scores)
    assert not same_top(right[:-1], scores)
    worst = int(scores.argmin())
    assert not same_top([*right[:-1], worst], scores)
    monkeypatch.setattr("app.lexical.bm25.B", 0.0)
    assert not same_top(Ours(corpus).top(query), scores)


@settings(max_examples=30)
@given(st.lists(TERM_LISTS, min_size=2, max_size=30), TERM_LISTS)
def test_any_small_corpus_ranks_like_the_reference_library(corpus: list[list[str]], query: list[str]) -> None:
    assert agreement(corpus, [query]) == 1.0


@pytest.mark.long
def test_locomo_ranks_like_the_reference_library() -> None:
    folder = evaluation_data()
    if folder is None:
        pytest.skip("no evaluation data: set TM_EVAL_DATA to its folder")
    same = asked = 0.0
    for conversation in locomo(folder):
        corpus = [terms(text) for text in conversation.turns.values()]
        queries = [terms(question) for question, _ in conversation.questions]
        same += agreement(corpus, queries) * len(queries)
        asked += len(queries)
    assert asked > 900
    assert same / asked >= 0.99


def found_first(pairs: Sequence[tuple[str, str]], terms_of: Terms) -> int:
    """Return how many questions have their own statement, and no other, as the best match by BM25."""
    documents = [terms_of(said) for said, _ in pairs]
    frequencies = Counter(term for one in documents for term in set(one))
    average = sum(map(len, documents)) / len(documents)
    weights = [document_weights(one, average_length=average) for one in documents]
    found = 0
    for place, (_, asked) in enumerate(pairs):
        query = query_weights(tuple(dict.fromkeys(terms_of(asked))), frequencies, len(documents))
        scores = [sum(query.get(term, 0.0) * weight for term, weight in one.items()) for one in weights]
        best = max(scores)
        found += best > 0 and [at for at, score in enumerate(scores) if score == best] == [place]
    return found


def by_own_language(text: str) -> Sequence[str]:
    return searched_terms(text, "english")


@pytest.mark.parametrize("language", PAIRS)
def test_another_form_of_a_word_finds_it_in_its_language(language: str) -> None:
    pairs = PAIRS[language]
    assert found_first(pairs, by_own_language) >= max(found_first(pairs, terms), 6)


def test_over_all_languages_far_more_is_found_than_by_the_default_stemmer() -> None:
    before = sum(found_first(pairs, terms) for pairs in PAIRS.values())
    after = sum(found_first(pairs, by_own_language) for pairs in PAIRS.values())
    assert len(LINES) == 64
    assert after >= max(58, before + 15)


@pytest.mark.parametrize(
    "text",
    [
        "Where does my sister Ana de la Cruz live?",
        "I was in Rome",
        "See ya!",
        "Deutsche Bank in Frankfurt",
        "pgvector 0.8.5",
        "Graz",
        "",
    ],
)
def test_english_and_what_no_function_word_tells_is_as_in_the_default_language(text: str) -> None:
    assert searched_terms(text, "english") == terms(text, "english")


def test_the_default_language_may_be_another_one() -> None:
    assert searched_terms("Die Katzen schlafen", "german") == terms("Die Katzen schlafen", "german")
    assert searched_terms("Where are the cats?", "german") == terms("Where are the cats?", "german")
