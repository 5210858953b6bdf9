"""Export and import: of this service, and of others."""

from __future__ import annotations

from app.feature import FeatureSpec
from app.features.portability import routes
from app.features.portability.batch import ImportContext
from app.features.portability.exports import Exports
from app.features.portability.imports import Imports
from app.features.portability.index_rows import ImportIndexer
from app.features.tenant_types.service import TenantTypes
from app.runtime import Runtime


def _exports(runtime: Runtime) -> Exports:
    return Exports(database=runtime.database)


def _imports(runtime: Runtime) -> Imports:
    context = ImportContext(
        database=runtime.database,
        indexer=ImportIndexer(embedder=runtime.embedder, language=runtime.settings.language),
        model_id=runtime.model_id,
        quotas=runtime.quotas,
        clock=runtime.clock,
        drifted=runtime.upkeep.mark,
        crowded=runtime.upkeep.crowd,
    )
    return Imports(context=context, own_types=runtime.service(TenantTypes), policies=runtime.policies)


FEATURE = FeatureSpec(
    routers=lambda: (routes.router(),),
    services={Exports: _exports, Imports: _imports},
    streamed=routes.STREAMED,
)
