"""Daily worker that promotes memories that are used often, steadily and in several conversations to core."""

from __future__ import annotations

from app.features.lifecycle.runner import Worker, sweeping
from app.features.lifecycle.sql.sweeps import PROMOTION

NAME = "promotion"


WORKER = Worker(
    name=NAME,
    cron="37 4 * * *",
    summary="Makes core what is used often, steadily and in several conversations (daily).",
    run=sweeping(NAME, PROMOTION),
)
