"""Fixtures: a real service, and a client of it for a user that no other test has."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator

import pytest

from service import Service, running_service
from typed_memory_client import AsyncTypedMemory, TypedMemory


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    with running_service() as running:
        yield running


@pytest.fixture
def user() -> str:
    return f"user-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def memory(service: Service, user: str) -> Iterator[TypedMemory]:
    with TypedMemory(service.url, service.key, user_id=user) as client:
        yield client


@pytest.fixture
async def async_memory(service: Service, user: str) -> AsyncIterator[AsyncTypedMemory]:
    async with AsyncTypedMemory(service.url, service.key, user_id=user) as client:
        yield client
