"""What an import stores with, beside the lines themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.db.session import Database
from app.services.reviving import Reviving


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """The same for every import. `drifted` and `crowded` are told of scopes whose index needs upkeep."""

    database: Database
    reviving: Reviving
    model_id: int
    clock: Callable[[], datetime]
    drifted: Callable[[UUID, UUID], None]
    crowded: Callable[[UUID, UUID], None]
