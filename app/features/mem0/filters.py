"""Mem0's filters: AND, OR, NOT and comparisons, as a tree that is checked once and then asked of each memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeGuard

from app.http.problems import FieldError, InvalidFields

MOST_PARTS: Final = 100
"""Most comparisons of one filter."""

MOST_OWNERS: Final = 20
"""Most users and agents that one filter names."""

WILDCARD: Final = "*"

OWNERS: Final = ("user_id", "agent_id")
PLACES: Final = ("run_id", "app_id")
TIMES: Final = frozenset({"created_at", "updated_at", "expiration_date", "timestamp"})
OTHERS: Final = ("categories", "keywords", "metadata", "memory_id", "memory_ids", "type", "status")
FIELDS: Final = (*OWNERS, *PLACES, *sorted(TIMES), *OTHERS)

Shown = Mapping[str, Any]
"""A memory as it is answered."""

Test = Callable[[Shown], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """The owner of memories that can meet a filter; `anyone` for those of all, as by a wildcard."""

    user_id: str | None = None
    agent_id: str | None = None
    anyone: bool = False

    @property
    def named(self) -> bool:
        """Return whether it names a user or an agent."""
        return self.user_id is not None or self.agent_id is not None

    def joined(self, other: Owner) -> Owner | None:
        """Return whose memories both ask for, None if nobody's."""
        for name in OWNERS:
            if len({getattr(self, name), getattr(other, name)} - {None}) > 1:
                return None
        return Owner(
            user_id=self.user_id or other.user_id,
            agent_id=self.agent_id or other.agent_id,
            anyone=self.anyone or other.anyone,
        )


