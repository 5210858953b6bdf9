"""Recognition of secrets in a text: API keys, passwords and codes, numbers of cards, accounts and people.

Look-alikes are not reported: a card number needs a right check digit and an issuer's prefix, an account number its
country's length and a right remainder, a social security number its name beside it; code that names a variable
`password` holds none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from app.english.patterns import words

_IS: Final = (
    r"(?: ?[:=] ?| is now | is still | is:? | was | ist(?: jetzt)?:? | lautet:? | est:? | es:? | \u00e8:? "
    r"| \u00e9:? |'s )"
)

_QUOTE: Final = "[\"'`\u201c\u2018\u201e\u00ab]?"

_DOOR: Final = re.compile(
    r"\b(?P<what>(?:(?:alarm|door|gate|garage|entry|entrance|access|security|safe|vault|lock|lockbox|locker"
    r"|building|lobby|keypad"
    r"|key pad|unlock|phone|sim|puk|2fa|backup|recovery|verification|one[- ]time|otp|suitcase|padlock|bike lock"
    r"|house|office"
    r"|front door|back door|burglar alarm|apartment|flat|shed)(?: (?:system|lock|box|door|panel|entry))? "
    r"(?:code|combination|combo|pin|passcode)|(?:wi-?fi|wlan|network|router|hotspot|guest network|internet)"
    r" (?:password|key|code|pass|passphrase|psk|login)|combination (?:to|for|of) (?:the |my |our )?(?:safe|lock"
    r"|locker|vault)"
    r"|cv[vc]2?(?: code)?|security number|code to (?:the |my |our )?(?:alarm|door|gate|garage|safe|house"
    r"|building|office|locker)"
    r"|t[u\u00fc]rcode|alarmcode|wlan-?(?:passwort|schl\u00fcssel|key)|code (?:de la porte|de l'alarme"
    r"|d'entr\u00e9e|du portail|pin)"
    r"|c\u00f3digo de (?:la puerta|la alarma|entrada|acceso)|codice (?:della porta|dell'allarme|di accesso|pin)"
    r"|c\u00f3digo (?:da porta|do alarme|de acesso)))"
    rf"(?: (?:at|for|to|of|in) (?:my |the |our )?[\w'-]{{1,20}}(?: [\w'-]{{1,20}})?)?{_IS}{_QUOTE}"
    r"(?P<value>[^\s\"'`\u201c\u201d\u2018\u2019]{3,64})",
    re.IGNORECASE,
)

_WORD: Final = re.compile(
    rf"\b(?:safe ?word|code ?word|secret (?:word|code|phrase|answer)|pass ?phrase|pass ?word hint|(?:seed"
    rf"|recovery) phrase"
    rf"|mother's maiden name|codewort|kennwort|mot secret|palabra (?:clave|secreta)|parola (?:chiave|segreta)"
    rf"|palavra secreta)"
    rf"(?: (?:at|for|to|of|with) (?:my |the "
    rf"|our )?[\w'-]{{1,20}})?{_IS}{_QUOTE}(?P<value>[^\s\"'`\u201c\u201d]{{3,64}})",
    re.IGNORECASE,
)

_ABROAD: Final = re.compile(
    r"\b(?P<what>pass?w[o0]rt|kennwort|geheimzahl|mot de passe|contrase\u00f1a|contrasenya|clave (?:de acceso"
    r"|secreta|del wi-?fi|wi-?fi)"
    r"|mi clave|senha|palavra-passe|parola d'ordine|(?:la mia|mia|la) password|p[a4@][s5$]{2}w[o0]rd"
    r"|p[a4@][s5$]{2}w[o0]rt|pa\$\$word"
    r"|(?:mein|meine|mon|mi|il mio|meu) pin(?:-?code)?)"
    r"(?: (?:f\u00fcr|pour|de|del|della|do|da|du|vom|von|per|para|for|to|di|ma|mon|mi|meine?n?|mia|mein|le|la"
    r"|el|il|o|a)"
    rf" [\w.'-]{{1,30}}(?: [\w.'-]{{1,30}})?)?{_IS}{_QUOTE}(?P<value>[^\s\"'`\u201c\u201d\u2018\u2019]{{3,100}})",
    re.IGNORECASE,
)

_ORDINARY_NUMBER: Final = words(
    "the not too very same wrong weak strong safe secure long short important required needed case changed broken "
    "working "
    "falsch sicher zu nicht abgelaufen vergessen weg neu lang kurz wichtig ung\u00fcltig gesperrt schwach stark "
    "leider immer noch "
    "auch incorrect incorrecte oubli\u00e9 faux trop expir\u00e9 bloqu\u00e9 faible fort incorrecta incorrecto "
    "d\u00e9bil fuerte muy "
    "olvidada caducada bloqueada demasiado sbagliata scaduta debole forte troppo bloccata errata incorreta fraca "
    "expirou "
    "esquecida muito errada pas plus que dass ein eine une una un uma der die das il lo la le el on in a an "
    "something what where "
    "like just only always never still still, different secret private written stored"
)


def codes(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the kind of each code or password with its start and end."""
    for found in _DOOR.finditer(text):
        value = found["value"].rstrip(".,;!?)")
        network = re.search(r"wi-?fi|wlan|network|router|hotspot|internet", found["what"], re.IGNORECASE)
        if _figures(value) or (network and _is_value(value, text, found)):
            yield "an access code", *found.span("value")
    for found in _WORD.finditer(text):
        if _is_value(found["value"].rstrip(".,;!?)"), text, found):
            yield "a secret word", *found.span("value")
    for found in _ABROAD.finditer(text):
        if not _CODE.match(found["value"]) and _is_value(found["value"].rstrip(".,;!?)"), text, found):
            yield "a password", *found.span("value")


