"""Types made at run time from the registry, which the type checker takes on trust."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

_ANNOTATED: Any = Annotated
_LITERAL: Any = Literal
_LIST: Any = list


def one_of(members: Iterable[type[BaseModel]]) -> Any:  # noqa: ANN401
    """Return the union of models that their `type` tells apart."""
    return _ANNOTATED[reduce(or_, members), Field(discriminator="type")]


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
