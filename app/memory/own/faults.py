"""What is wrong with a definition, each fault at its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong: where, as a JSON pointer into the definition, and what, with the mend."""

    pointer: str
    message: str


class InvalidDefinition(InvalidInput):
    """A definition that can't be a type; `faults` are all that were found, at least one."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        """Take the faults."""
        super().__init__(f"{faults[0].pointer}: {faults[0].message}")
        self.faults = tuple(faults)


def pointer(*steps: str | int) -> str:
    """Return the JSON pointer (RFC 6901) of a path."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)
