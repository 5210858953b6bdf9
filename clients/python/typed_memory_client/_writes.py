"""`write`, with the fields of each type. Derived from `_async_writes.py` by `python -m codegen`: do not edit."""

from __future__ import annotations

from typing import Any, Literal, overload

from typing_extensions import Unpack

from typed_memory_client import bodies
from typed_memory_client import _calls as calls
from typed_memory_client._transport import Transport
from typed_memory_client.models import WriteResult


class TypedWrites(Transport):
    """The typed writes."""

    @overload
    def write(
        self, type: Literal["constraint"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.ConstraintWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["control"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.ControlWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["decision"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.DecisionWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["document"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.DocumentWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["entity"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.EntityWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["episodic"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.EpisodicWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["event"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.EventWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["fact"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.FactWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["feature"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.FeatureWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["medication"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.MedicationWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["plan"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.PlanWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["preference"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.PreferenceWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["procedural"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.ProceduralWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["progress"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.ProgressWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["reflection"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.ReflectionWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["relation"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.RelationWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["semantic"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.SemanticWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["standard"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.StandardWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["strategy"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.StrategyWrite]
    ) -> WriteResult: ...

    @overload
    def write(
        self, type: Literal["transient_state"], /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.TransientStateWrite]
    ) -> WriteResult: ...

    def write(
        self, type: str, /, *, idempotency_key: str | None = None, **fields: Any
    ) -> WriteResult:
        """Store one memory of a type; the answer says what was decided, and why."""
        return self._send(calls.write(type, self._identify(fields)), idempotency_key)

    def write_tenant_type(
        self, type: str, /, *, idempotency_key: str | None = None, **fields: Unpack[bodies.TenantTypeWrite]
    ) -> WriteResult:
        """Store one memory of a type that your tenant defined; its fields go into `payload`."""
        return self._send(calls.write(type, self._identify(fields)), idempotency_key)
