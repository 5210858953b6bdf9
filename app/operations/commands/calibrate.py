"""`typed-memory calibrate`: measure the scale of an embedding model's likeness, which relevance depends on."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.bootstrap import open_embedding_store
from app.command_line.configuration import configure_logs, settings_of_a_store
from app.command_line.terminal import CommandFailed, say
from app.db import embedding_models
from app.db.session import Database
from app.english.word_lists import pairs
from app.errors import ConfigurationError, TypedMemoryError
from app.providers.embeddings import Embedder
from app.read.relevance import Calibration
from app.settings import Settings

LEAST_APART = 0.05
"""Least difference of the two medians of a model that tells questions' answers from other sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrating:
    """Measures the configured embedding model on pairs, and stores the result with the model's record."""

    owner_url: str
    database: Database
    embedder: Embedder

    async def measure(self, given: Mapping[str, str] | None = None) -> Calibration:
        """Return the medians of the cosines of unrelated and of related pairs.

        `given` are questions with their answers, by default built-in ones; an answer must answer no other question.
        Raises ConfigurationError for a model that does not tell them apart, and ProviderError.
        """
        told = pairs("calibration", "pairs") if given is None else given
        questions = await self.embedder.embed(list(told), purpose="query")
        answers = await self.embedder.embed(list(told.values()), purpose="document")
        cosines = np.asarray(questions, dtype=np.float64) @ np.asarray(answers, dtype=np.float64).T
        own = np.eye(len(told), dtype=bool)
        related, unrelated = float(np.median(cosines[own])), float(np.median(cosines[~own]))
        if related - unrelated < LEAST_APART:
            raise ConfigurationError(
                f"{self.embedder.name!r} hardly tells an answer ({related:.2f}) from an unrelated sentence "
                f"({unrelated:.2f}): is it a model of sentences?"
            )
        return Calibration(unrelated=round(unrelated, 4), related=round(related, 4))

    async def store(self, calibration: Calibration) -> None:
        """Record a calibration with the model; raise ConfigurationError for a model that is not recorded."""
        known = await embedding_models.read_models(self.database)
        model = next(
            (one for one in known if (one.name, one.dimensions) == (self.embedder.name, self.embedder.dimensions)), None
        )
        if model is None:
            raise ConfigurationError(f"{self.embedder.name!r} has no vectors here: start the service with it first")
        await embedding_models.calibrate(
            self.owner_url, model.id, unrelated=calibration.unrelated, related=calibration.related
        )


FEWEST: Final = 10
"""Pairs under which a median says little."""


class Pair(BaseModel):
    """A question, and the text that answers it."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)


def calibrate(
    *,
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            exists=True,
            dir_okay=False,
            help='Measure on your own pairs: a file of lines like {"question": "...", "answer": "..."}.',
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure and print; store nothing.")] = False,
) -> None:
    """Measure the embedding model that TM_EMBEDDING_* name, and store the scale of its likeness.

    What is relevant is decided by it: a model that finds everything alike would return everything. Restart the
    services after it. Without it a model that this program does not know gets a scale that fits most.

    The built-in pairs are English and of everyday life. With --pairs it is measured on questions and answers of your
    own, in your language: at least 10, and no answer may answer another's question.
    """
    given = None if pairs is None else read_pairs(pairs)
    settings = settings_of_a_store()
    configure_logs(settings)
    asyncio.run(_calibrate(settings, given, dry_run=dry_run))


def read_pairs(path: Path) -> Mapping[str, str]:
    """Return the answers of a file by their questions; raise CommandFailed."""
    found: dict[str, str] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{path} can't be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            pair = Pair.model_validate_json(line)
        except ValidationError as error:
            [fault, *_] = error.errors(include_url=False, include_input=False)
            where = ".".join(map(str, fault["loc"])) or "the line"
            raise CommandFailed(f"{path}, line {number}: {where}: {fault['msg']}") from error
        if pair.question in found or pair.answer in found.values():
            raise CommandFailed(f"{path}, line {number}: its question or answer stands twice")
        found[pair.question] = pair.answer
    if len(found) < FEWEST:
        raise CommandFailed(f"{path} has {len(found)} pairs: a median takes at least {FEWEST}")
    return found


async def _calibrate(settings: Settings, given: Mapping[str, str] | None, *, dry_run: bool) -> None:
    async with open_embedding_store(settings) as (store, embedder):
        calibrating = Calibrating(owner_url=store.owner_url, database=store.database, embedder=embedder)
        try:
            found = await calibrating.measure(given)
            if not dry_run:
                await calibrating.store(found)
        except TypedMemoryError as error:
            raise CommandFailed(str(error)) from error
    say(f"{embedder.name}: {found.unrelated:.3f} for unrelated sentences, {found.related:.3f} for answers (medians).")
    say("Nothing was stored." if dry_run else "Stored. Restart the services to have relevance measured by it.")
