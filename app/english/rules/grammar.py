"""Reading of one clause: its subject, its auxiliaries and adverbs, its verb."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Final

from app.english.descriptions import OWN_KIN
from app.english.names import COMMON, NameToken, adjoining, bare_name, name_at, words_of
from app.english.rules.clause import Clause, SpeakerContext, Subject, Tense, Who
from app.english.rules.noun_phrases import BREAKERS
from app.english.verbs import Form, form_of, looks_past
from app.english.word_lists import is_doctor, word_set, words
from app.memory.vocabulary import USER

CONTRACTED: Final = re.compile(r"(?P<base>.+)'(?P<ending>m|re|s|ve|d|ll)", re.IGNORECASE)
ENDINGS: Final = {"m": "am", "re": "are", "s": "is", "ve": "have", "d": "would", "ll": "will"}
UNCONTRACTED: Final = {
    "im": ("i", "am"), "ive": ("i", "have"), "id": ("i", "would"), "cant": ("can", "not"), "wont": ("will", "not"),
    **{f"{base}nt": (base, "not") for base in ("do", "does", "did", "is", "are", "was", "were", "would", "could")},
}  # fmt: skip
"""Contractions written without their apostrophe."""

BE: Final = {**dict.fromkeys(("am", "is", "are"), Tense.PRESENT), **dict.fromkeys(("was", "were"), Tense.PAST)}
HAVE: Final = {**dict.fromkeys(("have", "has"), Tense.PRESENT), "had": Tense.PAST}
DO: Final = {**dict.fromkeys(("do", "does"), Tense.PRESENT), "did": Tense.PAST}
MODALS: Final = word_set("would could should can may might must shall cannot ought needn")
ADVERBS: Final = words("grammar", "adverbs")
_AUXILIARIES: Final = BE.keys() | HAVE.keys() | DO.keys() | MODALS | {"will", "isn't", "wasn't", "doesn't", "didn't"}


@dataclass(slots=True)
class TokenCursor:
    """The words of a clause, how far they are read, and auxiliaries contracted with the word before."""

    text: str
    words: list[NameToken]
    at: int = 0
    pending: list[str] = field(default_factory=list)

    def word(self, ahead: int = 0) -> str:
        """Return the word so many places on, in lower case; nothing beyond the end."""
        place = self.at + ahead
        return self.words[place].lower if 0 <= place < len(self.words) else ""

    def after_adverbs(self, ahead: int) -> str:
        """Return the first word from a place on that is neither an adverb nor `not`."""
        while self.word(ahead) in ADVERBS or self.word(ahead) in {"not", "never"}:
            ahead += 1
        return self.word(ahead)


def is_verb(word: NameToken) -> bool:
    """Tell whether a noun ends before the word: it is a finite verb or an auxiliary."""
    if word.lower in _AUXILIARIES or word.lower.endswith("n't"):
        return True
    form = form_of(word.lower)
    return form is not None and bool(form.kinds & {"s", "past"})


_PRONOUNS: Final = {
    **dict.fromkeys(("i", "we"), Who.SPEAKER),
    **dict.fromkeys(("he", "she", "they", "it"), Who.PRONOUN),
}
_MINE: Final = frozenset({"my", "our"})
_LISTENER: Final = frozenset({"you", "your", "yours"})
"""Nothing is read of whom the speaker talks to."""

_THEIRS: Final = {"his": "he", "her": "she", "their": "they"}
_WHOSE: Final = {owner: possessive for possessive, owner in _THEIRS.items()}
_BEFORE_COMPLEMENT: Final = word_set("a an the not in at from allergic based called been my")
"""Words before which the 's of a name is a verb."""

_LIMITING: Final = frozenset({"only", "even", "not", "neither", "both", "either", "maybe", "perhaps"})
"""What stands before a name and is no part of it."""

_TO_SPEAKER: Final = re.compile(r"\b(?:me|us|my)\b", re.IGNORECASE)
_LONGEST: Final = 7


def read_subject(reading: TokenCursor, said: SpeakerContext) -> Subject | None:
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
        who = _PRONOUNS[base]
        return Subject(who=who, name=said.speaker if who is Who.SPEAKER else base, plural=base in {"we", "they"})
    if first in _MINE or first in _THEIRS or _is_own_kin(reading, base) or _is_own_doctor(reading):
        return _possessed(reading, said)
    return None if base in _LISTENER else _user(reading) or _named(reading, said)


