"""Definitions of tenants' own types, for tests."""

from __future__ import annotations

from typing import Any

TICKET: dict[str, Any] = {
    "name": "ticket",
    "definition": "A support ticket that a customer has opened, and how far it has come.",
    "payload": {
        "type": "object",
        "properties": {
            "customer": {"type": "string", "description": "Who opened it."},
            "number": {"type": "integer", "minimum": 1, "description": "The ticket's number."},
            "status": {"type": "string", "enum": ["open", "closed"]},
            "about": {"type": "string", "maxLength": 300},
            "priority": {"type": "string", "enum": ["low", "normal", "urgent"]},
            "opened_on": {"type": "string", "format": "date"},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 5},
        },
        "required": ["customer", "number", "status"],
        "additionalProperties": False,
    },
    "render": "{customer} has ticket {number}, {status}[, about {about}][, priority {priority}][ (tags: {tags})]",
    "slot": ["customer", "number"],
    "value": ["status"],
    "subject": "customer",
    "mentions": {"customer": {"entity_type": "organization"}},
    "event_time": "opened_on",
    "importance": {"field": "priority", "values": {"urgent": 0.9, "low": 0.2}, "otherwise": 0.5},
    "half_life_days": 30,
    "prior": 0.15,
    "category": "episodic",
    "hints": ["ticket", "tickets"],
    "aliases": ["support_ticket"],
    "examples": [
        {
            "utterance": "Umbrella opened ticket 7 about the login page.",
            "payloads": [{"customer": "Umbrella", "number": 7, "status": "open", "about": "the login page"}],
        }
    ],
}

DRILL: dict[str, Any] = {
    "name": "drill",
    "definition": "An exercise that somebody did, with its weight",
    "payload": {
        "type": "object",
        "properties": {
            "who": {"type": "string"},
            "exercise": {"type": "string", "maxLength": 100},
            "kilos": {"type": "number", "minimum": 0},
            "done": {"type": "boolean"},
            "at": {"type": "string", "format": "date-time"},
            "with": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        },
        "required": ["exercise"],
    },
    "render": "[{who}: ]{exercise}[ with {kilos} kg][, done: {done}][, with {with}] [[gym]]",
    "subject": "who",
    "mentions": {"with": {"entity_type": "person", "creates": False}},
    "event_time": "at",
    "group": "Events",
    "extracted": False,
    "examples": [{"utterance": "Squats with 80 kilos.", "payloads": [{"exercise": "squats", "kilos": 80}]}],
}

HABIT: dict[str, Any] = {
    "name": "house_rule",
    "definition": "A rule of the house.",
    "payload": {
        "type": "object",
        "properties": {"room": {"type": "string"}, "rule": {"type": "string"}},
        "required": ["room", "rule"],
    },
    "render": "In the {room}: {rule}",
    "slot": ["room"],
    "on_conflict": "only_removed",
    "held": {"under": "room", "value": "rule"},
    "default_scope": "global",
    "half_life_days": None,
    "category": "control",
    "examples": [{"utterance": "No shoes in the hall.", "payloads": [{"room": "hall", "rule": "no shoes"}]}],
}

DEFINITIONS = (TICKET, DRILL, HABIT)


def ticket(**changes: Any) -> dict[str, Any]:
    """The definition of a ticket, with some of its members changed; `properties` are merged into the payload's."""
    payload = dict(TICKET["payload"])
    payload["properties"] = {**payload["properties"], **changes.pop("properties", {})}
    payload |= changes.pop("payload", {})
    return {**TICKET, "payload": payload, **changes}


def opened(**fields: Any) -> dict[str, Any]:
    """The payload of a ticket."""
    return {"customer": "Acme", "number": 4711, "status": "open", **fields}
