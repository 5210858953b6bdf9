"""A section of a document, word for word, with the document's title and the section's headings."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from app.memory.fields import Name, Sentence
from app.memory.slots import accumulate
from app.memory.spec import Example, MemoryType, Payload
from app.model import Category, ScopeKind

QUOTED: Final = "content"
"""The field that holds the words of the document."""


class Document(Payload):
    """The words of a section, and where they stand."""

    text: Sentence = Field(alias="content", description="The words of the section.")
    document: Name = Field(alias="document_id", description="The document that it is a section of.")
    title: Name | None = Field(default=None, description="The title of the document.")
    section: Name | None = Field(default=None, description="The headings it stands under.", examples=["Leave > Sick"])

    def render(self) -> str:
        """Return the words, after where they stand."""
        title = (self.title or self.document).replace('"', "'")
        named = f'document "{title}"'
        return f"{named if self.section is None else f'{named}, {self.section}'}: {self.text}"

    def distinct_by(self) -> tuple[str, ...]:
        """Return where the words stand, because two documents may say the same."""
        return (self.document, self.title or "", self.section or "")


TYPE = MemoryType(
    name="document",
    definition="A section of a document, word for word: what a source says, not what anybody said.",
    payload=Document,
    prior=0.1,
    half_life_days=None,
    category=Category.SEMANTIC,
    on_conflict=accumulate,
    group="Facts",
    hints=("document", "documents"),
    default_scope=ScopeKind.GLOBAL,
    dedup_by_meaning=False,
    likeness_merges=False,
    extracted=False,
    quotes=QUOTED,
    filters={"document_id": str.strip},
    examples=(
        Example(
            utterance="handbook.md: Handbook, Working hours. Employees may work from home two days a week.",
            payloads=(
                {
                    "content": "Employees may work from home two days a week.",
                    "document_id": "handbook.md",
                    "title": "Handbook",
                    "section": "Working hours",
                },
            ),
        ),
    ),
)
