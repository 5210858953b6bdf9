"""The job that asks again whether memories say the same, where a write did not wait for the answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from app.db import jobs
from app.db.session import WriteSession

SAMENESS = "sameness"
"""The kind of the job."""


async def enqueue(
    session: WriteSession, *, tenant: UUID, scope: UUID, pairs: Sequence[tuple[UUID, UUID]], now: datetime
) -> None:
    """Queue the question whether each newer memory of a scope says the same as an older one; nothing without pairs."""
    if pairs:
        payload = {"pairs": [[str(newer), str(older)] for newer, older in pairs]}
        await jobs.enqueue(
            session, tenant=tenant, kind=SAMENESS, payload=payload, now=now, total=len(pairs), scope=scope
        )
