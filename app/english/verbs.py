"""Verb forms and bases.

English verbs: from a form to its base, and from a base to what he or she does.

What was done is told in the past tense and asked for without it: `whom did Ann meet?`, `Ann met Bob`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from app.english.words import word_set

_IRREGULAR: Final = """
be was been, become became become, begin began begun, bite bit bitten, break broke broken, bring brought brought,
build built built, buy bought bought, catch caught caught, choose chose chosen, come came come, cut cut cut, do did
done, draw drew drawn, drive drove driven, drink drank drunk, eat ate eaten, fall fell fallen, feel felt felt, fight
fought fought, find found found, fly flew flown, forget forgot forgotten, get got gotten, give gave given, go went
gone, grow grew grown, have had had, hear heard heard, hide hid hidden, hit hit hit, hold held held, hurt hurt hurt,
keep kept kept, know knew known, lead led led, learn learned learned, leave left left, lend lent lent, lose lost
lost, make made made, meet met met, oversee oversaw overseen, pay paid paid, put put put, quit quit quit, read read
read, ride rode ridden, ring rang rung, rise rose risen, run ran run, say said said, see saw seen, sell sold sold,
send sent sent, set set set, shoot shot shot, show showed shown, shut shut shut, sing sang sung, sit sat sat, sleep
slept slept, speak spoke spoken, spend spent spent, split split split, stand stood stood, steal stole stolen,
swim swam swum, take took taken, teach taught taught, tell told told, think thought thought, throw threw thrown,
undergo underwent undergone, understand understood understood, wake woke woken, wear wore worn, win won won, write
wrote written, overcome overcame overcome
"""
"""Base, past and participle."""

_REGULAR: Final = word_set(
    """
    accept achieve acquire add adjust admit adopt adore agree appear apply appreciate arrive ask assemble assess attend
    avoid award bake believe belong book borrow call camp cancel celebrate chair change check clean climb close
    coach collaborate collect commit compete complain complete conclude conduct confirm consider consult contract
    contribute cook coordinate create cycle dance debug decide deliver deploy design despise detest develop diagnose
    die direct discharge discontinue discover dislike dismiss divorce donate draft drop earn elect emigrate employ enjoy
    enrol enroll enter establish exercise explore fail file finish fix follow foster found garden graduate harvest
    hate head help hike hire host identify immigrate implement inherit injure increase install interview introduce
    invest invite jog join kayak land laugh launch like list live loathe love lower manage marry meditate mentor
    merge migrate miss
    move name need nominate notify offer open opt order organise organize outline own paint participate pass perform
    pick plan plant play plot practice practise prefer prepare prescribe present promise promote propose publish pull
    purchase raise rearrange receive recommend redesign reduce refactor register release relocate remember renovate rent
    repair report rescue reside resign retire return review revise row sail schedule score select separate settle ship
    sign skate sketch ski smoke snowboard sponsor start stay stop study submit suggest supervise surf survive swap
    switch tend tour trace train transfer translate travel trek try turn unveil update upgrade upload use utilise
    utilize visit volunteer wait walk want watch wish work workshop worry
    """
)

_DOUBLED: Final = word_set(
    """
    admit begin commit cut debug drop enrol forget get hit jog plan plot prefer put quit refer run set shut ship sit
    stop submit swap swim transfer win
    """
)

_SHORTEST_PAST: Final = 4


@dataclass(frozen=True, slots=True)
class Form:
    """What a word can be a form of, and which: base, s, past, participle, ing."""

    lemma: str
    kinds: frozenset[str]


def third_person(lemma: str) -> str:
    """Return what he or she does: `run` -> `runs`."""
    if lemma in {"be", "have"}:
        return {"be": "is", "have": "has"}[lemma]
    if lemma.endswith(("s", "x", "z", "ch", "sh", "o")):
        return lemma + "es"
    return lemma[:-1] + "ies" if lemma.endswith("y") and lemma[-2] not in "aeiou" else lemma + "s"


def gerund(lemma: str) -> str:
    """Return what one is doing: `swim` -> `swimming`."""
    return _ing(lemma)


def form_of(word: str) -> Form | None:
    """Return what the lower-case word is a form of; None when it is no verb known here."""
    return _FORMS.get(word)


def looks_past(word: str) -> bool:
    """Tell whether an unknown word looks like a past tense."""
    return len(word) > _SHORTEST_PAST and word.endswith("ed") and not word.endswith("eed") and word.isalpha()


def _inflected() -> Iterator[tuple[str, str, str]]:
    for verb in _IRREGULAR.split(","):
        base, past, participle = verb.split()
        yield from ((base, base, "base"), (past, base, "past"), (participle, base, "participle"))
        yield from ((third_person(base), base, "s"), (_ing(base), base, "ing"))
    yield ("got", "get", "participle")
    for base in sorted(_REGULAR):
        past = _past(base)
        yield from ((base, base, "base"), (past, base, "past"), (past, base, "participle"))
        yield from ((third_person(base), base, "s"), (_ing(base), base, "ing"))


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return f"{base}{base[-1]}ed" if base in _DOUBLED else base + "ed"


def _ing(base: str) -> str:
    if base in {"be", "see"} or base.endswith(("ee", "oe", "ye")):
        return base + "ing"
    if base == "die":
        return "dying"
    if base.endswith("e"):
        return base[:-1] + "ing"
    return f"{base}{base[-1]}ing" if base in _DOUBLED else base + "ing"


def _table() -> dict[str, Form]:
    kinds: dict[str, dict[str, set[str]]] = {}
    for word, lemma, kind in _inflected():
        kinds.setdefault(word, {}).setdefault(lemma, set()).add(kind)
    # `found` is what `find` was before it is what one does to a company; the rule for companies looks itself.
    return {word: Form(next(iter(lemmas)), frozenset(next(iter(lemmas.values())))) for word, lemmas in kinds.items()}


_FORMS: Final = _table()

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
