"""Professions and positions."""

from __future__ import annotations

from typing import Final

from app.english.words import word_set

ROLE_HEADS: Final = word_set(
    """
    accountant actor actress administrator admin adviser advisor analyst anesthesiologist animator apprentice
    archaeologist architect archivist artist astronaut astronomer athlete attorney auditor author baker banker
    barista barber bartender biologist bookkeeper botanist broker builder butcher captain caregiver carpenter
    cashier ceo cfo chairman chairwoman chairperson chef chemist cio cmo coach colonel comedian composer conductor
    consultant contractor controller cook coo coordinator copywriter cto counselor counsellor curator dancer
    data-scientist dba dealer dentist dermatologist designer developer devops dietitian director dj doctor driver
    economist editor electrician em engineer entomologist entrepreneur epidemiologist evangelist executive farmer
    filmmaker firefighter fisherman florist founder co-founder cofounder freelancer gardener geologist geographer gp
    grad graphic-designer guard guide hairdresser head historian homemaker hygienist illustrator inspector
    instructor intern interpreter investigator investor janitor jeweler journalist judge lawyer lead lecturer lector
    librarian linguist lobbyist locksmith machinist maintainer manager marketer mathematician mechanic mediator
    medic meteorologist midwife miner minister model musician nanny neurologist novelist nurse nutritionist officer
    operator optician optometrist orthodontist owner painter paralegal paramedic pastor pathologist pediatrician
    paediatrician pharmacist phd-student philosopher photographer physician physicist physiotherapist pianist pilot
    plumber podcaster poet policeman policewoman politician postdoc postman president priest principal producer
    professor programmer psychiatrist psychologist publicist radiologist ranger realtor receptionist recruiter
    referee reporter representative researcher retiree sailor salesman salesperson saleswoman scientist scrum-master
    sculptor secretary sergeant singer sociologist soldier solicitor specialist sre statistician streamer strategist
    student superintendent supervisor surgeon surveyor sysadmin tailor teacher technician technologist therapist
    trader trainee trainer translator treasurer tutor undergrad undergraduate veterinarian veteran vet videographer
    violinist volunteer vp waiter waitress welder writer youtuber zoologist artist-in-residence
    """
)
"""The noun a title ends in: `senior backend engineer`."""

ROLE_OF: Final = word_set(
    """
    head director vp president professor ceo cto cfo coo founder co-founder cofounder owner manager dean chair chief
    """
)
"""Titles that say of what: `head of marketing`, `CTO of Acme`."""

NOT_TITLES: Final = word_set(
    """
    great good amazing awesome huge big better best terrible bad proud happy real true little natural wonderful
    fantastic brilliant lousy decent perfect bit kind sort lot such fellow no any
    """
)
"""Praise and measure: `a great teacher` states no profession."""

DEGREES: Final = word_set(
    """
    degree phd ph.d doctorate master's masters bachelor's bachelors mba diploma certificate certification bsc msc ba
    ma associate's
    """
)
