"""Who the embedded Postgres runs as: Postgres refuses to run as root."""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from app.errors import ConfigurationError

# Accounts that systems have without anyone creating them, the fitting one first.
_UNPRIVILEGED = ("postgres", "nobody")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A system user that programs run as; `uid` and `gid` are None when it is the user we are."""

    name: str
    uid: int | None = None
    gid: int | None = None

    @property
    def switch(self) -> bool:
        """Whether this is another user than we are."""
        return self.uid is not None

    def run(
        self, command: list[str], *, env: dict[str, str], timeout: float, text: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end as this user, with `text` as its input and stderr joined to stdout."""
        return subprocess.run(  # noqa: S603 - our own programs, no shell
            command,
            env=env,
            input=text,
            timeout=timeout,
            encoding="utf-8",
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            check=False,
            umask=0o022,
            user=self.uid,
            group=self.gid,
            extra_groups=[] if self.switch else None,
        )

    def spawn(self, command: list[str], *, env: dict[str, str], log: BinaryIO) -> subprocess.Popen[bytes]:
        """Start a program as this user, in a session of its own: it outlives us, and our Ctrl-C."""
        return subprocess.Popen(  # noqa: S603 - our own programs, no shell
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
            umask=0o077,
            user=self.uid,
            group=self.gid,
            extra_groups=[] if self.switch else None,
        )

    def own(self, path: Path) -> None:
        """Make this user the owner of `path`."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def can_enter(self, folder: Path) -> bool:
        """Say whether this user may enter `folder`, asking the system, which knows of ACLs too."""
        command = ["/bin/sh", "-c", 'cd -- "$1" 2>/dev/null', "sh", str(folder)]
        return self.run(command, env={}, timeout=10).returncode == 0


def current_account() -> Account:
    """Return the user we are; ConfigurationError if it has no name, which Postgres asks for."""
    return Account(name=_name_of(os.geteuid()))


def server_account(cluster: Path) -> Account:
    """Return who runs the server of `cluster`: us, or for root the cluster's owner or a system user."""
    if os.geteuid() != 0:
        return current_account()
    if cluster.exists() and (owner := cluster.stat()).st_uid != 0:
        return Account(name=_name_of(owner.st_uid), uid=owner.st_uid, gid=owner.st_gid)
    for name in _UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name=name, uid=entry.pw_uid, gid=entry.pw_gid)
    raise ConfigurationError(
        "Postgres does not run as root, and this system has neither a user 'postgres' nor 'nobody'. "
        "Run the service as an ordinary user, or set TM_DATABASE_URL."
    )


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        raise ConfigurationError(
            f"User id {uid} has no name in the system's user list, and Postgres refuses to run without one. "
            f"Add the user, run as another, or set TM_DATABASE_URL."
        ) from None
