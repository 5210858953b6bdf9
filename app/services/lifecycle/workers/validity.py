"""Hourly worker that expires memories whose validity has ended."""

from __future__ import annotations

from app.db.lifecycle.sweeps import VALIDITY
from app.services.lifecycle.runner import Worker, sweeping

NAME = "validity"


WORKER = Worker(
    name=NAME,
    cron="7 * * * *",
    summary="Expires memories whose validity has ended (hourly).",
    run=sweeping(NAME, VALIDITY),
)
