"""Medicines in what facts say: `takes` + `metformin 500 mg twice daily`, read into its parts, or not at all."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.memory import normalise

_ORDERED = re.compile(
    r"^(?:is-)?(?:on-medication|takes-medication|takes-medicine|medication|medications|medicine|current-medication)$"
)
"""Predicates that say themselves that it is a medicine."""

_TAKEN = re.compile(
    r"^(?:is-|currently-|now-|has-been-)*(?:takes|take|taking|on|uses|using|injects|started-on|prescribed|prescription"
    r"|takes-prescription|has-prescription(?:-for)?)(?:-daily)?$"
)
"""Predicates of whatever is taken: buses, photos, rest and medicines."""

_USED = re.compile(r"(?:uses|using)(?:-daily)?$")
_NAMED = re.compile(r"^(?:takes|is-on|prescribed|is-prescribed)-(?P<name>[a-z][a-z-]{2,40})$")
_DOSE_OF = re.compile(r"^(?P<name>[a-z][a-z-]{2,40})-(?:dose|dosage)$")
"""Predicates with the medicine in them: `takes-metformin`, `metformin-dose`."""

_STRENGTH = r"mg|mcg|\u00b5g|\u03bcg|ug|iu|units?"
_FORM = r"tablets?|pills?|capsules?|puffs?|drops?|sprays?|injections?|patch(?:es)?"
_LOOSE = r"grams?|g|ml|millilit(?:er|re)s?"
_AMOUNT = re.compile(
    rf"(?<![\w.,])(?P<number>\d+(?:[.,]\d+)?)\s?-?(?P<unit>{_STRENGTH}|{_FORM}|{_LOOSE})\b(?:\s+(?P<form>{_FORM})\b)?",
    re.IGNORECASE,
)
_SURE = re.compile(rf"^(?:{_STRENGTH})$", re.IGNORECASE)
"""Units in which nothing but medicine is told; coffee has millilitres, and one takes tablets to school."""

_COUNT = r"once|twice|thrice|(?:one|two|three|four|\d+)\s(?:times|x)"
_DAY = r"day|week|month|morning|evening|night|noon|afternoon|hour|bedtime|meal"
_OFTEN = re.compile(
    rf"\b(?:(?:{_COUNT})\s(?:a|per|each|every)\s(?:{_DAY})|(?:{_COUNT})\s(?:daily|weekly|monthly)|{_COUNT}|daily|nightly|weekly"
    rf"|monthly|every\s(?:other\s|\d+\s|second\s)?(?:{_DAY})s?|each\s(?:{_DAY})|a\sday|per\sday|as\sneeded|when\sneeded"
    rf"|in\sthe\s(?:morning|evening)|at\s(?:night|bedtime|noon)|(?:before|after|with)\s(?:meals|food|breakfast|lunch|dinner))\b",
    re.IGNORECASE,
)
_BY = re.compile(
    r",?\s*\b(?:prescribed|ordered)?\s*by\s(?P<who>(?:Dr\.?|Doctor)\s[A-Z][\w'\u2019-]+(?:\s[A-Z][\w'\u2019-]+)?)"
)
_AIM = re.compile(r"\s*\b(?:for|against|because\sof|due\sto|to\s(?:treat|manage|control|lower))\s.*$", re.IGNORECASE)
_STEM = re.compile(
    r"\b(?:\w{2,}[aio]pril|\w+(?:formin|sartan|statin|olol|prazole|cillin|mycin|oxetine|triptan|dipine|gliptin|gliflozin|azepam"
    r"|profen|thyroxine|xaban|glutide|conazole|floxacin|cycline|nisone|solone|buterol|butamol|gabalin|pentin|traline"
    r"|oxacin|azepine|zodone|afil)|warfarin|insulin|aspirin|paracetamol|acetaminophen|lithium|codeine|morphine)\b",
    re.IGNORECASE,
)
"""Ends of names that substances are given by what they are (WHO, international nonproprietary names), and old names."""

_DOUBT = re.compile(
    r"\b(?:no|not|never|none|nothing|without|cannot|\w+n['\u2019]t|stop(?:s|ped)?|quit|used\sto|was|were|had|might|may|could"
    r"|would|should|wants?|hopes?|wish(?:es)?|plans?|considering|considers|thinking|refuses?|avoids?|allergic|if|or|instead"
    r"|until|unless|supposed|forgot|forgets|discontinued|formerly|previously|ended|unknown|unsure|maybe|perhaps)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"\band\b|\bplus\b|[&+/;]|,", re.IGNORECASE)
_NAME = re.compile(r"^[A-Za-z][\w\u00c0-\u024f'\u2019-]+(?:\s[\w\u00c0-\u024f'\u2019-]+){0,2}$")
_VAGUE = re.compile(
    r"\b(?:one|two|three|four|five|six|half|double|another|extra|an?|the|some(?:thing)?|any(?:thing)?|my|h(?:is|er)|their|our|its?|them|th(?:is|at|ese|ose)|many|few|lots?|bunch"
    r"|med(?:ication|icine|s)s?|med|drugs?|pills?|tablets?|capsules?|doses?|prescription|treatment|therapy|supplements?|to"
    r"|from|in|on|at|into|with|of|for|by|photos?|pictures?|notes|bus|train|taxi|time|break|course|class)\b",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\b(?:right\snow|now|currently|at\sthe\smoment|at\spresent|nowadays|these\sdays|again|already|still)\b",
    re.IGNORECASE,
)
"""What says that it is so now, which is no part of a name."""

_LEAD = re.compile(r"^(?:of|a\sdose\sof|tablets?\sof|pills?\sof)\s+", re.IGNORECASE)
_LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A medicine as a fact tells it, and by what it is known to be one."""

    name: str
    dosage: str | None
    frequency: str | None
    prescriber: str | None
    because: str


