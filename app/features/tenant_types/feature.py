"""Memory types that a tenant defines."""

from __future__ import annotations

from app.feature import FeatureSpec
from app.features.tenant_types import routes
from app.features.tenant_types.service import TenantTypes
from app.runtime import Runtime


def _own_types(runtime: Runtime) -> TenantTypes:
    return TenantTypes(database=runtime.database, book=runtime.type_book, clock=runtime.clock)


FEATURE = FeatureSpec(routers=lambda: (routes.router(),), services={TenantTypes: _own_types})