def _user(reading: TokenCursor) -> Subject | None:
    """Read `user`, `the user` and `the user's team`."""
    skipped = 1 if reading.word() in {"the", "this"} else 0
    if bare_name(reading.word(skipped)) != "user":
        return None
    reading.at = skipped + 1
    if reading.word(-1) == "user":
        return Subject(who=Who.USER, name=USER)
    noun = _noun(reading)
    return None if noun is None else _owned(USER, noun, None, mine=True)


def _is_own_kin(reading: TokenCursor, word: str) -> bool:
    """Tell whether the words begin with a relative who is called so as by a name: `Mum`, but not `Papa John`."""
    following = reading.words[1] if len(reading.words) > 1 else None
    alone = following is None or not (following.capital and adjoining(reading.text, reading.words[0], following))
    return word in OWN_KIN and reading.words[0].capital and alone


def _is_own_doctor(reading: TokenCursor) -> bool:
    """Tell whether the words begin with a doctor who treats the speaker: `the doctor told me`."""
    if reading.word() != "the":
        return False
    noun = CONTRACTED.fullmatch(reading.word(1))
    return is_doctor(noun["base"] if noun else reading.word(1)) and _TO_SPEAKER.search(reading.text) is not None


def _possessed(reading: TokenCursor, said: SpeakerContext) -> Subject | None:
    """Read `my sister`, `my sister Anna`, `our team`, `Mum`; `his` and `her` stay with whom they belong to."""
    owner = _THEIRS.get(reading.word(), said.speaker)
    mine = reading.word() not in _THEIRS
    reading.at = 1 if mine and reading.word() in {*_MINE, "the"} else int(not mine)
    noun = _noun(reading)
    if noun is None:
        return None
    noun = " ".join(word.lower() if bare_name(word).lower() in OWN_KIN else word for word in noun.split())
    words = noun.split()
    named = next((place for place, word in enumerate(words) if word[0].isupper()), 0)
    if named and words[named - 1].lower() not in BREAKERS and all(map(str.isalpha, words[named:])):
        return _owned(owner, " ".join(words[:named]), " ".join(words[named:]), mine=mine)
    return _owned(owner, noun, None, mine=mine)


def _owned(owner: str, noun: str, given: str | None, *, mine: bool) -> Subject:
    whose = _WHOSE.get(owner, f"{owner}'s")
    return Subject(
        who=Who.POSSESSED, name=given or f"{whose} {noun}", owner=owner, noun=noun.lower(), given=given, mine=mine
    )


def _named(reading: TokenCursor, said: SpeakerContext) -> Subject | None:
    """Read a name, several names, or what a name has: `Sarah`, `John and Sarah`, `Anna's brother`."""
    article = 1 if reading.word() == "the" else 0
    length = name_at(reading.text, reading.words, article)
    if length == 0 or (length > 1 and reading.word(article) in _LIMITING):
        return None
    name = _text(reading, article, article + length)
    reading.at = article + length
    if article:
        return _one(name)
    if length == 1 and not _is_name(bare_name(name), reading, said):
        return None
    if name.endswith(("'s", "s'")):
        return _of_name(reading, bare_name(name))
    return _several(reading, name) or _one(name)


def _text(reading: TokenCursor, first: int, end: int) -> str:
    return reading.text[reading.words[first].start : reading.words[end - 1].end]


def _one(name: str) -> Subject:
    return Subject(who=Who.NAMED, name=name, names=(name,))


def _is_name(word: str, reading: TokenCursor, said: SpeakerContext) -> bool:
    """Tell whether a capital at the beginning makes a name: any sentence begins with one."""
    low = word.lower()
    if low in said.people:
        return True
    form = form_of(low)
    order = form is not None and "base" in form.kinds  # "Develop detailed schedules"
    if order or "'" in low or low in COMMON or low.endswith(("ing", "ly")):
        return False
    followed = reading.at < len(reading.words) and reading.words[reading.at].capital
    return not (followed and reading.word() in COMMON)


def _of_name(reading: TokenCursor, name: str) -> Subject | None:
    """Read `Sarah's a nurse` and `Sarah's team`."""
    if reading.word() in _BEFORE_COMPLEMENT:
        reading.pending.append("has" if reading.word() == "been" else "is")
        return _one(name)
    noun = _noun(reading)
    return None if noun is None else _owned(name, noun, None, mine=False)


def _several(reading: TokenCursor, first: str) -> Subject | None:
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


def _noun(reading: TokenCursor) -> str | None:
    """Return the words up to the first verb, at least one, and go there; None when none comes within reach."""
    begin = reading.at
    for place in range(begin, min(begin + _LONGEST, len(reading.words))):
        word = reading.words[place]
        if place > begin and not adjoining(reading.text, reading.words[place - 1], word):
            return None
        reading.at = place
        if place > begin and _verb_comes(reading, place):
            return _text(reading, begin, place)
        if _is_contracted(reading, place):
            reading.at = place + 1
            reading.pending.append("is")
            return _text(reading, begin, place + 1).removesuffix("'s")
    return None


