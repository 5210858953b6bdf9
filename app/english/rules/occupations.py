"""Values of rules about work: roles, employers, whom one reports to, and where a move leads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from app.english.descriptions import DETERMINERS
from app.english.names import ORGANIZATION, PERSON, PLACE, is_group, is_place, kind_of
from app.english.rules.clause import SpeakerContext
from app.english.rules.noun_phrases import noun_phrase, value, without_article
from app.english.rules.values import Value, a_thing, place
from app.english.word_lists import COLLEAGUES, GROUPS, NOT_TITLES, ROLE_HEADS, ROLE_OF, words

_ARTICLE: Final = re.compile(
    r"\s*(?:(?:a|an|the|our|their|his|her|its|currently|now)\s+)?(?:new\s+)?(?:\d+[- ]years?[- ]old\s+)?",
    re.IGNORECASE,
)
_SUFFIX: Final = re.compile(
    r"\w{3,}(?:ologist|ographer|ician|iatrist|ineer|keeper|writer|woman|smith|therapist|maker)s?", re.IGNORECASE
)
_EMPLOYER: Final = re.compile(
    r"\s*(?:,\s*)?(?:at|for|with(?=\s+(?-i:[A-Z]))|working (?:at|for)|here at|over at)\s+(?=\S)", re.IGNORECASE
)
_OF: Final = re.compile(r"\s+(?:of|for)\s+(?:the\s+)?", re.IGNORECASE)
_POSSESSIVE: Final = re.compile(r"'s\b|s'(?=\s)")
_MOST_WORDS: Final = 6
_ONE: Final = re.compile(r"\s*an?\s+", re.IGNORECASE)
_NO_ROLE: Final = words("occupations", "no role")
_ARTICLES: Final = frozenset({"a", "an", "the"})
_NO_EMPLOYER: Final = words("occupations", "no employer")
_NOBODY: Final = frozenset({"the moment", "the team", "my team", "our team"})
_TO: Final = re.compile(r"[^,]{0,80}?\b(?:in)?to\s+", re.IGNORECASE)
_FROM: Final = re.compile(r"[^,]{0,80}?\bfrom\s+", re.IGNORECASE)
_AIM: Final = re.compile(r"\bto\s+(?:work|start(?:\s+working)?|be|become|take\s+a\s+job)(?:\s+as)?\b", re.IGNORECASE)


def occupation_of(text: str) -> tuple[str, str] | None:
    """Return the role that the text begins with, and its employer or nothing; None when it is no role."""
    lead = _ARTICLE.match(text)
    found = noun_phrase(text, lead.end() if lead else 0, through=frozenset(), most=_MOST_WORDS)
    if found is None or not is_role(found.text) or found.text.lower().endswith(("student", "undergraduate")):
        return None
    of = _OF.match(text, found.end)
    target = noun_phrase(text, of.end()) if of and found.text.split()[-1].lower() in ROLE_OF else None
    if target is None:
        return found.text, employer_at(text, found.end)
    if target.text[0].isupper():
        return found.text, organisation(target.text) or ""
    return f"{found.text} of {without_article(target.text)}", employer_at(text, target.end)


def is_role(text: str) -> bool:
    """Tell whether a noun phrase names a profession or position."""
    low = text.lower()
    words = [low] if low in ROLE_HEADS else low.replace("-", " ").split()
    if NOT_TITLES.intersection(words) or _ARTICLES.intersection(words) or "'s " in low:  # "dating a nurse"
        return False
    if len(words) > 1 and text[:1].isupper() and kind_of(text) == PERSON:  # "Tim Cook"
        return False
    head = words[-1]
    if words[0].endswith("ing") and head not in ROLE_HEADS and head.endswith("s"):  # "targeting founders"
        return False
    return head in ROLE_HEADS or _SUFFIX.fullmatch(head) is not None


def employer_at(text: str, at: int) -> str:
    """Return the employer named at the place, or nothing: `at Volkswagen's EV division`."""
    lead = _EMPLOYER.match(text, at)
    found = noun_phrase(text, lead.end()) if lead is not None else None
    return "" if found is None else organisation(found.text) or ""


def organisation(text: str) -> str | None:
    """Return an organisation's name as it is stored: `Volkswagen's EV division` is `Volkswagen EV division`."""
    found = value(_POSSESSIVE.sub("", text) if text[:1].isupper() else text)
    nobody = found is None or found.lower() in _NOBODY or found.split()[0].lower() in _NO_EMPLOYER
    return None if nobody else found


def employer(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield an employer: an organisation, or a thing that is nobody and no place."""
    found = noun_phrase(text)
    name = None if found is None else organisation(found.text)
    if name is not None and kind_of(name, said.people) not in {PERSON, PLACE} and not is_boss(name, said):
        yield name


def workplace(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield where one works `at`: a name there is no person's, though people have it, too."""
    found = noun_phrase(text)
    name = None if found is None else organisation(found.text)
    a_name = name is not None and name[0].isupper() and kind_of(name) == PERSON and name.casefold() not in said.people
    yield from [name] if name is not None and a_name else employer(text, said)


def named(read: Value) -> Value:
    """Return what yields of the values only those with a name of their own."""
    return lambda text, said: (name for name in read(text, said) if name[0].isupper() and not is_group(name))


company: Final = named(employer)
named_workplace: Final = named(workplace)


def role(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield a profession or position."""
    held = occupation_of(text)
    yield from [held[0]] if held is not None else ()


def unknown_role(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield what one works as, where it is no known profession: `a joiner`, but not `a rule` or `a team`."""
    lead = _ONE.match(text)
    found = noun_phrase(text, lead.end(), through=frozenset(), most=_MOST_WORDS) if lead else None
    if found is None or occupation_of(text) is not None:
        return
    words = found.text.lower().split()
    if len(words) < _MOST_WORDS and NOT_TITLES.isdisjoint(words) and words[-1] not in GROUPS | _NO_ROLE:
        yield found.text


def employer_of_role(text: str, _said: SpeakerContext) -> Iterator[str]:
    """Yield who employs in the role that the text begins with: `a nurse at Acme`."""
    held = occupation_of(text)
    yield from [held[1]] if held is not None and held[1] else ()


def is_boss(name: str, said: SpeakerContext) -> bool:
    """Tell whether one works for this as for a person."""
    title = name.lower().removeprefix("my ").removeprefix("the ")
    return kind_of(name, said.people) == PERSON or title in COLLEAGUES


boss: Final = a_thing(lambda found, said: is_boss(found.name, said))
leader: Final = a_thing(lambda found, said: found.capital or found.first == "the" or is_boss(found.name, said))


def moved_home(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield the place that a move leads to: `from Boston to Berlin`; not a desk, a team or another company.

    Who moves something, as `the dentist to Friday`, stays at home.
    """
    target, source = _road(text, said)
    if DETERMINERS & {*map(str.lower, text.split(maxsplit=1)[:1])}:
        return
    plain = target[:1].isupper() and kind_of(target) is None and (not source or is_place(source))
    if target and not is_group(target) and (is_place(target) or plain):
        yield target


def moved_employer(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield the company that a move leads to: `from Volkswagen to Rivian`, `to Oslo to work at Equinor`."""
    aim = _AIM.search(text)
    if aim is not None:
        name = employer_at(text, aim.end())
        yield from [name] if name else employer_of_role(text[aim.end() :], said)
        return
    target, source = _road(text, said)
    if ORGANIZATION in {kind_of(target), kind_of(source)} and not is_group(target):
        yield target


def _road(text: str, said: SpeakerContext) -> tuple[str, str]:
    """Return where a move leads to and from; empty where that is not named."""
    aim = _AIM.search(text)
    road = text[: aim.start()] if aim else text
    leads = (lead.match(road) for lead in (_TO, _FROM))
    target, source = (next(place(road[one.end() :], said), "") if one else "" for one in leads)
    return target, source


def employer_here(text: str, said: SpeakerContext) -> Iterator[str]:
    """Yield the employer that stands right here, with or without a name of its own."""
    yield from employer(text, said) if text[:1].isupper() or text.startswith("the ") else ()
