"""Reading who a clause is about: `I`, `Sarah`, `John and Sarah`, `my sister Anna`, `the user's team`."""

from __future__ import annotations

import re
from typing import Final

from app.memory.vocabulary import USER
from app.providers.rules.clause import Said, Subject, Who
from app.providers.rules.names import COMMON, adjoining, bare, kind_of, name_at
from app.providers.rules.phrases import BREAKERS
from app.providers.rules.reading import ADVERBS, CONTRACTED, ENDINGS, UNCONTRACTED, Reading, is_verb
from app.providers.rules.verbs import form_of
from app.providers.rules.words import word_set

_PRONOUNS: Final = {
    **dict.fromkeys(("i", "we"), Who.SPEAKER),
    **dict.fromkeys(("he", "she", "they", "it"), Who.PRONOUN),
    "you": Who.ADDRESSEE,
}
_MINE: Final = frozenset({"my", "our"})
_THEIRS: Final = {"his": "he", "her": "she", "their": "they"}
_WHOSE: Final = {owner: possessive for possessive, owner in _THEIRS.items()}
_BEFORE_COMPLEMENT: Final = word_set("a an the not in at from allergic based called been my")
"""Words before which the 's of a name is a verb."""
_APPOSITION: Final = re.compile(
    r",\s+(?:the|a|an|our|their|his|her|my|who|from|of)\s[^,;:]{2,60},\s+(?=\w)"
    r"|\s+(?:from|of)\s+(?:the\s+)?(?:[A-Z][\w'-]+\s+){1,4}(?=[a-z])"
)
_GROUP_NOUNS: Final = word_set(
    """
    team teams group company department division lab project app staff board committee office studio family
    """
)
_LIMITING: Final = frozenset({"only", "even", "not", "neither", "both", "either", "maybe", "perhaps"})
"""What stands before a name and is no part of it."""
_LONGEST: Final = 7


def read_subject(reading: Reading, said: Said) -> Subject | None:
    """Return the subject that the words begin with, and go past it; None when there is none that is known here."""
    first = reading.word()
    if first.startswith("i") and first in UNCONTRACTED:
        first, contracted = UNCONTRACTED[first]
        reading.pending.append(contracted)
    ending = CONTRACTED.fullmatch(first)
    base = ending["base"] if ending else first
    if base in _PRONOUNS:
        reading.at = 1
        if ending:
            reading.pending.append(ENDINGS[ending["ending"]])
        return _pronoun(base, said)
    if first in _MINE or first in _THEIRS or first == "your":
        return _possessed(reading, said)
    return _user(reading) or _named(reading, said)


def _pronoun(word: str, said: Said) -> Subject | None:
    who = _PRONOUNS[word]
    if who is Who.SPEAKER:
        return Subject(who=who, name=said.speaker, plural=word == "we")
    if who is Who.ADDRESSEE:
        return None if said.addressee is None else Subject(who=who, name=said.addressee)
    return Subject(who=who, name=word, plural=word == "they")


def _user(reading: Reading) -> Subject | None:
    """Read `user`, `the user` and `the user's team`."""
    skipped = 1 if reading.word() in {"the", "this"} else 0
    if bare(reading.word(skipped)) != "user":
        return None
    reading.at = skipped + 1
    if reading.word(-1) == "user":
        return Subject(who=Who.USER, name=USER)
    noun = _noun(reading)
    return None if noun is None else _owned(USER, noun, None, mine=True)


def _possessed(reading: Reading, said: Said) -> Subject | None:
    """Read `my sister`, `my sister Anna`, `our team`; `his` and `her` stay with whom they belong to."""
    mine = reading.word() in _MINE
    owner = said.speaker if mine else _THEIRS.get(reading.word(), said.addressee)
    reading.at = 1
    noun = _noun(reading)
    if noun is None or owner is None:
        return None
    words = noun.split()
    named = next((place for place, word in enumerate(words) if word[0].isupper()), 0)
    if (
        named
        and words[named - 1].lower() not in BREAKERS
        and all(word[0].isupper() and word.isalpha() and len(word) > 1 for word in words[named:])
    ):
        return _owned(owner, " ".join(words[:named]), " ".join(words[named:]), mine=mine)
    return _owned(owner, noun, None, mine=mine)


def _owned(owner: str, noun: str, given: str | None, *, mine: bool) -> Subject:
    whose = _WHOSE.get(owner, f"{owner}'s")
    return Subject(
        who=Who.POSSESSED, name=given or f"{whose} {noun}", owner=owner, noun=noun.lower(), given=given, mine=mine
    )


