"""The texts that stored memories are embedded by, as they were made when they were written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pydantic import ValidationError

from app.db.refill import Asked, Lacking, Told
from app.memory.registry import Registry
from app.text.naming import without
from app.text.parts import lead, split_parts
from app.write.prepare import spoken_names


def texts(given: Sequence[Told], types: Registry) -> list[list[str]]:
    """Return, for each memory, the texts of its index rows by part.

    Names are left out as at the writing; those recorded at one instant in one session were written together, and
    know of one another's. There are as many parts as there were.
    """
    names = [_names(one, types) for one in given]
    together = defaultdict[object, frozenset[str]](frozenset)
    for one, own in zip(given, names, strict=True):
        if one.session is not None:
            together[one.scope, one.session, one.recorded_at] |= own
    return [
        _texts(one, own | together.get((one.scope, one.session, one.recorded_at), frozenset()))
        for one, own in zip(given, names, strict=True)
    ]


def questions(given: Sequence[Asked], types: Registry) -> list[list[str]]:
    """Return each memory's questions by ordinal as they are embedded: without names, as the memory itself."""
    names = [_names(one, types) for one in given]
    return [[without(own, question) for question in one.rows.values()] for one, own in zip(given, names, strict=True)]


def _texts(one: Told, names: frozenset[str]) -> list[str]:
    own = [place for place, kind in one.rows.items() if kind != "context"]
    led = [place for place, kind in one.rows.items() if kind == "context"]
    content = without(names, one.content)
    found = dict(zip(own, _parts(content, len(own)), strict=True))
    before = "" if one.context is None else f"{without(names, lead(one.context))} "
    found |= zip(led, (f"{before}{part}" for part in _parts(content, len(led))), strict=True)
    return [found[place] for place in one.rows]


def _parts(text: str, count: int) -> list[str]:
    """Return a text in so many parts; one that has fewer words ends with the same part again."""
    if count == 0:
        return []
    parts = split_parts(text, 1, max_parts=count) or (text,)
    return [*parts, *(parts[-1:] * (count - len(parts)))]


def _names(one: Lacking, types: Registry) -> frozenset[str]:
    """Return the names that stay out of a memory's vectors; none where its payload is of a shape of another time."""
    spec = types.by_name.get(one.type)
    if spec is None:
        return frozenset()
    try:
        return spoken_names(spec.read(one.payload, one.type_version).mentions())
    except ValidationError:
        return frozenset()
