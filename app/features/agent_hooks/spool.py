"""The state of a host's session between its events: prompts, printed lines, and turns that could not be sent."""

from __future__ import annotations

import binascii
import os
import time

from app.features.agent_hooks import light, marks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

MOST_NOTED = 50
MOST_SHOWN = 300
MOST_DONE = 200
MOST_WAITING = 100

_PATIENCE = 0.02
"""Seconds between looks at a file that another event of the session holds."""


def folder() -> str:
    """Return the folder of these files: `TM_HOOK_STATE`, else that of the XDG specification."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")  # noqa: PTH111 - see `hook`
    return os.environ.get("TM_HOOK_STATE") or f"{base}/typed-memory/hooks"


def now() -> str:
    """Return the present time in UTC."""
    seconds = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1e6):06d}Z"


class Session:
    """The state of one session, as a JSON object in a file."""

    def __init__(self, path: str) -> None:
        """Read what was stored; without any, or where it can't be read, the session begins."""
        self.path = path
        found = _read(path)
        names = ("noted", "said", "shown", "before", "done", "waiting")
        self.state: dict[str, list[Any]] = {name: list(found.get(name) or []) for name in names}

    def store(self) -> None:
        """Write the state in one step."""
        part = f"{self.path}.part"
        with open(part, "w", encoding="utf-8", opener=_private) as file:
            file.write(light.dumps(self.state))
        os.replace(part, self.path)  # noqa: PTH105 - see `hook`

    @property
    def done(self) -> list[str]:
        """Return the host's ids of the turns that are finished."""
        return self.state["done"]

    @property
    def noted(self) -> list[dict[str, Any]]:
        """Return the prompts of the turn that goes on."""
        return self.state["noted"]

    def note(self, turn: str, prompt: str, sent: str) -> None:
        """Keep a prompt until its turn ends, unless the host repeats it; `sent` is the prompt as the host sent it."""
        key = [turn, binascii.crc32(sent.encode())]
        if any(one["key"] == key for one in self.noted):
            return
        self.noted.append({"role": "user", "content": prompt, "occurred_at": now(), "key": key})
        del self.noted[:-MOST_NOTED]

    def taken(self) -> list[dict[str, Any]]:
        """Return the prompts of the turn that ends, as turns of the service, and keep them no longer.

        A host that names no turns may repeat a prompt when its turn is over: then another prompt follows.
        """
        turns = [
            {name: one[name] for name in ("role", "content", "occurred_at")}
            for one in self.noted
            if one is self.noted[-1] or one["key"][0] or one["content"] not in self.state["said"]
        ]
        self.noted.clear()
        return turns

    def finish(self, turn: str, body: dict[str, Any] | None) -> None:
        """Note that a turn has ended, with what is to be sent of it, under a key that makes repetitions harmless."""
        if turn:
            self.done.append(turn)
            del self.done[:-MOST_DONE]
        if body is None:
            return
        said = [one["content"] for one in body["turns"]]
        if not turn and said == self.state["said"]:  # a host that names no turns repeats the whole of one
            return
        self.state["said"] = said
        self.state["waiting"].append({"key": f"hook-{os.urandom(16).hex()}", "body": body})
        del self.state["waiting"][:-MOST_WAITING]

    def waiting(self) -> list[dict[str, Any]]:
        """Return what is to be sent, the oldest first."""
        return list(self.state["waiting"])

    def sent(self, key: str) -> None:
        """Keep no longer what the service has answered about."""
        self.state["waiting"] = [one for one in self.state["waiting"] if one["key"] != key]

    def fresh(self, lines: list[str]) -> list[str]:
        """Return the lines that this session was not shown yet, each once."""
        known = {_without_date(one) for one in self.state["shown"]}
        found = {_without_date(one): one for one in reversed(lines)}
        return [
            one for one in dict.fromkeys(lines) if found[_without_date(one)] == one and _without_date(one) not in known
        ]

    def show(self, lines: list[str]) -> None:
        """Note lines that are printed."""
        self.state["shown"] += lines
        del self.state["shown"][:-MOST_SHOWN]

    def forget_shown(self) -> None:
        """Let lines be printed again, in a session that begins anew; they are still taken out of what is stored."""
        self.state["before"] = self.ever_shown()[-MOST_SHOWN:]
        self.state["shown"] = []

    def unshown(self, text: str) -> str:
        """Return a text without what was printed in this session."""
        return marks.without_blocks(text, self.ever_shown())

    def ever_shown(self) -> list[str]:
        """Return the lines that were printed in this session, whether or not it began anew since."""
        return [*self.state["before"], *self.state["shown"]]


def _without_date(line: str) -> str:
    """Return a line without the brackets at its start, which say when it was said."""
    return line.partition(") ")[2] if line.startswith("(") else line


class opened:  # noqa: N801 - used as a function
    """The session of an id, locked while it is used, and stored after; None where another event holds it too long."""

    def __init__(self, where: str, session: str, until: float) -> None:
        """Name the file of a session."""
        plain = "".join(one for one in session if one.isalnum() or one in "-_")[:80]
        self.path = f"{where}/{plain}-{binascii.crc32(session.encode('utf-8', 'ignore')):08x}.json"
        self.where, self.until = where, until
        self.file = -1
        self.session: Session | None = None

    def __enter__(self) -> Session | None:
        """Wait for the file, at most until the deadline, and read it."""
        os.makedirs(self.where, mode=0o700, exist_ok=True)  # noqa: PTH103 - see `hook`
        self.file = os.open(f"{self.path}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        if not _locked(self.file, self.until):
            return None
        self.session = Session(self.path)
        return self.session

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        """Store the session, whatever happened, and let go of it."""
        if self.session is not None:
            self.session.store()
        os.close(self.file)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - see `hook`
            found = light.loads(file.read())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _locked(file: int, until: float) -> bool:
    """Return whether a file is locked, waiting for it until a time; where files can't be locked, it is."""
    try:
        import fcntl  # noqa: PLC0415 - Windows has none
    except ImportError:
        return True
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if time.monotonic() > until:
                return False
            time.sleep(_PATIENCE)
        else:
            return True
