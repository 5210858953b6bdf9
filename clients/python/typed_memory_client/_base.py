"""The base of the models, and how they read what a newer service may add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError, ValidatorFunctionWrapHandler, WrapValidator


class Model(BaseModel):
    """An immutable answer. Fields that this version does not know are kept as attributes."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)


def _accept_unknown(value: object, validate: ValidatorFunctionWrapHandler) -> object:
    try:
        return validate(value)
    except ValidationError:
        if isinstance(value, str):
            return value
        raise


ACCEPT_UNKNOWN: Final = WrapValidator(_accept_unknown)
"""Lets words pass that a newer service may add to a vocabulary."""


def tag_by(field: str, *known: str) -> Callable[[Any], str]:
    """Return a function that names the member of a union by a field; '' stands for the member of all other words."""

    def tag(value: object) -> str:
        found = value.get(field) if isinstance(value, Mapping) else getattr(value, field, None)
        return found if isinstance(found, str) and found in known else ""

    return tag
