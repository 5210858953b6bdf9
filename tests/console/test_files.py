"""The console's files: served from this origin alone, small, and complete without a build."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import httpx
import pytest

from app.api.console import FILES

SCRIPTS = sorted(FILES.rglob("*.js"))
OWN = [path for path in SCRIPTS if "vendor" not in path.parts]
MOST_COMPRESSED = 300_000
UNENCODED = re.compile(r"""(?<!pathOf)`/[^`]*\$\{|`\$\{[^}`]*\}/|(["`])/[^"`]*\1\s*\+""")
"""A path of the API with a value in it that `pathOf` does not encode."""


async def test_the_page_is_served_under_a_policy_of_its_own_origin(anonymous: httpx.AsyncClient) -> None:
    answer = await anonymous.get("/admin")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert (await anonymous.get("/admin/")).headers["location"] == "../admin"


async def test_every_file_that_the_page_asks_for_is_served(anonymous: httpx.AsyncClient) -> None:
    page = (FILES / "index.html").read_text(encoding="utf-8")
    asked = set(re.findall(r'(?:src|href)="(admin/[^"]+)"', page))
    for script in OWN:
        for found in re.findall(r'from "(\.[^"]+)"', script.read_text(encoding="utf-8")):
            asked.add(f"admin/{(script.parent / found).resolve().relative_to(FILES).as_posix()}")
    asked |= {f"admin/{script.relative_to(FILES).as_posix()}" for script in OWN}
    assert len(asked) > 20
    for path in asked:
        answer = await anonymous.get(f"/{path}")
        assert answer.status_code == 200, path
        assert answer.headers["x-content-type-options"] == "nosniff"


async def test_nothing_outside_the_folder_is_served(anonymous: httpx.AsyncClient) -> None:
    for path in ("/admin/../api/console.py", "/admin/%2e%2e/api/console.py", "/admin/pages", "/admin/index.html"):
        assert (await anonymous.get(path)).status_code == 404


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.relative_to(FILES)))
def test_a_script_names_no_other_host_and_writes_no_markup(path: object) -> None:
    text = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    assert not re.search(r"https?://", text)
    assert not re.search(r"innerHTML|dangerouslySetInnerHTML|\beval\(|new Function", text)


@pytest.mark.parametrize("path", OWN, ids=lambda path: str(path.relative_to(FILES)))
def test_a_script_encodes_every_value_in_a_path_of_the_api(path: Path) -> None:
    assert [found[0] for found in UNENCODED.finditer(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize(
    "script",
    ["get(`/jobs/${id}`)", "usePages(`/jobs/${job.id}/runs`, {})", "del(`${path}/runs`)", 'post("/jobs/" + id)'],
)
def test_a_value_that_is_not_encoded_is_found(script: str) -> None:
    assert UNENCODED.search(script)


@pytest.mark.parametrize("script", ["get(pathOf`/jobs/${id}`)", 'get("/jobs")', "href([`job ${id}`])"])
def test_what_is_encoded_or_no_path_is_left_alone(script: str) -> None:
    assert not UNENCODED.search(script)


def test_all_files_together_are_small() -> None:
    total = sum(len(gzip.compress(path.read_bytes())) for path in FILES.rglob("*") if path.is_file())
    assert total < MOST_COMPRESSED


def test_what_comes_from_elsewhere_comes_with_its_licence() -> None:
    licences = (FILES / "vendor" / "LICENSES.txt").read_text(encoding="utf-8")
    for path in (FILES / "vendor").iterdir():
        assert path.name in licences or path.name == "LICENSES.txt"
    assert "Apache License" in licences
    assert licences.count("MIT License") >= 2
