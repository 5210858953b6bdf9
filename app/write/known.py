"""Stage: look up the beliefs and entities that a turn may touch, so that the extractor uses their names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.db.entities import write_lookup
from app.db.memories import excerpt
from app.db.memories.excerpt import ExcerptQuery
from app.db.session import Database
from app.db.sql import as_halfvec
from app.errors import ProviderError
from app.memory import normalise
from app.memory.extraction import EntityNames, Extraction, KnownBelief, KnownExcerpt, Proposal, Turn
from app.memory.fields import texts_in
from app.memory.normalise import normalise_name
from app.memory.registry import Registry
from app.memory.spec import MemoryType
from app.model import Actor, Scope
from app.providers.embeddings import Embedder
from app.write.reference_lines import ReferredLines

LONGEST_NAME: Final = 4
"""Words of a name that is looked for in a turn."""

MOST_WORDS: Final = 300
"""Words of a turn and its context that names are looked for among."""

_WORD: Final = re.compile(r"[\w'\u2019&.\-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownReader:
    """Reads what a scope holds that its turns may touch."""

    database: Database
    embedder: Embedder
    model_id: int

    async def excerpts(
        self, actor: Actor, turns: Sequence[tuple[Turn, Sequence[Turn]]], types: Registry
    ) -> list[KnownExcerpt]:
        """Return for each turn of one scope, given with its context, what is known that it may touch.

        Without an embedder's answer that is the beliefs of its session and the entities that it names.
        """
        if not turns:
            return []
        vectors = await self._vectors([turn.content for turn, _ in turns])
        asked = [
            _query(turn, context, None if vectors is None else vectors[place])
            for place, (turn, context) in enumerate(turns)
        ]
        tenant, scope = actor.tenant_id, turns[0][0].scope.id(actor.tenant_id)
        shown = [one.name for one in types if one.extracted and (one.shown or one.held is not None)]
        held = {one.name: one.held.under for one in types if one.extracted and one.held is not None}
        async with self.database.read(tenant) as session:
            beliefs = await excerpt.read_beliefs(
                session, tenant=tenant, scope=scope, model=self.model_id, types=shown, asked=asked
            )
            named = await excerpt.read_entities(session, tenant=tenant, scope=scope, asked=asked)
            known = await excerpt.read_keys(session, tenant=tenant, scope=scope, fields=held)
        return [
            KnownExcerpt(
                beliefs=tuple(map(_brief, beliefs.get(place, ()))),
                entities=tuple(named.get(place, ())),
                keys=known,
            )
            for place in range(len(turns))
        ]

    async def referred(self, actor: Actor, scope: Scope, ids: Collection[UUID]) -> ReferredLines:
        """Return the memories and entities with these ids, as far as the scope has them now."""
        tenant, here = actor.tenant_id, scope.id(actor.tenant_id)
        async with self.database.read(tenant) as session:
            beliefs = await excerpt.read_referred(session, tenant=tenant, scope=here, memories=ids)
            others = [one for one in ids if one not in beliefs]
            rows = await write_lookup.entities_by_id(session, tenant=tenant, scope=here, entities=others)
        return ReferredLines(
            beliefs=beliefs,
            entities={
                row["asked"]: EntityNames(name=row["canonical_name"], entity_type=row["entity_type"]) for row in rows
            },
        )

    async def of_types(self, actor: Actor, scope: Scope, types: Collection[str]) -> list[KnownBelief]:
        """Return the newest active memories of a scope that are of these types."""
        tenant = actor.tenant_id
        async with self.database.read(tenant) as session:
            return await excerpt.read_of_types(session, tenant=tenant, scope=scope.id(tenant), types=types)

    async def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        try:
            return await self.embedder.embed(texts, purpose="query")
        except ProviderError:
            return None


def together_known(excerpts: Sequence[KnownExcerpt]) -> KnownExcerpt:
    """Return what some turns of one scope may touch together, what is nearest to each of them first."""
    if len(excerpts) == 1:
        return excerpts[0]
    by_rank = (one for rank in zip_longest(*(each.beliefs for each in excerpts)) for one in rank if one is not None)
    beliefs = {str((one.type, one.fields)): one for one in by_rank}
    entities = {one.name: one for each in excerpts for one in each.entities}
    return replace(excerpts[0], beliefs=tuple(beliefs.values()), entities=tuple(entities.values()))


def with_known_keys(extraction: Extraction, known: KnownExcerpt, types: Registry) -> Extraction:
    """Return an extraction whose keys and predicates are known ones or earlier ones of it, where they say the same."""
    keys_of = {name: set(given) for name, given in known.keys.items()}
    proposals = tuple(_renamed(one, types.find(one.type), keys_of) for one in extraction.proposals)
    return replace(extraction, proposals=proposals)


def _renamed(proposal: Proposal, spec: MemoryType | None, known: dict[str, set[str]]) -> Proposal:
    """Return a proposal under the known key that says the same, or as it is, its key being known from then on."""
    given = None if spec is None or spec.held is None else proposal.payload.get(spec.held.under)
    if spec is None or spec.held is None or not isinstance(given, str):
        return proposal
    of_type = known.setdefault(spec.name, set())
    key = normalise.known_key(given, of_type)
    of_type.add(key)
    return proposal if key == given else replace(proposal, payload={**proposal.payload, spec.held.under: key})


def names_meant(known: KnownExcerpt, turn: Turn) -> tuple[str, ...]:
    """Return all names of the known entities that the turn names; none of those that it may mean by one name."""
    said = {normalise_name(word) for word in _WORD.findall(turn.content)}
    shared = Counter(word for one in known.entities for word in _words_of(one) & said)
    return tuple(
        name
        for one in known.entities
        if any(shared[word] == 1 for word in _words_of(one) & said)
        for name in (one.name, *one.aliases)
    )


def texts_shown(known: KnownExcerpt) -> tuple[str, ...]:
    """Return the texts of the beliefs that an extractor is shown."""
    return tuple(text for one in known.beliefs for text in texts_in(one.fields))


def _words_of(entity: EntityNames) -> frozenset[str]:
    return frozenset(word for name in (entity.name, *entity.aliases) for word in normalise_name(name).split())


def _query(turn: Turn, context: Sequence[Turn], vector: NDArray[np.float32] | None) -> ExcerptQuery:
    words = [word.strip(".'") for text in (turn, *reversed(context)) for word in _WORD.findall(text.content)]
    words = [word for word in words if word][:MOST_WORDS]
    capitals = dict.fromkeys(normalise_name(one) for one in words if one[:1].isupper())
    return ExcerptQuery(
        at=turn.occurred_at,
        embedding=None if vector is None else as_halfvec(vector),
        session_id=turn.session_id,
        names=tuple(dict.fromkeys(_runs([normalise_name(one) for one in words]))),
        words=tuple(one for one in capitals if len(one) > 1),
    )


def _runs(words: Sequence[str]) -> Iterable[str]:
    """Yield every run of words that is short enough for a name."""
    for length in range(1, LONGEST_NAME + 1):
        for start in range(len(words) - length + 1):
            yield " ".join(words[start : start + length])


def _brief(one: KnownBelief) -> KnownBelief:
    """Return a belief by the fields that say something."""
    return replace(
        one, fields={name: value for name, value in one.fields.items() if value not in (None, [], {}, False)}
    )