_ALL: Final = (Owner(),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A checked filter: its test, the owners it can be met by, and metadata that whatever meets it contains.

    `plain` means that the owners say all.
    """

    test: Test
    owners: tuple[Owner, ...] = _ALL
    metadata: Mapping[str, object]
    plain: bool = True


EVERYTHING: Final = Filter(test=lambda _: True, metadata={})


def read_filter(given: object, place: str = "filters") -> Filter:
    """Return a filter as callers write it; raise InvalidFields that names the part that can't be used."""
    try:
        count = _parts(given)
    except RecursionError:
        raise _fault(place, "is nested too deeply") from None
    if count > MOST_PARTS:
        raise _fault(place, f"has {count} parts: at most {MOST_PARTS} are read")
    found = _read(given, place)
    if len(found.owners) > MOST_OWNERS:
        raise _fault(place, f"names {len(found.owners)} users and agents: at most {MOST_OWNERS} are read")
    return found


def all_of(filters: Iterable[Filter]) -> Filter:
    """Return the filter that is met where all are."""
    found = EVERYTHING
    for one in filters:
        owners = [both for left in found.owners for right in one.owners if (both := left.joined(right)) is not None]
        found = Filter(
            test=_both(found.test, one.test),
            owners=tuple(dict.fromkeys(owners)),
            metadata={**found.metadata, **one.metadata},
            plain=found.plain and one.plain,
        )
    return found


def equal(name: str, value: object) -> Filter:
    """Return the filter of one field with one value."""
    return _compare(name, {"eq": value}, name)


def _both(left: Test, right: Test) -> Test:
    return lambda shown: left(shown) and right(shown)


def _any_of(filters: Sequence[Filter]) -> Filter:
    owners = tuple(dict.fromkeys(owner for one in filters for owner in one.owners))
    return Filter(
        test=lambda shown: any(one.test(shown) for one in filters),
        owners=owners,
        metadata=dict(filters[0].metadata) if len(filters) == 1 else {},
        plain=len(filters) == 1 and filters[0].plain,
    )


def _none_of(filters: Sequence[Filter]) -> Filter:
    return Filter(test=lambda shown: not any(one.test(shown) for one in filters), metadata={}, plain=False)


_JOINS: Final[Mapping[str, Callable[[Sequence[Filter]], Filter]]] = {
    "AND": all_of,
    "OR": _any_of,
    "NOT": _none_of,
}


def _read(given: object, place: str) -> Filter:
    if not isinstance(given, Mapping) or not given:
        raise _fault(place, "must be a JSON object with a field to compare, or AND, OR or NOT")
    return all_of(_entry(str(name), value, f"{place}.{name}") for name, value in given.items())


def _entry(name: str, value: object, place: str) -> Filter:
    join = _JOINS.get(name.upper())
    if join is None:
        return _compare(name, value if _is_comparison(value) else {_plainly(name, value): value}, place)
    items = value if isinstance(value, list) else [value]
    if not items:
        raise _fault(place, "is empty: give at least one condition")
    return join([_read(one, f"{place}.{number}") for number, one in enumerate(items)])


def _plainly(name: str, value: object) -> str:
    return "in" if isinstance(value, list) and name != "metadata" else "eq"


def _is_comparison(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping) and bool(value) and all(str(one) in _OPERATORS for one in value)


def _compare(name: str, wanted: Mapping[str, object], place: str) -> Filter:
    if name not in FIELDS:
        raise _fault(place, f"can't be filtered by: there are {', '.join(FIELDS)}, and AND, OR, NOT")
    if name == "metadata":
        return _metadata(wanted, place)
    made = [_operation(name, str(operator), value, place) for operator, value in wanted.items()]
    found = all_of(made)
    if name == "app_id" and set(wanted) == {"eq"} and isinstance(wanted["eq"], str) and wanted["eq"] != WILDCARD:
        return Filter(test=found.test, owners=found.owners, metadata={KEPT: {name: wanted["eq"]}}, plain=False)
    return found


KEPT: Final = "mem0"
"""The key of a memory's metadata under which this door keeps what has no other place: `agent_id`, `app_id`."""


def _operation(name: str, operator: str, value: object, place: str) -> Filter:
    test = _OPERATORS[operator]
    wanted = _instants(value, place) if name in TIMES else value
    _check(operator, wanted, place)
    owners = _owners(name, operator, value)
    if value == WILDCARD and operator == "eq":
        return Filter(test=lambda shown: _value(shown, name) is not None, owners=owners, metadata={}, plain=False)

    def asked(shown: Shown) -> bool:
        have = _value(shown, name)
        if isinstance(have, list):
            return not any(map(_never(operator, wanted), have)) if operator in _NEGATED else _among(test, have, wanted)
        return test(_instant(have) if name in TIMES else have, wanted)

    return Filter(test=asked, owners=owners, metadata={}, plain=owners != _ALL and name in OWNERS)


def _among(test: Callable[[Any, Any], bool], have: Sequence[object], wanted: object) -> bool:
    return any(test(one, wanted) for one in have)


def _never(operator: str, wanted: object) -> Callable[[object], bool]:
    return lambda one: not _OPERATORS[operator](one, wanted)


def _owners(name: str, operator: str, value: object) -> tuple[Owner, ...]:
    if name in PLACES and operator in {"eq", "in"}:
        return (Owner(anyone=True),)
    if name not in OWNERS or operator not in {"eq", "in"}:
        return _ALL
    if value == WILDCARD:
        return (Owner(anyone=True),)
    values = value if isinstance(value, list) else [value]
    named = [one for one in values if isinstance(one, str)]
    if name == "user_id":
        return tuple(Owner(user_id=one) for one in named) or _ALL
    return tuple(Owner(agent_id=one) for one in named) or _ALL


def _value(shown: Shown, name: str) -> object:
    if name == "keywords":
        return shown["memory"]
    if name in {"memory_id", "memory_ids"}:
        return shown["id"]
    return shown["created_at" if name == "timestamp" else name]


def _metadata(wanted: Mapping[Any, object], place: str) -> Filter:
    """Return the filter of metadata that contain an object, whose values may be comparisons."""
    if len(wanted) == 1 and (operator := next(iter(wanted))) in {"eq", "contains", "ne"}:
        inner = wanted[operator]
        if not isinstance(inner, Mapping):
            raise _fault(place, "must be a JSON object of the values that must be there")
        found = _metadata(inner, place)
        return _none_of([found]) if operator == "ne" else found
    plain = {name: value for name, value in wanted.items() if isinstance(value, str | int | float)}
    for name, value in wanted.items():
        if _is_comparison(value):
            for operator, one in value.items():
                _check(operator, one, f"{place}.{name}")

    def asked(shown: Shown) -> bool:
        have = shown["metadata"]
        return all(_meets(have.get(name), value) for name, value in wanted.items())

    return Filter(test=asked, metadata=plain, plain=False)


def _meets(have: object, wanted: object) -> bool:
    if _is_comparison(wanted):
        return all(_OPERATORS[operator](have, value) for operator, value in wanted.items())
    if isinstance(wanted, Mapping) and isinstance(have, Mapping):
        return all(_meets(have.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(have, list):
        return all(one in have for one in wanted)
    return have == wanted


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    def test(have: object, wanted: object) -> bool:
        try:
            return have is not None and compare(have, wanted)
        except TypeError:
            return False

    return test


def _holds(have: object, wanted: object) -> bool:
    if isinstance(have, list):
        return wanted in have
    return isinstance(have, str) and str(wanted) in have


def _holds_folded(have: object, wanted: object) -> bool:
    if isinstance(have, list):
        return any(_holds_folded(one, wanted) for one in have)
    return isinstance(have, str) and str(wanted).casefold() in have.casefold()


_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": lambda have, wanted: have == wanted,
    "ne": lambda have, wanted: have != wanted,
    "in": lambda have, wanted: have in wanted,
    "nin": lambda have, wanted: have not in wanted,
    "gt": _ordered(lambda have, wanted: have > wanted),
    "gte": _ordered(lambda have, wanted: have >= wanted),
    "lt": _ordered(lambda have, wanted: have < wanted),
    "lte": _ordered(lambda have, wanted: have <= wanted),
    "contains": _holds,
    "icontains": _holds_folded,
}
_NEGATED: Final = frozenset({"ne", "nin"})
_LISTS: Final = frozenset({"in", "nin"})


def _check(operator: str, wanted: object, place: str) -> None:
    if operator in _LISTS and not isinstance(wanted, list):
        raise _fault(f"{place}.{operator}", "must be a list of values")
    if operator not in _LISTS and isinstance(wanted, list | Mapping):
        raise _fault(f"{place}.{operator}", f"must be one value; there are the comparisons {', '.join(_OPERATORS)}")


def _instants(value: object, place: str) -> object:
    if value == WILDCARD or value is None:
        return value
    found = [_instant(one) for one in value] if isinstance(value, list) else _instant(value)
    if found is None or (isinstance(found, list) and None in found):
        raise _fault(place, "must be an ISO 8601 date or time, such as 2026-05-09, or seconds since 1970")
    return found


def _instant(value: object) -> datetime | None:
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
        found = datetime.fromisoformat(str(value))
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _parts(given: object) -> int:
    if isinstance(given, Mapping):
        return sum(1 + _parts(one) for one in given.values())
    return sum(map(_parts, given)) if isinstance(given, list) else 0


def _fault(field: str, message: str) -> InvalidFields:
    return InvalidFields([FieldError(field=field, message=message)])
