"""Canonical names in sentences: `Sarah reports to Priya (the EM)` for what was said of `the EM`."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence

from app.english.name_identity import own_tie
from app.memory import normalise
from app.model import EntityName, Mention


def need_names(text: str, names: Iterable[EntityName]) -> bool:
    """Return whether a sentence lacks one of the names of its entities, or what tells one from its namesakes."""
    said = text.casefold()
    return any(one.apart is not None or one.name.casefold() not in said for one in names)


def with_canonical_names(text: str, mentions: Sequence[Mention], names: Iterable[EntityName]) -> str:
    """Return the sentence with the canonical names of its entities in place of the names that were said.

    What was said stays in brackets unless the canonical name has all of its words, and a name that has all words of the
    canonical one stays. What tells an entity from another of its name follows, too, unless the sentence describes it.
    """
    known = {one.role: one for one in names}
    written: Mapping[str, deque[str]] = defaultdict(deque)
    for mention in mentions:
        if mention.role in known:
            written[mention.name].append(_written(mention, known[mention.role]))
    if not written:
        return text
    told = "|".join(re.escape(name) for name in sorted(written, key=lambda name: -len(name)))
    return re.sub(
        rf"(?<!\w)(?:{told})(?!\w)",
        lambda found: left.popleft() if (left := written[found.group()]) else found.group(),
        text,
    )


def _written(mention: Mention, entity: EntityName) -> str:
    """Return the name of an entity as a sentence has it."""
    told, canonical = (frozenset(normalise.normalise_name(name).split()) for name in (mention.name, entity.name))
    name = mention.name if told >= canonical else entity.name
    described = mention.declares or entity.apart is None
    notes = (
        "" if told >= canonical or told <= canonical else mention.name,
        "" if described else own_tie(str(entity.apart)),
    )
    beside = ", ".join(note for note in notes if note)
    return f"{name} ({beside})" if beside else name
