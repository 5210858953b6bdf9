"""The definitions of an import: taken over where the tenant has none of their names, or the versions before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from app.memory.own.definition import Definition
from app.memory.own.faults import InvalidDefinition
from app.model import Actor
from app.services.import_report import Summary
from app.services.own_types import OwnTypes
from app.services.records import Unreadable
from app.services.reviving import Imported

KIND = "memory_type"


@dataclass(frozen=True, slots=True, kw_only=True)
class Defining:
    """Takes over definitions, and tells which of the file's versions are which here."""

    own_types: OwnTypes
    actor: Actor
    summary: Summary
    types: Imported

    async def take(self, values: Mapping[str, Any]) -> None:
        """Take over a version of a definition, or raise Unreadable for what is none.

        Where the tenant has another type of its name, that stays, and the file's memories are read by it.
        """
        name, version = values["name"], values["version"]
        before = self.types.types.version
        try:
            definition = Definition.model_validate(values["definition"])
            if definition.name != name:
                raise Unreadable(f"definition.name: is {definition.name}, in a line about {name[:80]}")
            after = self.types.versions.get((name, version - 1), 0)
            here = await self.own_types.adopt(self.actor, definition, after=after)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise Unreadable(f"definition.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        except InvalidDefinition as error:
            raise Unreadable(f"definition{error.message}") from None
        self.types.types = await self.own_types.book.of(self.actor.tenant_id)
        if here is None:
            told = f"the tenant has another definition of type {name}, which stays: its memories are read by that"
            self.summary.notices[told] += 1
        else:
            self.types.versions[name, version] = here
        new = here is not None and self.types.types.version > before
        (self.summary.imported if new else self.summary.already_there)[KIND] += 1
