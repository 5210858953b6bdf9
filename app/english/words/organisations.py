"""Well-known organisations, and the words that make a name one."""

from __future__ import annotations

from typing import Final

from app.english.word_lists import entries
from app.english.words import word_set

ORGANISATIONS: Final = frozenset(entries("organisations"))

SUFFIXES: Final = word_set(
    """
    ag agency airlines association authority automotive bank bv capital center centre clinic club co college
    committee community company consulting cooperative corp corporation council department division energy
    enterprises entertainment faculty fellowship firm foundation fund gallery garden gardens gmbh group health
    healthcare hospital hq inc industries institute insurance international kg lab laboratories laboratory labs
    league library limited llc llp logistics ltd maintainers media ministry motors museum network networks nursery
    office orchestra organisation organization partners pharma pharmaceuticals plc power press productions
    publishing records research restaurant sa school schools science sciences se security services society software
    solutions startup store studio studios systems team technologies technology telemetry theater theatre trust
    university ventures visualization works
    """
)
"""Last words of an organisation's name."""

GROUPS: Final = word_set(
    """
    team group club committee squad crew band choir orchestra council board chapter league guild association society
    organization organisation department division unit faculty union army navy church
    """
)
"""What one is a member of."""

KINDS: Final = {
    "organization": word_set(
        """
    organization organisation company corporation startup firm agency nonprofit non-profit charity manufacturer
    maker carmaker automaker automotive bank university college school hospital institute vendor supplier publisher
    retailer airline brand studio lab laboratory club ngo consultancy
    """
    ),
    "place": word_set(
        """
    city town village country state region district island river mountain lake park neighborhood neighbourhood
    suburb province county
    """
    ),
    "project": word_set(
        """
    project repo repository codebase microservice app application platform product initiative library framework tool
    service website dashboard pipeline
    """
    ),
    "pet": word_set("dog cat puppy kitten parrot rabbit hamster horse turtle pet"),
}
"""Entity type -> the nouns that declare it: `X is a car maker`."""
