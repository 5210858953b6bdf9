"""A stored memory made a candidate again, as if it was proposed anew."""

from __future__ import annotations

from pydantic import ValidationError

from app import ids
from app.db.memories.read import HiddenState
from app.errors import Conflict
from app.memory.candidate import Candidate
from app.memory.freshness import Decay
from app.memory.registry import Registry
from app.memory.spec import Payload
from app.model import Memory


def candidate_of(memory: Memory, unshown: HiddenState, types: Registry) -> Candidate:
    """Return the candidate that a memory under review was made of, without its evidence.

    Raises Conflict when its payload is of a shape that its type no longer has.
    """
    spec = types.get(memory.type).at(memory.type_version)
    try:
        payload: Payload = spec.payload.model_validate(dict(memory.payload))
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, one["loc"])) for one in error.errors(include_input=False))
        raise Conflict(
            f"{ids.public(ids.MEMORY, memory.id)} was stored when {spec.name} had other fields ({fields}): "
            "reject it, or supersede it with what it should say"
        ) from None
    as_by_type = spec.decay(None) == Decay(half_life_days=memory.half_life_days, floor=memory.floor)
    return Candidate(
        type=spec,
        payload=payload,
        scope=memory.scope,
        content=memory.content,
        context=unshown.context,
        stated_at=memory.stated_at,
        zone=unshown.zone,
        source_strength=memory.parts.source,
        extractor_confidence=memory.parts.extractor,
        speech_act=memory.speech_act,
        importance=memory.importance,
        topic=memory.topic,
        category=None if as_by_type else memory.category,
        session_id=memory.session_id,
        sequence_number=memory.sequence_number,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        metadata=memory.metadata,
        provenance=memory.provenance,
        reviewed=True,
    )
