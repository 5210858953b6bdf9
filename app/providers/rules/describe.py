"""A clause retold in the third person, so that it stands by itself: `user moved from Boston to Berlin`."""

from __future__ import annotations

import re
from typing import Final

from app.providers.rules import when
from app.providers.rules.clause import Clause, Said, Tense, Who
from app.providers.rules.names import ORGANIZATION, PERSON, PLACE, is_group, kind_of, names_in, words_of
from app.providers.rules.phrases import BREAKERS
from app.providers.rules.sentences import HIDDEN
from app.providers.rules.verbs import third_person
from app.providers.rules.words import word_set
from app.providers.rules.words.tools import BY_WORD

_MOST_WORDS: Final = 26
_CUT: Final = re.compile(
    rf"""[{HIDDEN}(\[;\u2026\u2014*]|:\ |\ [-\u2013]+\ |,?\ (?:which|where|who|whose|because|so\ that|so\ i|though
    |although
    |even\ though|but)\b|\ while\ (?:i|my|we|they|he|she|the|it)\b|,\ (?:so|had|was|were|got|it|thanks|thank|haha|lol
    |and\ (?:i|it|we|they|that|this|have|has))\b|,\ \w+ing\b
    |,\ (?:the|an?)\ (?:[\w-]+\ ){{1,4}}?(?:is|was|are|were|has|had)\b
    |\ that\ (?:\w+\ )?(?:was|is|are|were|has|had|have|will|would|can|could|\w+ed|\w+s)\b
    |\ (?:that|as|like|what)\ (?:i|we|you|my|it|they|he|she)\b|\ and\ (?:it|that|i|we|they)\b|\ (?:i|we)\b|,\ though\b
    |\ (?:lol|haha|btw|by\ the\ way)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Where another thought begins."""
_DEICTIC: Final = re.compile(r"\b(this|that|these|those)\s+(?=([a-z0-9][\w'-]*))", re.IGNORECASE)
_ARTICLES: Final = {"this": "a", "that": "the", "these": "some", "those": "the"}
_OPEN: Final = re.compile(
    r"\b(?:you|your|yours|it|its|this|that|these|those|there|here|one|ones|something|someone|thing|things|stuff|everything"
    r"|y'all|what)\b",
    re.IGNORECASE,
)
"""Words that point at something the sentence does not name."""
_OTHERS: Final = re.compile(r"\b(?:he|she|they|him|her|hers|them|his|their|theirs)\b", re.IGNORECASE)
_SOMEONE: Final = re.compile(r"\b(?:he|she|they|him|them)\b", re.IGNORECASE)
"""Of these, who is not the one spoken of: `Tom spotted them`."""
_FIRST: Final = re.compile(r"\b(my|our|mine|me|us|myself|ourselves)\b", re.IGNORECASE)
_OWN: Final = {"my": "their", "our": "their", "mine": "theirs", "me": "them", "us": "them"}
_FILLER: Final = re.compile(
    r"\b(?:also|just|finally|actually|really|recently|lately|even|already|totally|super|so|btw|by the way)\s+",
    re.IGNORECASE,
)
_ENDING: Final = re.compile(
    r"(?:(?:^|[\s,]+)(?:too|as well|again|though|already|yet|anyway|now|and|or|but|with|at|in|on|for|to|the|a|an|of"
    r"|from|by"
    r"|so|as|just|recently|lately|actually|finally|btw|together|when|while|especially))+$",
    re.IGNORECASE,
)
_TORN: Final = re.compile(r"\b(?:and|or|the|a) (?:for|and|at|in|on|of|to|with|or)\b", re.IGNORECASE)
"""What is left where a time was the object itself: `blocked Wednesday and Thursday for writing`."""
_BARE_THAT: Final = re.compile(r"\b(?:the|a) (?:day|time|way|moment|night|morning|evening)$", re.IGNORECASE)
"""What is left of `that day`."""
_SPELL: Final = re.compile(r"\s*(?:weekend|summer|spring|winter|autumn|fall|morning|holiday)", re.IGNORECASE)
_A_QUIET: Final = re.compile(r"\b(?:an?|my|our)(?:\s+[a-z]+)?\s*\Z", re.IGNORECASE)
_STATE: Final = re.compile(r"^[^,;:.]*?(?<!that)(?<!which)(?<!who)\s(?:is|are)\s", re.IGNORECASE)
_MUTUAL: Final = re.compile(r"\b(?:each other|one another)\b", re.IGNORECASE)
_WITH: Final = word_set("with met meet and by helped told from to for at joined saw of")
"""Words after which a name takes part in what is told."""


def who(clause: Clause) -> str:
    """Return the subject as a sentence begins with it."""
    names = clause.subject.names
    return " and ".join(names) if len(names) > 1 else clause.subject.name


def retold(clause: Clause, said: Said, time: when.When | None = None) -> str | None:
    """Return the clause as a sentence about its subject, without its time; None when it does not stand alone."""
    if not _can_be_told(clause, time):
        return None
    others = clause.subject.who in {Who.NAMED, Who.POSSESSED}
    rest = own_part(_without_time(clause, time))
    if (_SOMEONE if others else _OTHERS).search(rest):
        return None
    rest = _DEICTIC.sub(_introduced, _first_person(rest, clause, said))
    if _OPEN.search(rest) or len(rest.split()) > _MOST_WORDS or _TORN.search(f"{clause.verb} {rest}"):
        return None
    rest = _ENDING.sub("", _FILLER.sub("", rest).rstrip(" ,.-")).strip(" ,.-")
    if _BARE_THAT.search(rest):
        return None
    words = time.words if time is not None else ""
    return " ".join(f"{who(clause)} {_verbal(clause)} {rest} {words}".split())


def _can_be_told(clause: Clause, time: when.When | None) -> bool:
    """Tell whether it names its subject, ends, and tells of something done rather than of a time."""
    alone = len(clause.subject.names) <= 1 and _MUTUAL.search(clause.rest)
    misread = clause.happened and _STATE.search(clause.rest)  # "my land inherited from her is in Rome"
    open_ended = clause.rest.endswith(":") or _is_object(clause, time)
    named = clause.subject.who is not Who.PRONOUN and HIDDEN not in clause.subject.name
    return named and not (alone or misread or open_ended)


def participants(clause: Clause, said: Said, description: str) -> list[str]:
    """Return who took part, as far as the description names them: the subject first."""
    found = list(clause.subject.names) or [clause.subject.name]
    rest = description.removeprefix(who(clause))
    found.extend(one for one in names_in(rest) if _takes_part(one, rest, said))
    return [name for name in dict.fromkeys(found) if name.lower() not in BY_WORD]


def _takes_part(name: str, rest: str, said: Said) -> bool:
    kind = kind_of(name, said.people)
    if kind == PLACE or name.lower() in BY_WORD:
        return False
    if kind in {PERSON, ORGANIZATION} or is_group(name) or " " in name:
        return True
    before = words_of(rest[: rest.index(name)])[-1:]
    return bool(before) and before[0].lower in _WITH and not name.isupper()


def own_part(rest: str) -> str:
    """Return the rest up to where another thought begins, without words that lead to it."""
    cut = _CUT.search(rest)
    return _ENDING.sub("", rest[: cut.start()].rstrip(" ,")) if cut else rest


def _without_time(clause: Clause, time: when.When | None) -> str:
    """Return what follows the verb without the words of time; those before the subject are not in it anyway."""
    return when.without(clause.rest, time, offset=len(clause.whole) - len(clause.rest))


def _is_object(clause: Clause, time: when.When | None) -> bool:
    """Tell whether the time is what the verb is about: `had a quiet weekend`."""
    return time is not None and any(
        _SPELL.match(clause.whole, first) and _A_QUIET.search(clause.whole, 0, first) for first, _ in time.spans
    )


def _first_person(rest: str, clause: Clause, said: Said) -> str:
    """Return the text with the speaker's own words made theirs, or their name's where others are spoken of."""

    def replaced(found: re.Match[str]) -> str:
        word = found.group().lower()
        if found.group() == "US":
            return "US"
        whose = word in {"my", "our", "mine"}
        if clause.subject.own or (whose and clause.subject.mine):
            return _OWN.get(word, "themselves")
        return f"{said.speaker}'s" if whose else said.speaker

    return _FIRST.sub(replaced, rest)


def _introduced(found: re.Match[str]) -> str:
    """Give a thing that is pointed at an article: `this amazing deal` is news to whoever reads it."""
    word, following = found.group(1).lower(), found.group(2)
    if following in BREAKERS:
        return found.group()
    article = "an" if word == "this" and following[0] in "aeiou" else _ARTICLES[word]
    return f"{article} "


def _verbal(clause: Clause) -> str:
    """Return the verb with what stands before it."""
    many = len(clause.subject.names) > 1
    if clause.used_to:
        return f"used to {clause.lemma}"
    if clause.modal == "will":
        return f"will be {clause.verb}" if clause.progressive else f"will {clause.lemma}"
    if clause.copula or clause.progressive or clause.passive:
        return f"{_be(clause, many=many)} {'' if clause.copula else clause.verb}"
    if clause.perfect:
        return f"{'have' if many else 'has'} {clause.verb}"
    if clause.tense is Tense.PRESENT:
        return clause.lemma if many else third_person(clause.lemma)
    return clause.verb


def _be(clause: Clause, *, many: bool) -> str:
    if clause.perfect:
        return "have been" if many else "has been"
    if clause.tense is Tense.PAST:
        return "were" if many else "was"
    return "are" if many else "is"
