"""The service over HTTP, as tests of the API have it."""

from tests.api.conftest import (
    anonymous,
    app,
    client,
    database_url,
    operator,
    other_client,
    other_tenant,
    owner_connection,
    runtime,
    tenant,
)

__all__ = [
    "anonymous",
    "app",
    "client",
    "database_url",
    "operator",
    "other_client",
    "other_tenant",
    "owner_connection",
    "runtime",
    "tenant",
]
