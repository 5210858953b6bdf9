"""What is forbidden, as people say it: to the assistant, or of whatever is done."""

from __future__ import annotations

import pytest

from app.english import modals
from tests.english.rules.said import proposed


def rules(text: str) -> list[tuple[object, str, str]]:
    """Return the rules that the facts of a turn state: whom they bind, their predicates and their texts."""
    found = []
    for one in proposed(text):
        ruled = modals.rule_of_fact(str(one.payload.get("predicate", "")), str(one.payload.get("object", "")))
        if one.type == "fact" and ruled is not None:
            found.append((one.payload["subject"], ruled.predicate, ruled.rule))
    return found


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("You must never email clients on weekends.", ("assistant", "may-not-email", "clients on weekends")),
        ("Please, you are not allowed to mention competitors.", ("assistant", "may-not-mention", "competitors")),
        ("Under no circumstances may you drop the audit table.", ("assistant", "may-not-drop", "the audit table")),
        ("The use of eval is forbidden.", ("user", "may-not-use", "eval")),
        ("Sharing of customer data is not permitted.", ("user", "may-not-share", "customer data")),
        ("Smoking in the lab is strictly prohibited.", ("user", "may-not-smoke", "in the lab")),
        ("Using plain HTTP is not allowed in production.", ("user", "may-not-use", "plain HTTP in production")),
        ("No one may push to main without a review.", ("user", "may-not-push", "to main without a review")),
        ("Customer names must never be written into logs.", ("user", "may-not-write", "Customer names into logs")),
    ],
)
def test_a_prohibition_is_a_rule(text: str, rule: tuple[str, str, str]) -> None:
    assert rules(text) == [rule]


@pytest.mark.parametrize(
    "text",
    [
        "You must not like it here.",
        "You must never give up hope.",
        "You must not be serious!",
        "You may not know this, but I moved.",
        "It must not be touched.",
        "Parking permits are not allowed.",
        "Nothing of the kind is forbidden.",
        "You must not call the dentist today.",
        "Is the use of eval forbidden?",
        "He said the use of eval is forbidden there.",
    ],
)
def test_a_guess_or_a_wish_is_none(text: str) -> None:
    assert rules(text) == []
