"""Codes and passwords that are told: to doors, alarms and networks, and in other languages than English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.text.wording import words

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
_ORDINARY: Final = words(
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
    """Yield what each code or password is and where it stands, as start and end."""
    for found in _DOOR.finditer(text):
        value = found["value"].rstrip(".,;!?)")
        network = re.search(r"wi-?fi|wlan|network|router|hotspot|internet", found["what"], re.IGNORECASE)
        if _figures(value) or (network and _given(value, text, found)):
            yield "an access code", *found.span("value")
    for found in _WORD.finditer(text):
        if _given(found["value"].rstrip(".,;!?)"), text, found):
            yield "a secret word", *found.span("value")
    for found in _ABROAD.finditer(text):
        if _given(found["value"].rstrip(".,;!?)"), text, found):
            yield "a password", *found.span("value")


def _figures(value: str) -> bool:
    return sum(map(str.isdigit, value)) >= 3  # noqa: PLR2004 - what codes are made of


def _given(value: str, text: str, found: re.Match[str]) -> bool:
    """Tell whether a value is one: unlike a word, quoted, or a word that ends what is said of it."""
    if value.casefold() in _ORDINARY or len(value) < 3:  # noqa: PLR2004
        return False
    if not value.isalpha() or text[found.start("value") - 1] in "\"'`\u201c\u2018\u201e\u00ab":
        return any(map(str.isalnum, value))
    after = text[found.start("value") + len(value) :].lstrip(" ")[:1]
    return after in {"", ".", ",", "!", "\n", ")", ";"} and not value.lower().endswith(("ed", "ing", "able"))
