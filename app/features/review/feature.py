"""The queue of what people decide."""

from __future__ import annotations

import math

from app.feature import FeatureSpec
from app.features.erasure.service import Erasures
from app.features.review import jobs, note_routes, routes
from app.features.review.decide import ReviewDecisions
from app.features.review.jobs import Sameness
from app.features.review.queue import ReviewNotes, Reviews
from app.features.review.undo import ReviewUndo
from app.model import ReviewReason
from app.runtime import Runtime


def _decisions(runtime: Runtime) -> ReviewDecisions:
    return ReviewDecisions(pipeline=runtime.pipeline)


def _reviews(runtime: Runtime) -> Reviews:
    return Reviews(
        database=runtime.database,
        reviewing=_decisions(runtime),
        erasing=runtime.service(Erasures),
        clock=runtime.clock,
    )


def _notes(runtime: Runtime) -> ReviewNotes:
    return ReviewNotes(database=runtime.database, clock=runtime.clock)


def _undo(runtime: Runtime) -> ReviewUndo:
    return ReviewUndo(decisions=_decisions(runtime))


def _sameness(runtime: Runtime) -> Sameness:
    return Sameness(pipeline=runtime.pipeline)


async def _gauges(runtime: Runtime) -> None:
    waiting = await runtime.service(Reviews).known_waiting()
    runtime.metrics.reviews({one: math.nan if waiting is None else waiting.get(one, 0) for one in ReviewReason})


FEATURE = FeatureSpec(
    routers=lambda: (routes.router(), note_routes.router()),
    services={Reviews: _reviews, ReviewNotes: _notes, ReviewUndo: _undo, Sameness: _sameness},
    handlers=(jobs.HANDLER,),
    gauges=_gauges,
)
