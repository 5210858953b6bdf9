"""What the container files, the Makefile and the lock files promise, read from the files themselves."""

from __future__ import annotations

import hashlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from app.cli import MODULES
from app.settings import Settings

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, joined over continued lines."""
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#")).replace("\\\n", " ")
    pairs = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    return [(name, " ".join(rest.split())) for name, rest in pairs]


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    starts = [index for index, (name, _) in enumerate(found) if name == "FROM"]
    assert len(starts) > 1, "the build tools belong in a stage of their own"
    return found[starts[-1] :]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def locked(name: str) -> dict[str, set[str]]:
    """The packages of a lock file with the versions it pins (several, where platforms differ)."""
    found: dict[str, set[str]] = {}
    for package, version in re.findall(r"^([a-z0-9._-]+)==(\S+)", (ROOT / name).read_text(), re.MULTILINE):
        found.setdefault(package, set()).add(version)
    return found


def test_the_image_runs_as_a_user_without_rights() -> None:
    users = [value for name, value in last_stage() if name == "USER"]
    assert users
    assert users[-1] not in {"root", "0"}


def test_the_image_checks_its_health_and_starts_without_a_shell() -> None:
    stage = dict(last_stage())
    assert "/healthz" in stage["HEALTHCHECK"]
    assert stage["CMD"] == '["typed-memory", "serve", "--host", "0.0.0.0"]'


def test_every_base_image_names_its_version() -> None:
    for name, value in instructions():
        if name == "FROM":
            assert re.match(r"[\w/]+:\d", value), value


def test_the_image_installs_nothing_without_its_hash() -> None:
    installs = [value for name, value in instructions() if name == "RUN" and "pip install" in value]
    assert len(installs) == 2
    assert "--require-hashes" in installs[0]
    assert "--no-deps --no-build-isolation" in installs[1]


def test_the_image_gets_only_what_is_named() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    allowed = {rule[1:] for rule in rules if rule.startswith("!")}
    copied = [value.split() for name, value in instructions() if name == "COPY" and "--from" not in value]
    assert {source for *sources, _ in copied for source in sources} == allowed


def test_services_wait_for_a_healthy_database_and_finished_migrations(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert services["migrate"]["command"] == ["typed-memory", "migrate"]
    assert services["api"]["environment"]["TM_AUTO_MIGRATE"] == "false"
    assert services["migrate"]["depends_on"] == {"db": {"condition": "service_healthy"}}
    for name in ("api", "worker"):
        assert services[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
        assert services[name]["depends_on"]["db"] == {"condition": "service_healthy"}


def test_the_database_and_the_api_have_health_checks(compose: dict[str, Any]) -> None:
    for name in ("db", "api"):
        check = compose["services"][name]["healthcheck"]
        assert check["test"][0] == "CMD"
        assert {"interval", "timeout", "retries"} <= set(check)


def test_jobs_are_done_by_the_worker_which_may_finish_them(compose: dict[str, Any]) -> None:
    api, worker = (compose["services"][name] for name in ("api", "worker"))
    assert "profiles" not in worker
    assert worker["command"] == ["typed-memory", "worker"]
    assert api["environment"]["TM_WORKER"] == "off"
    assert float(worker["stop_grace_period"].removesuffix("s")) > 2 * Settings.model_fields["worker_grace"].default


def test_a_model_server_is_started_only_when_asked_for(compose: dict[str, Any]) -> None:
    assert {name: one["profiles"] for name, one in compose["services"].items() if "profiles" in one} == {
        "models": ["models"]
    }
    assert "ports" not in compose["services"]["models"]


def test_the_database_keeps_its_data_where_its_image_does(compose: dict[str, Any]) -> None:
    database = compose["services"]["db"]
    assert re.fullmatch(r"pgvector/pgvector:\d+\.\d+\.\d+-pg18", database["image"])
    assert database["volumes"] == ["database:/var/lib/postgresql"]
    assert "database" in compose["volumes"]
    assert "ports" not in database


def test_no_secret_has_a_default(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            if "PASSWORD" in name or name in {"TM_DATABASE_URL", "TM_BOOTSTRAP_KEY"}:
                assert re.search(r"\$\{\w+:\?[^}]+\}", value), name


def test_only_migrations_log_in_as_the_database_superuser(compose: dict[str, Any]) -> None:
    superuser = compose["services"]["db"]["environment"]["POSTGRES_USER"]
    for name, service in compose["services"].items():
        urls = [value for value in service.get("environment", {}).values() if "postgresql://" in value]
        assert any(f"//{superuser}:" in url for url in urls) == (name == "migrate"), name


def test_every_container_is_limited_and_its_log_rotated(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert {"mem_limit", "cpus", "pids_limit"} <= set(service), name
        assert service["logging"]["options"]["max-file"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name


def test_settings_of_the_service_arrive_without_the_secrets_of_compose(compose: dict[str, Any]) -> None:
    for name in ("api", "worker", "migrate"):
        assert compose["services"][name]["env_file"] == [{"path": "settings.env", "required": False}]


def test_every_secret_of_compose_is_in_the_example(compose: dict[str, Any]) -> None:
    asked = set(re.findall(r"\$\{(\w+)", (ROOT / "docker-compose.yml").read_text()))
    assert asked == set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))


def test_open_requests_may_finish_before_the_api_is_killed(compose: dict[str, Any]) -> None:
    grace = float(compose["services"]["api"]["stop_grace_period"].removesuffix("s"))
    assert grace > Settings.model_fields["shutdown_grace"].default


def test_the_api_is_published_to_this_machine_alone(compose: dict[str, Any]) -> None:
    assert all(port.startswith("127.0.0.1:") for port in compose["services"]["api"]["ports"])


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_has_hashes_and_no_address(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "://" not in text
    assert " @ " not in text
    for block in re.split(r"\n(?=[a-z0-9])", text)[1:]:
        assert "--hash=sha256:" in block, block.split("\n")[0]


def test_the_lock_files_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    runtime, dev = locked(LOCKS[0]), locked(LOCKS[1])
    wanted = {re.split(r"[\[>=<~! ]", line)[0].lower() for line in project["dependencies"]}
    wanted_dev = {re.split(r"[\[>=<~! ]", line)[0].lower() for line in project["optional-dependencies"]["dev"]}
    assert wanted <= set(runtime), "run `make lock`"
    assert wanted_dev <= set(dev), "run `make lock`"
    for package, versions in runtime.items():
        assert dev[package] == versions, f"{package} differs between the lock files: run `make lock`"


def test_the_makefile_lists_its_targets() -> None:
    make = shutil.which("make")
    assert make is not None
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    result = subprocess.run(  # noqa: S603 - our own Makefile
        [make, "-C", str(ROOT)], capture_output=True, text=True, check=True, env=environment
    )
    for target in ("serve", "test", "check", "eval", "bench", "wheel", "openapi", "lock", "clean", "help"):
        assert f"make {target} " in result.stdout


def test_the_continuous_integration_script_is_executable() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert "make check" in (ROOT / ".ci" / "run").read_text()


def test_the_package_carries_its_data_files() -> None:
    carried = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    found = {
        path
        for package, patterns in carried.items()
        for pattern in patterns
        for path in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    assert found == {
        path
        for package in ("app", "migrations")
        for path in (ROOT / package).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    }


def test_the_systemd_units_run_commands_that_exist() -> None:
    units = sorted((ROOT / "deploy" / "systemd").iterdir())
    assert len(units) == 4
    for unit in units:
        text = unit.read_text()
        if unit.suffix == ".service":
            assert "NoNewPrivileges=true" in text, unit.name
            assert set(re.findall(r"bin/typed-memory (\w+)", text)) <= set(MODULES), unit.name
        for name in re.findall(r"\b(TM_\w+)", text):
            assert name.removeprefix("TM_").lower() in Settings.model_fields, name


def test_a_systemd_unit_that_stops_leaves_the_embedded_database_to_its_other_users() -> None:
    units = [unit.read_text() for unit in (ROOT / "deploy" / "systemd").glob("*.service")]
    embedded = [text for text in units if "TM_DATA_DIR=" in text]
    assert len(embedded) == 2
    assert all("\nKillMode=process\n" in text for text in embedded)


def test_a_release_is_checked_and_installed_before_it_is_published() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    steps = [step.get("run") for step in jobs.pop("check")["steps"]]
    assert "make check" in steps
    checks = re.search(r"^check: (.*?) ##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert checks is not None
    assert {"lint", "wheel", "clients", "contract", "test", "test-long"} == set(checks[1].split())
    assert jobs.pop("install")["needs"] == "check"
    assert set(jobs) == {"python", "npm", "image"}
    assert all(job["needs"] == "install" for job in jobs.values())


def test_nothing_is_published_with_a_secret_that_is_kept() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text()
    assert "secrets." not in text
    for name in ("python", "npm", "image"):
        job = yaml.safe_load(text)["jobs"][name]
        assert (job["environment"], job["permissions"]["id-token"]) == ("release", "write"), name


PACKAGES = (".", "clients/python", "clients/typescript", "clients/vercel-ai")


def manifest(folder: str) -> dict[str, Any]:
    """The manifest of a package, of either language."""
    path = ROOT / folder / "pyproject.toml"
    if path.exists():
        found: dict[str, Any] = tomllib.loads(path.read_text())["project"]
    else:
        found = json.loads((ROOT / folder / "package.json").read_text())
    return found


def test_the_packages_have_one_version_and_one_licence() -> None:
    assert len({manifest(folder)["version"] for folder in PACKAGES}) == 1
    assert {manifest(folder)["license"] for folder in PACKAGES} == {"Apache-2.0"}
    assert len({(ROOT / folder / "LICENSE").read_text() for folder in PACKAGES}) == 1


@pytest.mark.parametrize("folder", PACKAGES)
def test_a_package_says_what_it_is(folder: str) -> None:
    found = manifest(folder)
    assert 40 < len(found["description"]) < 160
    assert found["keywords"]
    assert (ROOT / folder / "README.md").read_text().startswith("# ")


def test_the_readmes_links_lead_out_of_a_package(tmp_path: Path) -> None:
    packages = runpy.run_path(str(ROOT / ".ci" / "packages.py"))
    packages["copy"](ROOT, tmp_path)
    packages["link"](tmp_path, "https://example.com/memory")
    for folder in PACKAGES:
        text = re.sub(
            r"^```.*?^```$", "", (tmp_path / folder / "README.md").read_text(), flags=re.MULTILINE | re.DOTALL
        )
        addresses = re.findall(r"\]\(([^)\s]+)\)", text)
        assert all(re.match(r"https?://|#", one) for one in addresses), (folder, addresses)
        for path in re.findall(r"\(https://example\.com/memory/\w+/HEAD/([^)#\s]+)", text):
            assert (ROOT / path).exists(), path
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert project["urls"]["Changelog"] == "https://example.com/memory/blob/HEAD/docs/changelog.md"
    assert json.loads((tmp_path / "clients/vercel-ai/package.json").read_text())["repository"]["directory"]


def test_the_service_is_packed_into_one_package_that_finds_its_own(tmp_path: Path) -> None:
    packages = runpy.run_path(str(ROOT / ".ci" / "packages.py"))
    packages["copy"](ROOT, tmp_path)
    packages["nest"](tmp_path)
    made = tomllib.loads((tmp_path / "pyproject.toml").read_text())
    assert made["project"]["scripts"] == {"typed-memory": "typed_memory:main"}
    assert not {"app", "migrations"} & {one.name for one in tmp_path.iterdir()}
    for package, patterns in made["tool"]["setuptools"]["package-data"].items():
        for pattern in patterns:
            assert list((tmp_path / package.replace(".", "/")).glob(pattern)), (package, pattern)
    (tmp_path / "app.py").write_text("raise ImportError('a module of the user')\n")
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); import typed_memory; os._exit = print;"
        "sys.argv[1:] = ['hook']; typed_memory.main(); print(sys.modules['app'].__file__)"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-I", "-c", code, str(tmp_path)], input="", capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", str(tmp_path / "typed_memory" / "app" / "__init__.py")], done


def test_an_index_names_each_file_with_its_hash_and_pythons(tmp_path: Path) -> None:
    packages = runpy.run_path(str(ROOT / ".ci" / "packages.py"))
    wheel = tmp_path / "some_package-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("some_package-1.0.dist-info/METADATA", "Name: some-package\nRequires-Python: >=3.9\n")
    packages["write_index"](tmp_path)
    page = (tmp_path / "simple" / "some-package" / "index.html").read_text()
    assert f'href="../../{wheel.name}#sha256={hashlib.sha256(wheel.read_bytes()).hexdigest()}"' in page
    assert 'data-requires-python="&gt;=3.9"' in page
    assert 'href="some-package/"' in (tmp_path / "simple" / "index.html").read_text()
