"""Whether the service can serve: database, schema, embedding model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from app.db import models, revision
from app.db.session import Database
from app.errors import ConfigurationError, TypedMemoryError

PATIENCE = 3.0
"""Seconds the checks may take together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """What the database must have for this process: a schema and an embedding model."""

    database: Database
    model: str
    dimensions: int

    async def missing(self) -> dict[str, str]:
        """Return what is wrong, by what it is wrong with; empty when all is well."""
        try:
            async with asyncio.timeout(PATIENCE):
                return {**await self._schema(), **await self._model()}
        except TimeoutError:
            return {"database": f"did not answer within {PATIENCE:.0f} seconds"}
        except TypedMemoryError as error:
            return {"database": error.message}
        except Exception as error:  # noqa: BLE001 - whatever it is, the answer is "not ready"
            return {"database": f"could not be checked ({type(error).__name__})"}

    async def _schema(self) -> dict[str, str]:
        wrong = revision.outdated(await revision.current(self.database))
        return {} if wrong is None else {"migrations": wrong}

    async def _model(self) -> dict[str, str]:
        try:
            models.check(await models.active(self.database), name=self.model, dimensions=self.dimensions)
        except ConfigurationError as error:
            return {"embedding_model": error.message}
        return {}
