"""`typed-memory limits`, on the store of a running service."""

from __future__ import annotations

import re

import httpx

from tests.commands.program import Served, run
from tests.support.waiting import PATIENCE


def test_limits_are_set_and_shown(service: Served) -> None:
    settings = dict(service.settings)
    made = run("keys", "create", "limited", **settings)
    found = re.search(r"key_[0-9a-f]{32}", made.stderr)
    assert found is not None
    told = run("limits", "set", "--key", found[0], "--requests-per-minute", "1", "--turns-per-day", "5", **settings)
    assert told.returncode == 0, told.stderr
    assert re.search(r"requests_per_minute +1 +set", told.stdout)
    assert re.search(r"turns_per_day +5 +set +0", told.stdout)

    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    statuses = [httpx.get(f"{service.url}/whoami", headers=headers, timeout=PATIENCE).status_code for _ in range(2)]
    assert statuses == [200, 429]

    gone = run("limits", "set", "--key", found[0], "--requests-per-minute", "0", **settings)
    assert re.search(r"requests_per_minute +none", gone.stdout)
    assert re.search(r"turns_per_day +5 +set", run("limits", "show", "--key", found[0], **settings).stdout)


def test_what_is_wrong_with_a_limit_is_told(service: Served) -> None:
    settings = dict(service.settings)
    for arguments, told in (
        (("set",), "name a limit to set"),
        (("show", "--key", "key_" + "0" * 32), "no such key"),
        (("show", "--tenant", "nobody"), "no such tenant"),
    ):
        tried = run("limits", *arguments, **settings)
        assert tried.returncode == 1
        assert told in tried.stderr
