"""A typed edge between two entities: `Sarah reports-to Priya`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

from pydantic import Field, field_validator

from app.english import predicates, questions
from app.memory import normalise, vocabulary
from app.memory.calendar import StatedTime, day_start
from app.memory.fields import Name, Person
from app.memory.slots import latest_statement_wins
from app.memory.spec import EndingKey, Example, MemoryType, Payload, Reclassified, Refs, Standing
from app.model import Category, Mention, StatedRelation


class Relation(Payload):
    """The two ends, the relation type of the controlled vocabulary, and the time of its start."""

    from_entity: Person = Field(description="Name of the entity the edge starts at.", examples=["Sarah"])
    relation_type: Name = Field(
        description=f"One of {', '.join(vocabulary.INVERSES)}, or a synonym.", examples=["reports-to"]
    )
    to_entity: Person = Field(description="Name of the entity the edge ends at.", examples=["Priya"])
    since: StatedTime | None = Field(default=None, examples=["2026-05-09"])

    @field_validator("relation_type")
    @classmethod
    def _known(cls, value: str) -> str:
        known = vocabulary.relation(value)
        if known is None:
            raise ValueError(f"unknown relation type {value!r}; use one of {', '.join(vocabulary.INVERSES)}")
        return known

    def render(self) -> str:
        """Return the edge as a sentence."""
        text = predicates.sentence(self.from_entity, self.relation_type, self.to_entity)
        return f"{text} since {self.since:%Y-%m-%d}" if self.since else text

    def mentions(self) -> tuple[Mention, ...]:
        """Return the two ends."""
        return (
            Mention(role="from", name=self.from_entity),
            Mention(role="to", name=self.to_entity),
        )

    def subject(self) -> str | None:
        """Return the role of the edge's start."""
        return self.from_entity

    def slot(self, refs: Refs) -> str | None:
        """Return from + type for relations that an entity has one of at a time."""
        return f"{refs['from'].id}|{self.relation_type}" if vocabulary.holds_one(self.relation_type) else None

    def value(self, refs: Refs) -> str | None:
        """Return the end of the edge."""
        return str(refs["to"].id)

    def distinct_by(self) -> tuple[str, ...]:
        """Return the edge itself."""
        return (
            normalise.normalise_name(self.from_entity),
            self.relation_type,
            normalise.normalise_name(self.to_entity),
        )

    def questions(self) -> tuple[str, ...]:
        """Return questions about the relation, from either end."""
        return questions.question_of(questions.RELATIONS[self.relation_type], self.from_entity, self.to_entity)

    def collapsed(self, refs: Refs) -> Reclassified | None:
        """Return a fact if both ends are one entity, which is no edge (seed 000)."""
        if refs["from"].id != refs["to"].id:
            return None
        fields = {"subject": self.from_entity, "predicate": self.relation_type, "object": self.to_entity}
        return Reclassified(type="fact", payload=fields, reason="both ends are one entity")

    def edge(self) -> StatedRelation | None:
        """Return the edge by the roles of its ends."""
        since = None if self.since is None else day_start(self.since, UTC)
        return StatedRelation(from_role="from", relation_type=self.relation_type, to_role="to", since=since)


def _otherwise(payload: Mapping[str, object]) -> Reclassified | None:
    """Return the fact that an edge of an unknown type states, of which there may be several at a time."""
    told = str(payload.get("relation_type") or "")
    if not told or vocabulary.relation(told) is not None:
        return None
    fields = {
        "subject": payload.get("from_entity"),
        "predicate": told,
        "object": payload.get("to_entity"),
        "stateful": False,
    }
    named = {name: value for name, value in fields.items() if value is not None}
    return Reclassified(type="fact", payload=named, reason="its relation type is not in the vocabulary")


def _importance(payload: Payload) -> float:
    known = vocabulary.IMPORTANT_PREDICATES
    return known.get(payload.relation_type, 0.5) if isinstance(payload, Relation) else 0.5


TYPE = MemoryType(
    name="relation",
    definition="A typed edge from one named entity to another; where none of the relation types fits, it is a fact.",
    payload=Relation,
    prior=0.10,
    half_life_days=180,
    category=Category.SEMANTIC,
    on_conflict=latest_statement_wins,
    group="Relations",
    standing=Standing.WHO,
    hints=("relation", "relations", "relationship"),
    asked_by_questions=True,
    states=True,
    held=EndingKey(under="relation_type", value="to_entity"),
    importance=_importance,
    choices={"relation_type": tuple(vocabulary.INVERSES)},
    otherwise=_otherwise,
    examples=(
        Example(
            utterance="Sarah reports to Priya.",
            payloads=({"from_entity": "Sarah", "relation_type": "reports-to", "to_entity": "Priya"},),
        ),
    ),
)
