"""Conversations as people have them on file, and what becomes of each."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from app.features.portability.commands import import_sources
from app.features.portability.commands.import_sources import (
    BadMessage,
    Format,
    ImportItem,
    ImportSource,
    SkippedMessage,
)

HELLO = {"role": "user", "content": "Hello."}


def read(document: object, session_id: str | None = None) -> list[Any]:
    return list(import_sources.memories(document, place="f", name="f", session_id=session_id))


def bodies(document: object, session_id: str | None = None) -> list[dict[str, Any]]:
    found = read(document, session_id)
    assert all(isinstance(one, ImportItem) for one in found), found
    return [dict(one.body) for one in found]


def kinds(text: str, name: str = "file.json") -> list[str]:
    """How a file's content is read: the types of its items, or the classes of what is no item."""
    content = text.encode()
    found = import_sources.read(ImportSource(name=name, stem="file", opened=lambda: io.BytesIO(content)), Format.AUTO)
    return [str(one.body.get("type")) if isinstance(one, ImportItem) else type(one).__name__ for one in found]


def test_a_user_without_a_name_is_no_speaker_and_an_assistant_is() -> None:
    user, assistant = bodies([HELLO, {"role": "assistant", "content": "Good day."}])
    assert "speaker" not in user
    assert assistant["speaker"] == "assistant"
    assert user["evidence"] == [{"role": "user"}]
    assert "context" not in user
    assert assistant["context"] == "Hello."
    assert [user["sequence_number"], assistant["sequence_number"]] == [1, 2]


def test_sessions_keep_their_ids_dates_and_contexts_apart() -> None:
    document = {
        "sessions": [
            {"session_id": "one", "date": "2026-05-04", "messages": [HELLO]},
            {"session_id": "two", "occurred_at": "2026-05-05T10:00:00+02:00", "messages": [HELLO]},
        ]
    }
    first, second = bodies(document)
    assert (first["session_id"], second["session_id"]) == ("one", "two")
    assert (first["occurred_at"], second["occurred_at"]) == ("2026-05-04T00:00:00", "2026-05-05T10:00:00+02:00")
    assert "context" not in second


def test_an_unnamed_session_keeps_its_id_as_it_grows() -> None:
    more = {"role": "user", "content": "More."}
    ids = {body["session_id"] for body in (*bodies([HELLO]), *bodies([HELLO, more]))}
    assert len(ids) == 1
    assert bodies([more])[0]["session_id"] not in ids
    assert bodies([HELLO], "mine")[0]["session_id"] == "mine"
    # Conversations that begin alike are not one.
    several = bodies([{"messages": [HELLO]}, {"messages": [HELLO]}], "mine")
    assert len({body["session_id"] for body in several}) == 2


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [{"type": "text", "text": "Hello."}, {"type": "image_url", "image_url": {}}]},
        {"type": "human", "content": "Hello."},
        {"type": "human", "data": {"content": "Hello.", "name": None}},
        {"type": "constructor", "kwargs": {"type": "human", "content": "Hello."}},
        {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hello."]}},
        {"sender": "human", "text": "Hello."},
    ],
)
def test_messages_of_other_programs_are_understood(message: dict[str, Any]) -> None:
    [body] = bodies([message])
    assert body["content"] == "Hello."
    assert body["evidence"] == [{"role": "user"}]
    assert "speaker" not in body


def test_a_tree_of_rewrites_gives_its_current_branch() -> None:
    def node(parent: str | None, text: str | None, *children: str) -> dict[str, Any]:
        message = text and {"author": {"role": "user"}, "content": {"parts": [text]}}
        return {"parent": parent, "children": list(children), "message": message}

    mapping = {"r": node(None, None, "a", "b"), "a": node("r", "old"), "b": node("r", "new", "c"), "c": node("b", "on")}
    export = [{"id": "chat", "mapping": mapping, "current_node": "c"}]
    assert [body["content"] for body in bodies(export)] == ["new", "on"]
    assert bodies(export)[0]["session_id"] == "chat"
    for no_name in ({"id": "c"}, ["c"], None):
        assert [body["content"] for body in bodies([{**export[0], "current_node": no_name}])] == ["old"]


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        ("2026-05-09T14:30:00Z", "2026-05-09T14:30:00+00:00"),
        ("2026-05-09 14:30", "2026-05-09T14:30:00"),
        (1778337000, "2026-05-09T14:30:00+00:00"),
        (1778337000000, "2026-05-09T14:30:00+00:00"),
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00"),
        ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21:00"),
    ],
)
def test_times_come_in_many_forms(given: object, read_as: str) -> None:
    assert bodies([{**HELLO, "timestamp": given}])[0]["occurred_at"] == read_as


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Hello.", "must be a JSON object"),
        ({"role": "user"}, "has no `content`"),
        ({**HELLO, "timestamp": "some day"}, "can't read the time"),
        ({**HELLO, "timestamp": 1e300}, "out of range"),
        ({**HELLO, "created_at": {"seconds": 1778320860}}, 'can\'t read the time {"seconds": 1778320860}'),
    ],
)
def test_what_is_wrong_with_a_message_is_told_by_its_place(message: object, told: str) -> None:
    good, bad = read([HELLO, message])
    assert isinstance(good, ImportItem)
    assert isinstance(bad, BadMessage)
    assert bad.place == "f, message 2"
    assert told in bad.what


