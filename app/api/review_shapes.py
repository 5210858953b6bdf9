"""What the review routes take and answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from app import ids
from app.api.cursors import LONGEST
from app.api.fields import Instant
from app.api.models import AffectedOut, Answers, Out
from app.api.problems import FieldError, InvalidFields, Problem, field_errors
from app.api.requests import MOST_RESULTS, In
from app.api.shapes import many, maybe, shown
from app.memory.registry import Registry
from app.memory.review import Action
from app.memory.strings import Name, Sentence
from app.model import LinkKind, ReviewReason, Status
from app.write.review_log import Choice

MOST_DECISIONS = 200
_REVIEW = "rev_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"
_VERSION = "984c74443316f9a2fa973356376c6180"
_NAMES = frozenset({Action.SUPERSEDE_WITH, Action.MERGE})


class ReviewQuery(In):
    """Which items to list."""

    reason: list[ReviewReason] = Field(default_factory=list, description="Why they wait.")
    type: list[Name] = Field(default_factory=list, max_length=50)
    status: list[Status] = Field(default_factory=list, description="`pending` for what is not believed yet.")
    user_id: Name | None = None
    agent_id: Name | None = None
    since: Instant | None = Field(default=None, description="Only what came up then or later.")
    until: Instant | None = Field(default=None, description="Only what came up before.")
    min_age: int | None = Field(default=None, ge=0, le=10**9, description="Only what has waited so many seconds.")
    sort: Literal["oldest", "newest"] = Field(default="oldest", description="Which come first.")
    limit: int = Field(default=50, ge=1, le=MOST_RESULTS)
    cursor: str | None = Field(default=None, min_length=1, max_length=LONGEST)


class Statement(In):
    """What a reviewer states instead: a memory's type and that type's fields."""

    type: Name = Field(examples=["fact"])
    payload: dict[str, object] = Field(examples=[{"predicate": "works-at", "object": "Volkswagen"}])


class DecideBody(In, **shown({"action": "accept", "version": _VERSION, "reason": "seen the contract"})):
    """A decision, and the version of the item that it goes by."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    action: Action
    version: Name = Field(description="The item's `version` as it was read; if it moved since, nothing is done.")
    with_: Name | Statement | None = Field(
        default=None,
        alias="with",
        description="For `merge` a memory's id; for `supersede_with` a memory's id, or what holds instead.",
        examples=["mem_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"],
    )
    reason: Sentence | None = Field(default=None, max_length=2000, description="Kept in the audit log.")

    def choice(self, registry: Registry, *prefix: str | int) -> Choice:
        """Return the decision; InvalidFields when what it states is no memory, NotFound for what is no id."""
        if (fault := self._fault()) is not None:
            raise InvalidFields([FieldError(field=".".join(map(str, (*prefix, "with"))), message=fault)])
        choice = Choice(action=self.action, version=self.version, reason=self.reason)
        if not isinstance(self.with_, Statement):
            named = None if self.with_ is None else ids.parse(ids.MEMORY, self.with_)
            return replace(choice, named=named)
        spec = registry.find(self.with_.type)
        if spec is None:
            field = ".".join(map(str, (*prefix, "with", "type")))
            known = ", ".join(registry.by_name)
            raise InvalidFields([FieldError(field=field, message=f"unknown memory type; use one of {known}")])
        try:
            payload = spec.payload.model_validate(self.with_.payload)
        except ValidationError as error:
            raise InvalidFields(field_errors(error.errors(include_url=False), *prefix, "with", "payload")) from None
        return replace(choice, statement=payload, statement_type=spec.name)

    def _fault(self) -> str | None:
        """Return what is wrong with `with`."""
        if self.action in _NAMES and self.with_ is None:
            return f"is required for {self.action}"
        if self.action not in _NAMES and self.with_ is not None:
            return f"has no meaning for {self.action}"
        if self.action is Action.MERGE and isinstance(self.with_, Statement):
            return "must be a memory's id for merge"
        return None


class BulkDecision(DecideBody, **shown({"id": _REVIEW, "action": "accept", "version": _VERSION})):
    """A decision on one of several items."""

    id: Name = Field(examples=[_REVIEW])


