"""From a definition to a memory type, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, ValidationError, create_model

from app.memory import conflict, normalise, vocabulary
from app.memory.conflict import Claim, Verdict
from app.memory.own import schema
from app.memory.own.definition import Definition
from app.memory.own.faults import Fault, InvalidDefinition, pointer
from app.memory.own.misfits import misfits, template_of
from app.memory.own.payload import ATTRIBUTE, Happening, Named, OwnPayload, Plan
from app.memory.own.schema import FieldSpec
from app.memory.own.template import Template
from app.memory.spec import Example, Held, MemoryType, Payload
from app.model import Category

POLICIES: Final[Mapping[str, Callable[[Claim, Claim], Verdict]]] = {
    "accumulate": conflict.accumulate,
    "latest_statement_wins": conflict.latest_statement_wins,
    "only_removed": conflict.only_removed,
    "one_identity": conflict.one_identity,
}

_PERSON: Final = AfterValidator(vocabulary.person)

_MOST_KEPT: Final = 1_024


@lru_cache(maxsize=_MOST_KEPT)
def stored(text: str, version: int) -> MemoryType:
    """Return the type of a definition that was admitted once, by its JSON."""
    return made(Definition.model_validate_json(text), version)


def made(definition: Definition, version: int = 1) -> MemoryType:
    """Return the type that a definition comes to, or raise InvalidDefinition with every fault."""
    faults: list[Fault] = []
    fields = schema.read(definition.payload, faults, named=_naming(definition))
    readable = None if faults else template_of(definition, fields, faults)
    if readable is None or faults:
        raise InvalidDefinition(faults)
    faults += misfits(definition, fields)
    if faults:
        raise InvalidDefinition(faults)
    kind = _payload(definition, _plan(definition, fields, readable), fields)
    examples = tuple(_examples(definition, kind, faults))
    if faults:
        raise InvalidDefinition(faults)
    return _type(definition, kind, fields, examples, version)


def _naming(definition: Definition) -> frozenset[str]:
    """Return the fields that hold names, or parts of a key."""
    held = () if definition.held is None else (definition.held.under,)
    about = () if definition.subject is None else (definition.subject,)
    return frozenset((*definition.slot, *definition.mentions, *held, *about))


def _plan(definition: Definition, fields: Mapping[str, FieldSpec], readable: Template) -> Plan:
    importance = definition.importance
    plain = tuple(sorted(name for name, one in fields.items() if one.kind != "string" or name in definition.slot))
    return Plan(
        template=readable,
        fields=tuple(fields),
        subject=definition.subject,
        mentions=tuple(
            Named(
                field=name,
                entity_type=None if one.entity_type is None else normalise.key(one.entity_type),
                creates=one.creates,
            )
            for name, one in definition.mentions.items()
        ),
        slot=tuple(definition.slot),
        value=definition.value_fields(fields),
        distinct_by=plain if definition.distinct_by is None else tuple(definition.distinct_by),
        event_time=definition.event_time,
        importance=importance if isinstance(importance, float) else importance.otherwise,
        weighed_by=None if isinstance(importance, float) else importance.field,
        weights={} if isinstance(importance, float) else importance.values,
    )


def _payload(definition: Definition, plan: Plan, fields: Mapping[str, FieldSpec]) -> type[OwnPayload]:
    """Return the class of the type's payloads."""
    base: type[OwnPayload] = OwnPayload if plan.event_time is None else Happening
    shape: dict[str, Any] = {}
    for name, field in fields.items():
        given = Annotated[field.annotation, _PERSON] if name == plan.subject else field.annotation
        shape[ATTRIBUTE.format(name)] = (
            given if field.required else given | None,
            Field(... if field.required else None, alias=name, description=field.description or None),
        )
    kind = create_model(_class_name(definition.name), __base__=base, __doc__=definition.definition, **shape)
    kind.plan = plan
    return kind


def _class_name(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _examples(definition: Definition, kind: type[OwnPayload], faults: list[Fault]) -> Iterator[Example]:
    """Yield the examples; one that is no payload of the type is a fault."""
    for place, example in enumerate(definition.examples):
        for number, given in enumerate(example.payloads):
            at = ("examples", place, "payloads", number)
            try:
                payload = kind.model_validate(given)
            except ValidationError as error:
                faults += [
                    Fault(pointer=pointer(*at, *one["loc"]), message=str(one["msg"])[:300])
                    for one in error.errors(include_url=False, include_input=False)
                ]
                continue
            if not payload.render():
                faults.append(Fault(pointer=pointer(*at), message="reads as nothing: its template shows none of it"))
        yield Example(utterance=example.utterance, payloads=tuple(example.payloads))


def _type(
    definition: Definition,
    kind: type[OwnPayload],
    fields: Mapping[str, FieldSpec],
    examples: tuple[Example, ...],
    version: int,
) -> MemoryType:
    policy = definition.on_conflict or ("latest_statement_wins" if definition.slot else "accumulate")
    held = definition.held
    return MemoryType(
        name=definition.name,
        definition=f"{definition.definition.rstrip('.')}.",
        payload=kind,
        prior=definition.prior,
        half_life_days=definition.half_life_days,
        category=Category(definition.category),
        on_conflict=POLICIES[policy],
        examples=examples,
        group=definition.group,
        hints=tuple(dict.fromkeys(definition.hints)),
        default_scope=definition.default_scope,
        aliases=tuple(definition.aliases),
        dedup_by_meaning=definition.dedup_by_meaning,
        floor=definition.floor,
        asked_by_questions=definition.asked_by_questions,
        extracted=definition.extracted,
        held=None if held is None else Held(under=held.under, value=held.value),
        chosen=frozenset(name for name, field in fields.items() if field.kind in {"choice", "date", "instant"}),
        importance=_weight,
        version=version,
    )


def _weight(payload: Payload) -> float:
    return payload.weight() if isinstance(payload, OwnPayload) else 0.5
