"""Fixtures for every test: real databases, and no network beyond this machine."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from app.command_line.configuration import freeze_garbage_collector
from app.db.embedded.folder import FileLock
from app.db.session import Database
from tests.support import owner
from tests.support.databases import Run, lesser_owner, nodes
from tests.support.loopback import loopback_only
from tests.support.pools import pooled

# How the workers of pytest-xdist, which inherit the environment, learn of the run's folder.
_RUN_FOLDER = "TM_TEST_RUN_FOLDER"
_run_lock = pytest.StashKey[FileLock]()


def pytest_configure(config: pytest.Config) -> None:
    # How long an example takes, or to draw one, depends on what else the machine does.
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")
    if not _is_worker(config):
        run, config.stash[_run_lock] = Run.begin()
        os.environ[_RUN_FOLDER] = str(run.folder)


def pytest_xdist_auto_num_workers() -> int:
    """Return one worker more than there are cores: tests wait for processes, for disks and for clocks."""
    return (os.cpu_count() or 1) + 1


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files without a long test where these alone are run: to import them all takes a minute."""
    if config.option.markexpr != "long" or not collection_path.name.startswith("test_"):
        return None
    return "mark.long" not in collection_path.read_text(encoding="utf-8") or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if nodes():
        for item in items:
            if item.get_closest_marker("one_server"):
                item.add_marker(pytest.mark.skip(reason="looks into one server"))


def pytest_collection_finish() -> None:
    """Leave what was imported out of garbage collections, as a service does."""
    freeze_garbage_collector()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not _is_worker(config):
        Run(Path(os.environ.pop(_RUN_FOLDER))).end()
        config.stash[_run_lock].close()


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    with loopback_only():
        yield


@pytest.fixture
def logs_restored() -> Iterator[None]:
    """Logs may be configured in the test, and are afterwards as they were."""
    root = logging.getLogger()
    before, handlers, level = structlog.get_config(), list(root.handlers), root.level
    yield
    structlog.configure(**before)
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture(scope="session")
def run() -> Run:
    """This run of pytest, shared by its workers."""
    return Run(Path(os.environ[_RUN_FOLDER]))


@pytest.fixture(scope="session")
def server_url(run: Run) -> Iterator[str]:
    """The owner's login to the run's server; make databases of your own rather than use this one."""
    with run.server() as url:
        yield url


@pytest.fixture(scope="session")
def template(run: Run, server_url: str) -> str:
    """The name of the migrated template."""
    return run.template(server_url)


@pytest.fixture(scope="session")
def database_url(run: Run, server_url: str, template: str) -> Iterator[str]:
    """The owner's login to a migrated database that this worker's tests share."""
    with run.database(server_url, template) as url:
        yield url


@pytest.fixture(scope="session")
async def owner_connection(database_url: str) -> AsyncIterator[None]:
    """A connection that stays open for statements of the shared database's owner."""
    async with owner.kept_open(database_url):
        yield


@pytest.fixture(scope="session")
async def shared_database(database_url: str, owner_connection: None) -> AsyncIterator[Database]:
    """The database that this worker's tests share, for stores whose tenants are their own."""
    async with pooled(database_url) as database:
        yield database


@pytest.fixture(scope="module")
def module_database_url(run: Run, server_url: str, template: str) -> Iterator[str]:
    """The owner's login to a migrated database that the tests of one file share."""
    with run.database(server_url, template) as url:
        yield url


@pytest.fixture
def fresh_database_url(run: Run, server_url: str, template: str) -> Iterator[str]:
    """The owner's login to a migrated database of the test's own."""
    with run.database(server_url, template) as url:
        yield url


@pytest.fixture
def empty_database_url(run: Run, server_url: str, template: str) -> Iterator[str]:
    """The owner's login to an empty database of the test's own.

    It asks for the template because migrations make a role, which a server's databases share.
    """
    with run.database(server_url) as url:
        yield url


@pytest.fixture
def lesser_owner_url(empty_database_url: str) -> Iterator[str]:
    """The login of the empty database's owner, who is no superuser: row-level security holds for it, too."""
    with lesser_owner(empty_database_url) as url:
        yield url


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")
