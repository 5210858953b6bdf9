"""One writing for all the ways in which the same letters are written: the rule by which names and keys are compared.

Texts are shown as they were said; only comparisons fold them. `folded` is the rule in Python, `sql_function` the same
rule in SQL, of the same tables, for comparisons that a statement makes by itself.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_APOSTROPHES: Final = (
    "\u0060\u00b4\u02b9\u02bb\u02bc\u02bd\u02be\u02bf\u02c8\u02ca\u02cb\u2018\u2019\u201b\u2032\u2035\u055a\u05f3\u07f4"
    "\ua78c\uff07"
)
"""Signs that are typed for an apostrophe, modifier letters and half rings of transcriptions among them."""

_QUOTES: Final = "\u00ab\u00bb\u201c\u201d\u201e\u201f\u2033\u2036\u05f4\uff02"

_HYPHENS: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u058a\u05be\u1806\ufe58\ufe63\uff0d"

_LETTERS: Final = {
    "\u0131": "i",  # Turkish
    "\u03c2": "\u03c3",  # a final form
    "\u0649": "\u064a",  # keyboards of languages that share the Arabic script
    "\u06cc": "\u064a",
    "\u06a9": "\u0643",
    "\u06c1": "\u0647",
    "\u0629": "\u0647",
    "\u0671": "\u0627",
}
"""Forms of one letter, each with the one that stands for all."""

_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
"""Characters that show nothing, and marks of direction; joiners change how the letters on either side look."""

_JOINED: Final = "\u0600-\u1cff\u2600-\u27bf\U0001f000-\U0001ffff"

_POINTS: Final = (
    "\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0730-\u074a\u08d3-\u08e1\u08e3-\u08ff"
)
"""Vowel points, marks of recitation and lengthening, which writers of these scripts add or leave out."""

_SAME: Final = dict.fromkeys(_APOSTROPHES, "'") | dict.fromkeys(_QUOTES, '"') | dict.fromkeys(_HYPHENS, "-") | _LETTERS

_BEFORE: Final = (
    (f"[{_INVISIBLE}]+", ""),
    (f"(?<![{_JOINED}])[\u200c\u200d]+|[\u200c\u200d]+(?![{_JOINED}])", ""),
)
"""Patterns, and what takes their place, before letters and marks are taken apart."""

_AFTER: Final = (
    (f"[{_POINTS}]+", ""),
    ("(?<=\u0627)[\u0653-\u0655]+", ""),  # a hamza or a madda on an alif
    ("(?<=i)\u0307", ""),  # the dot of a Turkish capital
    ("(?<=[st])\u0327", "\u0326"),  # a cedilla for the comma of Romanian
    (
        "(?<=[\u03b1\u03b5\u03b7\u03b9\u03bf\u03c5\u03c9])[\u0300\u0301\u0304\u0306\u0313\u0314\u0342\u0345]+",
        "",
    ),  # Greek
    ("(?<=[\u03b9\u03c5]\u0308)[\u0300\u0301\u0342]+", ""),
    (
        "(?<=[\u0430\u0435\u0438\u043e\u0443\u044b\u044d\u044e\u044f\u0456])[\u0300\u0301]+|(?<=\u0435)\u0308",
        "",
    ),  # Cyrillic
)
"""The same for what is left of them in lower case: accents that mark stress, or that capitals and many writers omit."""

_TABLE: Final = str.maketrans(_SAME | {"\u00df": "ss"})
_FIRST: Final = tuple((re.compile(pattern), by) for pattern, by in _BEFORE)
_THEN: Final = tuple((re.compile(pattern), by) for pattern, by in _AFTER)


def folded(text: str) -> str:
    """Return the text in the one writing that is compared: without case, width, and marks that tell no words apart."""
    if text.isascii() and "`" not in text:
        return text.lower()
    text = visible(text)
    # Twice: some forms show their sign only when they are taken apart, and some signs are lost by it.
    apart = unicodedata.normalize("NFKD", text.translate(_TABLE)).lower()
    apart = unicodedata.normalize("NFKD", apart).translate(_TABLE)
    for pattern, by in _THEN:
        apart = pattern.sub(by, apart)
    return unicodedata.normalize("NFC", apart)


def visible(text: str) -> str:
    """Return the text without the characters that show nothing."""
    if text.isascii():
        return text
    for pattern, by in _FIRST:
        text = pattern.sub(by, text)
    return text


def sql_function(name: str, collation: str) -> str:
    """Return the SQL that makes the function of this rule; `collation` is one whose lower case knows all letters.

    Its result depends on no locale of the database. It needs Postgres's UTF8.
    """
    said = (
        "translate({}, U&'" + "".join(map(_escaped, _SAME)) + "', U&'" + "".join(map(_escaped, _SAME.values())) + "')"
    )
    text = "said"
    for pattern, by in _BEFORE:
        text = _replaced(text, pattern, by)
    text = f"normalize({said.format(text)}, NFKD)"
    text = f"replace(lower({text} COLLATE {collation}), U&'\\00DF', 'ss')"
    text = said.format(f"normalize({text}, NFKD)")
    for pattern, by in _AFTER:
        text = _replaced(text, pattern, by)
    return (
        f"CREATE OR REPLACE FUNCTION {name}(said text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$\n"
        "    SELECT CASE WHEN octet_length(said) = length(said) AND strpos(said, '`') = 0\n"
        '        THEN lower(said COLLATE "C") COLLATE "default"\n'
        f'        ELSE normalize({text}, NFC) COLLATE "default" END\n$$'
    )


def _replaced(text: str, pattern: str, by: str) -> str:
    written = "".join(one if one.isascii() else f"\\U{ord(one):08x}" for one in pattern)
    return f"regexp_replace({text}, '{written}', U&'{''.join(map(_escaped, by))}', 'g')"


def _escaped(one: str) -> str:
    plain = one.isascii() and one not in "'\\"
    return one if plain else f"\\+{ord(one):06X}"
