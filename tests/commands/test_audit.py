"""`typed-memory audit`: the log printed, and proved or refuted by its exit code."""

from __future__ import annotations

import asyncio
import re

import asyncpg
import httpx
import pytest

from tests.commands.program import Served, run
from tests.support.waiting import PATIENCE


def prefer(service: Served, value: str) -> None:
    answer = httpx.post(
        f"{service.url}/memories/typed/preference",
        json={"preference_key": "editor.theme", "preference_value": value, "user_id": "ana"},
        headers={"Authorization": f"Bearer {service.key}"},
        timeout=PATIENCE,
    )
    assert answer.status_code == 201, answer.text


def tamper(url: str, statement: str) -> None:
    async def change() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute("SET session_replication_role = replica")
            assert not (await connection.execute(statement)).endswith(" 0")
        finally:
            await connection.close()

    asyncio.run(change())


@pytest.mark.long
def test_it_is_printed_and_proved_until_somebody_changes_it(fresh_database_url: str) -> None:
    with Served(TM_DATABASE_URL=fresh_database_url) as service:
        prefer(service, "dark")
        prefer(service, "light")
        proves(dict(service.settings))


def proves(settings: dict[str, str]) -> None:
    head = run("audit", "head", **settings)
    assert head.returncode == 0, head.stderr
    anchor = head.stdout.strip()

    listed = run("audit", "list", "--action", "memory.", **settings)
    assert [line.partition(": ")[0].split()[-1] for line in listed.stdout.splitlines()] == [
        "memory.added",
        "memory.added",
        "memory.superseded",
    ]
    assert "a newer statement about the same thing replaces the older one" in listed.stdout

    proved = run("audit", "verify", **settings)
    assert proved.returncode == 0, proved.stderr
    assert re.search(r"default: checked 5 events in \d+ seals?", proved.stdout)
    assert "2 memories as the log says" in proved.stdout
    assert run("audit", "verify", "--tenant", "default", "--anchor", anchor, **settings).returncode == 0
    refuted = run("audit", "verify", "--tenant", "default", "--anchor", f"1:{'00' * 32}", **settings)
    assert refuted.returncode == 1
    assert "its digest is not the one that was kept elsewhere" in " ".join(refuted.stderr.split())

    tamper(settings["TM_DATABASE_URL"], "UPDATE audit_events SET actor = 'x' WHERE action = 'memory.superseded'")
    broken = run("audit", "verify", "--tenant", "default", **settings)
    assert broken.returncode == 1
    assert re.search(r"changed: seal \d+, event evt_", " ".join(broken.stderr.split()))
    assert "it is not what was sealed" in " ".join(broken.stderr.split())

    tamper(settings["TM_DATABASE_URL"], "UPDATE memories SET confidence = 0.99 WHERE status = 'active'")
    found = run("audit", "verify", **settings)
    assert found.returncode == 1
    assert "is not what the log says: it is active with confidence 0.99" in " ".join(found.stderr.split())


def test_what_is_wrong_with_a_command_is_told(service: Served) -> None:
    settings = dict(service.settings)
    for arguments, told in (
        (("verify", "--tenant", "nobody"), "no such tenant: 'nobody'"),
        (("verify", "--anchor", f"1:{'00' * 32}"), "name it with --tenant"),
        (("verify", "--tenant", "default", "--anchor", "x"), "must be like 42:"),
        (("list", "--memory", "x"), "no such memory"),
    ):
        failed = run("audit", *arguments, **settings)
        assert failed.returncode == 1
        assert told in " ".join(failed.stderr.split())
