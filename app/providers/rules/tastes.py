"""What people like, hate, do not eat, and take: each thing under a key of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from app.providers.rules.clause import Clause, Said
from app.providers.rules.drafts import Draft, Rule, fact, preference
from app.providers.rules.medicines import is_medicine
from app.providers.rules.phrases import BREAKERS, listed, slug, thing, told_of, value
from app.providers.rules.verbs import gerund
from app.providers.rules.words import word_set
from app.providers.rules.words.health import DOSE, FOODS, MEDICINES

_LIKED: Final = re.compile(r"\s+(?P<to>to\s+)?(?=\w)", re.IGNORECASE)
_POINTED_AT: Final = re.compile(
    r"\s+(?:the|this|that|these|those|your|his|her|their|how|it|when|to (?:be|see|hear|know|have|think|help|get|make"
    r"|do|go"
    r"|take|share|say|tell|try|keep|feel))\b",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(
    r"[.;:!?()\u2014\u2026]|\s-\s|\s(?:because|since|so|but|which|that|when|who|where|especially|lately|recently|as"
    r"|and (?:i|we|my|it|they|am|have|want))\b",
    re.IGNORECASE,
)
_NOWADAYS: Final = re.compile(
    r"(?:[\s,]+(?:now|these days|nowadays|again|too|as well|any ?more|after all|actually|though))+\s*$", re.IGNORECASE
)
_NARROWED: Final = re.compile(r"\b(?:with|about)\b[^,]*\band\b")
_QUALITY: Final = re.compile(r"(?:[\w-]+\s)*an?\s[\w-]+", re.IGNORECASE)
_RELATIVE: Final = frozenset({"which", "that", "who", "when", "where"})
_NOTHING: Final = word_set(
    """
    idea sound look way thought fact feeling concept design vibe part vibes energy attitude view thinking hearing
    seeing knowing being having getting hear see know be help think say tell try check when how that what if where
    who all everything sharing talking chatting feel looks outfit pic picture photo necklace painting dress
    creations enthusiasm positivity spirit passion support advice company trying hanging catching giving about
    """
)
"""First or last words of what is liked for the moment, or in what someone else has shown."""
_BARE_ACTIVITIES: Final = word_set("going doing watching learning making taking helping spending")
"""Activities that say nothing without what is done."""
_NOT_ANY: Final = re.compile(r"(?:no|not|never)\b", re.IGNORECASE)
_SHARED: Final = word_set("movies films shows books novels")
_SOMEONES: Final = re.compile(r"\b(?:my|our|me|us|i|his|her|their|them|others)\b", re.IGNORECASE)
_INSIDE: Final = word_set("of the in on to with at by for before after without")
_LIKES: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("like", "love", "enjoy", "adore"), True),
    **dict.fromkeys(("hate", "dislike", "detest", "despise", "loathe"), False),
}
_INTO: Final = re.compile(
    r"(?:(?:really|very|super|so|totally|quite|huge|big)\s+)*(?:(?:a|an)\s+)?(?:(?:really|huge|big|massive|avid|die-hard)\s+)*"
    r"(?P<how>fan of|sucker for|all about|drawn to|into|fond of|passionate about|obsessed with|crazy about|keen on"
    r"|interested in|good at|lover of)(?=\s)",
    re.IGNORECASE,
)
_COME_ROUND: Final = re.compile(
    r"\s+(?:(?:a?round\s+)?to\s+(?:like|love|enjoy|liking|loving|enjoying)|a?round\s+to|(?P<off>(?:right\s+)?off))"
    r"(?=\s)(?!\s+(?:on|to|at|in|with|for|the|and)\b)",
    re.IGNORECASE,
)
_DOSE: Final = re.compile(rf"\s*(?:of\s+)?{DOSE}", re.IGNORECASE)
_TAKEN: Final = re.compile(r"[,.;:!?(]|\s(?:and|because|since|so|but|which)\b")
_OR: Final = re.compile(r"\s+(?:or|and)\s")
_PAIR: Final = 2
_MOST: Final = 4
_LONGEST: Final = 5
_LONGEST_FOOD: Final = 3
_LONGEST_DOSE: Final = 100


def liking(clause: Clause, _said: Said) -> Iterator[Draft]:
    """Read `love hiking`, `hate cilantro`, `don't like mushrooms`, `like to swim`."""
    once = clause.perfect and not (clause.progressive or "always" in clause.adverbs)
    if clause.present and not once and not clause.passive and clause.subject.name != "it":
        for one in _things(clause.rest):
            yield _taste(clause, one, likes=_LIKES[clause.lemma] != clause.negated)


def fancying(clause: Clause, _said: Said) -> Iterator[Draft]:
    """Read `a big fan of jazz`, `into photography`, `not keen on sushi`, `good at chess`."""
    found = _INTO.match(clause.rest) if clause.copula and clause.present and clause.subject.name != "it" else None
    how = found["how"].lower() if found else ""
    if found is None or (clause.negated and how in {"interested in", "good at"}):
        return
    for one in _things(clause.rest[found.end() :]):
        asked = one[0].isupper() or one.split()[0].endswith("ing")
        if how == "interested in" and asked:
            return
        if how == "good at":
            yield fact(clause, "good-at", one, stateful=False, importance=0.5, topic="personal")
        else:
            yield _taste(clause, one, likes=not clause.negated, inferred=how == "interested in")


def coming_round(clause: Clause, _said: Said) -> Iterator[Draft]:
    """Read `come round to olives`, `grown to love jazz`, `gone off tea`."""
    found = _COME_ROUND.match(clause.rest) if clause.happened else None
    away = found is not None and found["off"] is not None
    if found is not None and clause.perfect and away == (clause.lemma == "go"):
        for one in _things(clause.rest[found.end() :]):
            yield _taste(clause, one, likes=not away)


def standing(clause: Clause, _said: Said) -> Iterator[Draft]:
    """Read `can't stand noise`."""
    for one in _things(clause.rest) if clause.negated and clause.modal == "can" else ():
        yield _taste(clause, one, likes=False)


def _taste(clause: Clause, one: str, *, likes: bool, inferred: bool = False) -> Draft:
    key, how = f"likes.{slug(one, 8, whole=True)}", "likes" if likes else "dislikes"
    return preference(clause, key, how, importance=0.5 if inferred else 0.8, topic="personal", inferred=inferred)


def _things(rest: str) -> Iterator[str]:
    """Yield what is liked, as far as it can be liked in general: `hiking and jazz`, but not `the way you ...`."""
    lead = _LIKED.match(rest)
    stop = _ENDS.search(rest)
    # "books that delve into society" are not all books
    if lead is None or _POINTED_AT.match(rest) or (stop and stop.group().strip().lower() in _RELATIVE):
        return
    whole = _NOWADAYS.sub("", rest[lead.end() : stop.start()] if stop else rest[lead.end() :])
    if _NARROWED.search(whole):
        return
    parts = _with_head(listed(whole))[:_MOST]
    if any(_QUALITY.fullmatch(part.strip()) for part in parts[:-1]):  # "creating a safe, inviting place"
        return
    for part in parts:
        found = thing(part, through=_INSIDE)
        own = found is not None and (_SOMEONES.match(found.text) or _NOT_ANY.match(found.text))
        if found is None or own or found.end < len(part.rstrip()) or not _in_general(found.name):
            return
        yield gerund(found.first) + found.name[len(found.first) :] if lead["to"] else found.name


def _with_head(parts: list[str]) -> list[str]:
    """Give the first of `action and sci-fi movies` the noun that both share."""
    if len(parts) != _PAIR:
        return parts
    first, shared = parts[0].strip(), parts[1].strip().rpartition(" ")[2]
    bare = " " not in first and not first.endswith(("s", "ing"))
    return [f"{first} {shared}", parts[1]] if bare and shared.lower() in _SHARED else parts


def _in_general(name: str) -> bool:
    words = name.lower().split()
    vague = _NOTHING | _BARE_ACTIVITIES if len(words) == 1 else _NOTHING
    return (
        len(words) <= _LONGEST
        and words[0] not in vague
        and words[-1] not in _NOTHING | BREAKERS
        and not _SOMEONES.search(name)
    )


def consuming(clause: Clause, _said: Said) -> Iterator[Draft]:
    """Read `don't eat meat`, `never drink alcohol`, `don't smoke`, `avoid gluten`."""
    denied = clause.negated != (clause.lemma == "avoid")
    if not denied or not clause.present or clause.perfect or clause.progressive:
        return
    if clause.lemma == "smoke":
        yield preference(clause, "smoking.habit", "does not smoke", topic="health")
        return
    found = thing(clause.rest)
    more = found is not None and _OR.match(clause.rest, found.end)
    for one in listed(clause.rest if more else found.text) if found else ():
        name = value(one)
        if name and len(name.split()) <= _LONGEST_FOOD and (clause.lemma != "avoid" or name.lower() in FOODS):
            yield preference(clause, f"diet.{slug(name)}", f"no {name}", topic="food")


def taking(clause: Clause, _said: Said) -> Iterator[Draft]:
    """Read `take metformin 500 mg`, `was prescribed insulin`, `on antidepressants`."""
    if clause.copula and not clause.rest.startswith("on "):
        return
    text = clause.rest.removeprefix("on ")
    found = thing(text)
    taken = clause.holds or (clause.passive and not clause.negated and clause.modal is None)
    if found is None or not taken:
        return
    known = MEDICINES.intersection(found.name.lower().split()) or _DOSE.search(found.name) or is_medicine(found.name)
    prescribed = clause.lemma == "prescribe"
    dose = value(_TAKEN.split(text)[0])
    if dose and len(dose) <= _LONGEST_DOSE and (known or prescribed or _DOSE.match(text, found.end)):
        predicate = "prescribed" if prescribed else "takes"
        yield fact(clause, predicate, told_of(dose), stateful=False, importance=0.9, topic="health")


RULES: Final[Mapping[str, tuple[Rule, ...]]] = {
    **dict.fromkeys(_LIKES, (liking,)),
    "be": (fancying, taking),
    "stand": (standing,),
    **dict.fromkeys(("come", "grow", "go"), (coming_round,)),
    **dict.fromkeys(("eat", "drink", "smoke", "avoid"), (consuming,)),
    **dict.fromkeys(("take", "prescribe"), (taking,)),
}