def taken(predicate: str, told: str, content: str) -> Taken | None:
    """Return the one medicine that a fact says is taken; None where it may be none, several, or none any more."""
    if not any(one.match(predicate) for one in (_TAKEN, _ORDERED, _NAMED, _DOSE_OF)):
        return None
    if len(told) > _LONGEST or _DOUBT.search(f"{normalise.words(predicate)} . {told} . {content}"):
        return None
    parts = _Parts.of(told)
    named = _NAMED.match(predicate) or _DOSE_OF.match(predicate)
    if named is not None and parts.rest == "" and parts.sure:
        return parts.taken(normalise.words(named["name"]), "the predicate names a medicine and the value its dose")
    name = parts.name()
    because = None if name is None else _because(predicate, name, parts)
    return None if name is None or because is None else parts.taken(name, because)


def possible(predicate: str, told: str) -> Taken | None:
    """Return the medicine that a fact may name, sure or not that it is one; None where it can be none's name.

    What is merely used is rarely a medicine, so it must be known to be one.
    """
    if _USED.search(predicate) or not _TAKEN.match(predicate):
        return taken(predicate, told, "")
    parts = _Parts.of(told[:_LONGEST])
    name = parts.name()
    return None if name is None else parts.taken(name, "it may be a medicine")


def _because(predicate: str, name: str, parts: _Parts) -> str | None:
    """Return by what a name is known to be a medicine's; None where nothing tells it."""
    if _ORDERED.match(predicate):
        return "the predicate says that it is a medicine"
    if _TAKEN.match(predicate) and parts.sure:
        return "the value has a dose that only medicines have"
    if _TAKEN.match(predicate) and _STEM.search(name):
        return "the name is formed as those of medicines are"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What a value says; `sure`: of its amount, that only medicines come in such ones."""

    rest: str
    dosage: str | None
    frequency: str | None
    prescriber: str | None
    sure: bool

    @classmethod
    def of(cls, told: str) -> _Parts:
        by = _BY.search(told)
        text = _BY.sub("", told, count=1)
        often = [found[0] for found in _OFTEN.finditer(text)]
        text = _AIM.sub("", _NOW.sub(" ", _OFTEN.sub(" ", text)))
        amounts = list(_AMOUNT.finditer(text))
        rest = _AMOUNT.sub(" ", text, count=1)
        return cls(
            rest=_LEAD.sub("", " ".join(rest.split()).strip(" .,;:-")),
            dosage=_amount(amounts[0]) if amounts else None,
            frequency=" ".join(" ".join(often).lower().split()) or None,
            prescriber=None if by is None else by["who"],
            sure=len(amounts) == 1 and bool(_SURE.match(amounts[0]["unit"])),
        )

    def name(self) -> str | None:
        """Return what is left, if that can be the name of one medicine."""
        if _SEVERAL.search(self.rest) or not _NAME.match(self.rest) or _VAGUE.search(self.rest):
            return None
        return self.rest

    def taken(self, name: str, because: str) -> Taken:
        return Taken(
            name=name, dosage=self.dosage, frequency=self.frequency, prescriber=self.prescriber, because=because
        )


def _amount(found: re.Match[str]) -> str:
    """Return an amount in one spelling: `500mg` and `500 MG` are one dosage."""
    unit = found["unit"].lower().replace("\u03bc", "\u00b5").replace("iu", "IU")
    form = "" if found["form"] is None else f" {found['form'].lower()}"
    return f"{found['number'].replace(',', '.')} {unit}{form}"
