"""What was done is told in the past tense and asked for without it: `whom did Ann meet?`, `Ann met Bob`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_DID: Final = re.compile(r"\bdid(?:n't)?\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")

_PAST: Final[Mapping[str, str]] = dict(
    pair.split(":")
    for pair in (  # noqa: SIM905 - reads as a table
        "become:became begin:began break:broke bring:brought build:built buy:bought catch:caught choose:chose "
        "draw:drew drink:drank drive:drove eat:ate fall:fell feel:felt fight:fought find:found fly:flew "
        "forget:forgot give:gave grow:grew hear:heard hide:hid hold:held keep:kept lead:led learn:learnt leave:left "
        "lend:lent lose:lost make:made mean:meant meet:met pay:paid ride:rode run:ran say:said see:saw sell:sold "
        "send:sent sing:sang sleep:slept speak:spoke spend:spent steal:stole swim:swam teach:taught tell:told "
        "think:thought throw:threw wake:woke wear:wore win:won write:wrote"
    ).split()
)
"""Verbs whose past tense has another stem; `go`, `do`, `have`, `get`, `take` and `come` say too little to be added."""


def past_forms(text: str) -> str:
    """Return the past tense of the irregular verbs of a question that asks what somebody did; else nothing."""
    if _DID.search(text) is None:
        return ""
    words = (word.casefold() for word in _WORD.findall(text))
    return " ".join(dict.fromkeys(_PAST[word] for word in words if word in _PAST))
