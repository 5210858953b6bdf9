"""Types made at run time from the registry, which the type checker takes on trust."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

_ANNOTATED: Any = Annotated
_LITERAL: Any = Literal
_LIST: Any = list


def one_of(members: Iterable[type[BaseModel]]) -> Any:  # noqa: ANN401
    """Return the union of models that their `type` tells apart."""
    return _ANNOTATED[reduce(or_, members), Field(discriminator="type")]


BUILT_IN = "built in"
OWN = "own"
"""The tags of a union's two members: they stand in the places of errors, where no field is called so."""


def builtin_or_tenant(built_in: Any, own: type[BaseModel], which: Callable[[Any], str | None]) -> Any:  # noqa: ANN401
    """Return the union of types that are built in and of one's own; `which` returns the tag of a value."""
    members = _ANNOTATED[built_in, Tag(BUILT_IN)] | _ANNOTATED[own, Tag(OWN)]
    return _ANNOTATED[members, Discriminator(which)]


def with_example(example: Mapping[str, Any]) -> ConfigDict:
    """Return the configuration of a body that is documented by an example."""
    return ConfigDict(json_schema_extra={"examples": [dict(example)]})


def from_query(kind: type[BaseModel]) -> Any:  # noqa: ANN401
    """Return the type of a model that is read from the query string."""
    return _ANNOTATED[kind, Query()]


def literal(*values: str) -> Any:  # noqa: ANN401
    """Return the type of just these strings."""
    return _LITERAL[values]


def many(kind: Any) -> Any:  # noqa: ANN401
    """Return the type of a list of these."""
    return _LIST[kind]


def maybe(kind: Any) -> Any:  # noqa: ANN401
    """Return the type of one of these or null."""
    return kind | None
