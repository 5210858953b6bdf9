"""The vocabulary of synthetic memories: real words by kind, and a long tail of made-up names.

Words are drawn by rank with Zipf's law, so that document frequencies look as they do in real text: a few
terms in many memories, most terms in a handful.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate, product
from random import Random

_EXPONENT = 1.05
_SHIFT = 2.7
"""Zipf-Mandelbrot: weight of rank r is 1 / (r + shift) ^ exponent."""


def _words(text: str) -> list[str]:
    return text.split()


FIRST = _words("""Sarah Priya Tom Maria Jonas Aisha Daniel Elena Kenji Fatima Lucas Ingrid Omar Chloe Mateo Hanna Victor
Amara Nikhil Greta Samuel Yara Felix Noor Diego Astrid Bruno Leila Marcus Sofia Anders Zainab Hugo Mina Peter
Carmen Ravi Clara Tomas Nadia Oscar Ines Pavel Ruth Emil Dalia Simon Vera Karim Lotte""")

LAST = _words("""
Sharma Novak Okafor Lindqvist Moreau Tanaka Haddad Brandt Costa Petrov Keller Osei Fischer Romano Nguyen
Andersen Kaya Dubois Silva Walsh Mendoza Yilmaz Schneider Ahmed Laurent Kowalski Bauer Rossi Iyer Berg Santos
Fraser Weber Molina Jansen Park Horvath Quinn Abebe Marchetti Vogel Castillo Nakamura Doyle Ferrari Singh Larsen
Baker Cohen Reyes""")

PLACES = _words("""Berlin Lisbon Nairobi Osaka Toronto Wolfsburg Prague Cusco Bergen Chennai Dublin Accra Lyon Austin
Tallinn Porto Seoul Quito Malmo Cairo Vienna Bristol Naples Zagreb Perth Leeds Ghent Turin Oslo Hanoi""")

ROLES = _words("""engineer designer manager nurse teacher analyst architect accountant writer researcher recruiter chef
electrician translator pharmacist gardener librarian pilot carpenter photographer""")

NOUNS = _words("""project meeting report garden invoice budget deadline recipe guitar bicycle kitchen contract release
database server holiday dog apartment presentation customer marathon painting camera novel interview laptop
headache dashboard migration workshop festival harvest mortgage piano telescope vaccine passport subscription
warehouse algorithm curriculum orchard sailboat podcast prototype keyboard greenhouse insurance charity survey
allergy backlog bookshelf bridge campaign ceramics chess choir compost concert conference coffee compiler cottage
course crossword cushion debate diary discount drone espresso essay exhibition fireplace firewall flight forecast
fountain fundraiser gallery glacier grant hammock harbour helmet hike hostel incident internship island jacket
journal kayak kettle ladder lantern lecture library lighthouse locker lottery mailbox market medal memo microscope
mortar museum mushroom notebook oven parade parcel patent pension pottery printer promotion puzzle quilt radio
railway receipt refund renovation reservoir retreat rooftop router rug runway saddle scholarship sculpture seminar
shelter sketch slide snowboard soup spreadsheet stadium stapler startup staircase suitcase sunscreen surgery
tablet tent theatre thermostat ticket timetable toolbox tournament tractor trail translation treadmill tripod
tunnel tutorial umbrella upgrade vaccine valley vineyard violin visa volcano voucher wallpaper wardrobe webinar
wheelchair windmill workbench yoga zipper""")

ADJECTIVES = _words("""new old quiet broken annual blue urgent handmade expensive local final noisy weekly tiny secret
wooden shared vegan outdoor vintage delayed remote early annual second portable electric monthly fragile borrowed
spare rusty bright crowded damp elegant frozen gentle hollow idle jagged kind lively mild narrow oval plain rapid
steep tidy upper vivid warm young""")

VERBS = _words("""finished planned bought repaired cancelled reviewed moved painted started lost found shipped discussed
designed postponed sold cleaned recorded visited booked tested translated measured borrowed replaced described
examined forgot grew hosted imported joined kept launched mended negotiated opened packed questioned returned
sketched taught updated wrapped approved assembled baked carried drafted exchanged folded""")

DOMAINS = _words("""editor explanations coffee travel music food meetings email calendar reading exercise news movies
shopping gardening sleep weather maps photos payments notifications browser terminal keyboard lighting""")

ATTRIBUTES = _words("""theme length temperature seat volume spice duration tone colour format schedule brand language
size style frequency order layout speed contrast""")

TOPICS = _words("work health home travel family money sport music food study pets politics")

_SYLLABLES = _words("ba ko ri ven tal mo sha del quin zor lem pa nix hu cas tro vi wen dra fel")
_ENDINGS = _words("on ix ara ium ette os ell ic ova ant")


class Zipf:
    """Draws items by rank: the first most often."""

    def __init__(self, items: Sequence[str]) -> None:
        self._items = items
        self._weights = list(accumulate(1 / (rank + _SHIFT) ** _EXPONENT for rank in range(len(items))))

    def draw(self, random: Random) -> str:
        """Return one item."""
        return random.choices(self._items, cum_weights=self._weights)[0]


@cache
def pool(name: str) -> Zipf:
    """Return one of the vocabularies; made once a process."""
    return Zipf(_POOLS[name])


def _people() -> list[str]:
    names = [f"{first} {last}" for first, last in product(FIRST, LAST)]
    Random(7).shuffle(names)  # noqa: S311 - a fixed order, not a secret
    return names


def _made_up() -> list[str]:
    names = [f"{a}{b}{end}".capitalize() for a, b, end in product(_SYLLABLES, _SYLLABLES, _ENDINGS)]
    Random(11).shuffle(names)  # noqa: S311 - a fixed order, not a secret
    return names


_POOLS: dict[str, list[str]] = {
    "people": _people(),
    "names": _made_up(),
    "places": PLACES,
    "roles": ROLES,
    "nouns": list(dict.fromkeys(NOUNS)),
    "adjectives": list(dict.fromkeys(ADJECTIVES)),
    "verbs": VERBS,
    "domains": DOMAINS,
    "attributes": ATTRIBUTES,
    "topics": TOPICS,
}
