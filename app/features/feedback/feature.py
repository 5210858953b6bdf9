"""Words of users on what was recalled."""

from __future__ import annotations

from app.feature import FeatureSpec
from app.features.feedback import routes
from app.features.feedback.service import FeedbackService
from app.runtime import Runtime


def _feedback(runtime: Runtime) -> FeedbackService:
    return FeedbackService(
        database=runtime.database,
        tracker=runtime.queries.tracker,
        clock=runtime.clock,
        observe=runtime.metrics.feedback,
    )


FEATURE = FeatureSpec(routers=lambda: (routes.router(),), services={FeedbackService: _feedback})
