"""What can go wrong. The message says what to do about it."""

# TypedMemoryError
#   ConnectionFailed        no service answers there (also a ConnectionError)
#   TimedOut                no answer in time (also a TimeoutError)
#   ApiError                the service refused: status, problem, field_errors, request_id
#     InvalidInput          400, 413, 415, 422: a field is wrong (also a ValueError)
#     Unauthorized          401: no key, or not a valid one
#     Forbidden             403: the key lacks a role
#     NotFound              404: no such thing (also a LookupError)
#     Conflict              409: other writes came first, or an idempotency key was used for another request
#       ReviewConflict      409: the review item has changed; `current` is its new state
#     Erased                410: what this request wrote was erased since
#     NotConfigured         501: the service lacks what it takes, such as a language model
#     Unavailable           429, other 5xx: try again later

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

from typed_memory_client.models import FieldError, Problem, ReviewMoved


class TypedMemoryError(Exception):
    """Anything that this package raises."""


class ConnectionFailed(TypedMemoryError, ConnectionError):
    """No service answers at the URL."""


class TimedOut(TypedMemoryError, TimeoutError):
    """The service did not answer, or a job did not end, in time."""


class ApiError(TypedMemoryError):
    """The service answered with a problem."""

    def __init__(self, status: int, problem: Problem | None, *, fallback: str = "") -> None:
        super().__init__(_message(status, problem, fallback))
        self.status = status
        self.problem = problem

    @property
    def field_errors(self) -> list[FieldError]:
        """The fields at fault."""
        return (self.problem.errors if self.problem else None) or []

    @property
    def request_id(self) -> str | None:
        """The id under which the service logged the request."""
        return self.problem.request_id if self.problem else None


class InvalidInput(ApiError, ValueError):
    """A field is wrong; `field_errors` says which."""


class Unauthorized(ApiError):
    """No key, or not a valid one."""


class Forbidden(ApiError):
    """The key lacks a role."""


class NotFound(ApiError, LookupError):
    """No such thing, or it is another tenant's."""


class Conflict(ApiError):
    """Other writes came first, or an idempotency key was used for another request."""


class ReviewConflict(Conflict):
    """The review item has changed since it was read; `current` is its new state."""

    def __init__(self, status: int, problem: Problem | None, current: ReviewMoved) -> None:
        super().__init__(status, problem)
        self.current = current


class Erased(ApiError):
    """What the request with this idempotency key wrote was erased since."""


class NotConfigured(ApiError):
    """The service lacks what this takes, such as a language model."""


class Unavailable(ApiError):
    """The service cannot answer now; try again later."""


_BY_STATUS: Final[dict[int, type[ApiError]]] = {
    400: InvalidInput,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Erased,
    413: InvalidInput,
    415: InvalidInput,
    422: InvalidInput,
    429: Unavailable,
    501: NotConfigured,
}

_ADVICE: Final = {401: "pass api_key=... or set TM_API_KEY; the first start of the service prints a key"}


def error_of(status: int, content: bytes) -> ApiError:
    """Return the error that a response stands for."""
    try:
        problem = Problem.model_validate_json(content)
    except ValidationError:
        problem = None
    if problem is not None and status == 409 and {"item", "decided"} & (problem.model_extra or {}).keys():  # noqa: PLR2004
        return ReviewConflict(status, problem, ReviewMoved.model_validate_json(content))
    kind = _BY_STATUS.get(status, Unavailable if status >= 500 else ApiError)  # noqa: PLR2004
    return kind(status, problem, fallback=content[:200].decode(errors="replace"))


def _message(status: int, problem: Problem | None, fallback: str) -> str:
    if problem is None:
        return f"HTTP {status}: {fallback or 'no explanation'}" if status else fallback
    errors = problem.errors or []
    # The detail names the first field and counts the others.
    lines = [problem.title, *(f"  {one.field}: {one.message}" for one in errors)] if errors[1:] else [problem.detail]
    if advice := _ADVICE.get(status):
        lines.append(f"({advice})")
    return "\n".join(lines)
