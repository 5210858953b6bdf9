"""Install the packages by their names from an index on this machine, as a newcomer would, and use what came.

python .ci/install.py DIST [--with pip|uvx|pipx ...] [--python PYTHON ...] [--client-python PYTHON ...] [--unlocked]

DIST is what packages.py made. Each way of installing starts with nothing but the Python it names; what the packages
need comes from whatever index pip is set to use, at the versions of requirements.lock, or with `--unlocked` the newest.
With pip the release before is installed first, remembers something, and is upgraded.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, cast

ROOT: Final = Path(__file__).resolve().parents[1]
KEY: Final = "installed-by-name"
START_SECONDS: Final = 300.0
PACKAGE: Final = "typed-memory"


def say(what: str, started: float) -> None:
    """Print how long something took."""
    print(f"{time.monotonic() - started:6.1f} s  {what}", flush=True)


@contextmanager
def served_index(dist: Path) -> Iterator[str]:
    """Serve the folder, and return the index's address."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(dist)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603
    try:
        port = re.search(r"port (\d+)", cast("IO[str]", server.stdout).readline())
        assert port is not None
        yield f"http://127.0.0.1:{port[1]}/simple/"
    finally:
        server.terminate()
        server.wait()
        cast("IO[str]", server.stdout).close()


def constraints(scratch: Path) -> Path:
    """Return the versions of the lock file as constraints, without hashes, which a package of ours has none of."""
    pins = re.findall(r"^([\w.-]+==[^\\\n]+?) *\\?$", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    file = scratch / "constraints.txt"
    file.write_text("\n".join(pins) + "\n")
    return file


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """Run a command to its end; return what it printed, or exit with it."""
    done = subprocess.run(  # noqa: S603 - our own tools
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}")
    return done.stdout


@contextmanager
def serving(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Start a service that keeps its data in the folder, and return its address."""
    settings = {"TM_DATA_DIR": str(folder / "data"), "TM_BOOTSTRAP_KEY": KEY, "PYTHONPATH": str(folder)}
    others = {name: value for name, value in os.environ.items() if not name.startswith("TM_")}
    said = folder / "said"
    with said.open("w") as output, (folder / "log").open("w") as log:
        process = subprocess.Popen(  # noqa: S603 - what was installed
            [*command, "serve", "--port", "0"],
            cwd=folder,
            env={**others, **environment, **settings},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield _address(process, said, folder / "log")
    finally:
        # The runner may have started the service as a process of its own; one that did not start is gone.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def _address(process: subprocess.Popen[bytes], said: Path, log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while not (found := re.search(r"^ +URL +(\S+)$", said.read_text(), re.MULTILINE)):
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"the service did not start:\n{said.read_text()}\n{log.read_text()[-3000:]}")
        time.sleep(0.1)
    return found[1]


def ask(url: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
    """Send a request to the service."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    request = urllib.request.Request(url + path, json.dumps(body).encode() if body else None, headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - our own service
        return cast("bytes", answer.read())


def remember(url: str) -> None:
    """Store a value."""
    fields = {"preference_key": "editor.theme", "preference_value": "dark", "user_id": "ana"}
    ask(url, "/memories/typed/preference", fields)


def check(url: str) -> None:
    """Recall the value, and read what the package brings besides code."""
    found = json.loads(ask(url, "/query", {"query": "Which editor theme?", "user_id": "ana"}))
    assert "dark" in found["context"]["text"], found
    for path in ("/readyz", "/docs", "/openapi.json", "/admin", "/admin/app.js"):
        assert ask(url, path), path


def empty_folder(scratch: Path) -> Path:
    """Return a new folder, which is on Python's path, with packages of a user's own whose names ours have inside."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    for package in ("app", "migrations"):
        (folder / package).mkdir(parents=True)
        (folder / package / "__init__.py").write_text("raise ImportError('a package of the user')\n")
    # As root, the embedded server runs as another user, who must be able to enter.
    folder.chmod(0o755)
    return folder


Use = Callable[[str], None]
"""What is done with the service at an address."""


def by_pip(python: str, scratch: Path, environment: Mapping[str, str], versions: Sequence[str], use: Use) -> None:
    """Install each version over the one before, which keeps what is remembered; `use` what the last serves."""
    folder = empty_folder(scratch)
    run([python, "-m", "venv", str(folder / "venv")], folder, {})
    inside = str(folder / "venv" / "bin" / "python")
    for number, version in enumerate(versions):
        started = time.monotonic()
        last = number == len(versions) - 1
        wanted = [PACKAGE] if last else [f"{PACKAGE}=={version}"]
        report = folder / "report.json"
        command = [inside, "-m", "pip", "install", "--no-input", "--upgrade", f"--report={report}", *wanted]
        run(command, folder, environment)
        say(f"{python}: pip install {wanted[0]}{' --upgrade' if number else ''}", started)
        ours = {
            one["metadata"]["version"]: one["download_info"]["url"]
            for one in json.loads(report.read_text())["install"]
            if one["metadata"]["name"] == PACKAGE
        }
        assert set(ours) == {version}, ours
        assert ours[version].startswith("http://127.0.0.1:"), ours
        started = time.monotonic()
        with serving([str(folder / "venv" / "bin" / "typed-memory")], folder, {}) as url:
            if not number:
                remember(url)
            check(url)
            say(f"{python}: {PACKAGE} {version} serves", started)
            if last:
                use(url)
    printed = run([str(folder / "venv" / "bin" / "typed-memory"), "--version"], folder, {})
    assert printed.strip() == versions[-1], printed


def by_runner(runner: str, python: str, scratch: Path, environment: Mapping[str, str]) -> None:
    """Serve by one line of uvx or pipx, which install what they run."""
    folder = empty_folder(scratch)
    program = shutil.which(runner)
    if program is None:
        sys.exit(f"{runner} is not installed")
    line = {
        "uvx": [program, "--python", python, PACKAGE],
        "pipx": [program, "run", "--python", python, PACKAGE],
    }[runner]
    own = {"PIPX_HOME": str(folder / "home"), "UV_CACHE_DIR": str(folder / "cache"), "UV_PYTHON_DOWNLOADS": "never"}
    started = time.monotonic()
    with serving(line, folder, {**environment, **own}) as url:
        say(f"{python}: {Path(runner).name} {PACKAGE} serve, to the first answer", started)
        remember(url)
        check(url)


def client(python: str, scratch: Path, environment: Mapping[str, str], url: str) -> None:
    """Install the client by name, and hold a conversation with the service."""
    folder = empty_folder(scratch)
    run([python, "-m", "venv", str(folder / "venv")], folder, {})
    inside = str(folder / "venv" / "bin" / "python")
    started = time.monotonic()
    run([inside, "-m", "pip", "install", "--no-input", f"{PACKAGE}-client"], folder, environment)
    say(f"{python}: pip install {PACKAGE}-client", started)
    program = (
        "import typed_memory_client as t\n"
        "with t.TypedMemory().for_user('bo') as memory:\n"
        "    memory.remember('I moved to Porto.')\n"
        "    print(t.__version__, memory.recall('Where do I live?').context.text)\n"
    )
    printed = run([inside, "-c", program], folder, {"TM_URL": url, "TM_API_KEY": KEY})
    assert "Porto" in printed, printed


def executable(python: str) -> str:
    """Return the whole path of a Python; a name may stand for another one, or for none, in another folder."""
    return run([python, "-c", "import sys; print(sys.executable)"], Path.cwd(), {}).strip()


def main() -> None:
    """Install and use the packages in every way asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path)
    parser.add_argument("--with", dest="ways", nargs="+", choices=("pip", "uvx", "pipx"), default=["pip"])
    parser.add_argument("--python", nargs="+", default=[sys.executable])
    parser.add_argument("--client-python", nargs="+", default=[sys.executable])
    parser.add_argument("--unlocked", action="store_true")
    given = parser.parse_args()
    pythons = [executable(python) for python in given.python]
    client_pythons = [executable(python) for python in given.client_python]
    versions = sorted(re.findall(r"typed_memory-([\d.]+)-py3", " ".join(one.name for one in given.dist.glob("*.whl"))))
    with (
        tempfile.TemporaryDirectory(prefix="typed-memory-install-") as folder,
        served_index(given.dist.resolve()) as index,
    ):
        scratch = Path(folder)
        scratch.chmod(0o755)
        names = () if given.unlocked else ("PIP_CONSTRAINT", "UV_CONSTRAINT")
        pinned = dict.fromkeys(names, str(constraints(scratch)))
        extra = " ".join([index, os.environ.get("PIP_EXTRA_INDEX_URL", "")]).strip()
        # Python compiles what is imported; all of it takes longer than the rest.
        environment = {"PIP_EXTRA_INDEX_URL": extra, "PIP_NO_COMPILE": "1", "UV_INDEX": index}

        def use(url: str) -> None:
            while client_pythons:
                client(client_pythons.pop(), scratch, environment, url)

        for python in pythons:
            for way in given.ways:
                if way == "pip":
                    by_pip(python, scratch, {**environment, **pinned}, versions, use)
                else:
                    by_runner(way, python, scratch, {**environment, **pinned})
    print("The packages install by name, and serve.")


if __name__ == "__main__":
    main()
