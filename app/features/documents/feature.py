"""Documents as sources: stored as sections, quoted, replaced and erased as a whole."""

from __future__ import annotations

from app.feature import FeatureSpec
from app.features.documents import jobs, routes
from app.features.documents.service import Documents

FEATURE = FeatureSpec(routers=lambda: (routes.router(),), services={Documents: Documents}, handlers=(jobs.HANDLER,))
