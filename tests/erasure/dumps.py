"""A whole database as text, searched for what should not be in it."""

from __future__ import annotations

from collections.abc import Iterable

import asyncpg


async def dump(url: str) -> dict[str, list[str]]:
    """Every row of every table outside Postgres' own, as the owner sees it, by table."""
    connection = await asyncpg.connect(url)
    try:
        tables = await connection.fetch(
            "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables "
            "WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
        )
        return {
            row["name"].removeprefix("public."): [
                one[0]
                for one in await connection.fetch(f"SELECT t::text FROM {row['name']} t")  # noqa: S608
            ]
            for row in tables
        }
    finally:
        await connection.close()


def found(dumped: dict[str, list[str]], canaries: Iterable[str]) -> list[str]:
    """Where canaries are: as they are, in lower case, in hexadecimal, in JSON's escapes."""
    told = []
    for canary in canaries:
        forms = {canary.lower(), canary.encode().hex(), canary.lower().encode().hex()}
        told += [
            f"{canary} in {table}: {row[:300]}"
            for table, rows in dumped.items()
            for row in rows
            if any(form in row.lower() for form in forms)
        ]
    return told
