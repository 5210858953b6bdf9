"""Routes in the shapes of mem0."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter

from app.api.memories.bodies import built_in
from app.feature import FeatureSpec
from app.features.mem0 import routes


def _routers() -> Sequence[APIRouter]:
    return (routes.router(*built_in()),)


FEATURE = FeatureSpec(routers=_routers)
