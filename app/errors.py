"""The tree of the service's errors; `http/problems.py` converts them to RFC 9457 problems.

TypedMemoryError
|-- InvalidInput            422  the request names something that cannot be
|   `-- InvalidCursor       422
|-- Unauthenticated         401  no key, or not one of ours
|-- Forbidden               403  the key lacks the role
|-- NotFound                404  unknown here (also: another tenant's)
|-- Conflict                409  the state moved, or a key was reused
|   |-- Dangling            409  a row refers to none
|   `-- TypesMoved          409  the tenant's own types changed meanwhile
|-- Erased                  410  what a repeated write had written is gone
|-- PayloadTooLarge         413
|-- RateLimited             429  more requests than the limit
|-- QuotaExceeded           429  more of something than may be sent in a day
|-- ProviderError           503  the model provider failed
|   |-- ProviderUnavailable   503
|   |-- ProviderTimeout       504
|   |-- ProviderMisconfigured 503
|   `-- ProviderProtocolError 503
|       `-- ExtractionFailed   503
|-- DatabaseUnavailable     503
|   |-- DatabaseBusy          503  it can be reached
|   `-- WritesRefused         503  it answers reads alone
|       `-- StorageFull         507
|-- NotConfigured         501  it takes a language model or OAuth, and there is none
|-- Overloaded              503  more to do than this process can
|-- DeadlineExceeded        503  one request took too long
`-- ConfigurationError      500  only at start: the process does not come up
"""

from __future__ import annotations

from http import HTTPStatus
from typing import ClassVar


class TypedMemoryError(Exception):
    """The root of all errors, with a message for the caller, a stable `code`, and an HTTP `status`."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"

    def __init__(self, message: str, *, field: str | None = None, retry_after: float | None = None) -> None:
        """Build the error from the message, the `field` at fault if any, and the seconds to wait before a retry."""
        super().__init__(message)
        self.message = message
        self.field = field
        self.retry_after = retry_after

    @property
    def passing(self) -> bool:
        """True when the same request may succeed later."""
        return self.retry_after is not None or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR


class InvalidInput(TypedMemoryError):
    """The request is well-formed HTTP, but asks for something that cannot be."""

    code = "invalid-input"
    status = 422
    title = "Invalid input"


class InvalidCursor(InvalidInput):
    """A cursor that this service did not issue, or issued for another listing."""

    code = "invalid-cursor"
    title = "Invalid cursor"


class Unauthenticated(TypedMemoryError):
    """No API key, an unknown one, or one that has expired or was revoked."""

    code = "unauthenticated"
    status = 401
    title = "Authentication required"


class Forbidden(TypedMemoryError):
    """The key is good but lacks the role that the route asks for."""

    code = "forbidden"
    status = 403
    title = "Not allowed"


class NotFound(TypedMemoryError):
    """The tenant has nothing with that id or name; another tenant's answers the same."""

    code = "not-found"
    status = 404
    title = "Not found"


class Conflict(TypedMemoryError):
    """Others kept changing the same thing, or an idempotency key came with another body."""

    code = "conflict"
    status = 409
    title = "Conflict"


class PreconditionFailed(TypedMemoryError):
    """The memory to change is not in the state that the request's condition names."""

    code = "precondition-failed"
    status = 412
    title = "Precondition failed"


class Dangling(Conflict):
    """A row refers to a row that does not exist, or no longer: read again and retry."""

    code = "conflict"


class TypesMoved(Conflict):
    """A tenant's own types changed since a request read them: read them again and retry."""

    code = "conflict"


class Erased(TypedMemoryError):
    """The rows that the request with this idempotency key wrote were erased since."""

    code = "erased"
    status = 410
    title = "Erased"


class NotConfigured(TypedMemoryError):
    """The request takes something that this service is configured without, such as a language model."""

    code = "not-configured"
    status = 501
    title = "Not configured"


class PayloadTooLarge(TypedMemoryError):
    """The request body is over the limit."""

    code = "payload-too-large"
    status = 413
    title = "Payload too large"


class RateLimited(TypedMemoryError):
    """The key or the tenant has sent more requests in a minute than it may; nothing was begun."""

    code = "rate-limited"
    status = 429
    title = "Too many requests"


class QuotaExceeded(TypedMemoryError):
    """The key or the tenant has used up what it may use in a day; nothing was written."""

    code = "quota-exceeded"
    status = 429
    title = "Daily quota used up"


class ProviderError(TypedMemoryError):
    """The model provider failed; nothing was written."""

    code = "provider-error"
    status = 503
    title = "Model provider failed"


class ProviderUnavailable(ProviderError):
    """The provider could not be reached, or kept answering with errors."""

    code = "provider-unavailable"
    title = "Model provider unavailable"


class ProviderTimeout(ProviderError):
    """The provider did not answer in time."""

    code = "provider-timeout"
    status = 504
    title = "Model provider timed out"


class ProviderMisconfigured(ProviderError):
    """The provider refused the request as configured: key, model or URL."""

    code = "provider-misconfigured"
    title = "Model provider misconfigured"


class ProviderProtocolError(ProviderError):
    """The provider's answer does not have the requested form."""

    code = "provider-protocol-error"
    title = "Model provider answered nonsense"


class ExtractionFailed(ProviderProtocolError):
    """The model's proposals were unusable, even after a repair request."""

    code = "extraction-failed"
    title = "Extraction failed"


class DatabaseUnavailable(TypedMemoryError):
    """The database cannot be reached; nothing was written."""

    code = "database-unavailable"
    status = 503
    title = "Database unavailable"


class DatabaseBusy(DatabaseUnavailable):
    """The database took too long, or all connections to it are in use; nothing was written."""


class WritesRefused(DatabaseUnavailable):
    """The database answers reads and refuses writes; nothing was written."""

    code = "writes-refused"
    title = "Writes refused"


class StorageFull(WritesRefused):
    """The database has no room left; nothing was written."""

    code = "storage-full"
    status = 507
    title = "Storage full"


class Overloaded(TypedMemoryError):
    """The process has more to do than it can; nothing was begun."""

    code = "overloaded"
    status = 503
    title = "Overloaded"


class DeadlineExceeded(TypedMemoryError):
    """The request took longer than one may; it was given up."""

    code = "deadline-exceeded"
    status = 503
    title = "Deadline exceeded"


PASSING = (ProviderError, DatabaseUnavailable, Conflict)
"""Transient errors, after which a job is retried."""


class ConfigurationError(TypedMemoryError):
    """The service cannot start as configured; the message names the setting and the remedy."""

    code = "configuration"
    title = "Configuration error"
