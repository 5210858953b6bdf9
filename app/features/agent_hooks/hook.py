"""The hook of agents' hosts: what is known goes into sessions and prompts, what was said is stored when a turn ends.

Standard library alone, and little of it, because the host waits for each run. Nothing that goes wrong reaches the host:
there is no output, and the exit code is 0. The host's event is a JSON object on standard input, in the shape of Claude
Code and Codex (`SessionStart`, `UserPromptSubmit`, `Stop`) or of Hermes (`pre_llm_call`, `post_llm_call`).

Every line that the hook prints bears marks. Whatever bears one, or repeats a printed line, is taken out of what is
stored, so that memory never feeds on itself. What could not be sent waits in a file for the end of the next turn.
"""

from __future__ import annotations

import _thread
import os
import sys
import time

from app.features.agent_hooks import light, marks, spool

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes a fifth of the time of a run to import
    from _socket import socket
    from typing import Any

SECONDS = 1.5
"""The longest that one run takes, without `TM_HOOK_SECONDS`."""

MOST_SECONDS = 60.0

GRACE = 0.25
"""Seconds after which a run that can't be interrupted is ended: it looks up a name, or its host sends no event."""

LONGEST_TEXT = 20_000
LONGEST_QUESTION = 2_000
LARGEST_ANSWER = 1_000_000
LARGEST_EVENT = 50_000_000
MOST_LINES = 12

START, PROMPT, STOP = "session-start", "prompt", "stop"

EVENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "Stop": STOP,
    "pre_llm_call": PROMPT,
    "post_llm_call": STOP,
}
"""Hosts' events by what is done at them."""

STANDING = {"query": "?", "include": ["context"], "heed": "all", "min_relevance": 1.0, "top_k": 1, "token_budget": 300}
"""The question that standing instructions, allergies and hard rules alone answer."""

SURE = 0.99
"""The least relevance of a belief at a prompt; far above the service's own floor, which is for questions."""

SURE_TURN = 0.9
"""That of a turn in its own words, which shares fewer words with everything."""

BESIDE_BEST = 0.7
"""The least part of the best hit's retrieval score that another one has."""

PROFILE_TOKENS = 400
PROMPT_TOKENS = 300

_OK = range(200, 300)
_LATER = frozenset({401, 403, 404, 408, 409, 425, 429})
"""Statuses after which turns are sent again: the key is mended, or the service is another one."""


class Service:
    """The service at a URL, asked until a deadline."""

    def __init__(self, url: str, key: str, until: float) -> None:
        """Take the URL apart, without connecting."""
        scheme, _, rest = url.rstrip("/").partition("://")
        self.place, _, path = rest.partition("/")
        host, colon, port = self.place.rpartition(":")
        numbered = bool(colon) and port.isdigit()
        self.secure = scheme == "https"
        self.host = (host if numbered else self.place).strip("[]")
        self.port = int(port) if numbered else 443 if self.secure else 80
        self.path = f"/{path}" if path else ""
        self.key = key
        self.until = until

    def ask(self, method: str, path: str, body: object = None, key: str | None = None) -> tuple[int, Any]:
        """Return the status and the JSON of an answer, or raise OSError or ValueError.

        `key` is that of a write that may be sent again.
        """
        sent = b"" if body is None else light.dumps(body).encode()
        head = [f"{method} {self.path}{path} HTTP/1.0", f"Host: {self.place}", f"Authorization: Bearer {self.key}"]
        head += ["Content-Type: application/json", f"Content-Length: {len(sent)}"]
        head += [] if key is None else [f"Idempotency-Key: {key}"]
        connection = self._connected()
        try:
            connection.sendall("\r\n".join([*head, "", ""]).encode("latin-1") + sent)
            received = self._received(connection)
        finally:
            connection.close()
        top, _, content = received.partition(b"\r\n\r\n")
        return int(top.split(b" ", 2)[1]), light.loads(content) if content else None

    def _connected(self) -> socket:
        connection = light.connected(self.host, self.port, self._left)
        if self.secure:
            import socket  # noqa: PLC0415 - takes as long as the rest
            import ssl  # noqa: PLC0415 - takes longer than all the rest

            whole = socket.socket(fileno=connection.detach())
            whole.settimeout(self._left())
            return ssl.create_default_context().wrap_socket(whole, server_hostname=self.host)
        return connection

    def _received(self, connection: socket) -> bytes:
        found = bytearray()
        while len(found) < LARGEST_ANSWER:
            connection.settimeout(self._left())
            part = connection.recv(65_536)
            if not part:
                return bytes(found)
            found += part
        raise ValueError("the answer is too large")

    def _left(self) -> float:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left


