"""Screening of what callers state, in every field: orders and secrets wait for a reviewer, or are refused.

A typed write is screened as a turn is. Its fields are also read in pairs: a value beside a field, or a text, that names
a secret is a secret (`wifi.password`). Texts that no reviewer would see, as a note, are refused instead.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from app import threads
from app.english.screening import screen
from app.english.secret_values import is_value_of, may_name_secret, names_secret
from app.english.secrets import find_secrets
from app.errors import InvalidInput
from app.memory.candidate import Candidate
from app.memory.fields import texts_in

_INLINE = 1_000
"""Characters that are looked through on the event loop, a millisecond or two's worth; more go to a thread."""

_WORD_STARTS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
"""Where a field's name goes on with another word: `apiKey`, `wifi.password`."""


async def screen_stated(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, each with why a person should look at what it says, if one should."""
    told = [_words(one) for one in candidates]
    beside = [_unshown(one) for one in candidates]
    size = sum(map(len, told)) + sum(len(text) for one in beside for text in texts_in(one))
    return await threads.work(lambda: list(map(_doubted, candidates, told, beside)), brief=size <= _INLINE)


def _words(candidate: Candidate) -> str:
    """Return the sentence and, a line each, the texts of the fields: they are shown and recalled as well."""
    fields = texts_in((candidate.payload.model_dump(mode="json", by_alias=True), candidate.topic or ""))
    return "\n".join(dict.fromkeys((candidate.sentence, *fields)))


def _unshown(candidate: Candidate) -> Mapping[str, object]:
    """Return the fields in which only secrets are looked for."""
    return {
        "metadata": candidate.metadata,
        "provenance": candidate.provenance,
        "context": candidate.context or "",
        "session": candidate.session_id or "",
        "evidence": [one.quote or "" for one in candidate.evidence],
    }


def _doubted(candidate: Candidate, told: str, beside: Mapping[str, object]) -> Candidate:
    if candidate.review is not None:
        return candidate
    doubts = screen(told)
    why = doubts[0].why if doubts else None
    why = why or secret_in(beside) or _named_secret(candidate.payload.model_dump(mode="json", by_alias=True))
    return candidate if why is None else replace(candidate, review=why)


def refuse_secrets(**fields: object) -> None:
    """Raise InvalidInput for the first field that holds a secret; it says what to send in its place."""
    for name, value in fields.items():
        if (why := secret_in(value)) is not None:
            raise InvalidInput(f"looks as if {why}: leave it out, or put a reference in its place", field=name)


def secret_in(value: object) -> str | None:
    """Return which secret the texts of JSON values hold, or None: `it holds a password`."""
    told = "\n".join(texts_in(value))
    found = find_secrets(told) if told.strip() else ()
    return f"it holds {found[0][0]}" if found else _named_secret(value)


def _named_secret(value: object) -> str | None:
    """Return which secret a value is that stands beside its name, in a field's name or in a field before it."""
    if not may_name_secret(json.dumps(value, ensure_ascii=False, default=str)):
        return None
    for name, one, named in _pairs(value):
        found = find_secrets(f"{name}: {one}")
        if found and (named or is_value_of(name, one)):
            return f"it holds {found[0][0]}"
        if is_value_of(name, one):
            return "it holds a secret beside its name"
    return None


def _pairs(value: object) -> Iterator[tuple[str, str, bool]]:
    """Yield each name of a secret with a value; the last tells whether it is the name of the value's own field."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _pairs(one)
    if not isinstance(value, Mapping):
        return
    before: list[str] = []
    for key, one in value.items():
        name = _spelled(str(key))
        leaves = list(_leaves(one))
        if names_secret(name):
            yield from ((name, leaf, True) for leaf in leaves)
        yield from ((other, leaf, False) for other in before for leaf in leaves)
        before += (spelled for leaf in leaves if names_secret(spelled := _spelled(leaf)))
        yield from _pairs(one)


def _leaves(value: object) -> Iterator[str]:
    """Yield texts and numbers that are a value or stand in its lists."""
    if isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield str(value)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _leaves(one)


def _spelled(name: str) -> str:
    """Return a field's name as words: `wifi password` for `wifi.password` and `wifiPassword`."""
    return _WORD_STARTS.sub(" ", name).strip()