def _verb_comes(reading: TokenCursor, place: int) -> bool:
    """Tell whether a verb stands at the place, or an adverb before one."""
    word, following = reading.words[place].lower, reading.words[place + 1 : place + 3]
    ahead = 2 if word == "no" else 1
    adverb = (word in ADVERBS or word == "no") and any(map(is_verb, following[ahead - 1 : ahead]))
    return adverb or is_verb(reading.words[place])


def _is_contracted(reading: TokenCursor, place: int) -> bool:
    """Tell whether the noun ends in 's for is: `my name's Alex`, `my sister's a nurse`."""
    following = reading.words[place + 1 : place + 2]
    named = reading.words[place].lower == "name's"
    contracted = reading.words[place].lower.endswith("'s")
    return contracted and any(one.lower in _BEFORE_COMPLEMENT or (named and one.capital) for one in following)


_CAPITAL_NAMES: Final = frozenset({"May", "Will"})
"""A month and a man, not what may or will be."""

_NOT: Final = {"won't": "will", "can't": "can", "cannot": "can"}
_HAS_GOT: Final = re.compile(r"\s+(?!married|engaged|divorced|back|to\b|into\b|used\b|over\b)\w")
_OVER: Final = re.compile(r"\b(?:ago|yesterday|last (?:week|month|year|night|\w+day))\b", re.IGNORECASE)
_PAST: Final = frozenset({"past", "participle"})
_BASE: Final = frozenset({"base"})
_SHORTEST_VERB: Final = 3


@dataclass(slots=True)
class _Verbal:
    """Tense, mood and adverbs, by the words before a verb."""

    tense: Tense = Tense.PRESENT
    negated: bool = False
    modal: str | None = None
    perfect: bool = False
    be: bool = False
    do: bool = False
    used_to: bool = False
    adverbs: set[str] = field(default_factory=set)


def parse(text: str, start: int, said: SpeakerContext) -> Clause | None:
    """Return the clause that the text is; None when it has no subject or verb that is known here.

    `start` is where the text stands in the turn.
    """
    reading = TokenCursor(text, words_of(text))
    subject = read_subject(reading, said)
    return None if subject is None else _predicate(reading, subject, start)


def parse_after(text: str, start: int, subject: Subject) -> Clause | None:
    """Return the clause of a text that leaves its subject out: `and work at Volkswagen`."""
    return _predicate(TokenCursor(text, words_of(text)), subject, start)


def _predicate(reading: TokenCursor, subject: Subject, start: int) -> Clause | None:
    """Return the clause with its main verb; a copula's rest begins right after the auxiliaries."""
    verbal = _auxiliaries(reading)
    if reading.at >= len(reading.words):
        return None
    word = reading.words[reading.at]
    if subject.who is Who.NAMED and word.text[:1].isupper() and not verbal.be and not reading.text.isupper():
        return None  # a title or an item of a list: "Cold Prawns, Cooked"
    form = form_of(word.lower) or _unknown_verb(word, verbal, subject)
    clause = Clause(
        text=reading.text, start=start, first=start, subject=subject, verb=word.lower,
        lemma="" if form is None else form.lemma, rest=reading.text[word.end :], tense=verbal.tense,
        negated=verbal.negated, modal=verbal.modal, perfect=verbal.perfect, used_to=verbal.used_to,
        adverbs=frozenset(verbal.adverbs),
    )  # fmt: skip
    if not verbal.be:
        if verbal.modal == "would" and clause.lemma == "prefer" and not clause.negated:
            return replace(clause, modal=None)
        return None if form is None else _finite(clause, form, verbal)
    return _of_being(clause, word, form)


def _of_being(clause: Clause, word: NameToken, form: Form | None) -> Clause:
    """Return the clause of a form of `be`: in progress, passive, or a copula."""
    if word.lower == "gonna":
        return replace(clause, verb="going", lemma="go", rest=f" to{clause.rest}", progressive=True)
    if form is not None and "ing" in form.kinds:
        return replace(clause, progressive=True)
    if form is not None and "participle" in form.kinds and "base" not in form.kinds and form_of(word.lower):
        return replace(clause, passive=True)
    return replace(clause, verb="be", lemma="be", rest=clause.text[word.start :], copula=True)


