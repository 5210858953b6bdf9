"""Subject, denial, mood and time of the clause in which a value is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from app.english.names import is_given
from app.english.word_lists import COLLEAGUES, DOCTORS, KIN, PETS, word_set
from app.lexical.tokens import normalise

Span = tuple[int, int]

_BREAK: Final = re.compile(
    r"[;:.!?\u2013\u2014]\s|,\s(?!(?:or|nor)\b)|\s-\s"
    r"|\b(?:but|because|since|although|though|whereas|while|however|so|and then|and (?=(?:i|he|she|they|we|my)\b)"
    r"|aber|sondern|weil|pero|sino|porque|mais|parce que)\b",
    re.IGNORECASE,
)
"""Where one clause ends and the next begins, as far as a denial or a subject reaches."""

_PEOPLE: Final = frozenset({*KIN, *COLLEAGUES, *PETS, *DOCTORS}) | word_set(
    "friend boyfriend girlfriend roommate flatmate neighbour neighbor doctor teacher boss manager landlord nephew "
    "niece kid child baby toddler"
)
_OF_OTHERS: Final = re.compile(
    r"\b(?:my|our|his|her|their|your)\s+(?P<words>[a-z][\w-]*(?:\s+[a-z][\w-]*){0,2}?)"
    r"(?=\s*,|\s+(?:is|was|are|were|has|had|can|can't|cannot|will|won't|does|doesn't|did|didn't|who|just|also|always|never"
    r"|really|still|and|got|told|said|\w{3,}(?:s|ed))\b|\W*$)"
)
_TOLD_ME: Final = re.compile(r"\b(?:told|tells|reminded|reminds|asked|asks|showed|texted|informed|assured) (?:me|us)\b")
_ABROAD: Final = re.compile(
    r"^\W*(?:mein|meine|unser|unsere|sein|seine|ihr|ihre)\s+(?:sohn|tochter|mann|frau|mutter|vater|schwester|bruder"
    r"|freund|freundin|chef|chefin|kollege|kollegin|oma|opa|tante|onkel|kind)\b"
    r"|^\W*(?:mi|mis|nuestr[oa]|su)\s+(?:hijo|hija|marido|esposa|mujer|madre|padre|hermana|hermano|amigo|amiga|jefe"
    r"|jefa|abuela|abuelo|t[i\u00ed]a|t[i\u00ed]o|novio|novia)\b"
    r"|^\W*(?:mon|ma|notre|son|sa)\s+(?:fils|fille|mari|femme|m[e\u00e8]re|p[e\u00e8]re|s[o\u0153]e?ur|fr[e\u00e8]re|ami"
    r"|amie|chef|patron|patronne|coll[e\u00e8]gue|tante|oncle|copain|copine)\b",
    re.IGNORECASE,
)
_SELF: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|me|we|we're|we've|us|myself|ich|wir|mir|mich|yo|je|j'|nous)\b")
_OWN: Final = re.compile(r"\b(?:my|our)\b")
_THIRD: Final = re.compile(r"^\W*(?:(?:and|so|well|also|yes|no|oh)\W+)*(?:he|she|they|he's|she's|they're)\b")
_NAMED: Final = re.compile(
    r"^\W*(?:(?:and|so|well|also)\W+)*(?P<name>[A-Z][\w'-]+)(?:\s[A-Z][\w'-]+)?\s+"
    r"(?:is|was|has|works|lives|likes|loves|hates|prefers|moved|bought|got|started|joined|takes|wants|uses|lost|went)\b"
)

_DENIES: Final = re.compile(
    r"\b(?:never|not|no longer|cannot|neither|nor|without|hardly|barely|refuse to|\w+n't|nie|nicht|kein|keine|keinen"
    r"|nunca|jam[a\u00e1]s|jamais|ne|n')\b|\bno\b(?!,)",
    re.IGNORECASE,
)
_NO_DENIAL: Final = re.compile(
    r"\b(?:not only|not just|can't wait|cannot wait|couldn't be happier|no doubt|no wonder|no problem|don't forget"
    r"|don't worry|don't hesitate|why not|if not|whether or not|can't live without|not to mention|can't stop"
    r"|can't help|never fail to|isn't it|aren't they|don't you|no matter)\b",
    re.IGNORECASE,
)
_NEGATIVE: Final = re.compile(
    r"\b(?:not|no|never|none|nothing|without|no longer|cannot|\w+n't|off|false|disabled?|dislikes?|hates?|avoids?"
    r"|refuses?|stopped|quit|former|unable|against|\w+less|abstains?|kein\w*|nicht|nie|nunca|jamais"
    r"|sin|sans|ohne|odia|d[e\u00e9]teste)\b|\b(?:un|non|anti)[- ]?\w{4,}",
    re.IGNORECASE,
)
"""Words by which a value or a predicate says itself that something is not so."""

_AHEAD: Final = re.compile(
    r"\b(?:will|i'll|we'll|going to (?!the |an? |my |our )|gonna|about to|plan(?:ning)? (?:to|on)"
    r"|start(?:ing)?(?= (?:at|in|on|as|with|from|next|this|my|a|the|working|tomorrow)\b)|moving (?:to|in)|joining"
    r"|switching to|tomorrow|soon|from \d|as of|beginning"
    r"|next (?:week|month|year|spring|summer|autumn|fall|winter|(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b",
    re.IGNORECASE,
)
_BEGINS: Final = re.compile(r"\b(?:from|as of|starting|beginning)(?: on| in)? (?:tomorrow|next|\d)", re.IGNORECASE)
_WISHED: Final = re.compile(
    r"\b(?:want(?:s|ed)? to|hop(?:e|es|ing) (?:to|for)|would (?:like|love) to|i'd (?:like|love) to"
    r"|wish(?:es|ing)?|might|(?:i|we|he|she|they) (?:may|could)|maybe|perhaps|considering"
    r"|thinking (?:of|about)|dream(?:s|ing)? of|appl(?:y|ying|ied) (?:to|for)"
    r"|interview(?:ing|ed)? (?:at|with)|trying to|looking for)\b",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    r"\b(?:used to|formerly|previously|back (?:when|then|in)|in the past|years ago|as a (?:kid|child|teenager|student)"
    r"|when i was|once upon a time|no longer|anymore|any more)\b",
    re.IGNORECASE,
)

_KNOWN_AS: Final = re.compile(
    r"\b(?:[Mm]y|[Oo]ur)\s+(?P<how>(?:[a-z][\w-]*\s+){0,2})(?P<noun>[a-z][\w-]*),?\s+(?:named\s+|called\s+)?"
    r"(?P<name>[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueClause:
    """The clause in which a value is said: all of it, and its part before the value."""

    text: str
    before: str


def clause_of(sentence: str, value: str) -> ValueClause:
    """Return the clause of a sentence that says a value, by its rarest word that is there; else the whole sentence."""
    folded = normalise(sentence)
    at = next((folded.find(word) for word in _telling(value) if word in folded), -1)
    if len(folded) != len(sentence) or at < 0:
        return ValueClause(text=sentence, before=sentence)
    breaks = [found.end() for found in _BREAK.finditer(sentence)]
    start = max((end for end in breaks if end <= at), default=0)
    end = min((found.start() for found in _BREAK.finditer(sentence) if found.start() > at), default=len(sentence))
    return ValueClause(text=sentence[start:end], before=sentence[start:at])


def _telling(value: str) -> list[str]:
    """Return the words of a value as they are looked for, the longest first."""
    return sorted(re.findall(r"\w{2,}", normalise(value)), key=len, reverse=True)


def other_subject(clause: ValueClause) -> str | None:
    """Return whom the clause tells something of, where that is not its speaker: `son` of `my son is allergic`.

    Without a word for them it is empty.
    """
    head = clause.before
    plain = _TOLD_ME.sub("said", normalise(head))
    if _THIRD.match(plain) or _ABROAD.match(plain):
        return ""
    named = _NAMED.match(head)
    if named is not None and is_given(named["name"]):
        return named["name"].casefold()
    found = _OF_OTHERS.search(plain)
    noun = None if found is None else found["words"].split()[-1]
    if found is None or noun not in _PEOPLE:
        return None
    # `My doctor upped my dose` is about the speaker, too.
    return None if _SELF.search(plain) or _OWN.search(plain, found.end()) else noun


def is_denied(clause: ValueClause) -> bool:
    """Return whether the clause denies its value; two denials make none."""
    before = _NO_DENIAL.sub(" ", normalise(clause.before))
    return sum(1 for _ in _DENIES.finditer(before)) % 2 == 1


def is_negative(text: str) -> bool:
    """Return whether a predicate or a value says itself that something is not so."""
    return _NEGATIVE.search(normalise(text)) is not None


def is_ahead(clause: ValueClause) -> bool:
    """Return whether the clause speaks of what is to come."""
    return any(pattern.search(normalise(text)) for pattern, text in ((_AHEAD, clause.before), (_BEGINS, clause.text)))


def is_wished(clause: ValueClause) -> bool:
    """Return whether the clause only wishes for its value, or thinks it possible."""
    return _WISHED.search(normalise(clause.before)) is not None


def is_past(clause: ValueClause) -> bool:
    """Return whether the clause says that its value is no longer so."""
    return _BEFORE.search(normalise(clause.text)) is not None


def presupposed(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield noun and name of those whom a sentence takes for granted: `my sister Carmen told me ...`."""
    for found in _KNOWN_AS.finditer(sentence):
        if found["noun"] in _PEOPLE:
            yield found["noun"], found["name"]
