"""The rule by which names are compared is one in Python and in SQL, under every locale of the database."""

from __future__ import annotations

import asyncio
import re
import sys
import unicodedata
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg
import pytest

import app
from app.db.migrate import upgrade
from app.memory.writing import folded
from tests.support import owner

APP = Path(app.__file__).parent

NAMES = [
    "D\u02bcArcy",
    "\u2067D\u2019Arcy\u2069",
    "Anne\u2013Marie",
    "I\u015eIK",
    "\u0131\u015f\u0131k",
    "\u0130zmir",
    "\uff2d\uff49\uff4d\uff49",
    "\u0633\u064e\u0644\u0652\u0645\u064e\u0649",
    "\u0623\u062d\u0645\u062f",
    "\u05de\u05b4\u05e8\u05b0\u05d9\u05b8\u05dd",
    "\u03a3\u03bf\u03c6\u03af\u03b1",
    "\u0421\u0435\u043c\u0451\u043d",
    "Stra\u00dfe",
    "\u015etef",
    "a`b",
    "O\u200dHara \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
]


async def in_sql(url: str, texts: list[str]) -> list[str]:
    rows = await owner.ask(
        url, "SELECT folded(said) AS folded FROM unnest($1::text[]) WITH ORDINALITY AS t(said, n) ORDER BY n", texts
    )
    return [row["folded"] for row in rows]


async def test_sql_folds_letters_as_python_does(fresh_database_url: str) -> None:
    letters = [
        chr(code)
        for code in range(1, sys.maxunicode)
        if unicodedata.category(chr(code)) not in {"Cn", "Co", "Cs"} and not 0xAC00 <= code <= 0xD7A3
        if not 0x3400 <= code <= 0x9FFF and code < 0x20000
    ]
    texts = [*NAMES, *(f"a{one}i" for one in letters)]
    found = await in_sql(fresh_database_url, texts)
    differing = [(one, folded(one), other) for one, other in zip(texts, found, strict=True) if folded(one) != other]
    assert differing == []


@pytest.mark.parametrize("locale", ["tr_TR.UTF-8", "az_AZ.UTF-8"])
async def test_no_locale_changes_what_is_equal(fresh_database_url: str, locale: str) -> None:
    parts, name = urlsplit(fresh_database_url), f"locale_{uuid4().hex}"
    connection = await asyncpg.connect(fresh_database_url)
    try:
        await connection.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER libc LOCALE '{locale}'"
        )
    except asyncpg.PostgresError:
        pytest.skip(f"this system has no locale {locale}")
    else:
        url = urlunsplit(parts._replace(path=f"/{name}"))
        await asyncio.to_thread(upgrade, url)
        assert await in_sql(url, ["MIRIAM ILIC", *NAMES]) == ["miriam ilic", *map(folded, NAMES)]
    finally:
        await connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await connection.close()


async def test_a_lower_case_is_asked_for_under_no_locale_of_the_database() -> None:
    """Look through every statement of ours: what folds letters names its collation, or is `folded`."""
    found = [
        f"{path}: {line.strip()}"
        for folder in ("db", "read", "services")
        for path in sorted((APP / folder).rglob("*.py"))
        for line in path.read_text().splitlines()
        if re.search(r"\b(?:lower|upper|initcap)\((?!i\.event_range)\S|\bILIKE\b", line)
        and ".lower()" not in line
        and ".upper()" not in line
    ]
    assert found == []