def _figures(value: str) -> bool:
    return sum(map(str.isdigit, value)) >= 3  # noqa: PLR2004 - what codes are made of


def _is_value(value: str, text: str, found: re.Match[str]) -> bool:
    """Return whether a value is a secret: unlike a word, quoted, or a word at the end of its sentence."""
    if value.casefold() in _ORDINARY_NUMBER or len(value) < 3:  # noqa: PLR2004
        return False
    if not value.isalpha() or text[found.start("value") - 1] in "\"'`\u201c\u2018\u201e\u00ab":
        return any(map(str.isalnum, value))
    after = text[found.start("value") + len(value) :].lstrip(" ")[:1]
    return after in {"", ".", ",", "!", "\n", ")", ";"} and not value.lower().endswith(("ed", "ing", "able"))


_SHAPES: Final = (
    (
        "a private key",
        re.compile(
            r"-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY(?: BLOCK)?-----[^-]{0,10000}(?:-----END [A-Z ]{1,40}-----)?"
        ),
    ),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{22,255})\b")),
    ("a GitLab token", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,64}")),
    ("a Slack token", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}")),
    ("a Stripe key", re.compile(r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}")),
    ("a Google API key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}")),
    ("a SendGrid key", re.compile(r"\bSG\.[\w-]{16,64}\.[\w-]{16,64}")),
    ("an npm token", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    ("a Hugging Face token", re.compile(r"\bhf_[A-Za-z0-9]{30,64}\b")),
    ("a JSON Web Token", re.compile(r"\beyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}\.[\w-]{8,2000}")),
    (
        "a URL with a password",
        re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:(?!pass(?:word)?@|pwd@|[<*${[])[^\s/@]{1,100}@[\w.-]"),
    ),
)

_MIXED: Final = (
    ("an API key", re.compile(r"\bsk-(?:[a-z]{2,8}-){0,2}([A-Za-z0-9_-]{20,255})")),
    ("a key of this service", re.compile(r"\btm_([A-Za-z0-9_-]{43})(?![\w-])")),
    (
        "a key or token",
        re.compile(
            r"(?i:(?:\b|_)(?:api[_ -]?key|secret(?:[_ -]?(?:access[_ -]?)?key)?|(?:access|auth|bearer|"
            r"refresh)[_ -]?token|"
            r"client[_ -]?secret|token)\b[\"']?(?: ?[:=]| is:?| bearer)[ \"'`]{0,3})([A-Za-z0-9_/+.=-]{16,255})"
        ),
    ),
)
"""Patterns whose group must hold letters and digits: words with hyphens have no digits."""

_PASSWORD: Final = re.compile(
    r"\b(?P<what>password|passwd|passphrase|passcode|pwd|pin(?: code| number)?|login code)\b"
    r"(?P<of> (?:for|to|of|on) (?:my |the |our )?[\w.-]{1,30}(?: [\w.-]{1,30})?)?"
    r"(?: ?[:=]| is now| is still| is:?| was) "
    r"?(?P<quote>[\"'`\u201c\u2018]?)(?P<value>[^\s\"'`\u201c\u201d\u2018\u2019]{3,100})",
    re.IGNORECASE,
)

_TOLD_FREELY: Final = (
    (
        "a card's check value",
        re.compile(r"\b(?:cv[vc]2?|security code|check value)\b[^\d\n]{0,15}(?P<value>\d{3,4})\b", re.IGNORECASE),
    ),
    (
        "a login",
        re.compile(
            r"\b(?:log-?in|credentials?|account|user(?:name)?)\b[^\n:=]{0,20}[:=] ?[^\s/|,]{2,60} ?[/|,:] ?"
            r"(?:(?:pass\w*|pw) ?[:=]? ?)?(?P<value>(?=\S*\d)(?=\S*[A-Za-z])[^\s/]{5,60})",
            re.IGNORECASE,
        ),
    ),
    (
        "a password",
        re.compile(
            r"\b(?:use|using|with|type|enter|put(?: in)?|it's|is) (?P<value>(?=\S*[0-9])(?=\S*[A-Za-z])[^\s.,;]{6,60}) "
            r"(?:for|as|to|on|at) [^.\n]{0,40}\b(?:log-?in|log in|sign in|password|passcode|wi-?fi)\b",
            re.IGNORECASE,
        ),
    ),
    (
        "a recovery phrase",
        re.compile(
            r"\b(?:(?:seed|recovery|backup|mnemonic|wallet|secret)[ -]?(?:phrase|words|seed)?\b[^\n]{0,30}?[:,] ?"
            r"|(?:seed|recovery|mnemonic|backup) (?:phrase|words) (?:is|are) )"
            r"(?P<value>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})\b",
            re.IGNORECASE,
        ),
    ),
    (
        "a one-time code",
        re.compile(
            r"\b(?:2fa|mfa|two[- ]factor|one[- ]time|verification|otp|authenticat\w+|log-?in|sms|sign-?in)\b"
            r"[^.\n\d]{0,30}?\b(?:code|passcode|pin|password|token)\b[^.\n\d]{0,20}(?P<value>\d{3}[ -]?\d{3,5})\b",
            re.IGNORECASE,
        ),
    ),
    (
        "a passport number",
        re.compile(
            r"\b(?:passport|identity card|id card|driver'?s licen[cs]e|driving licen[cs]e)"
            r"(?: (?:number|no\.?|nr\.?|id))?(?: ?[:=#]| is)? ?(?P<value>(?-i:(?=(?:[A-Z]*\d){4})[A-Z0-9]{6,10}))\b",
            re.IGNORECASE,
        ),
    ),
)
"""Secrets in prose, each with the words that identify it."""

_CODE: Final = re.compile(
    r"[\w.]*[(\[{]|[A-Za-z_]\w*\.[A-Za-z_]|(?:str|string|none|null|true|false|undefined|text|bytes)\W*$", re.IGNORECASE
)
"""A value or a type of a variable in code."""

_NAMES: Final = re.compile(r"[Pp](?:ass|ASS|wd|WD|in|IN)|[Ll]ogin")

_ORDINARY: Final = words(
    "password the this that not too very same wrong weak strong safe secure long short important required needed "
    "missing invalid "
    "empty correct incorrect different case really always never now being kept gone lost ready unknown fine good bad "
    "simple "
    "complex here there below above attached hidden yes what where when why how who which ok okay also still just only "
    "stored saved invalidated expired in-place case-sensitive something anything nothing easy hard his her their our "
    "your "
    "for and but with without from into like old new crap annoying"
)

_CARD: Final = re.compile(r"(?<![\d.+/_-])\d(?:[ -]?\d){12,18}(?![\d/_])(?!-\d)(?!\.\d)")

_ISSUERS: Final = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}|"
    r"3(?:0[0-5]|[68]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12}"
)

