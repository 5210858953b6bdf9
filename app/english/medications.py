"""Recognition of medicines and doses: medicines that a person takes, changes of doses, and stopped medicines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from app.english.names import COMMON
from app.english.rules.clause import Clause, SpeakerContext, Subject, Who
from app.english.rules.drafts import Draft, ending, fact
from app.english.rules.noun_phrases import in_third_person, list_items, thing, value
from app.english.verbs import form_of
from app.english.word_lists import CONDITIONS, DOSE, MEDICINES, expanded, is_doctor, pairs, pattern
from app.memory import normalise

_ORDERED: Final = pattern("medications", "ordered")
"""Predicates that imply a medicine."""

_TAKEN: Final = pattern("medications", "taken")
"""Predicates of anything that one takes: buses, photos, rest and medicines."""

_NAMED = re.compile(r"^(?:takes|is-on|prescribed|is-prescribed)-(?P<name>[a-z][a-z-]{2,40})$")
_DOSE_OF = re.compile(r"^(?P<name>[a-z][a-z-]{2,40})-(?:dose|dosage)$")
"""Predicates that contain the medicine: `takes-metformin`, `metformin-dose`."""

_USED = re.compile(r"(?:uses|using)(?:-daily)?$")
_AMOUNT: Final = pattern("medications", "amount", re.IGNORECASE)
_SURE: Final = pattern("medications", "sure", re.IGNORECASE)
"""Units that only medicines have; coffee has millilitres, and one takes tablets to school."""

_OFTEN: Final = pattern("medications", "often", re.IGNORECASE)
_BY: Final = pattern("medications", "by")
_AIM = re.compile(r"\s*\b(?:for|against|because\sof|due\sto|to\s(?:treat|manage|control|lower))\s.*$", re.IGNORECASE)
_STEM: Final = pattern("medications", "stem", re.IGNORECASE)
"""Endings of substances' names by class (WHO, international nonproprietary names), and old names."""

_DOUBT: Final = pattern("medications", "doubt", re.IGNORECASE)
_SEVERAL = re.compile(r"\band\b|\bplus\b|[&+/;]|,", re.IGNORECASE)
_NAME = re.compile(r"^[A-Za-z][\w\u00c0-\u024f'\u2019-]+(?:\s[\w\u00c0-\u024f'\u2019-]+){0,2}$")
_VAGUE: Final = pattern("medications", "vague", re.IGNORECASE)
_NOW: Final = pattern("medications", "now", re.IGNORECASE)
"""Words for the present time, which are no part of a name."""

_LEAD = re.compile(r"^(?:of|a\sdose\sof|tablets?\sof|pills?\sof)\s+", re.IGNORECASE)
_LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class MedicationDose:
    """A medicine that a fact states, with its dose, and the evidence that it is a medicine."""

    name: str
    dosage: str | None
    frequency: str | None
    prescriber: str | None
    because: str


def parse_dose(predicate: str, told: str, content: str) -> MedicationDose | None:
    """Return the one medicine that a fact states; None where it may be no medicine, several, or a former one."""
    if not any(one.match(predicate) for one in (_TAKEN, _ORDERED, _NAMED, _DOSE_OF)):
        return None
    if len(told) > _LONGEST or _DOUBT.search(f"{normalise.words(predicate)} . {told} . {content}"):
        return None
    dose, sure = _parts(told)
    named = _NAMED.match(predicate) or _DOSE_OF.match(predicate)
    if named is not None and not dose.name and sure:
        because = "the predicate names a medicine and the value its dose"
        return replace(dose, name=normalise.words(named["name"]), because=because)
    evidence = _because(predicate, dose.name, sure=sure) if _may_be_name(dose.name) else None
    return None if evidence is None else replace(dose, because=evidence)


def may_be_dose(predicate: str, told: str) -> MedicationDose | None:
    """Return the medicine that a fact may name, certain or not; None where the value can't be a medicine's name.

    Things that are merely `used` are rarely medicines, so they must be known ones.
    """
    if _USED.search(predicate) or not _TAKEN.match(predicate):
        return parse_dose(predicate, told, "")
    dose, _ = _parts(told[:_LONGEST])
    return replace(dose, because="it may be a medicine") if _may_be_name(dose.name) else None


