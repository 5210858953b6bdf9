"""A mutable choice: `editor.theme = dark`."""

from __future__ import annotations

import re

from pydantic import AliasChoices, Field, field_validator

from app.english import predicates, questions
from app.english.joins import join, unfinished
from app.memory import normalise, vocabulary
from app.memory.fields import Name, Person, Sentence
from app.memory.slots import latest_statement_wins
from app.memory.spec import EndingKey, Example, Heed, HeedRule, MemoryType, Payload, Refs, Standing
from app.model import Category, Mention

_ATTITUDES = frozenset({"likes", "dislikes", "avoids", "fears", "refuses"})
_DENIALS = ("does not ", "doesn't ")
_FAVOURITE = ("favourite ", "favorite ")
_KEY = re.compile(r"^[\w\-]+(?:\.[\w\-]+)*$")


class Preference(Payload):
    """A namespaced key and the preferred value."""

    preference_key: Name = Field(
        description="`domain.attribute`: the choice that is made.",
        examples=["editor.theme"],
        validation_alias=AliasChoices("preference_key", "key"),
    )
    preference_value: Sentence = Field(
        description="What is preferred.",
        examples=["dark"],
        validation_alias=AliasChoices("preference_value", "value"),
    )
    subject_name: Person = Field(default=vocabulary.USER, alias="subject", description="Whose preference it is.")

    @field_validator("preference_key")
    @classmethod
    def _namespaced(cls, value: str) -> str:
        canonical = re.sub(r"\s+", "-", value.casefold())
        if not _KEY.match(canonical):
            raise ValueError("must be words joined by dots, such as editor.theme")
        return canonical

    def render(self) -> str:
        """Return the preference as a sentence, which names each word of the key that the value does not say."""
        choice = re.sub(r"[._\-]+", " ", self.preference_key)
        if self.preference_key.startswith("likes.") and self.preference_value in _ATTITUDES:
            return f"{self.subject_name} {self.preference_value} {choice.removeprefix('likes ')}"
        if self.preference_key.startswith("instructions."):
            return join(f"{self.subject_name} asks:", self.preference_value)
        if self.preference_key.endswith(".way"):
            return join(f"{self.subject_name} prefers", self.preference_value)
        if choice.startswith(_FAVOURITE):
            return predicates.sentence(self.subject_name, choice, self.preference_value)
        if self.preference_value.startswith(_DENIALS) or self.preference_key.startswith("habits."):
            return f"{self.subject_name} {self.preference_value}"
        said = {"kind", "choice", *self.preference_value.casefold().split()}
        new = " ".join(word for word in choice.split() if word not in said)
        prefers = join(f"{self.subject_name} prefers", self.preference_value)
        return f"{unfinished(prefers)} for {new}" if new else prefers

    def mentions(self) -> tuple[Mention, ...]:
        """Return the person with the preference."""
        return (Mention(role="subject", name=self.subject_name, entity_type="person"),)

    def subject(self) -> str | None:
        """Return the person with the preference."""
        return self.subject_name

    def slot(self, refs: Refs) -> str | None:
        """Return person and what the key is about, by its words in any order: `drinks.coffee` is `coffee.style`."""
        return f"{refs['subject'].id}|{normalise.topic_of_key(self.preference_key)}"

    def value(self, refs: Refs) -> str | None:  # noqa: ARG002
        """Return the preferred value."""
        return normalise.value(self.preference_value)

    def distinct_by(self) -> tuple[str, ...]:
        """Return key and value."""
        return (self.preference_key, normalise.value(self.preference_value))

    def questions(self) -> tuple[str, ...]:
        """Return questions about the choice."""
        domain, _, attribute = re.sub(r"[_\-]+", " ", self.preference_key).replace(".", " ").rpartition(" ")
        return questions.question_of(
            (
                f"Which {domain} {attribute} {{does}} prefer?",
                f"What is {{whose}} favourite {attribute} for {domain}?" if domain else "What {does} like best?",
                f"Should I choose {{value}} for {{whose}} {domain or attribute}?",
            ),
            self.subject_name,
            self.preference_value,
        )


TYPE = MemoryType(
    name="preference",
    definition="A choice someone makes and may change: settings, likes, ways of working.",
    payload=Preference,
    prior=0.20,
    half_life_days=90,
    category=Category.SEMANTIC,
    on_conflict=latest_statement_wins,
    group="Preferences",
    standing=Standing.PREFERENCES,
    heed=HeedRule(kinds=(Heed.ANSWERS,), field="preference_key", values=vocabulary.OF_ANSWERS),
    asked_by_questions=True,
    held=EndingKey(under="preference_key", value="preference_value"),
    hints=("prefer", "prefers", "preferred", "preference", "preferences", "favourite", "favorite"),
    examples=(
        Example(
            utterance="I always use dark mode in my editor.",
            payloads=({"preference_key": "editor.theme", "preference_value": "dark"},),
        ),
        Example(
            utterance="Please keep explanations short.",
            payloads=({"preference_key": "explanations.length", "preference_value": "short"},),
        ),
    ),
)
