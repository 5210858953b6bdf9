"""Connection strings as providers hand them out are honoured, or the error names what is not, and never a password."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app import connection_strings
from app.db.login import Login
from app.settings import Settings

BASE = "postgresql://kim:pa%23ss@db.example.com:6543/main"


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("sslmode=require&channel_binding=prefer", "?sslmode=require"),
        ("ssl=verify-full", "?sslmode=verify-full"),
        ("gssencmode=disable&keepalives=1", ""),
        ("target_session_attrs=read-write", "?target_session_attrs=read-write"),
        ("sslmode=require&sslrootcert=/etc/my%20ca.pem", "?sslmode=require&sslrootcert=/etc/my%20ca.pem"),
    ],
)
def test_what_the_driver_reads_reaches_it_and_what_asks_for_nothing_goes(query: str, kept: str) -> None:
    assert connection_strings.read(f"{BASE}?{query}").dsn == f"{BASE}{kept}"


def test_settings_of_a_session_and_times_are_honoured() -> None:
    said = connection_strings.read(
        f"{BASE}?application_name=bot&options=-c%20work_mem%3D8MB&connect_timeout=7&keepalives_idle=30&pgbouncer=true"
    )
    assert said.settings == {"application_name": "bot", "options": "-c work_mem=8MB", "tcp_keepalives_idle": "30"}
    assert (said.timeout, said.through_pgbouncer, said.place) == (7.0, True, "db.example.com:6543/main")
    assert Settings(database_url=f"{BASE}?pgbouncer=true").pooler == "transaction"
    assert Settings(database_url=BASE).pooler == "none"


def test_of_several_hosts_the_one_that_writes_is_meant() -> None:
    said = connection_strings.read("postgres://kim:pw@one:5432,two:5433/main")
    assert said.dsn == "postgresql://kim:pw@one:5432,two:5433/main?target_session_attrs=read-write"
    assert said.place == "one:5432,two:5433/main"


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("channel_binding=require", "channel_binding=require"),
        ("gssencmode=require", "gssencmode=require"),
        ("target_session_attrs=standby", "target_session_attrs=standby"),
        ("connection_limit=5", "connection_limit"),
        ("schema=public", "schema"),
        ("connect_timeout=soon", "connect_timeout"),
    ],
)
def test_what_cannot_be_honoured_is_named(query: str, named: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings(database_url=f"{BASE}?{query}")
    assert f"has the parameter {named}, and " in str(refused.value)


@pytest.mark.parametrize("password", ["se#cret", "se/cret", "se?cret", "#secret", "sec@re/t", "s#e@c/ret"])
def test_a_sign_that_ends_a_password_is_refused_without_any_of_it(password: str) -> None:
    url = f"postgresql://kim:{password}@db.example.com/main"
    with pytest.raises(ValidationError) as refused:
        Settings(database_url=url)
    assert "percent-encode" in str(refused.value)
    assert "cret" not in str(refused.value)
    assert "c/ret" not in str(refused.value)
    with pytest.raises(ValueError, match="percent-encode"):
        _ = Login(url=url, setting="TM_DATABASE_URL", patience=0).place
