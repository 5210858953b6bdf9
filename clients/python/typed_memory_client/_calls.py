"""Requests as values: what each verb sends, and how its answer is read. Nothing here speaks HTTP."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Generic, Literal, TypeVar, Union
from urllib.parse import quote

from pydantic import TypeAdapter

from typed_memory_client import models
from typed_memory_client._errors import error_of
from typed_memory_client.bodies import BatchItem, ReviewerStatement, TurnIn

Answer = TypeVar("Answer")
Item = TypeVar("Item")

Options = Mapping[str, Any]
"""Keyword arguments of a verb that go into the body or the query string as they are."""

Said = Union[str, Mapping[str, object], Sequence[Mapping[str, object]]]
"""What was said: a text, or messages: `bodies.TurnIn`, or those of OpenAI, Anthropic and LangChain as they are."""

_TURN_FIELDS: Final = frozenset(TurnIn.__annotations__)

ReviewAction = Literal["accept", "reject", "keep_both", "supersede_with", "merge", "end"]


@dataclass(frozen=True)
class Call(Generic[Answer]):
    """One request; a write gets an idempotency key, so that it can be sent again."""

    method: str
    path: str
    answer: TypeAdapter[Answer]
    params: Options = field(default_factory=dict)
    body: Options | None = None
    is_write: bool = False

    @property
    def content(self) -> bytes | None:
        """The body as JSON."""
        return None if self.body is None else json.dumps(self.body, default=_encode).encode()

    @property
    def query(self) -> dict[str, list[str]]:
        """The query string's values; a list is repeated, None is left out."""
        lists = {name: value if isinstance(value, (list, tuple)) else [value] for name, value in self.params.items()}
        return {name: [_encode_parameter(one) for one in values if one is not None] for name, values in lists.items()}


@dataclass(frozen=True)
class Listing(Generic[Item]):
    """A request for a list that comes in pages; `items` is the field of a page that holds them."""

    path: str
    items: str
    item: TypeAdapter[Item]
    params: Options

    def page(self, cursor: str | None) -> Call[dict[str, Any]]:
        """Return the call for the first page, or for the one at the cursor."""
        return Call(method="GET", path=self.path, answer=_PAGE, params={**self.params, "cursor": cursor})

    def read(self, page: Mapping[str, Any]) -> list[Item]:
        """Return the items of a page."""
        return [self.item.validate_python(one) for one in page[self.items]]


_ANY: Final = TypeAdapter[Any](Any)
_PAGE: Final = TypeAdapter[dict[str, Any]](dict[str, Any])
_QUERY_RESULT: Final = TypeAdapter(models.QueryResult)
_ANSWER: Final = TypeAdapter(models.Answer)
_PROFILE: Final = TypeAdapter(models.Profile)
_TURNS_RESULT: Final = TypeAdapter(models.TurnsResult)
_WRITE_RESULT: Final = TypeAdapter(models.WriteResult)
_BATCH_RESULT: Final = TypeAdapter(models.BatchResult)
_MEMORY: Final[TypeAdapter[models.Memory]] = TypeAdapter(models.Memory)
_HISTORY: Final = TypeAdapter(models.History)
_FEEDBACK_RESULT: Final = TypeAdapter(models.FeedbackResult)
_RECEIPT: Final = TypeAdapter(models.Receipt)
_TURN: Final = TypeAdapter(models.Turn)
_JOB: Final = TypeAdapter(models.Job)
_ENTITY: Final = TypeAdapter(models.Entity)
_ENTITY_DETAIL: Final = TypeAdapter(models.EntityDetail)
_GRAPH: Final = TypeAdapter(models.Graph)
_REVIEW_ITEM: Final = TypeAdapter(models.ReviewItem)
_REVIEW_DETAIL: Final = TypeAdapter(models.ReviewDetail)
_REVIEW_OUTCOME: Final = TypeAdapter(models.ReviewOutcome)
_REVIEW_UNDONE: Final = TypeAdapter(models.ReviewUndone)
_REVIEW_SUMMARY: Final = TypeAdapter(models.Summary)
_USER: Final = TypeAdapter(models.User)
_AGENT: Final = TypeAdapter(models.Agent)
_SESSION: Final = TypeAdapter(models.Session)
_WHO_AM_I: Final = TypeAdapter(models.WhoAmI)
_READY: Final = TypeAdapter(models.Ready)


def request(method: str, path: str, params: Options | None, body: Options | None) -> Call[Any]:
    """Any request; its answer stays plain JSON."""
    is_write = method.upper() not in {"GET", "HEAD"}
    return Call(method=method.upper(), path=path, answer=_ANY, params=params or {}, body=body, is_write=is_write)


