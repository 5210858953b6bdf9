"""The question as it was understood, in plain values, for the one who asked."""

from __future__ import annotations

from app import ids
from app.read.values import ParsedQuery


def understood(query: ParsedQuery, *, relaxed: bool) -> dict[str, object]:
    """Return how the question was read; `relaxed`: nothing fitted what was inferred, so it was only preferred."""
    return {
        "dense_text": query.dense_text,
        "terms": list(query.terms),
        "entities": [
            {
                "text": mentioned.text,
                "id": ids.public(ids.ENTITY, entity.ids[0]),
                "name": entity.name,
                "entity_type": entity.entity_type,
            }
            for mentioned in query.mentioned
            for entity in mentioned.entities
        ],
        "windows": [
            {
                "from": None if window.lower is None else window.lower.isoformat(),
                "until": None if window.upper is None else window.upper.isoformat(),
            }
            for window in query.windows
        ],
        "types": list(query.types),
        "type_hints": list(query.types if relaxed else query.soft_types),
        "types_inferred": query.inferred,
        "relaxed": relaxed,
        "predicates": list(query.predicates),
        "negations": {
            "denied": query.denied,
            "excluded": [*query.excluded_names, *query.excluded_words],
        },
        "specificity": round(query.specificity, 3),
        "mode": query.mode.value,
    }