def _named(reading: Reading, said: Said) -> Subject | None:
    """Read a name, several names, or what a name has: `Sarah`, `John and Sarah`, `Anna's brother`."""
    article = 1 if reading.word() == "the" else 0
    length = name_at(reading.text, reading.words, article)
    if length == 0 or (length > 1 and reading.word(article) in _LIMITING):
        return None
    name = _text(reading, article, article + length)
    reading.at = article + length
    if article:
        return _the(reading, name)
    if length == 1 and not _is_name(bare(name), reading, said):
        return None
    if name.endswith(("'s", "s'")):
        return _of_name(reading, bare(name))
    several = _several(reading, name)
    if several is None:
        _skip_apposition(reading)
    return several or _one(name)


def _text(reading: Reading, first: int, end: int) -> str:
    return reading.text[reading.words[first].start : reading.words[end - 1].end]


def _one(name: str) -> Subject:
    return Subject(who=Who.NAMED, name=name, names=(name,))


def _is_name(word: str, reading: Reading, said: Said) -> bool:
    """Tell whether a capital at the beginning makes a name: any sentence begins with one."""
    low = word.lower()
    if low in said.people:
        return True
    form = form_of(low)
    order = form is not None and "base" in form.kinds and kind_of(word) is None  # "Develop detailed schedules"
    if order or "'" in low or low in COMMON or low.endswith(("ing", "ly")):
        return False
    followed = reading.at < len(reading.words) and reading.words[reading.at].capital
    return not (followed and reading.word() in COMMON)


def _the(reading: Reading, name: str) -> Subject:
    """Read `the Crestmoor Systems team` as a name of its own."""
    if reading.word() in _GROUP_NOUNS:
        name = f"{name} {reading.words[reading.at].text}"
        reading.at += 1
    return _one(name)


def _of_name(reading: Reading, name: str) -> Subject | None:
    """Read `Sarah's a nurse` and `Sarah's team`."""
    form = form_of(reading.word())
    if reading.word() in _BEFORE_COMPLEMENT or (form is not None and form.kinds == {"ing"}):
        reading.pending.append("has" if reading.word() == "been" else "is")
        return _one(name)
    noun = _noun(reading)
    return None if noun is None else _owned(name, noun, None, mine=False)


def _several(reading: Reading, first: str) -> Subject | None:
    names = [first]
    while reading.word() in {"and", "&"}:
        length = name_at(reading.text, reading.words, reading.at + 1)
        if length == 0:
            break
        names.append(_text(reading, reading.at + 1, reading.at + 1 + length))
        reading.at += length + 1
    if len(names) == 1:
        return None
    return Subject(who=Who.NAMED, name=" and ".join(names), names=tuple(names), plural=True)


def _skip_apposition(reading: Reading) -> None:
    """Go past what is said of a name between commas: `Karis Tornau, the volunteer coordinator, walked ...`."""
    found = _APPOSITION.match(reading.text, reading.words[reading.at - 1].end)
    while found and reading.at < len(reading.words) and reading.words[reading.at].start < found.end():
        reading.at += 1


def _noun(reading: Reading) -> str | None:
    """Return the words up to the first verb, at least one, and go there; None when none comes within reach."""
    begin = reading.at
    for place in range(begin, min(begin + _LONGEST, len(reading.words))):
        word = reading.words[place]
        if place > begin and not adjoining(reading.text, reading.words[place - 1], word):
            return None
        if place > begin and _verb_comes(reading, place):
            reading.at = place
            return _text(reading, begin, place)
        if _is_contracted(reading, place):
            reading.at = place + 1
            reading.pending.append("is")
            return _text(reading, begin, place + 1).removesuffix("'s")
    return None


def _verb_comes(reading: Reading, place: int) -> bool:
    """Tell whether a verb stands at the place, or an adverb before one."""
    following = reading.words[place + 1] if place + 1 < len(reading.words) else None
    adverb = reading.words[place].lower in ADVERBS and following is not None and is_verb(following)
    return adverb or is_verb(reading.words[place])


def _is_contracted(reading: Reading, place: int) -> bool:
    """Tell whether the noun ends in 's for is: `my name's Alex`, `my sister's a nurse`."""
    word = reading.words[place].lower
    following = reading.words[place + 1] if place + 1 < len(reading.words) else None
    if not word.endswith("'s") or following is None:
        return False
    return following.lower in _BEFORE_COMPLEMENT or (word == "name's" and following.capital)