class HostEvent:
    """A host's event, in the words of this module; `id` is the host's own of the turn, empty where it has none."""

    def __init__(self, told: dict[str, Any], asked: str) -> None:
        """Read the object that the host sent; `asked` is the event that the command names, empty for the host's."""
        extra = told.get("extra")
        self.more: dict[str, Any] = extra if isinstance(extra, dict) else {}
        self.told = told
        self.name = self._text("hook_event_name")
        self.kind = asked or EVENTS.get(self.name, "")
        self.session = self._text("session_id")[:200]
        self.id = self._text("turn_id")
        self.prompt = marks.storable((self._text("prompt") or self._text("user_message"))[:LONGEST_TEXT])
        said = self._text("last_assistant_message") or self._text("assistant_response")
        self.answer = marks.storable(said[:LONGEST_TEXT])
        self.source = self._text("source")
        self.first = self.more.get("is_first_turn") is True

    def _text(self, name: str) -> str:
        found = self.told.get(name, self.more.get(name))
        return found if isinstance(found, str) else ""

    def reply(self, text: str) -> dict[str, Any]:
        """Return the answer that adds a text to what the host's model reads."""
        if self.name.islower():
            return {"context": text}
        return {"hookSpecificOutput": {"hookEventName": self.name, "additionalContext": text}}


def run(event: HostEvent, service: Service, user: str, folder: str) -> str:
    """Do what an event asks for, and return what to print, often nothing."""
    if not event.session or not event.kind:
        return ""
    with spool.opened(folder, event.session, service.until) as session:
        if session is None:
            return ""
        if event.kind == STOP:
            _finish(event, session, service, user)
            return ""
        lines = _started(event, session, service, user)
        if event.kind == PROMPT:
            lines += _prompted(event, session, service, user)
        fresh = session.fresh(lines)[:MOST_LINES]
        session.show(fresh)
        return light.dumps(event.reply(marks.block(fresh))) if fresh else ""


def _started(event: HostEvent, session: spool.Session, service: Service, user: str) -> list[str]:
    """Return the lines of the profile and the standing instructions, at the start of a session."""
    begins = event.kind == START and event.source != "resume"
    if not (begins or (event.kind == PROMPT and event.first)):
        return []
    if event.source != "startup":  # which comes once, or is repeated
        session.forget_shown()
    elif session.ever_shown():
        return []
    path = f"/users/{_quoted(user)}/profile?token_budget={PROFILE_TOKENS}"
    lines = _lines(_asked(service, "GET", path), "text")
    found = _asked(service, "POST", "/query", {**STANDING, "user_id": user})
    return lines + _lines(found.get("context"), "text")


def _prompted(event: HostEvent, session: spool.Session, service: Service, user: str) -> list[str]:
    """Note a prompt for the end of the turn, and return the lines that answer it."""
    prompt = session.unshown(event.prompt)
    if not prompt or _is_command(prompt) or event.id in session.done:
        return []
    session.note(event.id, prompt, event.prompt)
    session.store()  # in case this run is ended before it is answered
    question = {
        "messages": [{"role": "user", "content": prompt[-LONGEST_QUESTION:]}],
        "user_id": user,
        "session_id": event.session,
        "include": ["context", "memories"],
        "ids": "full",
        "heed": "none",  # the start of the session has these
        "token_budget": PROMPT_TOKENS,
        "top_k": 5,
    }
    return _answers(_asked(service, "POST", "/query", question))


def _answers(found: dict[str, Any]) -> list[str]:
    """Return the lines of an answer that surely answer: most prompts ask for work, and nothing known answers them."""
    hits = [one for one in found.get("memories") or [] if isinstance(one, dict)]
    best = max((one["retrieval"] for one in hits), default=0.0)
    sure = {
        one["memory"]["id"]
        for one in hits
        if one["relevance"] >= (SURE_TURN if one["memory"]["type"] == "episodic" else SURE)
        and one["retrieval"] >= BESIDE_BEST * best
    }
    lines = []
    for line in _lines(found.get("context"), "text"):
        named, _, rest = line.removeprefix("[").partition("] ")
        if named in sure:
            lines.append(rest)
    return lines