def test_prompts_and_silence_are_left_out() -> None:
    found = read([{"role": "system", "content": "Be kind."}, {"role": "assistant", "content": None}, HELLO])
    assert [type(one) for one in found] == [SkippedMessage, SkippedMessage, ImportItem]
    assert "context" not in found[2].body


def test_a_files_format_is_found_out() -> None:
    fact = json.dumps({"type": "fact", "predicate": "is", "object": "x"})
    chat = json.dumps({"messages": [HELLO]})
    assert kinds(f"{fact}\n{fact}\n") == ["fact", "fact"]
    assert kinds(f"\ufeff{fact}\n\n") == ["fact"]
    assert kinds(f"not json\n{fact}\n") == ["BadMessage", "fact"]
    assert kinds(f"{chat}\n{chat}\n") == ["episodic", "episodic"]
    assert kinds(chat) == ["episodic"]
    assert kinds(json.dumps({"messages": [HELLO]}, indent=2)) == ["episodic"]
    assert kinds('{"role": "user"}\n', "file.jsonl") == ["None"]
    assert kinds(json.dumps([{"type": "human", "content": "Hi."}], indent=1)) == ["episodic"]


@pytest.mark.parametrize("bad", ["a\x00b", "half \ud83d"])
def test_a_message_that_cannot_be_stored_fails_alone(bad: str) -> None:
    first, wrong, last = read([HELLO, {"role": "user", "content": bad}, {"role": "user", "content": "Bye."}])
    assert isinstance(first, ImportItem)
    assert isinstance(wrong, BadMessage)
    assert isinstance(last, ImportItem)
    assert last.body["context"] == "Hello."


def test_a_slack_channels_day_has_its_people_and_times() -> None:
    ana = {"user": "U0ANA", "user_profile": {"real_name": "Ana Silva"}}
    day = [
        {"type": "message", "ts": "1760000000.000100", "text": "Lunch with <@U0BEN> &amp; co?", **ana},
        {"type": "message", "subtype": "channel_join", "ts": "1760000001.000200", "user": "U0BEN", "text": "joined"},
        {"type": "message", "ts": "1760000002.000300", "bot_id": "B1", "text": "build green"},
        {"type": "message", "ts": "1760000003.000400", "text": "See <https://x.example|the menu>", **ana},
    ]
    lunch, joined, built, menu = read(day)
    assert lunch.body["speaker"] == "Ana Silva"
    assert lunch.body["content"] == "Lunch with @U0BEN & co?"
    assert lunch.body["occurred_at"].startswith("2025-10-09T08:53:20")
    assert menu.body["content"] == "See the menu"
    assert isinstance(joined, SkippedMessage)
    assert isinstance(built, SkippedMessage)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["[09.05.26, 14:30:12] \u2068Ana\u2069: I moved", "[09.05.26, 14:31:00] Ben: Where?"], "2026-05-09T14:30:12"),
        (["12/31/25, 9:41 PM - Ana: Happy", "12/31/25, 9:42 PM - Ben: new year"], "2025-12-31T21:41:00"),
        (["31/12/2025, 21:41 - Ana: Happy", "31/12/2025, 21:42 - Ben: new year"], "2025-12-31T21:41:00"),
        (["05/06/2026, 21:41 - Ana: Old", "06/06/2026, 21:42 - Ben: New", "02/07/2026, 1:00 - Ben: So"],
         "2026-06-05T21:41:00"),
    ],
)  # fmt: skip
def test_a_whatsapp_chat_has_its_people_and_times(lines: list[str], expected: str) -> None:
    content = "\n".join(["", lines[0], "to Lisbon", *lines[1:]]).encode()
    source = ImportSource(name="_chat.txt", stem="_chat", opened=lambda: io.BytesIO(content))
    first, second, *_ = [one for one in import_sources.read(source, Format.AUTO) if isinstance(one, ImportItem)]
    assert (first.body["speaker"], second.body["speaker"]) == ("Ana", "Ben")
    assert str(first.body["content"]).endswith("to Lisbon")
    assert first.body["occurred_at"] == expected


def test_a_chat_whose_dates_can_be_read_twice_is_refused() -> None:
    content = b"05/06/2026, 21:41 - Ana: Old\n05/06/2026, 21:42 - Ben: New\n"
    source = ImportSource(name="c.txt", stem="c", opened=lambda: io.BytesIO(content))
    with pytest.raises(import_sources.UnreadableFile, match="day first and month first"):
        list(import_sources.read(source, Format.AUTO))


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"agents": [{"name": "a"}], "blocks": [], "tools": [], "messages": [HELLO]}, "Letta"),
        ({"agent_type": "memgpt_agent", "core_memory": [], "messages": [HELLO]}, "Letta"),
        ({"items": [{"id": "1", "text": "Ana moved", "fact_type": "world", "date": "x"}]}, "Hindsight"),
        ([{"id": "1", "text": "Ana moved", "type": "world", "occurred_start": None, "mentioned_at": "x"}], "Hindsight"),
    ],
)  # fmt: skip
def test_exports_that_are_not_read_are_refused_by_name(document: object, named: str) -> None:
    [refused] = read(document)
    assert isinstance(refused, BadMessage)
    assert named in refused.what
