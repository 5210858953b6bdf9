"""Secrets in a text: passwords, codes, keys and tokens by their formats, and by a name of a secret near a value.

The rules are in `data/secrets.txt` and `data/token_formats.txt`. Look-alikes of secrets are not reported: a card number
needs a right check digit and an issuer's prefix, an account number its country's length and a right remainder, a social
security number its name beside it; code that names a variable `password` holds none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Final

from app.english.secret_values import SecretSpan, is_unlike_a_word, named_values
from app.english.word_lists import ScreeningRules, matches, pattern, screening_rules, words
from app.lexical.bm25 import STOP_WORDS

_SECRETS: Final = screening_rules("token_formats", "formats") + screening_rules("secrets", "secrets")
_CODES: Final = screening_rules("secrets", "codes")
_NO_PASSWORD: Final = words("secrets", "no passwords")
_NO_CODE: Final = words("secrets", "no codes")
_ACCOUNTS: Final = {one[:2]: int(one[2:]) for one in words("secrets", "account numbers")}
_ISSUERS: Final = pattern("secrets", "issuers")
_NUMBER_OF: Final = pattern("secrets", "numbers of", re.IGNORECASE)
_SSN_NAMED: Final = re.compile(r"\b(?:ssn|social(?: security| insurance| number|(?= is\b|:)))", re.IGNORECASE)
_NETWORK: Final = re.compile(r"wi-?fi|wlan|network|router|hotspot|internet", re.IGNORECASE)
_LETTER_I: Final = str.maketrans("\u0130\u0131", "ii")
"""The Turkish letters that are an `i` to a pattern in any case, and not to `casefold`."""

_CODE: Final = re.compile(
    r"[\w.]*[(\[{]|[A-Za-z_]\w*\.[A-Za-z_]|(?:str|string|none|null|true|false|undefined|text|bytes)\W*$", re.IGNORECASE
)
"""A value or a type of a variable in code."""

_QUOTES: Final = "\"'`\u201c\u2018\u201e\u00ab"
_STOPS: Final = frozenset({"", ".", ",", "!", "\n", ")", ";"})
_PLACEHOLDERS: Final = ("<", "{", "$", "*", "%", "[")
_PLACEHOLDER: Final = re.compile(
    r"^(?:pass(?:word|wd)?|pwd|secret)$|x{4}|\.{3}|your|example|placeholder|changeme", re.IGNORECASE
)
_FEWEST_LETTERS: Final = 6
"""Different characters that the value of a header has more of."""

_WORD_ENDS: Final = ("ed", "ing", "able")
_PASSWORD_WORD_ENDS: Final = (*_WORD_ENDS, "ible", "ly", "ent", "ten", "ful", "ive")
_PIN_LENGTHS: Final = range(4, 9)
_SHORTEST_CODE: Final = 3
_SHORTEST_PASSWORD: Final = 4
_PHRASE_WORD: Final = 5
"""Letters of a recovery phrase's words on average, with the space: its lists have few words of three."""

_WORDS_A_SMALL_ONE: Final = 4
"""Words of a recovery phrase in which there is at most one small word."""

_NEAR: Final = 60
"""Characters before a number that may name it."""


def find_secrets(text: str) -> list[SecretSpan]:
    """Return the kind of each secret with its start and end; a code that overlaps another secret is that one."""
    folded = text.lower() if text.isascii() else text.translate(_LETTER_I).casefold()
    found = list(_found(text, folded, _SECRETS))
    for one in (*_found(text, folded, _CODES), *named_values(text, folded)):
        if not any(start < one[2] and one[1] < end for _, start, end in found):
            found.append(one)
    return found


def without_secrets(text: str) -> str:
    """Return a text with marks in place of its secrets."""
    for _, start, end in sorted(find_secrets(text), key=itemgetter(1), reverse=True):
        text = f"{text[:start]}[secret]{text[end:]}"
    return text


def _found(text: str, folded: str, rules: ScreeningRules) -> Iterator[SecretSpan]:
    for rule, found in matches(rules, text, folded):
        passes = _TESTS.get(rule.test)
        if passes is None or passes(found, text):
            what = (found.groupdict().get("what") or "").lower()
            yield rule.why.format(what=what), *found.span("value" if "value" in found.groupdict() else 0)


def _value(found: re.Match[str]) -> str:
    return found["value"].rstrip(".,;!?)")


def _is_mixed(found: re.Match[str], _text: str) -> bool:
    """Return whether a value has letters and digits: words with hyphens have no digits."""
    return any(map(str.isdigit, found["value"])) and any(map(str.isalpha, found["value"]))


def _is_header(found: re.Match[str], text: str) -> bool:
    """Return whether a value is mixed and no placeholder."""
    value = found["value"]
    return _is_mixed(found, text) and len(set(value)) > _FEWEST_LETTERS and not _PLACEHOLDER.search(value)


def _is_argument(found: re.Match[str], _text: str) -> bool:
    """Return whether the value of a command's option is given rather than named."""
    value = found["value"].strip("'\"")
    return not value.startswith(("-", *_PLACEHOLDERS)) and not _PLACEHOLDER.search(value) and not value.islower()


