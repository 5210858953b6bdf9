"""What readers found of things that no rule can judge: verdicts by digest, without the texts, which are not ours.

What reads otherwise than when it was judged has no verdict, and is counted as unread.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from app.memory import normalise
from evals.sample import DIGEST_LENGTH

CANDIDATES = Path(__file__).parent / "labels" / "candidates.jsonl"
SUPERSESSIONS = Path(__file__).parent / "labels" / "supersessions.jsonl"


class Verdict(StrEnum):
    """What a reader found: `junk` is true and not worth remembering, `wrong` says what was not said, or nothing."""

    RIGHT = "right"
    JUNK = "junk"
    WRONG = "wrong"


Verdicts = Mapping[str, Verdict]


def digest(*parts: str) -> str:
    """Return what a verdict on these texts is kept under."""
    return normalise.digest(*parts).hex()[:DIGEST_LENGTH]


def load_verdicts(path: Path) -> Verdicts:
    """Load verdicts by digest; ValueError names the line that is not one."""
    found: dict[str, Verdict] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            read = json.loads(line)
            found[read["sha256"]] = Verdict(read["verdict"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path}, line {number}: not a verdict, see labels/README.md ({error!r})") from error
    return found
