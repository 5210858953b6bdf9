"""Generated pairs of statements that differ in one word of a class, and so say two things.

The words are this module's own, not those of the service's lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product

Pair = tuple[str, str]

FRAMES = [
    f"{opening} {{}} {end}"
    for opening, end in product(
        (
            "as we agreed, the deliveries are meant for",
            "according to the plan of the caretaker, everything is about",
            "user is certain that the letter spoke of",
            "my neighbour wrote in the book of the house that it was",
            "the notes from the clinic mention",
        ),
        (
            "and for nothing else",
            "as far as anybody in the village knows",
            "which the council has put up on the board",
            "unless the person at the desk says so",
            "so that the rest of the family can get ready for it without any hurry and without asking again",
        ),
    )
]
LONG = [
    (
        "On the way back from the mill, after a talk with the people from the council about the new bridge and a long "
        "lunch in the garden, we all agreed that the {} should stay in the room next to the kitchen until the builders "
        "have finished their work on the roof of the old house"
    ),
    (
        "When somebody calls about an order that has come late, look up the order, tell them plainly what happened to "
        "the {}, offer to pay the delivery, and leave a note for the people in the storehouse so that they can learn "
        "from it"
    ),
]

FIGURES = (
    "3 4 7 8 11 13 16 19 21 24 33 42 57 68 79 86 97 103 118 150 205 340 512 777 1,200 12,000 2.5 7.25 -3 -11 6:15 "
    "18:45 3/4"
)
COUNTS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety twenty-two thirty-five forty-one fifty-eight "
    "sixty-six seventy-three ninety-nine"
)
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth 21st 22nd 23rd 24th 25th 26th 27th 28th 29th 30th "
    "thirty-first forty-second last"
)
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
MONTHS = "January February March April May June July August September October November December"
NAMES = (
    "Agnes Boris Chiara Dmitri Esra Femi Gudrun Hassan Ingrid Joao Katya Liam Mirela Nadia Otto Priya Quentin Rosa "
    "Stefan Tamar Ulrike Viktor Wanda Ximena Yusuf Zoe Aldous Beatriz Cormac Dalia Emre Fiona Gaston"
)
UNITS = (
    "seconds minutes hours days weeks months years millimetres centimetres metres kilometres miles inches yards "
    "milligrams grams kilograms tonnes ounces pounds millilitres litres pints gallons teaspoons cups dollars euros "
    "yen watts volts kilobytes gigabytes"
)
OPPOSITES = (
    "open closed|left right|upper lower|early late|before after|inside outside|higher lower|longer shorter|cheap "
    "expensive|public private|hot cold|heavy light|full empty|wet dry|clean dirty|fast slow|loud quiet|strong weak|"
    "deep shallow|wide narrow|thick thin|rich poor|safe dangerous|easy difficult|first last|minimum maximum|"
    "internal external|local remote|manual automatic|optional mandatory|temporary permanent|positive negative|"
    "vertical horizontal|sweet sour|raw cooked|male female|married divorced|guilty innocent|visible hidden|"
    "accepted rejected|increased decreased|enabled disabled|locked unlocked|included excluded|present absent|"
    "bought sold|sent received|pulled pushed|won lost|rising falling|arriving departing|borrowed lent|"
    "attached detached|legal illegal|possible impossible|regular irregular|loyal disloyal|honest dishonest|"
    "complete incomplete|fair unfair|known unknown|pregnant barren|tame wild"
)
NOUNS = (
    "lamp mirror guitar violin tent carpet teapot kettle camera laptop sertraline ramipril losartan warfarin heparin "
    "parrot hamster turtle donkey pony cherries grapes mangoes lemons figs welder chemist baker plumber nurse gout "
    "asthma eczema"
)
STATEMENTS = (
    "user {} meat at home|the tenants {} music after ten|our team {} code on the weekend|"
    "the bakery {} cards at the till|my brother {} cigarettes in the car|"
    "the clinic {} patients without a letter|user {} coffee in the evening|"
    "the ferry {} dogs on the upper deck|her doctor {} this drug for children|the gym {} guests in August|"
    "the school {} phones in the classroom|user {} parcels at work|the company {} overtime in winter|"
    "his landlord {} pets in the flat|the library {} food in the hall|user {} lactose in any form|"
    "the service {} plain passwords|the council {} fires on the beach|user {} their data with anybody|"
    "the bank {} loans to students|the museum {} flash in the old wing|user {} strangers into the house|"
    "the firm {} orders under ten euros|my cousin {} contracts on a Friday"
)
AFFIRMED = "accepts"
DENIED = (
    "does not accept|doesn't accept|did not accept|never accepts|no longer accepts|hardly accepts|can't accept|cannot "
    "accept|will not accept|won't accept|would never accept|used to accept|refuses to accept|barely accepts|scarcely "
    "accepts|has never accepted|isn't to accept|must not accept|never again accepts|formerly accepted|stops accepting|"
    "may not accept"
)


ENDS = (
    "user walked {} the harbour at the weekend|the committee spoke {} the new bypass|the ferry sails {} the island "
    "in spring|user writes letters {} the editor|the lorry was driven {} the quarry|my aunt moved {} the valley|the "
    "bill went {} the lawyer|user argued {} the merger at length|the path leads {} the mill|the nurse put the drops "
    "{} the meal|the files are copied {} the archive|user got a parcel {} the neighbour|the boat drifted {} the bank|"
    "the students marched {} the reform|user brought the dog {} the vet|my uncle voted {} the tunnel|the money was "
    "sent {} the club|the choir sang {} the service|user ran {} the hill|the workers are {} the offer|the call came "
    "{} the clinic|the ball rolled {} the slope|user swam {} the buoys|the guide led us {} the cave"
)
RELATIONS = (
    "to from|for against|into from|with against|up down|with between|from through|against by|from between|about "
    "against|to between|for between|down over|about into|from down|to against|out into|than with|up between|about "
    "down|as by|into against"
)
ROLES = (
    "{} owes {} forty crowns|{} taught {} the guitar|{} is older than {}|{} sold the caravan to {}|{} was paid by {} "
    "for it|{} lost the final against {}|{} asked {} to water the plants|{} is the godparent of {}|{} lent {} the "
    "ladder|{} told {} about the leak|{} drove {} to the station|{} replaced {} as treasurer|{} wrote a song for {}|"
    "{} borrowed the tent from {}|{} earns more than {}|{} beat {} at chess in May|{} reports to {} since the spring|"
    "{} gave the spare key to {}|{} was taller than {} at school|{} cooks for {} on Fridays|{} saw {} at the market"
)
DONE = (
    "lives lived|works worked|teaches taught|drives drove|keeps kept|sings sang|pays paid|uses used|rents rented|"
    "plays played|runs ran|writes wrote|swims swam|wears wore|sells sold|speaks spoke|feeds fed|leads led|trusts "
    "trusted|visits visited|cooks cooked|paints painted|takes took|needs needed|owns owned"
)
AFTER = (
    "user {} it for the parish|the gardener {} at the old farm|my neighbour {} with the twins|the agency {} three of "
    "them in town|user {} there for the council|the team {} what the client wants|the sexton {} on the hill|user's "
    "tenant {} for a living|the aunt of the user {} by the sea|the clerk {} in the annexe|user {} over the winter|"
    "the band {} for the village|her doctor {} in the mornings|the firm {} all of it|user {} near the canal|the "
    "coach {} with them|the widow {} on the island|his brother {} as the family does|the museum {} the collection|"
    "user {} without a helper|the captain {} for the crew"
)


def swapped(frames: Iterable[str], words: Sequence[str]) -> list[Pair]:
    """Return each frame with any two of the words in its place."""
    return [(frame.format(one), frame.format(other)) for frame in frames for one, other in combinations(words, 2)]


def _sides() -> Iterable[Pair]:
    sides = [tuple(entry.split()) for entry in OPPOSITES.split("|")]
    about = [f"{frame.replace('{}', 'the {} part of it')}" for frame in FRAMES[::3]]
    return [(frame.format(one), frame.format(other)) for frame in about for one, other in sides]


def _denials() -> Iterable[Pair]:
    return [
        (text.format(AFFIRMED), text.format(denial))
        for text, denial in product(STATEMENTS.split("|"), DENIED.split("|"))
    ]


def _turned() -> Iterable[Pair]:
    things = NOUNS.split()[:17]
    frames = (
        "user prefers the {} to the {}",
        "user would rather have a {} than a {}",
        "user put the {} on the {}",
        "the {} was repaired before the {} came back",
    )
    return [
        (frame.format(one, other), frame.format(other, one))
        for frame in frames
        for one, other in combinations(things, 2)
    ]


def _related() -> Iterable[Pair]:
    words = [one.split() for one in RELATIONS.split("|")]
    return [(text.format(one), text.format(other)) for text in ENDS.split("|") for one, other in words]


def _roles() -> Iterable[Pair]:
    people = [*NAMES.split()[:26], "the landlord"]
    return [(text.format("user", one), text.format(one, "user")) for text, one in product(ROLES.split("|"), people)]


def _tenses() -> Iterable[Pair]:
    verbs = [one.split() for one in DONE.split("|")]
    return [(text.format(one), text.format(other)) for text in AFTER.split("|") for one, other in verbs]


PAIRS: Mapping[str, Sequence[Pair]] = {
    "numbers": swapped(["user is told that {} of them are left in the big box behind the door"], FIGURES.split()),
    "number words": swapped(["user is told that {} of them are left in the big box behind the door"], COUNTS.split()),
    "weekdays": swapped(FRAMES, WEEKDAYS.split()),
    "months": swapped(FRAMES[::3], MONTHS.split()),
    "ordinals": swapped(
        ["the meeting of the owners takes place on the {} floor of the old town hall"], ORDINALS.split()
    ),
    "opposites": list(_sides()),
    "names": swapped(["the letter about the flat by the river was written to {} by the bank"], NAMES.split()),
    "units": swapped(["user was told to order 12 {} of it for the house in the hills"], UNITS.split()),
    "negation": list(_denials()),
    "nouns in long texts": swapped(LONG, NOUNS.split()[:24]),
    "words that change sides": list(_turned()),
    "relations": list(_related()),
    "roles of the user": list(_roles()),
    "tenses": list(_tenses()),
}
