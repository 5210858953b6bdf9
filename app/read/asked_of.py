"""Of whom a question speaks: of nobody, so that what everybody knows may answer it, or of others than who asks."""

from __future__ import annotations

from typing import Final

from app.db.memories.ranking import RankingRow
from app.english.questions import PAST_TENSE, speaks_of_somebody
from app.memory import vocabulary
from app.read.texts import asked_content, is_english, is_request, names_within, speaks_of_itself, terms_in
from app.read.values import ParsedQuery

GENERAL: Final = "the question speaks of nobody, and nothing has half of its words"
"""Why nothing answers `who wrote Hamlet?`."""


def is_general(query: ParsedQuery) -> bool:
    """Tell whether an assistant is asked, in English, for something of nobody, at no time, that it did not say."""
    asked = query.reading
    if not query.assistants or query.mentioned or query.about or asked.asks_back or asked.windows or asked.hinted:
        return False
    return is_english(asked.text) and not (speaks_of_somebody(asked.text) or is_request(asked.text))


def has_half(query: ParsedQuery, row: RankingRow) -> bool:
    """Tell whether somebody said a name of the question or half of its content words; the assistant, once."""
    text, said = query.reading.text, terms_in(row.opening)
    if row.speaker_id in query.assistants and PAST_TENSE.search(text) is None:
        return False
    asked = asked_content(text)
    return not said.isdisjoint(names_within(text)) or 2 * len(asked & said) >= max(1, len(asked))


def is_of_asker_alone(query: ParsedQuery, row: RankingRow) -> bool:
    """Tell whether a user's turn speaks of its speaker alone, where an assistant is asked of others."""
    others = query.names_people and vocabulary.USER not in query.about and not query.reading.own_asked
    of_user = bool(query.assistants) and row.speaker_id is None
    return of_user and others and speaks_of_itself(row.opening) and not says_whom(query, row)


def says_whom(query: ParsedQuery, row: RankingRow) -> bool:
    """Tell whether a turn says a name of the question, other than its speaker's."""
    if not query.named or any(row.speaker_id in entity.ids for one in query.named for entity in one.entities):
        return False
    said = terms_in(row.opening)
    names = (name for one in query.named for name in (one.text, *(entity.name for entity in one.entities)))
    return any(not said.isdisjoint(terms_in(name)) for name in names)
