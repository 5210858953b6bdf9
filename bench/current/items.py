"""The items: what a store is told, in order of time, and a question with what its answer must and must not say.

`python -m bench.current.items` writes `data/items.jsonl` anew from the templates, the chains and the items written by
hand. Runs read that file alone.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parent / "data"

ITEMS: Final = DATA / "items.jsonl"

NOW: Final = datetime(2026, 6, 1, 12, tzinfo=UTC)

WANTED: Final = 1_000

_FIRST: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
_STEP: Final = timedelta(days=40)

_AROUND: Final[Mapping[str, tuple[str, str]]] = {
    "en": ("Notes of the week: the weather was mild and the bakery was closed.", "Otherwise nothing special happened."),
    "de": ("Notizen der Woche: das Wetter war mild und der Bäcker hatte zu.", "Sonst ist nichts Besonderes passiert."),
    "fr": (
        "Notes de la semaine : il faisait doux et la boulangerie était fermée.",
        "À part cela, rien de spécial.",
    ),
    "es": ("Notas de la semana: hizo buen tiempo y la panadería cerró.", "Por lo demás, nada especial."),
    "zh": ("本周随记。天气温和。面包店没开门。", "除此之外没什么特别的。"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a store is told at a time: a turn of the user, a text, or a fact with a sentence that says the same."""

    at: str
    form: str
    text: str
    fact: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A question to a store. `right` are groups of alternatives, of which each must be said; `wrong` is out of date.

    Items of one `store` share what it was told: each is told its own, and the others are what surrounds it.
    """

    id: str
    store: str
    language: str
    kind: str
    form: str
    source: str
    told: tuple[Told, ...]
    ask: str
    right: tuple[tuple[str, ...], ...]
    wrong: tuple[str, ...]


def read(path: Path = ITEMS) -> list[Item]:
    """Return the items of a file."""
    return [_item(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def stores(items: Iterable[Item]) -> dict[str, tuple[list[Told], list[Item]]]:
    """Return what each store is told, in order of time, and its items."""
    found: dict[str, list[Item]] = defaultdict(list)
    for one in items:
        found[one.store].append(one)
    return {
        name: (sorted((told for one in mine for told in one.told), key=lambda told: told.at), mine)
        for name, mine in found.items()
    }


def _item(line: Mapping[str, Any]) -> Item:
    told = tuple(Told(**one) for one in line["told"])
    right = tuple(tuple(group) for group in line["right"])
    return Item(**{**line, "told": told, "right": right, "wrong": tuple(line["wrong"])})


def made() -> list[Item]:
    """Return the items anew: those by hand, the chains, and as many from templates as are wanted in all."""
    hand, chains, drafts = list(_by_hand()), list(_chains()), list(_from_templates())
    wanted = WANTED - len(hand) - len(chains)
    kept = sorted(random.Random(8).sample(range(len(drafts)), wanted))  # noqa: S311 - a repeatable choice
    return [*hand, *chains, *(drafts[place] for place in kept)]


def _from_templates() -> Iterator[Item]:
    forms = _lines("templates.jsonl")
    places: dict[tuple[str, str], int] = defaultdict(int)
    for form in forms:
        for kind, told_as, told, ask, right, wrong in _drafts(form):
            place = places[form["language"], form["attribute"]]
            places[form["language"], form["attribute"]] += 1
            yield _made(
                f"{form['language']}-{form['attribute']}-{place}",
                f"{form['language']}-{place}",
                (form["language"], kind, told_as, "template"),
                told,
                (ask, [[right]], wrong),
            )


def _drafts(
    form: Mapping[str, Any],
) -> Iterator[tuple[str, str, list[tuple[str, str, str | None]], str, str, list[str]]]:
    """Yield kind, form, what is told (form, text, object of the fact), question, right and wrong values."""
    a, b, c, d, e, f = form["values"]

    def said(value: str) -> tuple[str, str, str | None]:
        return ("turn", form["say"].replace("{v}", value), None)

    def fact(value: str) -> tuple[str, str, str | None]:
        return ("fact", form["say"].replace("{v}", value), value)

    def changed(value: str) -> tuple[str, str, str | None]:
        return ("turn", form["new"].replace("{v}", value), None)

    def written(value: str) -> tuple[str, str, str | None]:
        before, after = _AROUND[form["language"]]
        return ("text", f"{before} {form['new'].replace('{v}', value)} {after}", None)

    def others(value: str) -> tuple[str, str, str | None]:
        return ("turn", form["other"].replace("{v}", value), None)

    ask, past = form["ask"], form["past"]
    for old, new in ((a, b), (c, d), (e, f)):
        yield "update", "turns", [said(old), changed(new)], ask, new, [old]
    for old, new in ((b, c), (d, e)):
        yield "update", "facts", [fact(old), fact(new)], ask, new, [old]
        yield "update", "texts", [said(new), written(old)], ask, old, [new]
        yield "false", "turns", [said(new), others(old)], ask, new, [old]
        yield "history", "facts", [fact(old), fact(new)], past, old, []
        yield "twice", "turns", [said(old), changed(new), changed(a)], ask, a, [old, new]
    yield "history", "turns", [said(f), changed(a)], past, f, []
    yield "twice", "facts", [fact(b), fact(f), fact(d)], ask, d, [b, f]
    yield "false", "facts", [fact(c), others(a)], ask, c, [a]
    if form["end"]:
        for value in (a, d, f):
            ended = form["end"].replace("{v}", value)
            yield "end", "turns", [said(value), ("turn", ended, None)], ask, ended, [form["say"].replace("{v}", value)]


def _by_hand() -> Iterator[Item]:
    for place, one in enumerate(_lines("hand.jsonl")):
        yield _made(
            f"hand-{place}",
            f"hand-{one['language']}-{place % 3}",
            (one["language"], one["kind"], "turns", "hand"),
            [("turn", text, None) for text in one["told"]],
            (one["ask"], one["right"], one["wrong"]),
        )


def _chains() -> Iterator[Item]:
    """Yield the chains of typed facts that `evals` measures: in English, with names that were made up."""
    from app.english import predicates  # noqa: PLC0415 - a run needs neither
    from evals import hops  # noqa: PLC0415

    for half in ("dev", "held"):
        _, chains = hops.store(half, hops.SIZES[0])
        for place, chain in enumerate(one for one in chains if one.single):
            for number, ask in enumerate(chain.questions):
                facts = [*chain.facts, *(chain.beside if number == 0 else ())]
                told = [("fact", f"{predicates.sentence(*one)}.", one) for one in facts]
                yield Item(
                    id=f"chain-{half}-{place}-{number}",
                    store=f"chain-{half}",
                    language="en",
                    kind="hops",
                    form="facts",
                    source="template",
                    told=tuple(
                        Told(at=_at(0, step), form=form, text=text, fact=_fact(*one))
                        for step, (form, text, one) in enumerate(told)
                    )
                    if number == 0
                    else (),
                    ask=ask,
                    right=tuple((fact[2],) for fact in chain.facts),
                    wrong=(),
                )


def _made(
    name: str,
    store: str,
    labels: tuple[str, str, str, str],
    told: Sequence[tuple[str, str, str | None]],
    asked: tuple[str, Sequence[Sequence[str]], Sequence[str]],
) -> Item:
    language, kind, form, source = labels
    ask, right, wrong = asked
    attribute = sum(map(ord, name)) % 97
    predicate = _predicate(language, name)
    return Item(
        id=name,
        store=store,
        language=language,
        kind=kind,
        form=form,
        source=source,
        told=tuple(
            Told(
                at=_at(step, attribute),
                form=how,
                text=text,
                fact=None if value is None else _fact("user", predicate, value),
            )
            for step, (how, text, value) in enumerate(told)
        ),
        ask=ask,
        right=tuple(tuple(group) for group in right),
        wrong=tuple(wrong),
    )


def _predicate(language: str, name: str) -> str:
    attribute = name.split("-")[1]
    known = {(one["language"], one["attribute"]): one["predicate"] for one in _lines("templates.jsonl")}
    return str(known.get((language, attribute), ""))


def _fact(subject: str, predicate: str, value: str) -> dict[str, str]:
    return {"subject": subject, "predicate": predicate, "object": value}


def _at(step: int, place: int) -> str:
    return (_FIRST + step * _STEP + place * timedelta(hours=7)).isoformat()


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Write the file of items."""
    lines = [json.dumps(asdict(one), ensure_ascii=False) for one in made()]
    ITEMS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(lines)} items written to {ITEMS}")


if __name__ == "__main__":
    main()
