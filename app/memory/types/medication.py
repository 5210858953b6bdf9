"""A medicine someone takes: several at a time, each with one dosage (seed 000, worked example)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from pydantic import Field, ValidationError, field_validator, model_validator

from app.english import medications
from app.english.joins import join
from app.memory import normalise, vocabulary
from app.memory.fields import Flag, Name, Person
from app.memory.slots import latest_statement_wins
from app.memory.spec import (
    AdoptedPayload,
    Adoption,
    EndingKey,
    Example,
    Heed,
    HeedRule,
    MemoryType,
    Payload,
    Refs,
    Standing,
    StoredBelief,
)
from app.memory.versions import SlotClaim, SlotVerdict
from app.model import Category, Mention, SpeechAct


class Medication(Payload):
    """A person's medicine with dosage, frequency, time range and prescriber."""

    subject_name: Person = Field(default=vocabulary.USER, alias="subject", description="Who takes it.")
    medication_name: Name = Field(description="The medicine.", examples=["metformin"])
    dosage: Name | None = Field(default=None, description="How much.", examples=["500 mg"])
    frequency: Name | None = Field(default=None, description="How often.", examples=["twice daily"])
    prescribed_by: Name | None = Field(default=None, description="Who prescribed it.", examples=["Dr. Patel"])
    drug_class: Name | None = Field(default=None, description="What kind of medicine it is.", examples=["biguanide"])
    started_at: date | None = Field(default=None, description="Since when.")
    ended_at: date | None = Field(default=None, description="Until when.")
    active: Flag = Field(default=True, description="Whether it is taken now.")

    @field_validator("drug_class")
    @classmethod
    def _key(cls, value: str | None) -> str | None:
        return None if value is None else normalise.normalise_key(value)

    @model_validator(mode="after")
    def _in_order(self) -> Medication:
        if self.started_at is not None and self.ended_at is not None and self.ended_at < self.started_at:
            raise ValueError("ended_at must not come before started_at")
        return self

    def render(self) -> str:
        """Return the medication as a sentence."""
        taken = " ".join(part for part in (self.medication_name, self.dosage, self.frequency) if part)
        kind = f" ({normalise.words(self.drug_class)})" if self.drug_class else ""
        order = f", {join('prescribed by', self.prescribed_by)}" if self.prescribed_by else ""
        since = f", since {self.started_at}" if self.started_at else ""
        if self.active and self.ended_at is None:
            return f"{self.subject_name} takes {taken}{kind}{order}{since}"
        until = f", until {self.ended_at}" if self.ended_at else ""
        return f"{self.subject_name} took {taken}{kind}{order}{since}{until}, no longer"

    def mentions(self) -> tuple[Mention, ...]:
        """Return the person, and the prescriber."""
        taker = Mention(role="subject", name=self.subject_name)
        if self.prescribed_by is None:
            return (taker,)
        return (taker, Mention(role="prescriber", name=self.prescribed_by, entity_type="person"))

    def subject(self) -> str | None:
        """Return the person."""
        return self.subject_name

    def slot(self, refs: Refs) -> str | None:
        """Return subject and medicine: a new dosage replaces the old one, another medicine has its own slot."""
        return f"{refs['subject'].id}|{normalise.normalise_key(self.medication_name)}"

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return dosage, frequency and whether it is taken."""
        return "|".join(
            (
                normalise.value(self.dosage or ""),
                normalise.value(self.frequency or ""),
                str(self.active),
            )
        )

    def distinct_by(self) -> tuple[str, ...]:
        """Return medicine and dosage."""
        return (normalise.normalise_key(self.medication_name), normalise.value(self.dosage or ""))


def _importance(_payload: Payload) -> float:
    return 0.9


def _adopted(stored: StoredBelief) -> AdoptedPayload | None:
    """Return the medication that a fact states, if predicate or value certainly mean one."""
    predicate, told = str(stored.payload.get("predicate", "")), str(stored.payload.get("object", ""))
    found = medications.parse_dose(predicate, told, stored.content)
    if found is None:
        return None
    fields = {
        "subject": stored.payload.get("subject", vocabulary.USER),
        "medication_name": found.name,
        "dosage": found.dosage,
        "frequency": found.frequency,
        "prescribed_by": found.prescriber,
    }
    try:
        return AdoptedPayload(payload=Medication.model_validate(fields), reason=found.because)
    except ValidationError:
        return None


def _ended(stored: StoredBelief) -> Mapping[str, object] | None:
    """Return the fields of the ending that an ended fact may mean: `takes` + `Ozempic`."""
    found = medications.may_be_dose(str(stored.payload.get("predicate", "")), str(stored.payload.get("object", "")))
    if found is None:
        return None
    fields = {"subject": stored.payload.get("subject", vocabulary.USER), "medication_name": found.name}
    return fields if found.dosage is None else {**fields, "dosage": found.dosage}


def _on_conflict(old: SlotClaim, new: SlotClaim) -> SlotVerdict:
    """Return the verdict for a dosage: another one replaces it, a statement without a dosage repeats it.

    `I take metformin for my diabetes` does not contradict `metformin 500 mg`.
    """
    asserted = new.speech_act is SpeechAct.ASSERTION and old.value is not None and new.value is not None
    return SlotVerdict.MERGE if asserted and _leaves_open(old, new) else latest_statement_wins(old, new)


def _leaves_open(old: SlotClaim, new: SlotClaim) -> bool:
    """Return whether each part of the new value equals the old one's or is missing."""
    known, told = str(old.value).split("|"), str(new.value).split("|")
    return len(known) == len(told) and all(part in {"", had} for part, had in zip(told, known, strict=True))


TYPE = MemoryType(
    name="medication",
    definition="A medicine that someone takes, with its dosage; never an illness or a wish.",
    payload=Medication,
    prior=0.15,
    half_life_days=None,
    category=Category.SEMANTIC,
    on_conflict=_on_conflict,
    group="Facts",
    standing=Standing.CONSTRAINTS,
    heed=HeedRule(kinds=(Heed.MEDICINE,)),
    hints=("medication", "medications", "medicine", "medicines", "drug", "drugs", "dosage", "prescription"),
    states=True,
    held=EndingKey(under="medication_name", value="dosage"),
    tells="medication_name",
    filters={"drug_class": normalise.normalise_key},
    unasked=frozenset({"drug_class", "ended_at", "active"}),
    adopts=Adoption(sources=("fact",), rule=_adopted, ended=_ended),
    importance=_importance,
    examples=(
        Example(
            utterance="I take metformin 500 mg twice daily, Dr. Patel prescribed it.",
            payloads=(
                {
                    "subject": "user",
                    "medication_name": "metformin",
                    "dosage": "500 mg",
                    "frequency": "twice daily",
                    "prescribed_by": "Dr. Patel",
                },
            ),
        ),
    ),
)
