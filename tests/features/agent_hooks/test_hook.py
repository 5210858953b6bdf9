"""One run of the hook: what it asks, what it leaves for the next run, and its silence whatever happens."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from app.features.agent_hooks import hook, spool
from tests.features.agent_hooks.hosts import HOSTS, ClaudeCode, Codex, Hermes, Served, lines_of

ROOT = Path(__file__).parents[3]
NOWHERE = "http://127.0.0.1:9"
HOST = ClaudeCode()


def program(told: object, *arguments: str, **settings: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a host does."""
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.launch import main; main()"
    sent = told if isinstance(told, bytes) else json.dumps(told).encode()
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-I", "-c", code, str(ROOT), "hook", *arguments],
        input=sent,
        env={"PATH": os.environ["PATH"], "TM_API_KEY": "tm_x", "TM_USER_ID": "ana", **settings},
        capture_output=True,
        timeout=120,
        check=False,
    )


@contextmanager
def answering(answer: bytes, *, after: float = 0.0) -> Iterator[str]:
    """A service that answers everything with the same bytes; without any it never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65_536)
                    time.sleep(after)
                    connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


GARBAGE = {
    "no HTTP": b"\x00\xff\xfe garbage",
    "an empty answer": b"",
    "HTML": b"HTTP/1.1 200 OK\r\n\r\n<html>",
    "another shape": b'HTTP/1.1 200 OK\r\n\r\n{"context": [1], "text": 7, "memories": "x"}',
    "broken hits": b'HTTP/1.1 200 OK\r\n\r\n{"memories": [{"relevance": "high"}], "context": {"text": [3]}}',
    "a list": b"HTTP/1.1 200 OK\r\n\r\n[1, 2]",
    "a problem": b'HTTP/1.1 500 Oops\r\n\r\n{"detail": "no"}',
    "a wrong key": b'HTTP/1.1 401 No\r\n\r\n{"detail": "no"}',
}


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_answered_by_silence(answer: bytes, tmp_path: Path) -> None:
    with answering(answer) as url:
        for told in (HOST.start("s"), HOST.prompt("s", 1, "Where do I live?"), HOST.stop("s", 1, "", "There.")):
            done = program(told, TM_URL=url, TM_HOOK_STATE=str(tmp_path))
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_service_that_is_away_or_slow_is_not_waited_for(tmp_path: Path) -> None:
    told = HOST.prompt("s", 1, "Where do I live?")
    with answering(b"", after=60.0) as slow:
        for url in (NOWHERE, slow, "http://", "nonsense", "ftp://x:y"):
            began = time.monotonic()
            done = program(told, TM_URL=url, TM_HOOK_STATE=str(tmp_path), TM_HOOK_SECONDS="0.3")
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
            assert time.monotonic() - began < 30.0


def test_a_host_that_sends_no_event_is_not_waited_for(tmp_path: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.launch import main; main()"
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-I", "-c", code, str(ROOT), "hook"],
        env={"TM_API_KEY": "tm_x", "TM_USER_ID": "ana", "TM_HOOK_SECONDS": "0.3", "TM_HOOK_STATE": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.wait(60) == 0
        assert process.stdout is not None
        assert process.stderr is not None
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")


def test_a_prompt_is_kept_while_the_service_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[str] = []

    def asked(*_: object) -> tuple[int, object]:
        kept.extend(one.read_text(encoding="utf-8") for one in tmp_path.glob("*.json"))
        raise TimeoutError

    monkeypatch.setattr(hook.Service, "ask", asked)
    service = hook.Service(NOWHERE, "tm_x", time.monotonic() + 60)
    hook.run(hook.HostEvent(HOST.prompt("s", 1, "I moved to Faro."), ""), service, "ana", str(tmp_path))
    assert ["I moved to Faro." in one for one in kept] == [True]


@pytest.mark.parametrize(
    ("told", "settings"),
    [
        (b"", {}),
        (b"not json", {}),
        ([1], {}),
        ({}, {}),
        ({"hook_event_name": "Stop"}, {}),
        ({"hook_event_name": 7, "session_id": 7, "prompt": 7}, {}),
        (HOST.prompt("s", 1, "x"), {"TM_API_KEY": ""}),
        *((HOST.prompt("s", 1, "x"), {"TM_HOOK_SECONDS": one}) for one in ("soon", "inf", "nan", "-1")),
        (HOST.prompt("s", 1, "x"), {"TM_HOOK_STATE": "/proc/nowhere"}),
        ({**HOST.prompt("s", 1, "x"), "hook_event_name": "PreToolUse"}, {}),
    ],
    ids=str,
)
def test_what_cannot_be_read_is_answered_by_silence(told: object, settings: dict[str, str], tmp_path: Path) -> None:
    done = program(told, **{"TM_URL": NOWHERE, "TM_HOOK_STATE": str(tmp_path), **settings})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_log_says_why_nothing_was_done(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program(HOST.prompt("s", 1, "x"), TM_URL=NOWHERE, TM_HOOK_STATE=str(tmp_path), TM_HOOK_LOG=str(log))
    assert "refused" in log.read_text(encoding="utf-8")


def test_a_run_imports_little(tmp_path: Path) -> None:
    code = (
        "import sys, os; sys.path.insert(0, sys.argv[1]); before = set(sys.modules); os._exit = lambda _: None;"
        "sys.argv[1:] = ['hook']; from app.launch import main; main(); print(*(set(sys.modules) - before))"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-I", "-c", code, str(ROOT)],
        input=json.dumps(HOST.prompt("s", 1, "x")).encode(),
        env={"TM_API_KEY": "tm_x", "TM_USER_ID": "ana", "TM_URL": NOWHERE, "TM_HOOK_STATE": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    loaded = set(done.stdout.decode().split())
    assert "app.features.agent_hooks.hook" in loaded
    slow = {"typer", "httpx", "http.client", "ssl", "asyncio", "pydantic", "typing"}
    assert not loaded & {*slow, "json", "socket", "re", "encodings.idna"}


async def test_the_start_of_a_session_gets_the_profile_and_standing_instructions(served: Served) -> None:
    await served.say("I live in Porto.", "I am allergic to peanuts.", "Always answer in British English.")
    for name, make in HOSTS.items():
        host = make()
        told = host.start(name) if not isinstance(host, Hermes) else host.prompt(name, 1, "Hello there, agent!")
        lines = lines_of(await served.fire(told))
        for wanted in ("user lives in Porto", "peanuts", "British English"):
            assert sum(wanted in line for line in lines) == 1, (name, lines)


async def test_a_session_is_not_told_the_same_twice_until_it_is_compacted(served: Served) -> None:
    await served.say("My sister Lena works at Siemens.")
    ask = HOST.prompt("s", 1, "Where does Lena work?")
    assert "Siemens" in await served.fire(ask)
    assert await served.fire(HOST.prompt("s", 2, "And where does Lena work, again?")) == ""
    assert await served.fire(HOST.start("s", "resume")) == ""
    assert "Siemens" in await served.fire(HOST.start("s", "compact"))
    assert await served.fire(HOST.start("t", "resume")) == ""
    assert "Siemens" in await served.fire(HOST.start("u"))
    assert await served.fire(HOST.start("u")) == ""


async def test_commands_of_the_host_are_neither_asked_nor_stored(served: Served) -> None:
    for number, text in enumerate(("/clear", "/model opus", "!ls", "   ")):
        assert await served.fire(HOST.prompt("s", number, text)) == ""
    await served.fire(HOST.prompt("s", 9, "/home/ana/notes.txt is mine"))
    await served.fire(HOST.stop("s", 9, "", "Noted."))
    assert [one["content"] for one in await served.turns("s")] == ["/home/ana/notes.txt is mine", "Noted."]


async def test_short_prompts_that_come_again_are_other_turns(served: Served) -> None:
    for number, answer in enumerate(("Wrote the parser.", "Wrote its tests.", "Ran them.")):
        for _ in range(2):
            await served.fire(HOST.prompt("s", number, "weiter"))
        for _ in range(2):
            await served.fire(HOST.stop("s", number, "", answer))
    stored = [one["content"] for one in await served.turns("s")]
    assert stored == ["weiter", "Wrote the parser.", "weiter", "Wrote its tests.", "weiter", "Ran them."]


async def test_what_a_host_without_ids_repeats_late_is_stored_once(served: Served) -> None:
    for text, answer in (("I moved to Faro.", "Nice."), ("I bought a boat.", "Good.")):
        for _ in range(2):
            await served.fire(HOST.prompt("s", 1, text))
            await served.fire(HOST.stop("s", 1, "", answer))
        await served.fire(HOST.prompt("s", 1, text))
    assert [one["content"] for one in await served.turns("s")] == [
        "I moved to Faro.",
        "Nice.",
        "I bought a boat.",
        "Good.",
    ]


def test_a_repeated_prompt_is_known_though_lines_of_it_were_shown_since(tmp_path: Path) -> None:
    session, sent = spool.Session(str(tmp_path / "s.json")), "Is this right?\nThe boiler was replaced in May."
    for _ in range(2):
        session.note("t1", session.unshown(sent), sent)
        session.show(["(2026-05-04) The boiler was replaced in May."])
    assert [one["content"] for one in session.taken()] == [sent]


async def test_what_could_not_be_sent_is_sent_later_and_once(served: Served) -> None:
    codex = Codex()
    for turn, text in enumerate(("I moved to Faro.", "I bought a boat."), start=1):
        await served.fire(codex.prompt("s", turn, text), url=NOWHERE)
        await served.fire(codex.stop("s", turn, text, "Nice."), url=NOWHERE)
    assert await served.turns("s") == []
    await served.fire(codex.prompt("s", 3, "thanks"))
    stop = codex.stop("s", 3, "thanks", "You are welcome.")
    for _ in range(3):
        await served.fire(stop)
    told = [one["content"] for one in await served.turns("s")]
    assert sorted(told) == sorted(
        ["I moved to Faro.", "Nice.", "I bought a boat.", "Nice.", "thanks", "You are welcome."]
    )


async def test_an_answer_that_was_lost_does_not_store_twice(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = hook.Service.ask

    def lost(self: hook.Service, *given: Any, **more: Any) -> tuple[int, Any]:
        ask(self, *given, **more)
        raise TimeoutError

    await served.fire(HOST.prompt("s", 1, "I moved to Faro."))
    with monkeypatch.context() as patch:
        patch.setattr(hook.Service, "ask", lost)
        await served.fire(HOST.stop("s", 1, "", "Nice."))
    await served.fire(HOST.stop("s", 1, "", "Nice."))
    assert [one["content"] for one in await served.turns("s")] == ["I moved to Faro.", "Nice."]


async def test_a_refused_turn_does_not_hold_up_the_next(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(hook.Service, "ask", lambda *_: (422, {}))
        await served.fire(HOST.prompt("s", 1, "I moved to Faro."))
        await served.fire(HOST.stop("s", 1, "", "Nice."))
    await served.fire(HOST.prompt("s", 2, "I bought a boat."))
    await served.fire(HOST.stop("s", 2, "", "Good."))
    assert [one["content"] for one in await served.turns("s")] == ["I bought a boat.", "Good."]


async def test_sessions_and_users_stay_apart(served: Served) -> None:
    await served.fire(HOST.prompt("a/../b", 1, "I moved to Faro."))
    await served.fire(HOST.stop("ab", 1, "", "Nice."))
    assert await served.turns("ab") == []
    await served.fire(HOST.stop("a/../b", 1, "", "Nice."))
    assert len(await served.turns("a/../b")) == 2