_NUMBER_OF: Final = re.compile(
    r"(?:order|tracking|invoice|ticket|reference|ref|isbn|case|serial|imei|parcel|booking|transaction|timestamp|sku|id)"
    r"(?: (?:number|no\.?|id|code|is))*[ #:]*$",
    re.IGNORECASE,
)

_IBAN: Final = re.compile(r"\b([A-Z]{2})\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")

_IBAN_LENGTHS: Final = {
    country: int(length)
    for country, length in re.findall(
        "([A-Z]{2})([0-9]{2})",
        "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27GB22GE22GI23GL18GR27"
        "GT28HR21HU28IE22IL23IS26IT27JO30KW30KZ20LB28LI21LT20LU20LV21MC27MD24ME22MK19MR27MT31MU30NL18NO15PK24PL28PS29PT25"
        "QA29RO24RS22SA24SE24SI19SK24SM27TN24TR26UA29VG24XK20",
    )
}

_SSN: Final = re.compile(r"(?<![\d-])(?!000|666|9)\d{3}[- ](?!00)\d{2}[- ](?!0000)\d{4}(?![\d-])")

_SSN_NAMED: Final = re.compile(r"\b(?:ssn|social security)\b", re.IGNORECASE)

_NEAR: Final = 60
"""Characters before a number that may name it."""


