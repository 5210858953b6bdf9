"""Connection strings of Postgres as providers hand them out: what of them the service honours, and what it refuses.

Messages name parameters, hosts and mends, and never repeat a part of a password.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, quote, urlencode

_BEGINS: Final = re.compile(r"postgres(?:ql)?(?:\+asyncpg)?://(?=.)", re.DOTALL)

_OF_DRIVER: Final = frozenset(
    {"sslmode", "sslcert", "sslkey", "sslrootcert", "sslcrl", "sslpassword", "sslnegotiation"}
    | {"ssl_min_protocol_version", "ssl_max_protocol_version", "host", "port", "user", "password", "dbname", "database"}
    | {"passfile", "service", "krbsrvname", "gsslib", "target_session_attrs"}
)
"""Parameters that the driver reads by itself, as libpq does."""

_OF_SERVER: Final = {
    "application_name": "application_name",
    "options": "options",
    "search_path": "search_path",
    "keepalives_idle": "tcp_keepalives_idle",
    "keepalives_interval": "tcp_keepalives_interval",
    "keepalives_count": "tcp_keepalives_count",
    "tcp_user_timeout": "tcp_user_timeout",
}
"""Parameters that become settings of the session, by their names there; keepalives are sent by the server then."""

_CACHES: Final = frozenset({"statement_cache_size", "prepared_statement_cache_size"})

_HARMLESS: Final = {
    "channel_binding": frozenset({"prefer", "disable"}),
    "gssencmode": frozenset({"prefer", "disable"}),
    "keepalives": frozenset({"0", "1"}),
    "sslcompression": frozenset({"0"}),
    "pgbouncer": frozenset({"true", "false"}),
}
"""Parameters with the values that ask for nothing that the driver would have to do."""

_MENDS: Final = {
    "channel_binding": "the driver can't bind to the channel: leave it out, and set sslmode=verify-full instead",
    "gssencmode": "the driver encrypts by TLS alone: leave it out, and set sslmode=require",
    "target_session_attrs": "the service writes: say read-write, primary or any, or leave it out",
}

_SIGNS: Final = (
    "has a sign in its user or password that ends it there: percent-encode it, # as %23, / as %2F, ? as %3F, @ as %40"
)

_WRITABLE: Final = frozenset({"any", "read-write", "primary"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionString:
    """A connection string as the driver takes it; `place` is host, port and database alone.

    `timeout` is in seconds, None where none is named. `through_pgbouncer`: it says that a pooler stands before it.
    """

    dsn: str = field(repr=False)
    place: str
    settings: Mapping[str, str] = field(default_factory=dict)
    caches: Mapping[str, int] = field(default_factory=dict)
    timeout: float | None = None
    through_pgbouncer: bool = False


def read(url: str) -> ConnectionString:
    """Return what a connection string says; raise ValueError, which says what to do, for what can't be honoured."""
    if _BEGINS.match(url) is None:
        raise ValueError("must begin with postgresql://, as in postgresql://user:password@127.0.0.1:5432/memory")
    rest = _BEGINS.sub("", url, count=1)
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    tail = rest[len(authority) :]
    if "#" in rest or "@" in (tail.partition("?")[0] if "@" in authority else tail):
        raise ValueError(_SIGNS)
    path, _, query = tail.partition("?")
    named = dict(parse_qsl(query, keep_blank_values=True))
    if "ssl" in named:
        named["sslmode"] = named.pop("ssl")
    several = "," in authority.rpartition("@")[2] or "," in named.get("host", "")
    if several:
        named.setdefault("target_session_attrs", "read-write")
    _check(named)
    kept = urlencode({name: value for name, value in named.items() if name in _OF_DRIVER}, quote_via=quote, safe="/")
    timeout = float(named.get("connect_timeout") or 0)
    return ConnectionString(
        dsn=f"postgresql://{authority}{path}" + (f"?{kept}" if kept else ""),
        place=f"{authority.rpartition('@')[2] or named.get('host', '')}{path}" or "?",
        settings={_OF_SERVER[name]: value for name, value in named.items() if name in _OF_SERVER},
        caches={name: int(value) for name, value in named.items() if name in _CACHES and value.isdigit()},
        timeout=timeout if timeout > 0 else None,
        through_pgbouncer=named.get("pgbouncer") == "true",
    )


def _check(named: Mapping[str, str]) -> None:
    for name, value in named.items():
        honoured = name in _OF_DRIVER or name in _OF_SERVER or name in _CACHES or value in _HARMLESS.get(name, ())
        if name == "target_session_attrs":
            honoured = value in _WRITABLE
        if name == "connect_timeout":
            honoured = value.isdigit()
        if not honoured:
            shown = name if name.isidentifier() and len(name) <= 40 else "something"  # noqa: PLR2004 - a parameter's length
            mend = _MENDS.get(name, f"{shown} is nothing that the service can honour: leave it out")
            raise ValueError(f"has the parameter {shown}{_shown(name, value)}, and {mend}")


def _shown(name: str, value: str) -> str:
    return f"={value}" if name in _MENDS and value.replace("-", "").isalnum() else ""
