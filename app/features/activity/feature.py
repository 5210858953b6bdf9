"""The activity of a tenant: its users, agents and sessions, and what was done day by day."""

from __future__ import annotations

from app.feature import FeatureSpec
from app.features.activity import routes
from app.features.activity.service import Activity
from app.runtime import Runtime


def _activity(runtime: Runtime) -> Activity:
    return Activity(database=runtime.database, clock=runtime.clock)


FEATURE = FeatureSpec(routers=lambda: (routes.router(),), services={Activity: _activity})
