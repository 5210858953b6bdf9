"""The metric of requests by tenant, bounded however many tenants there are."""

from __future__ import annotations

from collections import Counter as Tally
from uuid import UUID

from prometheus_client import CollectorRegistry, Counter

_BUSY_REQUESTS = 100
"""Requests after which a tenant gets a label of its own, if there is one left."""

_TALLIED = 10_000
"""Tenants whose requests are tallied until one gets a label; then the tally begins anew."""


class TenantRequests:
    """Requests by tenant, with a label for at most so many: those that first sent as many as a busy one does."""

    def __init__(self, registry: CollectorRegistry, most: int) -> None:
        """Begin at zero; with `most` 0 nothing is counted."""
        self._requests = Counter(
            "tm_tenant_requests",
            "Requests of tenants that were let in; `other` stands for those without a label of their own.",
            ("tenant",),
            registry=registry,
        )
        self._most = most
        self._own: set[UUID] = set()
        self._sent = Tally[UUID]()

    def count(self, tenant: UUID) -> None:
        """Count a request."""
        if tenant not in self._own and len(self._own) < self._most:
            self._sent[tenant] += 1
            if self._sent[tenant] >= _BUSY_REQUESTS:
                self._own.add(tenant)
            if len(self._own) == self._most or len(self._sent) > _TALLIED:
                self._sent.clear()
        if self._most:
            self._requests.labels(str(tenant) if tenant in self._own else "other").inc()