def _unknown_verb(word: NameToken, verbal: _Verbal, subject: Subject) -> Form | None:
    """Return the form of a verb that is not listed: by its ending, or by `I`, `must` or `must not` before it."""
    if verbal.modal is None:
        if looks_past(word.lower):
            return Form(word.lower, _PAST)
        bare = subject.who is Who.SPEAKER and not verbal.be
        plain = word.text.isalpha() and word.text.islower() and len(word.text) > _SHORTEST_VERB
        return Form(word.lower, _BASE) if bare and plain and not word.lower.endswith(("ly", "ing")) else None
    rules = verbal.modal == "must" or (verbal.negated and verbal.modal in {"can", "may"})
    return Form(word.lower, _BASE) if rules and word.text.isalpha() and word.text.islower() else None


def _auxiliaries(reading: TokenCursor) -> _Verbal:
    """Read auxiliaries and adverbs up to the main verb."""
    verbal = _Verbal()
    for word in reading.pending:
        _take(word, verbal, reading)
    while reading.at < len(reading.words) and reading.words[reading.at].text not in _CAPITAL_NAMES:
        word = reading.word()
        if word.endswith("n't") or word == "cannot" or word in UNCONTRACTED:
            verbal.negated = True
            word = UNCONTRACTED[word][0] if word in UNCONTRACTED else _NOT.get(word, word.removesuffix("n't"))
        if not _take(word, verbal, reading):
            break
        reading.at += 1
    return verbal


def _take(word: str, verbal: _Verbal, reading: TokenCursor) -> bool:
    """Note what the word says; False when it is no auxiliary or adverb, or is the main verb itself."""
    if word in {"not", "never"} or (word == "no" and _is_over(verbal, reading)):
        verbal.negated = True
        verbal.adverbs.update({word} & {"never"})
    elif word in ADVERBS or word == "longer":
        verbal.adverbs.add(word)
    elif word == "used" and reading.word(1) == "to" and not verbal.be:
        verbal.used_to = True
    elif not (word == "to" and verbal.used_to):
        return _auxiliary(word, verbal, reading)
    return True


def _is_over(verbal: _Verbal, reading: TokenCursor) -> bool:
    """Tell whether `no` begins `no longer`, or `no more a fan of jazz`."""
    if reading.word(1) == "more" and verbal.be and reading.word(2) in {"a", "an", "the"}:
        verbal.adverbs.add("longer")
        reading.at += 1
        return True
    return reading.word(1) == "longer"


def _auxiliary(word: str, verbal: _Verbal, reading: TokenCursor) -> bool:
    if word in BE and not verbal.be:
        verbal.tense, verbal.be = BE[word], True
    elif word in {"been", "be"} and (verbal.perfect or verbal.modal or verbal.used_to):
        verbal.be = True
    elif word in HAVE and not verbal.do and _participle_follows(reading, 1 if reading.word() in HAVE else 0):
        verbal.perfect, verbal.tense = True, HAVE[word]
    elif word in DO and not verbal.do and _base_follows(reading):
        verbal.tense, verbal.do = DO[word], True
    elif word == "will":
        verbal.tense, verbal.modal = Tense.FUTURE, "will"
    elif word in MODALS:
        verbal.modal = word
    else:
        return False
    return True


def _participle_follows(reading: TokenCursor, ahead: int) -> bool:
    """Tell whether a participle comes after adverbs."""
    word = reading.after_adverbs(ahead)
    form = form_of(word)
    return word in {"been", "had"} or looks_past(word) or (form is not None and "participle" in form.kinds)


def _base_follows(reading: TokenCursor) -> bool:
    word = reading.after_adverbs(1)
    form = form_of(word)
    return (form is not None and "base" in form.kinds) or word in _BARE_VERBS


_BARE_VERBS: Final = frozenset({"fancy", "mind", "care"})


def _finite(clause: Clause, form: Form, verbal: _Verbal) -> Clause | None:
    """Return the clause with the tense its verb shows; None when the verb is not one by itself."""
    if verbal.perfect and clause.verb == "got" and _HAS_GOT.match(clause.rest):
        return replace(clause, verb="have", lemma="have", perfect=False, tense=Tense.PRESENT)
    if verbal.perfect or verbal.do or verbal.modal or verbal.used_to:
        return clause
    past, base = "past" in form.kinds, "base" in form.kinds
    if past and base and (form.lemma in {"quit", "split"} or _OVER.search(clause.rest)):
        return replace(clause, tense=Tense.PAST)  # "I quit smoking", "I read it last week"
    one = clause.subject.who in {Who.NAMED, Who.USER} and not clause.subject.plural
    if not (form.kinds & {"past", "base", "s"}) or (base and one and not past):
        return None  # "Networking help ...": no sentence
    return replace(clause, tense=Tense.PAST) if past and (one or not base) else clause
