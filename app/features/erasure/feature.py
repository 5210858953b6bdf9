"""Erasure of memories, turns and users, with receipts."""

from __future__ import annotations

from app.feature import FeatureSpec
from app.features.erasure import jobs, routes
from app.features.erasure.memories import MemoryErasure
from app.features.erasure.service import Erasures
from app.features.erasure.turns import TurnRedaction
from app.runtime import Runtime


def _erasures(runtime: Runtime) -> Erasures:
    return Erasures(
        database=runtime.database,
        types=runtime.type_book,
        clock=runtime.clock,
        each=MemoryErasure(
            clock=runtime.clock,
            language=runtime.settings.language,
            redacting=TurnRedaction(pipeline=runtime.pipeline),
        ),
    )


FEATURE = FeatureSpec(
    routers=lambda: (routes.router(), routes.memory_router()), services={Erasures: _erasures}, handlers=(jobs.HANDLER,)
)
