"""Tastes: what someone likes, dislikes, avoids, fears or refuses, and what they do always, never or only.

A frame says how someone stands to a thing (`can't stand`, `have a weakness for`); what follows it is read whole, or
divided where each part is whole by itself, or left to its turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from app.english.names import words_of
from app.english.rules.clause import Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, preference
from app.english.rules.grammar import ADVERBS, is_verb
from app.english.rules.noun_phrases import BREAKERS, in_third_person, list_items, says_something, slug, without_fillers
from app.english.verbs import form_of, gerund, third_person
from app.english.word_lists import FOODS, pattern, word_set, words

_FRAMES: Final = tuple(
    (attitude, pattern("tastes", attitude, re.IGNORECASE))
    for attitude in ("avoids", "fears", "refuses", "dislikes", "likes")
)
"""How someone stands to what follows; the first frame that fits decides."""

_OPPOSITES: Final[Mapping[str, str]] = {"likes": "dislikes", "dislikes": "likes"}
_POINTED_AT: Final = pattern("tastes", "pointed at", re.IGNORECASE)
_SENSED: Final = pattern("tastes", "sensed", re.IGNORECASE)
"""What may be liked of a thing in general: `the smell of fresh paint`."""

_ENDS: Final = pattern("tastes", "ends", re.IGNORECASE)
_NARROWING: Final = word_set("which that who when where while if unless until as lately recently")
"""Words after which a thing is narrowed: books that delve into society are not all books."""

_AGAINST: Final = pattern("tastes", "against", re.IGNORECASE)
_WHENEVER: Final = pattern("tastes", "whenever", re.IGNORECASE)
_NOTHING: Final = words("tastes", "nothing liked")
"""First or last words of what is liked for the moment, or in what someone else has shown."""

_BARE_ACTIVITIES: Final = word_set("going doing watching learning making taking helping spending being")
"""Activities that say nothing without what is done."""

_DEGREES: Final = pattern("tastes", "degrees", re.IGNORECASE)
_TO: Final = re.compile(r"\s*to\s+(?=[a-z])")
_REPEATED: Final = pattern("tastes", "repeated", re.IGNORECASE)
_GOES_ON: Final = pattern("tastes", "goes on", re.IGNORECASE)
_PAIRED: Final = re.compile(r"\s*(?P<how>both|either|neither|no|not|never)\s+", re.IGNORECASE)
_NEITHER: Final = re.compile(r"\s+nor\s+", re.IGNORECASE)
_FIRM: Final = re.compile(r"[A-Z]\S* & [A-Z]")
"""One name or two: `Marks & Spencer`."""

_SOMEONES: Final = re.compile(r"\b(?:my|our|me|us|i|his|her|their|them|they|he|she|others?)\b", re.IGNORECASE)
_POINTING: Final = pattern("tastes", "pointing", re.IGNORECASE)
OFFERED: Final = pattern("preferences", "offered", re.IGNORECASE)
"""What says something only beside what it is chosen from."""
_DETERMINED: Final = re.compile(r"(?:an?|the|some|any)\s", re.IGNORECASE)
_PLAIN: Final = re.compile(r"(?:\w+(?:s|ing)|[A-Z]\w+)$")
"""A last word that ends a thing by itself: a plural, an activity, a name."""

_TORN: Final = re.compile(r"\ban?\s[\w-]+$|^\S+\s(?!\w+(?:s|ing)$)[a-z]+$", re.IGNORECASE)
"""What ends in an adjective as like as not: `creating a safe` of `creating a safe and quiet place`."""

_JOINING: Final = re.compile(r"\s(?:of|with|about|between|in|on|from|for)\s", re.IGNORECASE)
_MOST: Final = 4
_LONGEST: Final = 9
_LONGEST_SHARED: Final = 8
_USING: Final = re.compile(r"^\s*using\s+", re.IGNORECASE)
_KEY_WORDS: Final = 14


def tastes(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `love hiking`, `can't stand cilantro`, `not a fan of sushi`, `has an aversion to wool`, `refuse to fly`."""
    if clause.subject.name == "it" or clause.passive or clause.used_to or clause.progressive:
        return
    once = clause.perfect and "always" not in clause.adverbs
    if once or not (clause.present or (clause.negated and clause.modal in {"can", "could"})):
        return
    said = _predicate(clause)
    for attitude, frame in _FRAMES:
        found = frame.match(said)
        if found is not None:
            yield from _stands(clause, attitude, said[found.end() :], to=attitude == "refuses")
            return


def is_taste(clause: Clause) -> bool:
    """Tell whether a frame other than plain liking reads the clause: `prefer to avoid motorways`."""
    return any(frame.match(_predicate(clause)) for attitude, frame in _FRAMES if attitude != "likes")


