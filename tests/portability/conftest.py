"""The service and tenants for exports and imports."""

from tests.api.conftest import (
    app,
    client,
    database_url,
    operator,
    other_client,
    other_tenant,
    owner_connection,
    tenant,
)

__all__ = ["app", "client", "database_url", "operator", "other_client", "other_tenant", "owner_connection", "tenant"]
