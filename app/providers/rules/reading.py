"""The words of a clause while it is read, and the small words its subject and its verb share."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from app.providers.rules.clause import Tense
from app.providers.rules.names import Word
from app.providers.rules.verbs import form_of
from app.providers.rules.words import word_set

CONTRACTED: Final = re.compile(r"(?P<base>.+)'(?P<ending>m|re|s|ve|d|ll)", re.IGNORECASE)
ENDINGS: Final = {"m": "am", "re": "are", "s": "is", "ve": "have", "d": "would", "ll": "will"}
UNCONTRACTED: Final = {"im": ("i", "am"), "ive": ("i", "have"), "dont": ("do", "not"), "doesnt": ("does", "not")}
"""Contractions written without their apostrophe."""

BE: Final = {**dict.fromkeys(("am", "is", "are"), Tense.PRESENT), **dict.fromkeys(("was", "were"), Tense.PAST)}
HAVE: Final = {**dict.fromkeys(("have", "has"), Tense.PRESENT), "had": Tense.PAST}
DO: Final = {**dict.fromkeys(("do", "does"), Tense.PRESENT), "did": Tense.PAST}
MODALS: Final = word_set("would could should can may might must shall cannot ought needn")
ADVERBS: Final = word_set(
    """
    really actually just also currently now still always usually often recently finally basically already both
    mostly mainly only personally generally typically absolutely totally definitely strongly much even ever rarely
    sometimes honestly essentially simply truly normally primarily lately quite all so very kinda sorta seriously
    officially originally previously formerly once probably maybe perhaps apparently regularly frequently happily
    proudly eventually successfully accidentally initially completely genuinely deeply particularly especially
    certainly
    """
)
_AUXILIARIES: Final = BE.keys() | HAVE.keys() | DO.keys() | MODALS | {"will", "isn't", "wasn't", "doesn't", "didn't"}


@dataclass(slots=True)
class Reading:
    """The words of a clause, how far they are read, and auxiliaries contracted with the word before."""

    text: str
    words: list[Word]
    at: int = 0
    pending: list[str] = field(default_factory=list)

    def word(self, ahead: int = 0) -> str:
        """Return the word so many places on, in lower case; nothing beyond the end."""
        place = self.at + ahead
        return self.words[place].lower if 0 <= place < len(self.words) else ""

    def after_adverbs(self, ahead: int) -> str:
        """Return the first word from a place on that is neither an adverb nor `not`."""
        while self.word(ahead) in ADVERBS or self.word(ahead) in {"not", "never"}:
            ahead += 1
        return self.word(ahead)


def is_verb(word: Word) -> bool:
    """Tell whether a noun ends before the word: it is a finite verb or an auxiliary."""
    if word.lower in _AUXILIARIES:
        return True
    form = form_of(word.lower)
    return form is not None and bool(form.kinds & {"s", "past"}) and not word.capital
