"""Names as they are said together: who may be meant by what refers to somebody."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

from app.text.proper_names import Said

_JOINED: Final = re.compile(r"\s*,?\s*(?:and|or|&|,|as well as)\s+")
"""What stands between names that are said as equals."""


class Ambiguous(Exception):
    """A pronoun that several may be meant by, none of them more than another; the message says so."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Somebody or something that a reference may mean."""

    name: str
    entity_type: str
    assigned: bool = False
    joined: bool = False
    """Whether it was said as one of several: `Tom and Peter`."""


def by_sentence(text: str, said: Sequence[Said]) -> Iterator[list[Candidate]]:
    """Yield the names of a text by sentence, the last sentence first; those that are joined are equals."""
    sentences = [list(group) for _, group in groupby(said, key=lambda one: one.sentence)]
    for group in reversed(sentences):
        links = [_JOINED.match(text, one.start + len(one.name), two.start) for one, two in pairwise(group)]
        ends = [found is not None and found.end() == two.start for found, two in zip(links, group[1:], strict=True)]
        yield [
            Candidate(one.name, one.entity_type, joined=before or after)
            for one, before, after in zip(group, [False, *ends], [*ends, False], strict=True)
        ]
