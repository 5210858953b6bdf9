"""Makes core what is used often, steadily and in several conversations (daily)."""

from __future__ import annotations

from app.db.lifecycle.sweeps import PROMOTION
from app.services.batches import sweeping
from app.services.workers.worker import Worker

NAME = "promotion"


WORKER = Worker(
    name=NAME,
    cron="37 4 * * *",
    summary="Makes core what is used often, steadily and in several conversations (daily).",
    run=sweeping(NAME, PROMOTION),
)