def find_secrets(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the kind of each secret with its start and end."""
    for what, pattern in _SHAPES:
        yield from ((what, *found.span()) for found in pattern.finditer(text))
    for what, pattern in _MIXED:
        yield from ((what, *found.span(1)) for found in pattern.finditer(text) if _mixed(found[1]))
    for found in _PASSWORD.finditer(text) if _NAMES.search(text) else ():
        if _is_password(found, text):
            yield f"a {found['what'].lower()}", *found.span("value")
    for what, pattern in _TOLD_FREELY:
        for one in pattern.finditer(text):
            yield what, *one.span(one.lastgroup or 0)
    yield from _numbers(text)


def _mixed(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_password(found: re.Match[str], text: str) -> bool:
    """Return whether the match has a password: quoted, unlike a word, or a word at the end of the sentence."""
    value = found["value"].rstrip(".,;!?)")
    if found["what"].lower().startswith("pin"):
        return value.isdigit() and 4 <= len(value) <= 8  # noqa: PLR2004 - what PINs are made of
    if not found["quote"] and _CODE.match(value):
        return False
    if value.lower() in _ORDINARY or len(value) < 4 or value.startswith(("<", "{", "$", "*", "%", "[")):  # noqa: PLR2004
        return False
    if found["quote"] or not value.isalpha():
        return any(map(str.isalnum, value)) and "'" not in value
    ends = text[found.start("value") + len(value) :].lstrip(" ")[:1] in {"", ".", ",", "!", "\n", ")", ";"}
    return ends and not value.lower().endswith(("ed", "ing", "able", "ible", "ly", "ent", "ten", "ful", "ive"))


def _numbers(text: str) -> Iterator[tuple[str, int, int]]:
    tests: tuple[tuple[str, re.Pattern[str], Callable[[str, str], bool]], ...] = (
        ("a card number", _CARD, _card),
        ("an account number (IBAN)", _IBAN, _iban),
        ("a social security number", _SSN, lambda _number, before: _SSN_NAMED.search(before) is not None),
    )
    for what, pattern, real in tests:
        for found in pattern.finditer(text):
            if real(found[0], text[max(0, found.start() - _NEAR) : found.start()]):
                yield what, *found.span()


def _card(number: str, before: str) -> bool:
    digits = number.replace(" ", "").replace("-", "")
    if not _ISSUERS.fullmatch(digits) or _NUMBER_OF.search(before):
        return False
    doubled = (int(one) * (1 + place % 2) for place, one in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0  # noqa: PLR2004 - Luhn, ISO/IEC 7812-1


def _iban(number: str, before: str) -> bool:  # noqa: ARG001 - one signature for all numbers
    """Return whether the remainder is right, ISO 13616: letters are 10 to 35, the first four go last."""
    plain = number.replace(" ", "")
    length = _IBAN_LENGTHS.get(plain[:2])
    if length is None or len(plain) < length:
        return False
    plain = plain[:length]
    return int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4])) % 97 == 1