def remember(what: Said, options: Options, *, wait: bool, dry_run: bool) -> Call[models.TurnsResult]:
    """Ingest what was said."""
    if what is None:
        raise ValueError("what was said? give a text or messages, not None")
    messages = [what] if isinstance(what, Mapping) else what
    said = {"content": messages} if isinstance(messages, str) else {_list_of(messages): list(messages)}
    params = {"mode": "sync" if wait else "async", "dry_run": dry_run or None}
    return Call(
        method="POST", path="/turns", answer=_TURNS_RESULT, params=params, body={**options, **said}, is_write=True
    )


def recall(query: str | Sequence[Options], options: Options) -> Call[models.QueryResult]:
    """Ask."""
    if query is None:
        raise ValueError("which question? give a text or messages, not None")
    asked: Options = {"query": query} if isinstance(query, str) else {"messages": list(query)}
    return Call(method="POST", path="/query", answer=_QUERY_RESULT, body={**options, **asked})


def answer(query: str, options: Options) -> Call[models.Answer]:
    """Ask for an answer in words."""
    return Call(method="POST", path="/answer", answer=_ANSWER, body={**options, "query": query})


def answer_part(event: str, data: str) -> str | models.Answer | None:
    """Return the words or the whole answer that an event of a streamed answer has; raise what a problem stands for."""
    if event == "delta":
        return str(json.loads(data)["text"])
    if event == "answer":
        return _ANSWER.validate_json(data)
    if event == "problem":
        raise error_of(int(json.loads(data)["status"]), data.encode())
    return None


def profile(user_id: str, options: Options) -> Call[models.Profile]:
    """Read what holds of a user."""
    path = f"/users/{_segment(user_id, 'user')}/profile"
    return Call(method="GET", path=path, answer=_PROFILE, params=options)


def write(kind: str, fields: Options) -> Call[models.WriteResult]:
    """Store one typed memory."""
    path = f"/memories/typed/{_segment(kind, 'type')}"
    return Call(method="POST", path=path, answer=_WRITE_RESULT, body=fields, is_write=True)


def write_batch(items: Sequence[BatchItem], identity: Options) -> Call[models.BatchResult]:
    """Store many typed memories."""
    body = {"memories": [{**identity, **one} for one in items]}
    return Call(method="POST", path="/memories/batch", answer=_BATCH_RESULT, body=body, is_write=True)


def memories(options: Options) -> Listing[models.Memory]:
    """List memories."""
    return Listing(path="/memories", items="memories", item=_MEMORY, params=options)


def session(session_id: str, options: Options) -> Listing[models.Memory]:
    """List a session's episodes in sequence."""
    path = f"/memories/typed/episodic/session/{_segment(session_id, 'session')}"
    return Listing(path=path, items="memories", item=_MEMORY, params=options)


def memory(memory_id: str, options: Options) -> Call[models.Memory]:
    """Read a memory."""
    return Call(method="GET", path=_memory_path(memory_id), answer=_MEMORY, params=options)


def history(memory_id: str) -> Call[models.History]:
    """Read the versions of a memory."""
    return Call(method="GET", path=f"{_memory_path(memory_id)}/history", answer=_HISTORY)


def update(memory_id: str, changes: Options) -> Call[models.Memory]:
    """Change what may be changed about a memory."""
    return Call(method="PATCH", path=_memory_path(memory_id), answer=_MEMORY, body=changes, is_write=True)


def feedback(memory_id: str, kind: str, options: Options) -> Call[models.FeedbackResult]:
    """Say whether a memory was useful."""
    path = f"{_memory_path(memory_id)}/feedback"
    return Call(method="POST", path=path, answer=_FEEDBACK_RESULT, body={**options, "feedback": kind}, is_write=True)


def forget(memory_id: str, *, with_turns: bool) -> Call[models.Receipt]:
    """Erase a memory."""
    params = {"with_turns": True} if with_turns else {}
    return Call(method="DELETE", path=_memory_path(memory_id), answer=_RECEIPT, params=params, is_write=True)


def forget_user(user_id: str, *, wait: bool) -> Call[models.Receipt]:
    """Erase everything of a user."""
    params = {"mode": "sync" if wait else "async"}
    path = f"/users/{_segment(user_id, 'user')}"
    return Call(method="DELETE", path=path, answer=_RECEIPT, params=params, is_write=True)


def turns(options: Options) -> Listing[models.Turn]:
    """List turns, newest first."""
    return Listing(path="/turns", items="turns", item=_TURN, params=options)


