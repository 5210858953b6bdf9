"""From a stored memory back to what was decided about it: a candidate, or an existing belief."""

from __future__ import annotations

from pydantic import ValidationError

from app import ids
from app.db.review import Unshown
from app.errors import Conflict
from app.memory.candidate import Candidate
from app.memory.freshness import Decay
from app.memory.registry import Registry
from app.memory.spec import Payload
from app.model import Memory
from app.write.values import Existing


def candidate(memory: Memory, unshown: Unshown, types: Registry) -> Candidate:
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


def existing(memory: Memory) -> Existing:
    """Return a memory that somebody named, as a decision sees it."""
    return Existing(
        relation="named",
        id=memory.id,
        type=memory.type,
        status=memory.status,
        content=memory.content,
        payload=memory.payload,
        slot=memory.slot,
        value=None,
        contested=memory.contested,
        stated_at=memory.stated_at,
        valid_from=memory.valid_from,
        valid_until=memory.valid_until,
        recorded_at=memory.recorded_at,
        confidence=memory.confidence,
        parts=memory.parts,
        speech_act=memory.speech_act,
        topic=memory.topic,
        session_id=memory.session_id,
        sequence_number=memory.sequence_number,
        similarity=None,
        type_version=memory.type_version,
    )