def _predicate(clause: Clause) -> str:
    """Return the words from the verb on, with the denial first and without adverbs before the verb."""
    denied = "not " if clause.negated else ""
    modal = f"{clause.modal} " if clause.modal else ""
    rest = f" {clause.rest}" if clause.copula else clause.rest
    return _REPEATED.sub(r"\1", f"{denied}{modal}{clause.lemma}{rest}")  # "love love love mangos"


def _stands(clause: Clause, attitude: str, rest: str, *, to: bool) -> Iterator[Draft]:
    paired = _PAIRED.match(rest)
    how = paired["how"].lower() if paired else ""
    if paired is not None and how in {"both", "either", "neither"}:
        rest = rest[paired.end() :]
    if how in {"no", "not", "never"}:
        return
    attitude = _OPPOSITES.get(attitude, attitude) if how == "neither" else attitude
    for one in things(rest, to=to):
        yield taste(clause, one, attitude)


def taste(clause: Clause, one: str, attitude: str) -> Draft:
    """Return how someone stands to a thing, under the key of that thing."""
    if attitude == "avoids" and one.lower() in FOODS:
        return preference(clause, f"diet.{slug(one)}", f"no {one}", topic="food")
    key = f"likes.{slug(one, _KEY_WORDS, whole=True)}"
    return preference(clause, key, attitude, importance=0.8, topic="personal")


def things(rest: str, *, to: bool = False) -> list[str]:
    """Return what is liked, as far as it can be liked in general: `hiking and jazz`, but not `the way you ...`.

    `to`: the frame ends in it, so a verb follows.
    """
    lead = _TO.match(rest)
    verbs = to or lead is not None
    if lead is not None:
        rest = rest[lead.end() :]
    elif _POINTED_AT.match(rest) and not _SENSED.match(rest):
        return []
    whole = _ended(_AGAINST.split(_WHENEVER.sub("", _USING.sub("", rest, count=1)))[0])
    return [] if whole is None or _FIRM.search(whole) else _in_parts(whole, verbs=verbs)


def _ended(rest: str) -> str | None:
    """Return the words up to a reason or another thought; None where they are narrowed, or a part of a sentence."""
    stop = _ENDS.search(rest)
    if stop is None:
        return without_fillers(rest)
    mark = stop.group()
    if mark.strip().lower() in _NARROWING or (not mark[-1:].isalpha() and rest[stop.end() : stop.end() + 1].isalnum()):
        return None  # "a 1.7 lens"
    return without_fillers(rest[: stop.start()])


def _in_parts(whole: str, *, verbs: bool) -> list[str]:
    """Return the parts of an enumeration that are whole by themselves, or all of it where they share a word."""
    listed = list_items(_NEITHER.sub(" or ", whole), verbs=verbs)
    listed = [part for part in listed if not ADVERBS.issuperset(part.lower().split())]
    if not listed or len(listed) > _MOST:
        return []
    rest = whole[whole.find(listed[-1]) + len(listed[-1]) :]
    shared = len(listed) > 1 and not _are_whole(listed, verbs=verbs)
    together = shared or _GOES_ON.match(rest) is not None  # "driving at night and in the rain"
    found = [_bare(whole)] if together else [_bare(part) for part in listed]
    if not all(_in_general(one, _LONGEST_SHARED if shared else _LONGEST) for one in found):
        return []
    return [_activity(one) for one in found] if verbs else found


def _bare(part: str) -> str:
    """Return a part without words of degree at its end."""
    return _DEGREES.sub("", without_fillers(part.strip())).strip()


_ADVERBS_FIRST: Final = re.compile(rf"^(?:(?:{'|'.join(sorted(ADVERBS))})\s+)+")


def _activity(one: str) -> str:
    first, _, others = _ADVERBS_FIRST.sub("", one).partition(" ")
    return f"{gerund(first.lower())} {others}".rstrip()


def _are_whole(parts: list[str], *, verbs: bool) -> bool:
    """Tell whether each part of a list is a thing by itself; those of `red and white wine` share a word.

    So are single words, verbs with what belongs to them, and plurals, activities and names before the last.
    """
    texts = [part.strip() for part in parts]
    forms = [form_of(text.split()[0]) for text in texts]
    if all(" " not in text for text in texts):
        return True
    if verbs:
        return all(form is not None and "base" in form.kinds for form in forms)
    doing = [text.split()[0].lower().endswith("ing") for text in texts]
    several = len(texts) > 2  # noqa: PLR2004 - a list of more than a pair shows what it lists
    if all(doing):
        shared = not several and " " not in texts[0] and " " in texts[1]  # "reading and writing poetry"
        return not (shared or any(_TORN.search(text) for text in texts[:-1]))
    if (doing[0] and " " in texts[0]) or any(_JOINING.search(text) for text in texts[:-1]):
        return False  # "cooking with herbs and spices"
    determined = [_DETERMINED.match(text) is not None for text in texts]
    if several and _PLAIN.search(texts[0]):
        return not any(determined)
    return all(determined) or not any(
        _DETERMINED.match(text) or text.istitle() or not _PLAIN.search(text) for text in texts[:-1]
    )