def turn(turn_id: str) -> Call[models.Turn]:
    """Read a turn with its trace."""
    return Call(method="GET", path=f"/turns/{_segment(turn_id, 'turn')}", answer=_TURN)


def jobs(options: Options) -> Listing[models.Job]:
    """List jobs, newest first."""
    return Listing(path="/jobs", items="jobs", item=_JOB, params=options)


def job(job_id: str) -> Call[models.Job]:
    """Read a job."""
    return Call(method="GET", path=f"/jobs/{_segment(job_id, 'job')}", answer=_JOB)


def entities(options: Options) -> Listing[models.Entity]:
    """List entities."""
    return Listing(path="/entities", items="entities", item=_ENTITY, params=options)


def entity(entity_id: str, options: Options) -> Call[models.EntityDetail]:
    """Read an entity."""
    path = f"/entities/{_segment(entity_id, 'entity')}"
    return Call(method="GET", path=path, answer=_ENTITY_DETAIL, params=options)


def graph(entity_id: str, *, depth: int) -> Call[models.Graph]:
    """Read the relations around an entity."""
    path = f"/entities/{_segment(entity_id, 'entity')}/graph"
    return Call(method="GET", path=path, answer=_GRAPH, params={"depth": depth})


def reviews(options: Options) -> Listing[models.ReviewItem]:
    """List what waits for a reviewer."""
    return Listing(path="/admin/review", items="items", item=_REVIEW_ITEM, params=options)


def review(review_id: str) -> Call[models.ReviewDetail]:
    """Read a review item with its evidence."""
    return Call(method="GET", path=f"/admin/review/{_segment(review_id, 'review item')}", answer=_REVIEW_DETAIL)


def review_summary() -> Call[models.Summary]:
    """Count what waits, by reason and age."""
    return Call(method="GET", path="/admin/review/summary", answer=_REVIEW_SUMMARY)


def decide(
    item: models.ReviewItem, action: ReviewAction, instead: str | ReviewerStatement | None, told: Options
) -> Call[models.ReviewOutcome]:
    """Decide a review item at the version that was read."""
    body = {"action": action, "version": item.version, "with": instead, **told}
    path = f"/admin/review/{_segment(item.id, 'review item')}"
    return Call(method="POST", path=path, answer=_REVIEW_OUTCOME, body=_without_none(body), is_write=True)


def undo(review_id: str, told: Options) -> Call[models.ReviewUndone]:
    """Undo the latest decision on a review item."""
    path = f"/admin/review/{_segment(review_id, 'review item')}/undo"
    return Call(method="POST", path=path, answer=_REVIEW_UNDONE, body=_without_none(told), is_write=True)


def users(options: Options) -> Listing[models.User]:
    """List users with their counts."""
    return Listing(path="/users", items="users", item=_USER, params=options)


def agents(options: Options) -> Listing[models.Agent]:
    """List agents with their counts."""
    return Listing(path="/agents", items="agents", item=_AGENT, params=options)


def sessions(options: Options) -> Listing[models.Session]:
    """List conversations with their counts."""
    return Listing(path="/sessions", items="sessions", item=_SESSION, params=options)


def who_am_i() -> Call[models.WhoAmI]:
    """Read what the key is, and may do."""
    return Call(method="GET", path="/whoami", answer=_WHO_AM_I)


def ready() -> Call[models.Ready]:
    """Ask whether the service can serve."""
    return Call(method="GET", path="/readyz", answer=_READY)


def _list_of(said: Sequence[Mapping[str, object]]) -> str:
    """Return the field of the body that takes these: `messages` if one has what a turn lacks, as content parts."""
    are_turns = all(one.keys() <= _TURN_FIELDS and isinstance(one.get("content"), str) for one in said)
    return "turns" if are_turns and all(one.get("role") != "system" for one in said) else "messages"


def _memory_path(memory_id: str) -> str:
    return f"/memories/{_segment(memory_id, 'memory')}"


def _segment(value: str, what: str) -> str:
    """Return an id as a part of a path; raise ValueError where it is missing, or is no text."""
    if not isinstance(value, str) or not value:
        given = repr(value) if isinstance(value, (str, type(None))) else f"a {type(value).__name__}"
        raise ValueError(f"which {what}? give its {'name' if what == 'type' else 'id'}, not {given}")
    return quote(value, safe="")


def _without_none(fields: Options) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _encode(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON: give text, numbers, lists, dicts or datetimes")


def _encode_parameter(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, datetime) else str(value)
