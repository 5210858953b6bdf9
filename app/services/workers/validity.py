"""Expires memories whose validity has ended (hourly)."""

from __future__ import annotations

from app.db.lifecycle.sweeps import VALIDITY
from app.services.batches import sweeping
from app.services.workers.worker import Worker

NAME = "validity"


WORKER = Worker(
    name=NAME,
    cron="7 * * * *",
    summary="Expires memories whose validity has ended (hourly).",
    run=sweeping(NAME, VALIDITY),
)
