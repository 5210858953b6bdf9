"""A name that looks like a known one proposes, and alone decides only where it is plainly misspelt."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import pytest

from app.english.name_identity import may_be_one, misspelt, variants
from app.english.word_lists import MEN, WOMEN, entries
from app.memory.candidate import WriteDecision
from app.memory.normalise import normalise_name
from app.model import UNKNOWN_TYPE
from app.write.resolve import SIMILAR, KnownName, nominated, resolve, similarity
from app.write.values import Prepared
from tests.support.stores import Store
from tests.write.test_entities import entities
from tests.write.test_fallback import SCOPE, prepared, row
from tests.write.test_judge import Scripted, judged, written

MISSPELT = [
    (line.split(" | ")[0], line.split(" | ")[1])
    for line in (Path(__file__).parents[1] / "english" / "misspellings.txt").read_text().splitlines()
    if not line.startswith("#")
]

FORMS = [
    (name, form)
    for name, forms in {
        "Elizabeth Carver": "Liz|Beth Carver|Lizzie|E. Carver|Carver, Elizabeth|Ms Carver",
        "William Okonkwo": "Bill|Will Okonkwo|Billy|Dr. Okonkwo|Okonkwo|W Okonkwo",
        "Margaret van Dijk": "Peggy|Meg van Dijk|Maggie|Mrs van Dijk|M. van Dijk",
        "Robert Amsel": "Bob|Rob Amsel|Bobby Amsel|Mr Amsel|Amsel, Bob",
        "Katherine Moreau": "Kate|Kathy Moreau|K. Moreau|Prof. Moreau",
        "Priya Ramanathan": "Priya|Ramanathan|P. Ramanathan|Ramanathan, Priya",
        "Alexander Petrov": "Alex|Sasha Petrov|Alex P.|A. Petrov",
        "Thomas Brandt": "Tom|Tommy Brandt|Tom B.|Brandt",
        "European Metalworks": "EM|the EM|European Metalworks AG",
        "Harbour Trust Foundation": "HTF|Harbour Trust|the Harbour Trust Foundation",
        "Nordwind Energy": "Nordwind|Nordwind Energy Group|Nordwind Energy Ltd",
        "Saint Brendan Hospital": "Brendan Hospital|SBH|St. Brendan Hospital",
    }.items()
    for form in forms.split("|")
]


def invented(count: int) -> list[str]:
    """Return made-up words of two to four syllables."""
    chosen = random.Random(7)  # noqa: S311 - no secret
    syllables = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]
    return sorted({"".join(chosen.choices(syllables, k=chosen.randint(2, 4))).capitalize() for _ in range(count)})


def companies() -> list[str]:
    """Return company names, each of which shares a word with many others."""
    stems, ends = invented(60), ["Bank", "Bahn", "Group", "Systems", "Energy", "Analytics", "Motors", "Holding"]
    known = [one.capitalize() for one in entries("organisations")]
    return [*known, *(f"{stem} {end}" for stem in stems for end in ends[:4]), *(f"{one} {ends[4]}" for one in known)]


def people(surname: str) -> list[str]:
    return [f"{given.capitalize()} {surname}" for given in sorted(MEN | WOMEN)[::8]]


def one_by_spelling(names: Iterable[str]) -> list[tuple[str, str]]:
    pairs = combinations(sorted({normalise_name(name) for name in names}), 2)
    return [pair for pair in pairs if misspelt(*pair) or misspelt(*reversed(pair))]


@pytest.mark.parametrize("kind", ["countries", "cities", "organisations"])
def test_names_in_use_are_never_one_by_spelling(kind: str) -> None:
    names = entries(kind)
    assert len(names) >= 100
    assert one_by_spelling(names) == []
    assert one_by_spelling(f"University of {name}" for name in names) == []
    assert one_by_spelling(f"{name} Bank" for name in names) == []


@pytest.mark.parametrize("surname", ["Lindqvist", "Ng", "Featherstonehaugh"])
def test_given_names_before_one_surname_are_never_one(surname: str) -> None:
    names = people(surname)
    assert len(names) >= 300
    assert one_by_spelling(names) == []


def test_variants_of_given_names_are_never_one() -> None:
    ends = ("a", "e", "o", "n", "ne", "ina")
    variants = [(f"{name} hohenstein", f"{name}{end} hohenstein") for name in MEN | WOMEN for end in ends]
    assert [pair for pair in variants if misspelt(*pair)] == []


def test_companies_that_share_a_word_are_never_one() -> None:
    names = companies()
    assert len(names) >= 300
    assert one_by_spelling(names) == []


@pytest.mark.long
def test_a_known_name_leaves_alike_ones_to_themselves() -> None:
    pairs = [
        (kind, first, second)
        for kind, names in (
            ("place", entries("countries")),
            ("person", people("Lindqvist")[::3]),
            (UNKNOWN_TYPE, companies()[::4]),
        )
        for first, second in combinations(names, 2)
        if similarity(normalise_name(second), normalise_name(first)) >= SIMILAR
    ]
    assert len(pairs) >= 50
    for kind, first, second in pairs:
        found = resolve(said(second), [known(first, second, kind)], SCOPE).refs["to"]
        assert (found.created, found.resembles) == (True, first)


def test_misspellings_are_resolved_or_proposed() -> None:
    found = [resolve(said(wrong), [known(right, wrong)], SCOPE).refs["to"] for right, wrong in MISSPELT]
    resolved = [ref for ref in found if not ref.created]
    proposed = [ref for ref in found if ref.resembles is not None]
    assert len(MISSPELT) == 50
    assert len(resolved) + len(proposed) >= 45
    assert len(resolved) >= 20


def test_other_forms_of_a_name_are_proposed_and_decide_nothing() -> None:
    found = [resolve(said(form), [known(name, form)], SCOPE).refs["to"] for name, form in FORMS]
    assert len(FORMS) == 50
    assert all(ref.created for ref in found)
    assert sum(ref.resembles is not None for ref in found) >= 45
    for form, (name, _) in zip((one for _, one in FORMS), FORMS, strict=True):
        assert nominated({normalise_name(form)}, ["zdenek quist", normalise_name(name)], shared=False)


async def test_a_write_says_whom_another_form_of_a_name_may_mean(store: Store) -> None:
    names = dict.fromkeys(name for name, _ in FORMS)
    await store.write_all([store.candidate("fact", subject=one, predicate="lives-in", object="Ghent") for one in names])
    proposed = 0
    for name, form in FORMS:
        said = store.candidate("fact", subject=form, predicate="works-at", object="Ghent")
        [outcome] = await store.pipeline.preview(store.actor, [said])
        proposed += f"may be the same as {name}" in outcome.reason
    assert proposed >= 45


def test_other_people_and_places_are_no_forms_of_a_name() -> None:
    others = [
        (first, second)
        for names in ([f"{name} lindqvist" for name in sorted(MEN | WOMEN)[::40]], entries("countries"))
        for first, second in combinations(sorted({normalise_name(name) for name in names}), 2)
        if may_be_one(first, second)
    ]
    assert len(others) <= 5, others


def test_a_person_is_not_found_by_a_misspelling() -> None:
    for right, wrong in MISSPELT:
        assert resolve(said(wrong), [known(right, wrong, "person")], SCOPE).refs["to"].created


@pytest.mark.parametrize(("first", "second"), [("Slovakia", "Slovenia"), ("Iceland", "Ireland"), ("Guyana", "Guiana")])
async def test_a_move_to_a_place_of_a_like_name_is_a_move(store: Store, first: str, second: str) -> None:
    await store.write("fact", predicate="lives-in", object=first)
    moved = await store.write("fact", predicate="lives-in", object=second)
    assert moved.decision is WriteDecision.SUPERSEDED
    assert await entities(store) == {first, second}
    if similarity(normalise_name(second), normalise_name(first)) >= SIMILAR:
        assert moved.reason.endswith(f"; {second} may be the same as {first}")


async def test_facts_of_two_people_of_like_names_stand(store: Store) -> None:
    for name, place in (("Paul Hohenstein", "Oslo"), ("Paula Hohenstein", "Porto")):
        outcome = await store.write("fact", subject=name, predicate="lives-in", object=place)
        assert outcome.decision is WriteDecision.ADDED
    assert {"Paul Hohenstein", "Paula Hohenstein"} <= await entities(store)


async def test_a_declared_place_of_a_like_name_is_another(store: Store) -> None:
    for name in ("Slovakia", "Slovenia"):
        await store.write("entity", canonical_name=name, entity_type="place")
    assert await entities(store) == {"Slovakia", "Slovenia"}


async def test_a_shared_alias_leaves_both_to_themselves(store: Store) -> None:
    for name, place in (("Beatrix Okafor", "Ghent"), ("Beate Sandoval", "Graz")):
        await store.write("entity", canonical_name=name, entity_type="person", aliases=["Bea"])
        await store.write("fact", subject=name, predicate="lives-in", object=place)
    first = await store.write("fact", subject="Bea", predicate="lives-in", object="Turin")
    again = await store.write("fact", subject="bea", predicate="lives-in", object="Turin")
    moved = await store.write("fact", subject="Bea", predicate="lives-in", object="Lyon")
    assert [one.decision for one in (first, again, moved)] == [
        WriteDecision.ADDED,
        WriteDecision.MERGED,
        WriteDecision.SUPERSEDED,
    ]
    assert "Bea may be the same as Bea" in first.reason
    assert {"Beatrix Okafor", "Beate Sandoval", "Bea"} <= await entities(store)


async def test_declaring_a_shared_alias_unites_nobody(store: Store) -> None:
    for name in ("Beatrix Okafor", "Beate Sandoval"):
        await store.write("entity", canonical_name=name, entity_type="person", aliases=["Bea"])
    await store.write("entity", canonical_name="Bea", entity_type="person")
    assert await entities(store) == {"Beatrix Okafor", "Beate Sandoval", "Bea"}


@pytest.mark.parametrize(("place", "names"), [(0, {"Iceland"}), (None, {"Iceland", "Ireland"})])
async def test_a_model_is_asked_about_a_near_spelling(store: Store, place: int | None, names: set[str]) -> None:
    judge = Scripted(place=place)
    mine = judged(store, judge)
    for name in ("Iceland", "Ireland"):
        await written(mine, mine.candidate("fact", predicate="lives-in", object=name))
    assert judge.names == [("Ireland", ("Iceland (place)",))]
    assert await entities(store) == names


async def test_a_model_is_asked_whom_a_shared_alias_means(store: Store) -> None:
    judge = Scripted(place=1)
    mine = judged(store, judge)
    for name in ("Beatrix Okafor", "Beate Sandoval"):
        entity = mine.candidate("entity", canonical_name=name, entity_type="person", aliases=["Bea"])
        await written(mine, entity)
    await written(mine, mine.candidate("fact", subject="Bea", predicate="lives-in", object="Turin"))
    [(name, options)] = judge.names
    assert name == "Bea"
    assert len(options) == 2
    assert "Bea" not in await entities(store)


def said(name: str) -> Prepared:
    return prepared("relation", from_entity="Ana", relation_type="works-with", to_entity=name)


def known(name: str, wanted: str, kind: str = UNKNOWN_TYPE) -> KnownName:
    return row(normalise_name(wanted), name, kind, alias=normalise_name(name))


def test_a_form_of_a_name_is_found_among_many_that_hold_its_letters() -> None:
    others = [f"{start}tom{end} {number}" for number, start in enumerate("abcdefgh") for end in ("asz", "ek", "")]
    others += [f"symp{number}tom" for number in range(30)]
    assert variants(["tom reed"], [*others, "thomas reed"]) == {"tom reed": ["thomas reed"]}


def test_parts_at_either_end_of_a_name_are_found() -> None:
    known = ["reed, thomas", "o'reed-thomas", "reeds", "areed", "thomas"]
    assert variants(["tom reed"], known) == {"tom reed": ["reed, thomas", "thomas"]}


async def test_what_is_rejected_is_likened_to_nobody(store: Store) -> None:
    await store.write("fact", subject="Paul Hohenstein", predicate="lives-in", object="Oslo")
    doubtful = {"source_strength": 0.1, "extractor_confidence": 0.1}
    outcome = await store.write(
        "fact", about=doubtful, subject="Paula Hohenstein", predicate="lives-in", object="Porto"
    )
    assert outcome.decision is WriteDecision.REJECTED
    assert "Paul Hohenstein" not in outcome.reason
    told = await store.sql("SELECT detail::text AS detail FROM audit_events WHERE tenant_id = $1", store.tenant)
    assert not any("Paul Hohenstein" in row["detail"] for row in told)
