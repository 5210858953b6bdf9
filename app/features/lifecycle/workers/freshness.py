"""Weekly worker that expires memories with a freshness under 0.1."""

from __future__ import annotations

from app.features.lifecycle.runner import Worker, sweeping
from app.features.lifecycle.sql.sweeps import FRESHNESS

NAME = "freshness"


WORKER = Worker(
    name=NAME,
    cron="17 3 * * 0",
    summary="Expires memories that have faded to a freshness under 0.1 (weekly).",
    run=sweeping(NAME, FRESHNESS),
)
