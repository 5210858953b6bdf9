"""Client of the Typed Memory service.

    memory = TypedMemory().for_user("ana")
    memory.remember("I moved to Berlin and I'm vegan.")
    print(memory.recall("Where do I live?").context.text)

`TypedMemory` blocks, `AsyncTypedMemory` has the same methods to await. `remember` gives OpenAI's or Anthropic's client
a memory:

    client = remember(OpenAI(), user_id="ana")
"""

from importlib.metadata import PackageNotFoundError, version

from typed_memory_client import bodies, models
from typed_memory_client._async_client import AsyncTypedMemory
from typed_memory_client._client import TypedMemory
from typed_memory_client._errors import (
    ApiError,
    Conflict,
    ConnectionFailed,
    Erased,
    Forbidden,
    InvalidInput,
    NotConfigured,
    NotFound,
    ReviewConflict,
    TimedOut,
    TypedMemoryError,
    Unauthorized,
    Unavailable,
)
from typed_memory_client._remember import remember

try:
    __version__ = version("typed-memory-client")
except PackageNotFoundError:  # the files alone, without their installation
    __version__ = "unknown"

__all__ = [
    "ApiError",
    "AsyncTypedMemory",
    "Conflict",
    "ConnectionFailed",
    "Erased",
    "Forbidden",
    "InvalidInput",
    "NotConfigured",
    "NotFound",
    "ReviewConflict",
    "TimedOut",
    "TypedMemory",
    "TypedMemoryError",
    "Unauthorized",
    "Unavailable",
    "__version__",
    "bodies",
    "models",
    "remember",
]