def _because(predicate: str, name: str, *, sure: bool) -> str | None:
    """Return the evidence that a name is a medicine's, None without any."""
    if _ORDERED.match(predicate):
        return "the predicate says that it is a medicine"
    if _TAKEN.match(predicate) and sure:
        return "the value has a dose that only medicines have"
    return "the name is formed as those of medicines are" if _TAKEN.match(predicate) and _STEM.search(name) else None


def _parts(told: str) -> tuple[MedicationDose, bool]:
    """Return the parts of a value, its name what is left of it, and whether only medicines have such amounts."""
    by = _BY.search(told)
    text = _BY.sub("", told, count=1)
    often = [found[0] for found in _OFTEN.finditer(text)]
    text = _AIM.sub("", _NOW.sub(" ", _OFTEN.sub(" ", text)))
    amounts = list(_AMOUNT.finditer(text))
    rest = _AMOUNT.sub(" ", text, count=1)
    dose = MedicationDose(
        name=_LEAD.sub("", " ".join(rest.split()).strip(" .,;:-")),
        dosage=_amount(amounts[0]) if amounts else None,
        frequency=" ".join(" ".join(often).lower().split()) or None,
        prescriber=None if by is None else by["who"],
        because="",
    )
    return dose, len(amounts) == 1 and bool(_SURE.match(amounts[0]["unit"]))


def _may_be_name(rest: str) -> bool:
    """Return whether the rest of a value can be the name of one medicine."""
    return not (_SEVERAL.search(rest) or _VAGUE.search(rest)) and _NAME.match(rest) is not None


def _amount(found: re.Match[str]) -> str:
    """Return an amount in one spelling: `500mg` and `500 MG` are one dosage."""
    unit = found["unit"].lower().replace("\u03bc", "\u00b5").replace("iu", "IU")
    form = "" if found["form"] is None else f" {found['form'].lower()}"
    return f"{found['number'].replace(',', '.')} {unit}{form}"


_REDOSED: Final = pattern("medications", "redosed", re.IGNORECASE)
_STANDS_AT: Final = re.compile(r"^\s(?:now\s+)?(?:back\s+)?(?:(?:up|down)\s+)?(?:to\s+|at\s+)?(?=\d)", re.IGNORECASE)
"""What a medicine is at, as what it was changed to."""
_MEDICINE_STRENGTH: Final = re.compile(r"\d\s?(?:mg|mcg|\u00b5g|\u03bcg|iu|units?)\b", re.IGNORECASE)
"""A strength that only medicines have."""

_CHANGED: Final[Mapping[str, re.Pattern[str]]] = {
    verb: re.compile(expanded("medications", found), re.IGNORECASE)
    for verbs, found in pairs("medications", "changed").items()
    for verb in verbs.split()
}
"""What follows a verb that changes a treatment: `switched me from ramipril to losartan`, `took me off ramipril`."""

_UNMARKED: Final = frozenset({"put", "cut"})
"""Verbs whose past is their base form."""

_DOSE: Final = re.compile(rf"\s*(?:of\s+)?{DOSE}", re.IGNORECASE)
_SUBSTANCE: Final = re.compile(r"[a-z][a-z-]{3,40}")
_OF_DOING: Final = pattern("medications", "of doing")
"""Endings of nouns for what one does, studies or has several of."""

_TAKEN_END: Final = re.compile(r"[,.;:!?(]|\s(?:and|because|since|so|but|which)\b")
_SWITCHED_END: Final = re.compile(r"[,.;:!?(]|\s(?:and|because|since|so|but|which|instead|last|this|in|on|yesterday)\b")
_LONGEST_DOSE: Final = 100


