"""Build the packages from a copy of the checkout, and an index of them that pip, uv and pipx install from by name.

python .ci/packages.py DIST [--npm] [--before [VERSION]] [--root CHECKOUT] [--index-only]

DIST gets a wheel and a source archive of each Python package, with `--npm` a pack of each npm package, and in `simple`
an index as PEP 503 describes it. PROJECT_URL, if set, is the address of the repository: it becomes the packages' links,
and their READMEs' links into the checkout lead there.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SERVICE: Final = ("pyproject.toml", "README.md", "LICENSE", "app", "migrations")
NESTED: Final = Path("typed_memory")
"""The package that the service's own are in, once it is packed: their names could be anybody's."""

PYTHON_CLIENT: Final = Path("clients/python")
NPM: Final = (Path("clients/typescript"), Path("clients/vercel-ai"))
LEFT_OUT: Final = shutil.ignore_patterns(
    "__pycache__", "node_modules", "build", "dist", "*.egg-info", "*.tgz", ".*_cache"
)

URLS: Final = {"Homepage": "", "Documentation": "/tree/HEAD/docs", "Changelog": "/blob/HEAD/docs/changelog.md"} | {
    "Issues": "/issues"
}
"""What registries link to, under the address of the repository."""


def copy(root: Path, scratch: Path) -> None:
    """Copy what the packages are made of."""
    for name in (*SERVICE, PYTHON_CLIENT, *NPM):
        source, target = root / name, scratch / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=LEFT_OUT)
        elif source.exists():
            shutil.copy(source, target)


def nest(scratch: Path) -> None:
    """Put the packages of the service into one, which finds them itself."""
    inside = scratch / NESTED
    inside.mkdir()
    for name in ("app", "migrations"):
        shutil.move(scratch / name, inside / name)
    shutil.copy(ROOT / ".ci" / "installed.py", inside / "__init__.py")
    (inside / "py.typed").touch()
    manifest = scratch / "pyproject.toml"
    text = manifest.read_text().replace('"app.launch:main"', f'"{NESTED}:main"')
    text = text.replace('include = ["app*", "migrations*"]', f'include = ["{NESTED}*"]\nnamespaces = true')
    before, begin, after = text.partition("[tool.setuptools.package-data]\n")
    data, end, rest = after.partition("\n[tool.")
    data = re.sub(r'^"?((?:app|migrations)[\w.]*)"? = ', rf'"{NESTED}.\1" = ', data, flags=re.MULTILINE)
    manifest.write_text(f'{before}{begin}{NESTED} = ["py.typed"]\n{data}{end}{rest}')


def set_version(manifest: Path, version: str) -> None:
    """Give the service another version."""
    manifest.write_text(
        re.sub(r'^version = ".*"$', f'version = "{version}"', manifest.read_text(), count=1, flags=re.MULTILINE)
    )


def link(scratch: Path, url: str) -> None:
    """Write the repository's address into the manifests, and full addresses into the READMEs."""
    for folder in (Path(), PYTHON_CLIENT):
        manifest = scratch / folder / "pyproject.toml"
        lines = "".join(f'{name} = "{url}{path}"\n' for name, path in URLS.items())
        manifest.write_text(f"{manifest.read_text().rstrip()}\n\n[project.urls]\n{lines}")
    for folder in NPM:
        manifest = scratch / folder / "package.json"
        links = {
            "homepage": url,
            "bugs": f"{url}/issues",
            "repository": {"type": "git", "url": f"git+{url}.git", "directory": str(folder)},
        }
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **links}, indent=2) + "\n")
    for folder in (Path(), PYTHON_CLIENT, *NPM):
        readme = scratch / folder / "README.md"
        readme.write_text(_with_full_links(readme.read_text(), folder, url))


def _with_full_links(text: str, folder: Path, url: str) -> str:
    def full(found: re.Match[str]) -> str:
        image, label, address, part = found.groups()
        path = os.path.normpath(folder / address)
        return f"{image}[{label}]({url}/{'raw' if image else 'blob'}/HEAD/{path}{part or ''})"

    return re.sub(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)", full, text)


def build_wheel(scratch: Path, dist: Path) -> None:
    """Build the wheel of the service, with the setuptools that is installed."""
    _run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(dist), str(scratch)], scratch)


def build(scratch: Path, dist: Path, *, npm: bool) -> None:
    """Build what the copy holds."""
    for folder in (scratch, scratch / PYTHON_CLIENT):
        _run([sys.executable, "-m", "build", "--outdir", str(dist), str(folder)], folder)
    if npm:
        _run(["npm", "ci", "--prefer-offline", "--loglevel=error"], scratch / NPM[0])
        for folder in NPM:
            if folder != NPM[0]:
                _run(["npm", "ci", "--prefer-offline", "--loglevel=error"], scratch / folder)
            _run(["npm", "pack", "--silent", "--pack-destination", str(dist)], scratch / folder)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own tools
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}")


def write_index(dist: Path) -> None:
    """Write the pages of an index of the wheels and source archives."""
    simple = dist / "simple"
    shutil.rmtree(simple, ignore_errors=True)
    wheels = sorted(dist.glob("*.whl"))
    pythons = {_project(one): _requires_python(one) for one in wheels}
    for file in [*wheels, *sorted(dist.glob("*.tar.gz"))]:
        project = _project(file)
        page = simple / project / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        needs = html.escape(pythons[project])
        line = f'<a href="../../{file.name}#sha256={digest}" data-requires-python="{needs}">{file.name}</a><br>\n'
        page.write_text((page.read_text() if page.exists() else "<!DOCTYPE html>\n") + line)
    names = sorted(one.name for one in simple.iterdir())
    (simple / "index.html").write_text(
        "<!DOCTYPE html>\n" + "".join(f'<a href="{name}/">{name}</a><br>\n' for name in names)
    )


def _project(file: Path) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"-(?=\d)", file.name)[0]).lower()


def _requires_python(wheel_file: Path) -> str:
    with zipfile.ZipFile(wheel_file) as wheel:
        name = next(one for one in wheel.namelist() if one.endswith(".dist-info/METADATA"))
        found = re.search(r"^Requires-Python: (.*)$", wheel.read(name).decode(), re.MULTILINE)
    return found[1] if found else ""


def main() -> None:
    """Build the packages and the index."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path)
    parser.add_argument("--npm", action="store_true", help="pack the npm packages, too")
    parser.add_argument(
        "--before",
        nargs="?",
        const="",
        metavar="VERSION",
        help="build the service's wheel alone, to be upgraded; under this version, instead of the manifest's",
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout; by default the one of this script")
    parser.add_argument("--index-only", action="store_true", help="build nothing; index the packages that DIST has")
    given = parser.parse_args()
    given.dist.mkdir(parents=True, exist_ok=True)
    if not given.index_only:
        build_all(given)
    write_index(given.dist)


def build_all(given: argparse.Namespace) -> None:
    """Build the packages as the command line has it."""
    with tempfile.TemporaryDirectory(prefix="typed-memory-packages-") as folder:
        scratch = Path(folder)
        copy(given.root, scratch)
        nest(scratch)
        if given.before is not None:
            if given.before:
                set_version(scratch / "pyproject.toml", given.before)
            build_wheel(scratch, given.dist.resolve())
            return
        if url := os.environ.get("PROJECT_URL", "").rstrip("/"):
            link(scratch, url)
        build(scratch, given.dist.resolve(), npm=given.npm)


if __name__ == "__main__":
    main()
