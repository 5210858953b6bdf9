"""The service and tenants for exports and imports."""

from tests.api.conftest import (
    app,
    client,
    operator,
    other_client,
    other_tenant,
    tenant,
)

__all__ = ["app", "client", "operator", "other_client", "other_tenant", "tenant"]