def _in_general(one: str, longest: int) -> bool:
    """Tell whether the words name something in general: no one's, not pointed at, not of the moment."""
    said = one.lower().split()
    if not said or len(said) > longest or not says_something(one.removeprefix("the ")):
        return False
    vague = _NOTHING | _BARE_ACTIVITIES if len(said) == 1 else _NOTHING
    return (
        (said[0] not in vague or _is_first_of_many(said))
        and said[-1] not in _NOTHING | BREAKERS
        and not _SOMEONES.search(one)
        and not _POINTING.search(one)
        and not OFFERED.search(one)
        and not any(is_verb(word) and word.lower in _AUXILIARIES for word in words_of(one, most=longest))
    )


def _is_first_of_many(said: list[str]) -> bool:
    """Tell whether the first word only narrows the next: `energy drinks`, but not `energy of the place`."""
    return len(said) > 1 and said[1] not in BREAKERS and form_of(said[0]) is None


_AUXILIARIES: Final = word_set(
    "is are was were has had does did will would can could should isn't aren't don't doesn't"
)


_HABITS: Final = ("never", "only", "always")
_NO_HABIT: Final = words("tastes", "no habit")
"""Verbs of states and of talk: `I never know what to say`."""

_GONE_WITHOUT: Final = words("tastes", "gone without")


def habits(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `never eat breakfast`, `only drink decaf`, `always book an aisle seat`, `don't eat meat`, `don't smoke`."""
    how = next((word for word in _HABITS if word in clause.adverbs), None)
    without = clause.negated and how is None and clause.lemma in _GONE_WITHOUT
    told = (how and clause.present and clause.subject.own) or (without and (clause.present or clause.modal == "will"))
    if not told or clause.subject.plural or clause.lemma in _NO_HABIT:
        return
    if clause.perfect or clause.progressive or clause.passive or clause.copula:
        return
    rest = _ONLY_LAST.sub("", clause.rest)
    whole = (without_fillers(rest) if _CONDITION.search(rest) else _ended(rest)) or ""
    if not _in_general(_ANY_SUCH.sub("", whole), _LONGEST) and (
        whole or how == "always" or clause.lemma not in _GONE_WITHOUT
    ):
        return
    done = f"{clause.lemma if without else third_person(clause.lemma)} {in_third_person(whole)}".rstrip()
    key = slug(f"{gerund(clause.lemma)} {whole}", _KEY_WORDS, whole=True)
    yield preference(clause, f"habits.{key}", f"does not {done}" if without else f"{how} {done}", topic="personal")


_CONDITION: Final = re.compile(r"^[^.;:!?]*\s(?:while|when|if|unless|until)\s[^.;:!?]*$", re.IGNORECASE)
"""What limits a habit and stays with it: `only listen to jazz while driving`."""
_ONLY_LAST: Final = re.compile(r"\s+only\s*$")
_ANY_SUCH: Final = re.compile(r"\bmy\s|\b(?:anything|something|stuff|things) (?=with|without|containing|from|made)")


_KIND_OF_PERSON: Final = pattern("tastes", "kind of person", re.IGNORECASE)


def kind_of_person(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `I'm more of a cat person`."""
    found = _KIND_OF_PERSON.fullmatch(clause.rest) if clause.copula and clause.holds else None
    if found is not None:
        yield preference(
            clause, f"habits.{slug(found['what'] or found['known'])}-person", f"is {found.group()}", topic="personal"
        )


_SAID_OF: Final = tuple((how, pattern("tastes", f"said to be {how}", re.IGNORECASE)) for how in ("liked", "disliked"))


def said_of(text: str, clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read sentences whose subject is what is liked: `nothing beats a hot bath`, `cruises are not for me`."""
    for how, frame in _SAID_OF:
        found = frame.fullmatch(without_fillers(text))
        if found is not None and clause.subject.who is Who.SPEAKER:
            what = next(one for one in found.groupdict().values() if one)
            for one in things(f" {what[:1].lower()}{what[1:]}" if what.istitle() is False else f" {what}"):
                yield taste(replace(clause, correction=False), one, how.removesuffix("d") + "s")
            return