def _is_password(found: re.Match[str], text: str) -> bool:
    """Return whether the match has a password: quoted, unlike a word, or a word at the end of the sentence."""
    value = _value(found)
    if found["what"].lower().startswith("pin"):
        return value.isdigit() and len(value) in _PIN_LENGTHS
    if not found["quote"] and _is_of_code(found, text):
        return False
    if value.lower() in _NO_PASSWORD or len(value) < _SHORTEST_PASSWORD or value.startswith(_PLACEHOLDERS):
        return False
    if found["quote"] or not value.isalpha():
        return any(map(str.isalnum, value)) and "'" not in value
    return _ends(text, found, value) and not value.lower().endswith(_PASSWORD_WORD_ENDS)


def _ends(text: str, found: re.Match[str], value: str) -> bool:
    """Return whether the sentence ends after a value."""
    return text[found.start("value") + len(value) :].lstrip(" ")[:1] in _STOPS


def _is_word(found: re.Match[str], text: str) -> bool:
    """Return whether a value is a secret: unlike a word, quoted, or a word at the end of its sentence."""
    value = _value(found)
    if value.casefold() in _NO_CODE or len(value) < _SHORTEST_CODE:
        return False
    if not value.isalpha() or text[found.start("value") - 1] in _QUOTES:
        return any(map(str.isalnum, value))
    return _ends(text, found, value) and not value.lower().endswith(_WORD_ENDS)


def _is_access_code(found: re.Match[str], text: str) -> bool:
    """Return whether a value is of figures, as codes are, or a network's password."""
    figures = sum(map(str.isdigit, _value(found))) >= _SHORTEST_CODE
    return figures or (_NETWORK.search(found["what"]) is not None and _is_word(found, text))


def _is_foreign_password(found: re.Match[str], text: str) -> bool:
    return not _is_of_code(found, text) and _is_word(found, text)


def _is_of_code(found: re.Match[str], text: str) -> bool:
    """Return whether a value is an expression of code: not one with figures that a word leads to, as `is`."""
    value = found["value"]
    told = text[: found.start("value")].rstrip()[-1:].isalpha() and value.isascii() and "(" not in value
    return _CODE.match(value) is not None and not (told and any(map(str.isdigit, value)))


def _is_phrase(found: re.Match[str], _text: str) -> bool:
    """Return whether words make no sentence, and are as long as those of recovery phrases: without articles."""
    parts = found["value"].split()
    return STOP_WORDS["english"].isdisjoint(parts) and len(found["value"]) >= _PHRASE_WORD * len(parts)


def _is_words(found: re.Match[str], _text: str) -> bool:
    """Return whether words make no sentence and do not, half of them, describe a passphrase."""
    parts = found["value"].replace("-", " ").split()
    describing = sum(one in _NO_PASSWORD for one in parts)
    return STOP_WORDS["english"].isdisjoint(parts) and 2 * describing < len(parts)


def _has_few_small_words(found: re.Match[str], _text: str) -> bool:
    """Return whether words make no sentence: lists for recovery phrases have a few small words, too."""
    parts = found["value"].replace(",", " ").split()
    return sum(one in STOP_WORDS["english"] for one in parts) * _WORDS_A_SMALL_ONE < len(parts)


def _has_password_form(found: re.Match[str], _text: str) -> bool:
    return is_unlike_a_word(_value(found))


def _is_card(found: re.Match[str], text: str) -> bool:
    """Return whether the check digit is right, ISO/IEC 7812-1, and nothing names another number."""
    digits = found[0].replace(" ", "").replace("-", "")
    if not _ISSUERS.fullmatch(digits) or _NUMBER_OF.search(_before(found, text)):
        return False
    doubled = (int(one) * (1 + place % 2) for place, one in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0  # noqa: PLR2004 - Luhn


def _is_account(found: re.Match[str], _text: str) -> bool:
    """Return whether the remainder is right, ISO 13616: letters are 10 to 35, the first four go last."""
    plain = found[0].replace(" ", "")
    length = _ACCOUNTS.get(plain[:2])
    if length is None or len(plain) < length:
        return False
    plain = plain[:length]
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1


def _is_social_security(found: re.Match[str], text: str) -> bool:
    return _SSN_NAMED.search(_before(found, text)) is not None


def _before(found: re.Match[str], text: str) -> str:
    return text[max(0, found.start() - _NEAR) : found.start()]


_TESTS: Final[Mapping[str, Callable[[re.Match[str], str], bool]]] = {
    "mixed": _is_mixed,
    "header": _is_header,
    "argument": _is_argument,
    "password": _is_password,
    "word": _is_word,
    "code": _is_access_code,
    "foreign password": _is_foreign_password,
    "phrase": _is_phrase,
    "words": _is_words,
    "few small words": _has_few_small_words,
    "password form": _has_password_form,
    "card": _is_card,
    "account": _is_account,
    "social security": _is_social_security,
}
