"""Hourly worker that expires memories whose validity has ended."""

from __future__ import annotations

from app.features.lifecycle.runner import Worker, sweeping
from app.features.lifecycle.sql.sweeps import VALIDITY

NAME = "validity"


WORKER = Worker(
    name=NAME,
    cron="7 * * * *",
    summary="Expires memories whose validity has ended (hourly).",
    run=sweeping(NAME, VALIDITY),
)
