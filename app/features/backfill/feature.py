"""Beliefs moved to another type: previewed, committed, undone."""

from __future__ import annotations

from app.feature import FeatureSpec
from app.features.backfill import jobs, routes
from app.features.backfill.service import Backfills
from app.runtime import Runtime


def _backfills(runtime: Runtime) -> Backfills:
    return Backfills(
        database=runtime.database,
        types=runtime.type_book,
        clock=runtime.clock,
        classifier=runtime.models.classifier,
        language=runtime.settings.language,
    )


FEATURE = FeatureSpec(routers=lambda: (routes.router(),), services={Backfills: _backfills}, handlers=(jobs.HANDLER,))
