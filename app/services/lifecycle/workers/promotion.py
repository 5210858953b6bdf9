"""Daily worker that promotes memories that are used often, steadily and in several conversations to core."""

from __future__ import annotations

from app.db.lifecycle.sweeps import PROMOTION
from app.services.lifecycle.runner import Worker, sweeping

NAME = "promotion"


WORKER = Worker(
    name=NAME,
    cron="37 4 * * *",
    summary="Makes core what is used often, steadily and in several conversations (daily).",
    run=sweeping(NAME, PROMOTION),
)