def taking(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `take metformin 500 mg`, `was prescribed insulin`, `on antidepressants`, `switched me to losartan 50 mg`."""
    changed = list(_changed(clause, said))
    yield from changed
    if changed or clause.lemma in _CHANGED.keys() - {"take"} or (clause.copula and not clause.rest.startswith("on ")):
        return
    text = clause.rest.removeprefix("on ")
    if not (clause.holds or (clause.passive and not clause.negated and clause.modal is None)):
        return
    predicate = "prescribed" if clause.lemma == "prescribe" else "takes"
    regular = clause.lemma == "take" and _has_intakes(clause.before + text)
    for place, item in enumerate(list_items(text)):
        part = item.strip().removeprefix("my ") if regular else item
        dose = _dose_of(part, sure=(predicate == "prescribed" and place == 0) or (regular and _may_be_substance(part)))
        if dose is None:
            return
        yield fact(clause, predicate, in_third_person(dose), stateful=False)


def _dose_of(part: str, *, sure: bool) -> str | None:
    """Return the medicine that a part of an enumeration begins with, and its dose; `sure`: it is a medicine."""
    found = thing(part)
    if found is None or not (sure or _known(found.name) or _DOSE.match(part, found.end)):
        return None
    dose = value(_TAKEN_END.split(part)[0])
    return dose if dose and len(dose) <= _LONGEST_DOSE else None


def _has_intakes(text: str) -> bool:
    """Return whether what is taken is taken at times of the day, or against an illness."""
    aim = _AIM.search(text)
    return _OFTEN.search(text) is not None or (aim is not None and _names_condition(aim[0]))


def _names_condition(text: str) -> bool:
    return not CONDITIONS.isdisjoint(normalise.words(text).lower().strip(" .!?").split())


def _may_be_substance(part: str) -> bool:
    """Return whether a part of an enumeration has, beside its times, one word that may name a substance.

    A substance stands without an article, in the singular; what one does is named by a verb or formed from one.
    """
    name = _parts(part)[0].name
    idle = _VAGUE.search(name) or _OF_DOING.search(name) or name in COMMON or form_of(name) is not None
    return _SUBSTANCE.fullmatch(name) is not None and not idle


def _changed(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read that a medicine begins, ends, or takes the place of another."""
    done = clause.happened or (clause.lemma in _UNMARKED and clause.holds)
    found = _CHANGED[clause.lemma].match(clause.rest) if clause.lemma in _CHANGED and done else None
    said_of = {} if found is None else found.groupdict()
    old, new = said_of.get("old"), said_of.get("new")
    if not (said_of.get("me") or _treats(clause)) or (new and not _known(said_of["name"])):
        return
    dose = value(_SWITCHED_END.split(new)[0]) if new else None
    if dose:
        yield fact(clause, "takes", dose, subject=said.speaker)
    if old and is_medicine(old):
        yield ending(clause, said, fact(clause, "takes", old, subject=said.speaker))


def _known(name: str) -> bool:
    return bool(MEDICINES.intersection(name.lower().split())) or is_medicine(name)


def dose_change(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `my GP put the ramipril up to 10 mg`, `I upped my ramipril to 10 mg`, `my ramipril is at 10 mg now`."""
    stands = clause.copula and clause.holds
    changed = not clause.copula and (clause.happened or (clause.lemma in _UNMARKED and clause.holds))
    if not (stands or changed):
        return
    mine = (clause.passive or stands) and _own_medicine(clause.subject)
    rest = _STANDS_AT.sub(" to ", f" {clause.rest}", count=1) if stands else clause.rest
    found = _REDOSED.match(f" my {mine}{rest}" if mine else rest)
    whose = mine or (not clause.passive and found is not None and (found["mine"] or _treats(clause)))
    if found and whose and _may_be_medicine(found["name"], found["dose"]):
        told = f"{found['name']} {' '.join(found['dose'].split())}".removesuffix(" now")
        yield fact(clause, "takes", told, subject=said.speaker)


def _own_medicine(subject: Subject) -> str | None:
    """Return what may be the speaker's medicine: `my ramipril`, or the name of a medicine alone."""
    alone = subject.who is Who.NAMED and is_medicine(subject.name)
    return subject.noun if subject.mine else subject.name if alone else None


def is_medicine(name: str) -> bool:
    """Return whether the name is a known medicine's, or has an ending of one."""
    return name.lower() in MEDICINES or parse_dose("takes", name, "") is not None


def _may_be_medicine(name: str, dose: str) -> bool:
    """Return whether the noun with the dose is a medicine, rather than `the price` or `the sugar`."""
    return is_medicine(name) or _MEDICINE_STRENGTH.search(dose) is not None


def _treats(clause: Clause) -> bool:
    """Return whether the subject changes the speaker's dose: the speaker, `my GP`, `they`; not `my son`."""
    subject = clause.subject
    by_doctor = subject.mine and subject.noun != "vet" and is_doctor(subject.noun or "")
    return subject.own or by_doctor or (subject.who is Who.PRONOUN and subject.plural)
