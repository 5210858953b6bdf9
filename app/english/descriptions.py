"""Recognition of people and animals that a text mentions by nouns: `my boss`, `a new intern`, `our cat`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.english.names import Gender
from app.lexical.bm25 import STOP_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """A noun for a person or an animal with its modifiers, and their position in the text.

    `owner` is a possessive at its beginning (`my`, `her`), and `rest` the words after it: `new boss` of `my new boss`.
    `tells` means that the noun is a predicate of another person, as in `Priya is a manager`, and mentions nobody.
    """

    words: str
    start: int
    end: int
    noun: str
    owner: str | None
    rest: str
    plural: bool
    animal: bool
    gender: Gender | None
    tells: bool


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FEMALE: Final = _set(
    "wife girlfriend fiancee fiancée mother mom mum mama daughter sister aunt grandmother grandma granny niece "
    "granddaughter stepmother stepdaughter stepsister godmother sister-in-law mother-in-law daughter-in-law woman lady "
    "girl waitress actress landlady queen princess nun bride widow businesswoman ex-wife ex-girlfriend"
)
_MALE: Final = _set(
    "husband boyfriend fiance fiancé father dad papa son brother uncle grandfather grandpa nephew grandson stepfather "
    "stepson stepbrother godfather brother-in-law father-in-law son-in-law man guy boy gentleman waiter king prince "
    "monk groom widower businessman ex-husband ex-boyfriend bloke"
)
_PEOPLE: Final = (
    _FEMALE
    | _MALE
    | _set(
        """
        spouse partner parent grandparent child kid baby toddler teenager sibling twin cousin relative friend roommate
        flatmate housemate neighbor neighbour colleague coworker co-worker teammate classmate boss manager supervisor
        mentor mentee intern trainee apprentice secretary receptionist recruiter employee employer landlord
        tenant doctor dentist physician surgeon gp therapist psychiatrist psychologist nurse vet midwife pharmacist
        paramedic teacher professor tutor lecturer instructor coach trainer student pupil lawyer attorney judge notary
        accountant banker broker realtor advisor adviser consultant contractor freelancer engineer developer
        programmer designer architect analyst scientist researcher writer author journalist reporter
        photographer artist painter musician singer guitarist drummer dancer actor director producer ceo cto cfo coo
        founder cofounder co-founder chairman president minister mayor politician senator officer policeman policewoman
        cop detective soldier firefighter pilot driver courier postman mailman plumber electrician carpenter mechanic
        gardener cleaner janitor nanny babysitter caretaker chef cook baker butcher waiter bartender barista
        hairdresser barber tailor seller salesman saleswoman shopkeeper cashier customer client patient guest visitor
        stranger person somebody someone player goalkeeper striker captain referee runner swimmer investor
        priest pastor rabbi imam lodger candidate applicant volunteer leader owner expert specialist
        entrepreneur librarian farmer fisherman acquaintance buddy pal mate handyman housekeeper
        """
    )
)
_ANIMALS: Final = _set(
    """
    dog cat puppy kitten hamster rabbit bunny parrot budgie horse pony turtle tortoise goldfish guinea-pig ferret snake
    gecko lizard gerbil chinchilla labrador poodle beagle terrier corgi dachshund husky retriever bulldog chihuahua
    shepherd spaniel pug mare stallion foal cow bull goat sheep pig donkey chicken hen rooster duck goose bird canary
    cockatiel rat pet animal kitty doggy pup tomcat
    """
)
_PLURALS: Final = {
    **{f"{one}s": one for one in _PEOPLE | _ANIMALS},
    "people": "person", "children": "child", "wives": "wife", "men": "man", "women": "woman", "guys": "guy",
    "ladies": "lady", "babies": "baby", "puppies": "puppy", "bunnies": "bunny", "ponies": "pony",
    "folks": "person", "policemen": "policeman", "kitties": "kitty",
}  # fmt: skip
_BY_ENDING: Final = re.compile(r"[a-z]{3,20}(?:ologist|iatrist|odontist|woman|trician)")
_OWNERS: Final = _set("my our your his her their its")
_DETERMINERS: Final = _OWNERS | _set("a an the this that these those some another one every each any no what two three")
_ALONE: Final = _set("mom mum dad mama papa grandma grandpa granny someone somebody")
"""Nouns that need no determiner."""

_FAR: Final = 5
"""Most words between a noun and its determiner."""

_COPULAS: Final = _set(
    "is was are were am be been being become becomes became isn't wasn't aren't i'm you're we're they're he's she's as"
)
_EXPLETIVES: Final = _set("there it that this there's it's that's")
_BETWEEN: Final = _set("also now still actually really not just only probably currently such quite both basically")
_OF_THINGS: Final = _set(
    "service support card appointment office food house shelter book account team group meeting party base list data "
    "id toy bed lover clinic show"
)
"""Nouns after a noun that is their modifier: `the customer service`."""

_WORD: Final = re.compile(r"[^\W_](?:[\w-]*[^\W_])?(?:['\u2019](?:s|m|re|t|ve|d|ll)?(?!\w))?")
_WHOSE: Final = re.compile(r"['\u2019]s?$")


@dataclass(frozen=True, slots=True)
class _NounWord:
    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        return self.text.casefold().replace("\u2019", "'")

    @property
    def bare(self) -> str:
        return _WHOSE.sub("", self.low)


def gender_of_noun(noun: str) -> Gender | None:
    """Return the gender of the person that a noun means: a wife is a she; None for most nouns."""
    if noun in _FEMALE:
        return Gender.FEMALE
    return Gender.MALE if noun in _MALE else None


def is_person(noun: str) -> bool:
    """Return whether the noun means a person."""
    return noun in _PEOPLE


def descriptions_in(text: str) -> list[Description]:
    """Return the people and animals that a text mentions by nouns, in order; in linear time."""
    words = [_NounWord(one.group(), one.start(), one.end()) for one in _WORD.finditer(text)]
    found = (_unnamed(text, words, place) for place in range(len(words)))
    return [one for one in found if one is not None]


def _unnamed(text: str, words: Sequence[_NounWord], place: int) -> Description | None:
    word = words[place]
    noun = _PLURALS.get(word.bare, word.bare)
    if noun not in _PEOPLE and noun not in _ANIMALS and not _BY_ENDING.fullmatch(noun):
        return None
    first = _beginning(text, words, place)
    if first is None or _says_whose(text, words, place):
        return None
    opener, end = words[first], word.start + len(word.bare)
    owned = first < place and (opener.low in _OWNERS or opener.low != opener.bare)
    return Description(
        words=text[opener.start : end],
        start=opener.start,
        end=end,
        noun=noun,
        owner=opener.text if owned else None,
        rest=text[words[first + 1 if first < place else place].start : end],
        plural=noun != word.bare,
        animal=noun in _ANIMALS,
        gender=gender_of_noun(noun),
        tells=_tells(text, words, first),
    )


def _beginning(text: str, words: Sequence[_NounWord], place: int) -> int | None:
    """Return the position of a noun's determiner or first modifier; None when the noun means nobody."""
    for first in range(place - 1, max(-1, place - _FAR - 1), -1):
        word = words[first]
        if text[word.end : words[first + 1].start].strip():
            break
        if word.low in _DETERMINERS or (word.low != word.bare and word.low not in _COPULAS | _EXPLETIVES):
            return first
        if word.low in STOP_WORDS["english"]:
            break
    noun = words[place].bare
    return place if noun in _ALONE or noun in _PLURALS else None


def _says_whose(text: str, words: Sequence[_NounWord], place: int) -> bool:
    """Return whether the noun only modifies another one: `my boss's wife`, `the customer service`."""
    word = words[place]
    if place + 1 == len(words) or text[word.end : words[place + 1].start].strip():
        return False
    after = words[place + 1].low
    return after in _OF_THINGS or (word.low != word.bare and after != "name" and after not in STOP_WORDS["english"])


def _tells(text: str, words: Sequence[_NounWord], first: int) -> bool:
    """Return whether the words from a position on are a predicate: `is a manager`, but not `there is a manager`."""
    place = first - 1
    while place >= 0 and words[place].low in _BETWEEN:
        place -= 1
    if place < 0 or _breaks(text, words, place):
        return False
    verb = words[place].low
    if verb == "as" or "'" in verb:
        return verb in _COPULAS or (verb.endswith("'s") and verb not in _EXPLETIVES)
    begins = place == 0 or _breaks(text, words, place - 1)
    return verb in _COPULAS and not begins and words[place - 1].low not in _EXPLETIVES


def _breaks(text: str, words: Sequence[_NounWord], place: int) -> bool:
    return bool(text[words[place].end : words[place + 1].start].strip())
