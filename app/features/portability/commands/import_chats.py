"""Exports of chat programs, read as messages: Slack's files of a channel's day, WhatsApp's text; others by their name.

A file that looks like one of these and can't be read as it says is refused, never read as something else.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

Message = Mapping[str, object]


class UnreadableChat(ValueError):
    """An export that is known and not read, or not as it stands; the message says what to do."""


_PROGRAMS: Final = frozenset({"bot_message", "channel_join", "channel_leave", "bot_add", "bot_remove", "tombstone"})
_LINK: Final = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")
_SLACK_TIME: Final = re.compile(r"\d{9,10}\.\d{6}")


def is_slack(messages: Sequence[object]) -> bool:
    """Return whether these are messages of a Slack export: their `ts` is a time and an id in one."""
    return any(
        isinstance(one, dict) and isinstance(one.get("ts"), str) and _SLACK_TIME.fullmatch(one["ts"])
        for one in messages[:20]
    )


def slack_messages(messages: Sequence[object]) -> Iterator[object]:
    """Yield Slack's messages as those of a conversation, what programs wrote as messages without text."""
    names = dict(filter(None, (_slack_name(one) for one in messages)))
    for one in messages:
        if not isinstance(one, dict):
            yield one
            continue
        person = one.get("user")
        by_program = one.get("bot_id") or one.get("subtype") in _PROGRAMS or not isinstance(person, str)
        text = "" if by_program else _slack_text(str(one.get("text") or ""), names)
        spoken = str(one.get("ts") or "")
        if not _SLACK_TIME.fullmatch(spoken):
            yield {"text": None, "timestamp": spoken or "no ts"}
            continue
        yield {"role": "user", "name": names.get(str(person), person), "content": text, "timestamp": float(spoken)}


def _slack_name(message: object) -> tuple[str, str] | None:
    profile = message.get("user_profile") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(profile, dict):
        return None
    name = profile.get("real_name") or profile.get("display_name") or profile.get("name")
    return (str(message.get("user")), str(name)) if name else None


def _slack_text(text: str, names: Mapping[str, str]) -> str:
    def shown(found: re.Match[str]) -> str:
        target, label = found[1], found[2]
        if target.startswith("@"):
            return names.get(target[1:], label or target)
        return label or target.lstrip("#!")

    return html.unescape(_LINK.sub(shown, text))


_INVISIBLE: Final = dict.fromkeys((0x200E, 0x200F, 0x202A, 0x202B, 0x202C, 0x2066, 0x2067, 0x2068, 0x2069))
_STAMP: Final = re.compile(
    r"^\[?(?P<a>\d{1,4})(?P<sep>[./-])(?P<b>\d{1,2})[./-](?P<c>\d{2,4}),? "
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?(?: ?(?P<half>[ap])\.? ?m\.?)?"
    r"\]?(?: [-\u2013])? ",
    re.IGNORECASE,
)
_SAID: Final = re.compile(r"^(?P<name>[^:]{1,60}): ?(?P<text>.*)$", re.DOTALL)
_MEDIA: Final = re.compile(r"^(?:<[^<>]*>|[\w ]{3,20} omitted)$", re.IGNORECASE)


@dataclass(slots=True)
class _StampedText:
    stamp: re.Match[str]
    text: str


def is_whatsapp(text: str) -> bool:
    """Return whether a text is the export of a WhatsApp chat: its first line has a time, most of it a name."""
    lines = [one for one in _plain(text[:20_000]).splitlines() if one.strip()][:20]
    return bool(lines) and _STAMP.match(lines[0]) is not None and any(_STAMP.match(one) for one in lines[1:])


def whatsapp_messages(text: str) -> list[Message]:
    """Return the messages of a WhatsApp chat; UnreadableChat where its dates can be read in two ways."""
    lines: list[_StampedText] = []
    for one in _plain(text).splitlines():
        stamp = _STAMP.match(one)
        if stamp is not None:
            lines.append(_StampedText(stamp, one[stamp.end() :]))
        elif lines:
            lines[-1].text += f"\n{one}"
    order = _order([one.stamp for one in lines])
    found: list[Message] = []
    for line in lines:
        said = _SAID.match(line.text)
        if said is None:  # the program's own: who joined, that it is encrypted
            continue
        content = "" if _MEDIA.match(said["text"].strip()) else said["text"].strip()
        found.append(
            {"role": "user", "name": said["name"].strip(), "content": content, "timestamp": _time(line, order)}
        )
    return found


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).translate(_INVISIBLE).replace("\u202f", " ").replace("\u00a0", " ")


def _order(stamps: Sequence[re.Match[str]]) -> str:
    """Return the order of the parts of dates: `dmy`, `mdy` or `ymd`."""
    if any(len(one["a"]) == 4 for one in stamps):  # noqa: PLR2004 - a year
        return "ymd"
    first, second = max(int(one["a"]) for one in stamps), max(int(one["b"]) for one in stamps)
    if first > 12 and second > 12:  # noqa: PLR2004 - months
        raise UnreadableChat("a WhatsApp chat whose dates are not all in one order")
    if first > 12 or stamps[0]["sep"] == ".":  # noqa: PLR2004
        return "dmy"
    if second > 12:  # noqa: PLR2004
        return "mdy"
    days = {order: [_time(_StampedText(one, ""), order) for one in stamps] for order in ("dmy", "mdy")}
    rising = [order for order, times in days.items() if times == sorted(times)]
    if len(rising) == 1:
        return rising[0]
    raise UnreadableChat(
        "a WhatsApp chat whose dates can be read day first and month first: export a longer part of it, with a day "
        "after the 12th"
    )


def _time(line: _StampedText, order: str) -> str:
    stamp = line.stamp
    parts = dict(zip(order, (int(stamp["a"]), int(stamp["b"]), int(stamp["c"])), strict=True))
    year = parts["y"] + (2000 if parts["y"] < 100 else 0)  # noqa: PLR2004 - two digits
    hour = int(stamp["hour"])
    if stamp["half"]:
        hour = hour % 12 + (12 if stamp["half"].lower() == "p" else 0)
    try:
        return datetime(year, parts["m"], parts["d"], hour, int(stamp["minute"]), int(stamp["second"] or 0)).isoformat()  # noqa: DTZ001 - the service knows the zone
    except ValueError:
        return stamp.group().strip()  # which is refused where the message is read


_HINDSIGHT: Final = frozenset({"fact_type", "mentioned_at", "occurred_start", "bank_id"})


def refuse_known(document: Any) -> None:  # noqa: ANN401 - any JSON
    """Raise UnreadableChat for an export of a memory service that is not read, by its name."""
    if isinstance(document, dict):
        if isinstance(document.get("agents"), list) and {"blocks", "tools"} & document.keys():
            raise UnreadableChat(_named("an agent file of Letta"))
        if "agent_type" in document and {"core_memory", "memory_blocks", "blocks"} & document.keys():
            raise UnreadableChat(_named("an agent file of Letta"))
        listed = next((document[name] for name in ("items", "results", "memory_units") if name in document), None)
        document = [document] if listed is None else listed
    if isinstance(document, list) and any(
        isinstance(one, dict) and isinstance(one.get("text"), str) and _HINDSIGHT & one.keys() for one in document[:20]
    ):
        raise UnreadableChat(_named("an export of Hindsight"))


def _named(what: str) -> str:
    return (
        f"{what}, which is not read: write its memories as typed ones, a line each "
        '({"type": "semantic", "content": ..., "occurred_at": ...}), or its chats as lists of messages'
    )
