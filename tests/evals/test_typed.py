"""The typed sets are what they say: valid memories, and questions that don't repeat them."""

from __future__ import annotations

from app.lexical.bm25 import terms
from app.memory.registry import discover
from evals.typed import paraphrases

TYPES = discover()


def test_paraphrases_are_valid_and_asked_about() -> None:
    shelf = paraphrases()
    by_id = {one.id: one for one in shelf.items}
    assert len(by_id) == len(shelf.items) > 300
    for item in shelf.items:
        TYPES.get(item.type).payload.model_validate(item.payload)
    for question in shelf.questions:
        [right] = question.evidence_turns
        assert by_id[right].type == question.category


def test_most_paraphrases_share_few_words_with_what_they_ask_for() -> None:
    shelf = paraphrases()
    by_id = {one.id: one for one in shelf.items}
    shared = []
    for question in shelf.questions:
        item = by_id[question.evidence_turns[0]]
        said = set(terms(TYPES.get(item.type).payload.model_validate(item.payload).render()))
        shared.append(len(said & set(terms(question.text))))
    assert sum(shared) / len(shared) < 1
