"""The verbs. Derived from `_async_client.py` by `python -m codegen`: do not edit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, Union

from typing_extensions import Unpack

from typed_memory_client import _calls as calls
from typed_memory_client import bodies, models
from typed_memory_client._writes import TypedWrites
from typed_memory_client._errors import TimedOut
from typed_memory_client._retries import sleep_blocking

_ENDED: Final = frozenset({"succeeded", "failed", "cancelled"})
_POLL_SECONDS: Final = 0.2

MemoryId = Union[str, models.MemoryFields, models.RecalledMemory]
"""A memory, or its id."""


class TypedMemory(TypedWrites):
    """A memory service, seen through one API key."""

    def remember(
        self,
        what: calls.Said,
        /,
        *,
        wait: bool = True,
        dry_run: bool = False,
        idempotency_key: str | None = None,
        **options: Unpack[bodies.RememberOptions],
    ) -> models.TurnsResult:
        """Ingest what was said: a text, or messages as `{"role": ..., "content": ...}`.

        Messages may also be those of OpenAI's, Anthropic's or LangChain's libraries, with content in parts; system
        prompts and messages without text are left out, and listed in `ignored`.

        It is stored when this returns. With `wait` the memories made of it are too, and `turns` says what was
        decided about each; without, `job_id` is the job that makes them (see `wait_for`). `dry_run` stores nothing.
        """
        call = calls.remember(what, self._identify(options), wait=wait, dry_run=dry_run)
        return self._send(call, idempotency_key)

    def recall(
        self, query: str | Sequence[Mapping[str, Any]], /, **options: Unpack[bodies.RecallOptions]
    ) -> models.QueryResult:
        """Ask a question, or what the last messages of a conversation ask; `context.text` goes into a prompt."""
        return self._send(calls.recall(query, self._identify(options)))

    def answer(self, query: str, /, **options: Unpack[bodies.AnswerOptions]) -> models.Answer:
        """Ask a question; `text` is the answer of the service's language model, `citations` what it rests on.

        Where the memories do not answer it, `text` is None and `abstained` says why.
        """
        return self._send(calls.answer(query, self._identify(options)))

    def stream_answer(
        self, query: str, /, **options: Unpack[bodies.AnswerOptions]
    ) -> Iterator[str | models.Answer]:
        """Yield the words of an answer as the language model writes them, and the whole `models.Answer` last."""
        for event, data in self._events(calls.answer(query, self._identify(options))):
            part = calls.answer_part(event, data)
            if part is not None:
                yield part

    def profile(self, *, token_budget: int | None = None) -> models.Profile:
        """Return what holds of the user whatever is asked; `text` goes into the head of every prompt.

        It takes a client that names a user (`for_user`).
        """
        user, agent = (self._identity.get(name) for name in ("user_id", "agent_id"))
        if user is None:
            raise ValueError("whose profile? name the user: memory.for_user(...).profile()")
        return self._send(calls.profile(user, {"agent_id": agent, "token_budget": token_budget}))

    def write_batch(
        self, items: Sequence[bodies.BatchItem], *, idempotency_key: str | None = None
    ) -> models.BatchResult:
        """Store up to a thousand typed memories, each with its `type`; each has its own result."""
        return self._send(calls.write_batch(items, self._identity), idempotency_key)

    def forget(
        self, memory: MemoryId, *, with_turns: bool = False, idempotency_key: str | None = None
    ) -> models.Receipt:
        """Erase a memory for good; `kept` of the receipt lists others of the same turn, which may say the same.

        `turns` of the receipt are those that still hold its words; `with_turns` erases them, too.
        """
        return self._send(calls.forget(_id(memory), with_turns=with_turns), idempotency_key)

    def forget_user(self, user_id: str, *, wait: bool = True) -> models.Receipt:
        """Erase everything of a user for good. It takes a key with the role `admin`."""
        return self._send(calls.forget_user(user_id, wait=wait))

    def memories(self, **options: Unpack[bodies.ListMemoriesOptions]) -> Iterator[models.Memory]:
        """Yield memories, history too (`status=["active"]`: without it); `limit` is the size of a page."""
        for one in self._items(calls.memories(self._identify(options))):
            yield one

    def session(
        self, session_id: str, **options: Unpack[bodies.ListSessionOptions]
    ) -> Iterator[models.Memory]:
        """Yield a session's episodes in sequence."""
        for one in self._items(calls.session(session_id, self._identify(options))):
            yield one

    def memory(self, memory_id: str, **options: Unpack[bodies.GetMemoryOptions]) -> models.Memory:
        """Return a memory."""
        return self._send(calls.memory(memory_id, options))

    def history(self, memory: MemoryId) -> models.History:
        """Return every version of a memory, and what happened to them."""
        return self._send(calls.history(_id(memory)))

    def update(self, memory: MemoryId, **changes: Unpack[bodies.UpdateOptions]) -> models.Memory:
        """Change importance, topic, category, metadata or end of validity. What a memory says is changed by writing."""
        return self._send(calls.update(_id(memory), changes))

    def feedback(
        self,
        memory: MemoryId,
        kind: Literal["useful", "not_useful", "wrong"],
        **options: Unpack[bodies.FeedbackOptions],
    ) -> models.FeedbackResult:
        """Say that a memory was useful, not useful, or wrong (then it waits for review, and is not recalled)."""
        return self._send(calls.feedback(_id(memory), kind, options))

    def ask_for_review(self, memory: MemoryId) -> models.Memory:
        """Put a memory on the list of what a person should look at; until then it is recalled as before."""
        return self._send(calls.update(_id(memory), {"needs_review": True}))

    def reviews(self, **options: Unpack[bodies.ListReviewsOptions]) -> Iterator[models.ReviewItem]:
        """Yield what waits for a reviewer. It takes a key with the role `review`, as deciding does."""
        for one in self._items(calls.reviews(self._identify(options))):
            yield one

    def review(self, review_id: str) -> models.ReviewDetail:
        """Return a review item with its evidence, near duplicates, and what accepting it would change."""
        return self._send(calls.review(review_id))

    def review_summary(self) -> models.Summary:
        """Return how many items wait, by reason and age."""
        return self._send(calls.review_summary())

    def decide(
        self,
        item: models.ReviewItem,
        action: calls.ReviewAction,
        *,
        instead: MemoryId | bodies.ReviewerStatement | None = None,
        since: datetime | str | None = None,
        reason: str | None = None,
        reviewer: str | None = None,
    ) -> models.ReviewOutcome:
        """Decide a review item; ReviewConflict if it has changed since it was read.

        `instead` is the memory to `merge` with, or the memory or statement to `supersede_with`; `since` is when
        what `end` ends stopped being true. `reviewer` names the person, where several share a key.
        """
        other = instead.id if isinstance(instead, (models.MemoryFields, models.RecalledMemory)) else instead
        return self._send(
            calls.decide(item, action, other, {"since": since, "reason": reason, "reviewer": reviewer})
        )

    def undo(
        self, review_id: str, *, reason: str | None = None, reviewer: str | None = None
    ) -> models.ReviewUndone:
        """Undo the latest decision on a review item; Conflict says why it can't be undone."""
        return self._send(calls.undo(review_id, {"reason": reason, "reviewer": reviewer}))

    def turns(self, **options: Unpack[bodies.ListTurnsOptions]) -> Iterator[models.Turn]:
        """Yield turns, newest first."""
        for one in self._items(calls.turns(self._identify(options))):
            yield one

    def turn(self, turn_id: str) -> models.Turn:
        """Return a turn with what each stage of the pipeline did with it."""
        return self._send(calls.turn(turn_id))

    def jobs(self, **options: Unpack[bodies.ListJobsOptions]) -> Iterator[models.Job]:
        """Yield background jobs, newest first."""
        for one in self._items(calls.jobs(self._identify(options))):
            yield one

    def job(self, job_id: str) -> models.Job:
        """Return a background job."""
        return self._send(calls.job(job_id))

    def wait_for(self, job_id: str, *, timeout: float = 60.0) -> models.Job:
        """Return a job when it has succeeded, failed or was cancelled; TimedOut after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while (job := self.job(job_id)).status not in _ENDED:
            if time.monotonic() > deadline:
                raise TimedOut(f"{job_id} is still {job.status} after {timeout:g} s: wait longer with timeout=...")
            sleep_blocking(_POLL_SECONDS)
        return job

    def entities(self, **options: Unpack[bodies.ListEntitiesOptions]) -> Iterator[models.Entity]:
        """Yield entities: people, organisations, places and things by their names."""
        for one in self._items(calls.entities(self._identify(options))):
            yield one

    def entity(self, entity_id: str, **options: Unpack[bodies.GetEntityOptions]) -> models.EntityDetail:
        """Return an entity, with the former values of its attributes."""
        return self._send(calls.entity(entity_id, options))

    def graph(self, entity_id: str, *, depth: int = 1) -> models.Graph:
        """Return the relations around an entity, up to three steps."""
        return self._send(calls.graph(entity_id, depth=depth))

    def users(self, **options: Unpack[bodies.ListUsersOptions]) -> Iterator[models.User]:
        """Yield users with counts and last activity: with `all=True` everybody (role `admin`)."""
        for one in self._items(calls.users(self._identify(options))):
            yield one

    def agents(self, **options: Unpack[bodies.ListAgentsOptions]) -> Iterator[models.Agent]:
        """Yield agents with counts and last activity: with `all=True` all of them (role `admin`)."""
        for one in self._items(calls.agents(self._identify(options))):
            yield one

    def sessions(self, **options: Unpack[bodies.ListSessionsOptions]) -> Iterator[models.Session]:
        """Yield conversations with counts and times; with `owner` those of a user with every agent."""
        for one in self._items(calls.sessions(self._identify(options))):
            yield one

    def who_am_i(self) -> models.WhoAmI:
        """Return the tenant and the roles of the API key."""
        return self._send(calls.who_am_i())

    def ready(self) -> models.Ready:
        """Return whether the service can serve."""
        return self._send(calls.ready())

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - plain JSON
        """Send any request, for routes without a method here; the answer is plain JSON."""
        return self._send(calls.request(method, path, params, body))


def _id(memory: MemoryId) -> str:
    return memory.id if isinstance(memory, (models.MemoryFields, models.RecalledMemory)) else memory
