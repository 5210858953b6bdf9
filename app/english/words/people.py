"""Given names, kinship, and other words for people one has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.english.words import word_set

ALSO_GIVEN: Final = word_set(
    """
    abdul abigail adrian aiden akira alex alexa alexis ali alison allison amber amit andrea andrei andy angel aria
    arya ashley austin beatrice beverly bill bobby brennan brett camille carol carolina chandra charlene charlie
    chen chris christian chuck cody daisuke danny dawn deepak dinesh doug dylan eddie eli erin esra eve evelyn farah
    frances francis frank george georgia glen gopal grace guy gwen harriet haruto holly ivy jack jackie jamie jan
    jane jean jen jerry jesse jill jing joan jodie johan jordan jose joyce judy jun june jung kai karan karen kari
    kavita kelly kerry kim kimberly kiran kirsten krishna kristen kumar kyle lakshmi lauren laurence lee leslie liam
    lin lina ling luca luka lynn mara maria marian marie marina marion max mei mel mercedes meredith michel mihir
    milan mina ming morgan nate nicola noor olumide paige pascal patrice penny pete philippe prakash qing raj rajesh
    ramesh reggie rene robbie robin rohan roman rose ross sam sandy sasha satoshi seren shane shannon sharon shawn
    shelley shirley shreya sibylle simone stacy stan sue suresh takeshi terry tiffany toby toni tony tracy tyler uma
    victoria vijay vinod virginia vivian wei will xin yan yuki yuri zhang
    """
)
"""Given names that women and men share, or that are other words too; `app.english.given_names` has the others."""

KIN: Final[Mapping[str, str]] = {
    **dict.fromkeys(("wife", "husband", "spouse"), "married-to"),
    **dict.fromkeys(("partner", "girlfriend", "boyfriend", "fiance", "fiancee", "fiancé", "fiancée"), "has-partner"),
    **dict.fromkeys(("son", "daughter", "kid", "child", "baby"), "has-child"),
    **dict.fromkeys(("mother", "mom", "mum", "mama"), "has-mother"),
    **dict.fromkeys(("father", "dad", "papa"), "has-father"),
    **dict.fromkeys(("sister", "brother", "sibling", "twin"), "has-sibling"),
    **dict.fromkeys(
        (
            "grandmother", "grandma", "grandfather", "grandpa", "aunt", "uncle", "cousin", "nephew", "niece",
            "grandson", "granddaughter", "stepmother", "stepfather", "stepson", "stepdaughter", "godmother",
            "godfather", "sister-in-law", "brother-in-law", "mother-in-law", "father-in-law",
        ),
        "has-relative",
    ),
    **dict.fromkeys(("friend", "roommate", "flatmate", "housemate", "neighbor", "neighbour"), "friend-of"),
    **dict.fromkeys(("pet",), "has-pet"),
}  # fmt: skip
"""Whom one has, and the predicate that says so."""

PETS: Final = word_set(
    """
    dog cat puppy kitten hamster rabbit bunny parrot budgie horse pony turtle tortoise goldfish guinea-pig ferret
    snake gecko lizard gerbil chinchilla labrador poodle beagle terrier corgi dachshund husky retriever bulldog
    chihuahua
    """
)

COLLEAGUES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("manager", "boss", "supervisor", "line manager", "team lead"), "reports-to"),
    **dict.fromkeys(
        ("colleague", "coworker", "co-worker", "teammate", "co-founder", "cofounder", "collaborator"), "works-with"
    ),
}
"""Whom one works with, and the relation to them."""

DOCTORS: Final = word_set(
    """
    doctor dentist therapist physician gp psychiatrist psychologist dermatologist cardiologist surgeon optometrist
    pediatrician paediatrician vet physiotherapist nutritionist lawyer accountant landlord hairdresser teacher coach
    trainer tutor professor advisor adviser midwife solicitor barrister attorney nanny babysitter childminder
    mechanic cleaner gardener barber counsellor counselor mentor chiropractor osteopath pharmacist hygienist
    """
)
"""People one goes to: a fact `has-dentist`."""

FAITHS: Final = word_set(
    """
    muslim christian catholic protestant orthodox jewish hindu buddhist sikh mormon quaker baptist methodist anglican
    lutheran agnostic atheist asian african european latino latina hispanic aries taurus libra scorpio sagittarius
    capricorn aquarius pisces
    """
)
"""Faiths, origins and signs: written like names, and said of people."""