def _is_command(prompt: str) -> bool:
    """Return whether a prompt is meant for the host: a line for the shell, or a slash command, which no path is."""
    word = prompt.split(None, 1)[0]
    return word[0] == "!" or (word[0] == "/" and "/" not in word[1:])


def _finish(event: HostEvent, session: spool.Session, service: Service, user: str) -> None:
    """Store the prompts and the answer of a turn, and what waits from earlier ones."""
    if event.id and event.id in session.done:
        return
    prompt = session.unshown(event.prompt)
    if prompt and not session.noted and not _is_command(prompt):  # a host that says both at the end
        session.note(event.id, prompt, event.prompt)
    said = session.taken()
    answer = session.unshown(event.answer)
    if said and answer:
        said.append({"role": "assistant", "content": answer, "occurred_at": spool.now()})
    session.finish(event.id, {"user_id": user, "session_id": event.session, "turns": said} if said else None)
    session.store()  # with the key of what is sent now, in case this run is ended before it is answered
    for waiting in session.waiting():
        try:
            status, _ = service.ask("POST", "/turns", waiting["body"], waiting["key"])
        except (OSError, ValueError) as error:
            _log(f"/turns: {error}")
            return
        if status >= 500 or status in _LATER:  # noqa: PLR2004 - the service is at fault, not the turns
            _log(f"/turns: {status}")
            return
        session.sent(waiting["key"])


def _asked(service: Service, method: str, path: str, body: object = None) -> dict[str, Any]:
    """Return an answer that is an object, an empty one where the service does not give one."""
    try:
        status, found = service.ask(method, path, body)
    except (OSError, ValueError) as error:
        _log(f"{path}: {error}")
        return {}
    if status not in _OK or not isinstance(found, dict):
        _log(f"{path}: {status}")
        return {}
    return found


def _lines(found: object, name: str) -> list[str]:
    """Return the lines of a block, without its headings and dashes."""
    text = found.get(name) if isinstance(found, dict) else None
    lines = [one.strip() for one in text.split("\n")] if isinstance(text, str) else []
    return [one.removeprefix("- ") for one in lines if one and not one.startswith("#")]


def _quoted(name: str) -> str:
    """Return a name as a segment of a path."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    return "".join(chr(one) if one in plain else f"%{one:02X}" for one in name.encode())


def _log(message: str) -> None:
    """Write why nothing was done into the file that `TM_HOOK_LOG` names."""
    path = os.environ.get("TM_HOOK_LOG")
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as log:  # noqa: PTH123 - `pathlib` takes longer than the rest
            log.write(f"{spool.now()} {message}\n")
    except OSError:
        return


def main(arguments: list[str]) -> None:
    """Read a host's event from standard input, and print what to add to what its model reads."""
    try:
        text = _answer(arguments)
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - a host must not stumble over its memory
        _log(f"{type(error).__name__}: {error}")
    finally:
        os._exit(0)  # without the tear-down of the interpreter, for which the host would wait


def _end_after(seconds: float) -> None:
    """End the run with nothing said, whatever it waits for."""
    time.sleep(seconds)
    _log("the deadline has passed")
    os._exit(0)


def _answer(arguments: list[str]) -> str:
    seconds = float(os.environ.get("TM_HOOK_SECONDS") or SECONDS)
    if not 0 < seconds <= MOST_SECONDS:
        _log(f"TM_HOOK_SECONDS must be up to {MOST_SECONDS}")
        return ""
    until = time.monotonic() + seconds
    _thread.start_new_thread(_end_after, (seconds + GRACE,))
    told = light.loads(sys.stdin.buffer.read(LARGEST_EVENT))
    key = os.environ.get("TM_API_KEY", "")
    user = os.environ.get("TM_USER_ID") or os.environ.get("USER") or os.environ.get("USERNAME") or ""
    if not isinstance(told, dict) or not key or not user:
        _log("nothing is done without an event, TM_API_KEY and TM_USER_ID")
        return ""
    asked = arguments[0] if arguments and arguments[0] in (START, PROMPT, STOP) else ""
    service = Service(os.environ.get("TM_URL") or "http://127.0.0.1:8700", key, until)
    return run(HostEvent(told, asked), service, user, spool.folder())
