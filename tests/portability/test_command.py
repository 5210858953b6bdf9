"""`typed-memory export` and `import` against running services, killed midway and sent again."""

from __future__ import annotations

import json
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from tests.commands.program import Served, run
from tests.portability.files import comparable
from tests.support.databases import Run, drop_database
from tests.support.waiting import eventually

pytestmark = pytest.mark.long

KEY = "tm_key_of_the_portability_tests_0123456789abcdef"
MEMORIES = 1_200


@pytest.fixture(scope="module")
def source(run: Run, server_url: str, template: str) -> Iterator[Served]:
    url = run.create(server_url, template)
    with Served(TM_DATABASE_URL=url, TM_BOOTSTRAP_KEY=KEY, TM_HYPE="false") as served:
        with httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {KEY}"}, timeout=60) as client:
            for start in range(0, MEMORIES, 400):
                memories = [
                    {"type": "preference", "user_id": f"u{number % 3}", "preference_key": f"key.n{number // 9}",
                     "preference_value": f"value {number}", "occurred_at": f"2026-01-{1 + number % 28:02}T00:00:00Z"}
                    for number in range(start, start + 400)
                ]  # fmt: skip
                assert client.post("/memories/batch", json={"memories": memories}).status_code == 201
        yield served
    drop_database(url)


def lines_of(served: Served) -> list[str]:
    answer = httpx.get(f"{served.url}/export", headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
    return answer.text.splitlines()


def command(served: Served, *arguments: str) -> Any:
    return run(*arguments, TM_URL=served.url, TM_API_KEY=KEY)


def test_a_file_goes_out_and_in(source: Served, fresh_database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "all.ndjson"
    done = command(source, "export", str(file), "--vectors")
    assert done.returncode == 0, done.stderr
    assert f"{MEMORIES} memories" in done.stdout
    assert not file.with_name("all.ndjson.part").exists()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with Served(TM_DATABASE_URL=fresh_database_url, TM_BOOTSTRAP_KEY=KEY, TM_HYPE="false") as target:
        stored = command(target, "import", str(file))
        assert stored.returncode == 0, stored.stderr
        counts = dict(line.rsplit(maxsplit=1) for line in stored.stdout.splitlines() if line.strip())
        assert counts["memory"] == str(MEMORIES)
        again = command(target, "import", str(file))
        assert "already there: memory" in again.stdout
        cut = tmp_path / "cut.ndjson"
        cut.write_bytes(file.read_bytes()[:200_000])
        broken = command(target, "import", str(cut))
        assert broken.returncode == 1
        assert "cut off" in broken.stderr
        assert "not JSON" in broken.stderr
        changed = tmp_path / "changed.ndjson"
        changed.write_bytes(file.read_bytes().replace(b"value 7", b"value 8"))
        suspect = command(target, "import", str(changed))
        assert suspect.returncode == 1
        assert "this is not the file that was exported" in suspect.stderr
        assert "already there: memory" in suspect.stdout
    lesser = command(source, "export", str(tmp_path / "none" / "file"))
    assert lesser.returncode == 1
    assert "can't be written" in lesser.stderr


async def test_a_service_killed_midway_loses_nothing_and_doubles_nothing(
    source: Served, fresh_database_url: str
) -> None:
    lines = lines_of(source)
    content = "".join(f"{line}\n" for line in lines).encode()
    settings = {"TM_DATABASE_URL": fresh_database_url, "TM_BOOTSTRAP_KEY": KEY, "TM_HYPE": "false"}
    headers = {"Authorization": f"Bearer {KEY}"}
    connection = await asyncpg.connect(fresh_database_url)
    ends = [at for at, line in enumerate(lines, 1) if json.loads(line)["record"] == "memory"]
    for sent, awaited in ((600, 200), (1_000, 600)):
        first = "".join(f"{line}\n" for line in lines[: ends[sent]]).encode()
        with Served(**settings) as served:

            async def pieces(first: bytes = first, awaited: int = awaited, served: Served = served) -> Any:
                yield first
                await eventually(lambda: stored_at_least(connection, awaited))
                served.process.send_signal(signal.SIGKILL)
                served.wait()

            async with httpx.AsyncClient(headers=headers, timeout=60, trust_env=False) as client:
                with pytest.raises(httpx.HTTPError):
                    await client.post(f"{served.url}/import", content=pieces())
    stored = await connection.fetchval("SELECT count(*) FROM memories")
    await connection.close()
    assert 0 < stored < MEMORIES
    with Served(**settings) as served:
        async with httpx.AsyncClient(headers=headers, timeout=60, trust_env=False) as client:
            done = (await client.post(f"{served.url}/import", content=content)).json()
            assert done["complete"]
            assert done["errors"] == []
            assert done["already_there"].get("memory", 0) == stored
            after = (await client.get(f"{served.url}/export")).text.splitlines()
    assert comparable(after) == comparable(lines)


async def stored_at_least(connection: Any, most: int) -> bool:
    return bool(await connection.fetchval("SELECT count(*) FROM memories") >= most)
