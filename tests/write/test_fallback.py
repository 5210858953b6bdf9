"""A model is asked about names that are near what is known, and no nearer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from app.errors import ProviderTimeout
from app.memory.candidate import Candidate
from app.memory.registry import discover
from app.model import ConfidenceParts, Evidence
from app.write.resolve import (
    MOST_NOMINATED,
    MOST_OPTIONS,
    MOST_QUESTIONS,
    KnownName,
    NameQuestion,
    apply_answers,
    ask,
    near_names,
    open_questions,
    resolve,
)
from app.write.values import Prepared, Resolved
from tests.support.stores import USER

TYPES = discover()
SCOPE = uuid4()


@dataclass(slots=True)
class Scripted:
    """A judge that answers from a script; an error is raised."""

    script: dict[str, int | Exception | None]
    asked: list[tuple[str, str, list[str]]] = field(default_factory=list)

    async def which(self, name: str, sentence: str, options: Sequence[str]) -> int | None:
        self.asked.append((name, sentence, list(options)))
        answer = self.script[name]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def same(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        raise AssertionError(f"not asked for: {pairs}")


def prepared(type_name: str = "relation", about: dict[str, Any] | None = None, **fields: Any) -> Prepared:
    spec = TYPES.get(type_name)
    payload = spec.payload.model_validate(fields)
    candidate = Candidate(type=spec, payload=payload, scope=USER, **(about or {}))
    return Prepared(
        candidate=candidate,
        content=payload.render(),
        stated_at=datetime(2026, 5, 9, tzinfo=UTC),
        parts=ConfidenceParts(source=0.9, extractor=0.9, prior=0.1),
        confidence=0.7,
        event=None,
        mentions=payload.mentions(),
        identity=b"",
        texts=(),
    )


def works_with(name: str, **about: Any) -> Prepared:
    return prepared("relation", about, from_entity="Ana", relation_type="works-with", to_entity=name)


def row(wanted: str, canonical: str, kind: str = "person", alias: str | None = None, count: int = 1) -> KnownName:
    return KnownName(
        wanted=wanted,
        alias=alias or canonical.casefold(),
        entity_id=UUID(int=sum(map(ord, canonical))),
        canonical=canonical,
        entity_type=kind,
        mention_count=count,
    )


def resolved(one: Prepared, known: dict[str, list[KnownName]]) -> Resolved:
    return resolve(one, [row for rows in known.values() for row in rows], SCOPE)


def questions(one: Prepared, *rows: KnownName) -> list[NameQuestion]:
    known: dict[str, list[KnownName]] = {}
    for each in rows:
        known.setdefault(each.wanted, []).append(each)
    return open_questions([resolved(one, known)], known)


def test_a_part_of_a_name_is_worth_a_question() -> None:
    one = works_with("Lindqvist", evidence=(Evidence(stated_at=datetime.now(UTC), quote="I work with Lindqvist"),))
    [question] = questions(one, row("lindqvist", "Sarah Lindqvist"), row("lindqvist", "Lind Quast"))
    assert (question.name, question.sentence) == ("Lindqvist", "I work with Lindqvist")
    assert question.told() == ["Sarah Lindqvist (person)", "Lind Quast (person)"]


def test_what_is_known_declared_far_or_of_another_kind_is_not() -> None:
    assert questions(works_with("Priya"), row("priya", "Priya")) == []
    assert questions(works_with("Martina"), row("martina", "Zhang Wei")) == []
    assert questions(works_with("Release 12"), row("release 12", "Release 13")) == []
    declared = prepared("entity", canonical_name="Martina", entity_type="person")
    assert questions(declared, row("martina", "Martin")) == []
    works_at = prepared("fact", subject="Ana", predicate="works-at", object="Lindqvist")
    assert questions(works_at, row("lindqvist", "Sarah Lindqvist")) == []
    literal = prepared("fact", subject="Ana", predicate="likes", object="Lindqvist")
    assert questions(literal, row("lindqvist", "Sarah Lindqvist")) == []


def test_what_came_before_goes_along_and_aliases_are_told() -> None:
    one = works_with("Martina", context="x" * 500 + " about the  Hamburg office")
    [question] = questions(one, row("martina", "Martin Berg", alias="martin"))
    assert question.sentence.endswith("about the Hamburg office Ana works with Martina")
    assert len(question.sentence) < 400
    assert question.told() == ["Martin Berg (person), also known as martin"]


def test_the_sentence_of_the_turn_goes_along_where_the_quote_is_shorter() -> None:
    told = "I work with Lindqvist, not my old boss."
    quote = Evidence(stated_at=datetime.now(UTC), quote="I work with Lindqvist")
    one = works_with("Lindqvist", evidence=(quote,), said=told)
    [question] = questions(one, row("lindqvist", "Sarah Lindqvist"))
    assert question.sentence == told


def test_the_nearest_come_first_each_entity_once_and_only_so_many() -> None:
    rows = [row("martina", f"Martina {letter}", count=place) for place, letter in enumerate("abcdefgh")]
    again = replace(rows[7], alias="martin")
    [question] = questions(works_with("Martina"), again, *rows)
    assert [one.canonical for one in question.options] == [f"Martina {letter}" for letter in "hgfed"]
    assert len(question.options) == MOST_OPTIONS


def test_a_write_asks_only_so_often_and_about_a_name_once() -> None:
    names = [f"Lindqvist {letter * 4}" for letter in "abcdefg"]
    known = {name.casefold(): [row(name.casefold(), "Sarah Lindqvist")] for name in names}
    asked = open_questions([resolved(works_with(name), known) for name in (*names, *names)], known)
    assert [one.name for one in asked] == names[:MOST_QUESTIONS]


async def test_an_answer_makes_the_name_lead_to_the_entity() -> None:
    one = works_with("Lindqvist")
    known = {"lindqvist": [row("lindqvist", "Lindqvist Berg"), row("lindqvist", "Sarah Lindqvist", count=9)]}
    asked = open_questions([resolved(one, known)], known)
    judge = Scripted({"Lindqvist": 0})
    after = apply_answers(known, asked, await ask(judge, asked))
    ref = resolved(one, after).refs["to"]
    assert (ref.name, ref.created) == ("Sarah Lindqvist", False)
    assert ref.id == known["lindqvist"][1].entity_id
    assert judge.asked == [
        ("Lindqvist", "Ana works with Lindqvist", ["Sarah Lindqvist (person)", "Lindqvist Berg (person)"])
    ]
    assert open_questions([resolved(one, after)], after) == []


async def test_no_answer_a_wrong_one_and_a_failure_leave_the_name_to_itself() -> None:
    one = works_with("Lindqvist")
    known = {"lindqvist": [row("lindqvist", "Sarah Lindqvist")]}
    asked = open_questions([resolved(one, known)], known)
    scripts: tuple[int | Exception | None, ...] = (None, 7, -1, ProviderTimeout("too slow"))
    for script in scripts:
        after = apply_answers(known, asked, await ask(Scripted({"Lindqvist": script}), asked))
        assert after == known
        assert resolved(one, after).refs["to"].created


def test_names_that_share_a_word_are_nominated() -> None:
    aliases = ["sarah lindqvist", "sarah", "volkswagen group", "p. sharma", "a b"]
    assert near_names(["lindqvist", "priya sharma", "vw group", "sarah", "tom", "a b c"], aliases) == {
        "lindqvist": ["sarah lindqvist"],
        "priya sharma": ["p. sharma"],
        "vw group": ["volkswagen group"],
        "sarah": ["sarah lindqvist"],
    }
    groups = ["the new sofa", "the new car", *(f"the group {number}" for number in range(100)), "nordwind energy"]
    assert near_names(["the new nordwind group"], groups)["the new nordwind group"][:3] == [
        "nordwind energy",
        "the new sofa",
        "the new car",
    ]
    many = near_names(["group"], [f"group {number}" for number in range(10_000)])
    assert len(many["group"]) == MOST_NOMINATED
