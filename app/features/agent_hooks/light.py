"""JSON and connections by the modules in C below `json` and `socket`, whose imports take as long as Python's own start.

Where an interpreter has none of these modules, or others, `json` does the same.
"""

from __future__ import annotations

import _socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn


def _refused(value: object) -> NoReturn:
    raise ValueError(f"JSON has no {value!r}")


class _Numbers:
    """The reading of numbers, and of no others."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _refused


def loads(text: bytes) -> Any:  # noqa: ANN401 - what the text holds
    """Return what a text in JSON holds, or raise ValueError."""
    found = text.decode().strip("\ufeff \t\r\n")
    try:
        from _json import make_scanner  # noqa: PLC0415

        value, end = make_scanner(_Numbers)(found, 0)  # type: ignore[arg-type]
    except StopIteration:
        raise ValueError("the text is not JSON") from None
    except (ImportError, TypeError):
        import json  # noqa: PLC0415

        return json.loads(found, parse_constant=_refused)
    if end != len(found):
        raise ValueError("more than JSON is in the text")
    return value


def dumps(value: object) -> str:
    """Return a value as JSON, in ASCII."""
    try:
        from _json import encode_basestring_ascii, make_encoder  # noqa: PLC0415

        encode = make_encoder(None, _refused, encode_basestring_ascii, None, ": ", ", ", False, False, False)  # noqa: FBT003
        return "".join(encode(value, 0))
    except (ImportError, TypeError):
        import json  # noqa: PLC0415

        return json.dumps(value, allow_nan=False)


def connected(host: str, port: int, left: Callable[[], float]) -> _socket.socket:
    """Return a connection to the first address that takes it; `left` is the time until the deadline."""
    failed = OSError(f"{host} has no address")
    name = host.encode() if host.isascii() else host  # a text would import the rules for names in other letters
    for family, kind, protocol, _, address in _socket.getaddrinfo(name, port, 0, _socket.SOCK_STREAM):
        connection = _socket.socket(family, kind, protocol)
        try:
            connection.settimeout(left())
            connection.connect(address)
        except OSError as error:
            connection.close()
            failed = error
        else:
            return connection
    raise failed