class BulkBody(In):
    """Decisions that are carried out one after another, each on its own."""

    decisions: list[BulkDecision] = Field(min_length=1, max_length=MOST_DECISIONS)


class SuggestionOut(Out):
    """What the rules would do, and why. It is only a proposal."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    action: Action
    reason: str
    with_: str | None = Field(alias="with", description="The memory that the action names, if it names one.")


class DecidedOut(Out):
    """How an item left the queue."""

    by: str
    at: datetime
    event: str = Field(description="`review.decided`, or what else settled it.")
    detail: dict[str, Any]


class SpokenOut(Out):
    """A turn."""

    turn_id: str
    role: str
    speaker: str | None
    content: str
    occurred_at: datetime


class PassageOut(Out):
    """Where it was said, in its conversation; without a turn, where that is not kept."""

    quote: str | None
    role: str | None
    stated_at: datetime
    before: list[SpokenOut]
    turn: SpokenOut | None
    after: list[SpokenOut]


class ForeseenOut(Out):
    """What accepting it would come to now."""

    outcome: str
    memory_id: str | None
    affected: list[AffectedOut]


class AgesOut(Out):
    """How many have waited how long."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    under_a_day: int
    a_day_to_a_week: int
    a_week_to_a_month: int
    over_a_month: int


class WaitingOut(Out):
    """How many wait for one reason."""

    reason: ReviewReason
    waiting: int
    ages: AgesOut
    oldest: datetime


class SummaryOut(Out):
    """How many wait, by reason and age."""

    waiting: int
    reasons: list[WaitingOut]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewAnswers:
    """The answers that hold memories, whose shape depends on the types there are."""

    page: type[BaseModel]
    detail: type[BaseModel]
    done: type[BaseModel]
    bulk: type[BaseModel]
    moved: type[BaseModel]


def build(answers: Answers) -> ReviewAnswers:
    """Return the answers for the types there are."""
    memory: Any = answers.memory
    side = _out("ReviewSide", "A memory it stands against.", memory=memory, relation=LinkKind, same_value=bool)
    item = _out(
        "ReviewItem",
        "A memory that waits for a decision; `version` moves when it, or a side of it, does.",
        id=str,
        version=str,
        reason=ReviewReason,
        note=str | None,
        since=datetime,
        age_seconds=float,
        memory=memory,
        sides=many(side),
        suggestion=SuggestionOut,
    )
    near = _out("NearDuplicate", "A memory that may say the same, by cosine.", memory=memory, similarity=float)
    done: dict[str, Any] = {"id": str, "action": Action, "outcome": str}
    done |= {"memory": maybe(memory), "affected": list[AffectedOut]}
    left: dict[str, Any] = {"item": (maybe(item), None), "decided": (DecidedOut | None, None)}
    return ReviewAnswers(
        page=_out("ReviewPage", "Some items.", items=many(item), next_cursor=str | None),
        detail=_out(
            "ReviewDetail",
            "An item with all there is to know; of one that left the queue, how.",
            id=str,
            open=bool,
            item=maybe(item),
            memory=maybe(memory),
            evidence=list[PassageOut],
            near=many(near),
            if_accepted=ForeseenOut | None,
            decided=DecidedOut | None,
        ),
        done=_out("ReviewOutcome", "What a decision came to.", **done),
        bulk=_out("ReviewOutcomes", "Outcomes in the order of the decisions.", results=many(_result(done, left))),
        moved=create_model("ReviewMoved", __base__=Problem, __doc__="The item has changed: its new state.", **left),
    )


def _result(done: dict[str, Any], left: dict[str, Any]) -> type[BaseModel]:
    may: dict[str, Any] = {name: (maybe(kind), None) for name, kind in done.items() if name != "id"}
    problem: dict[str, Any] = {"problem": (Problem | None, None)}
    return create_model(
        "ReviewResult",
        __base__=Out,
        __doc__="One decision's outcome, or the problem with it.",
        index=(int, ...),
        status=(int, ...),
        id=(str, ...),
        **may,
        **problem,
        **left,
    )


def _out(name: str, doc: str, **fields: Any) -> type[BaseModel]:  # noqa: ANN401 - annotations
    required: dict[str, Any] = {field: (annotation, ...) for field, annotation in fields.items()}
    return create_model(name, __base__=Out, __doc__=doc, **required)
