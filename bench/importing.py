"""How fast an export is imported, beside COPY of the rows that it leaves: with their checks, and without."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from statistics import mean
from time import perf_counter

from app.db.session import Database
from app.db.tables import metadata
from app.features.portability.exports import ExportRequest, Exports
from app.features.portability.sql.exports import RECORDS
from app.model import Actor
from bench.client import Connection, Post
from bench.figures import Book
from bench.stage import Stage
from bench.world import Service, World, key_of, tenant_id

USER, COUNT = "user-moving", 3_000
ROUNDS = 2
_TENANT = 900_000
"""The first tenant that is imported into: no other part of a run has tenants of such numbers."""

_BESIDE = frozenset({"scopes", "lexical_terms"})
"""Tables that an import fills without lines of their own."""

_FILLED = _BESIDE | {one.name for kind in RECORDS for one in (kind.table, *(inner for inner, _ in kind.inner))}

Rows = Mapping[str, tuple[list[str], bytes]]
"""The columns and the rows of tables, in COPY's text format."""


async def imports(stage: Stage, book: Book) -> None:
    """Measure imports, and in turns with them COPY of what they stored."""
    await stage.have_tenants((0,))
    await stage.have_users({USER: COUNT})
    content = await exported(stage.world, 0, USER)
    rates: dict[str, list[float]] = {"POST /import": [], "COPY, every check": [], "COPY, no check": []}
    for place in range(ROUNDS):
        stage.progress("imports and COPY", place, ROUNDS)
        new = [_TENANT + 3 * place + number for number in range(3)]
        await stage.world.add_tenants(new)
        rates["POST /import"].append(await imported(stage.service, content, new[0]))
        rows = await _rows(stage.world, new[0])
        rates["COPY, every check"].append(await _copied(stage.world, rows, new[0], new[1], role="origin"))
        rates["COPY, no check"].append(await _copied(stage.world, rows, new[0], new[2], role="replica"))
    means = {what: mean(found) for what, found in rates.items()}
    slower = means["COPY, every check"] / means["POST /import"]
    book.check("COPY of an import's rows, with every check, over the import", slower, "<=", 3)
    book.table(
        f"Import of {COUNT:,} memories",
        ("what", "memories a second"),
        [(what, f"{rate:,.0f}") for what, rate in means.items()],
        "COPY stores the rows that the import left, in one transaction of a superuser: what a database does for any "
        "importer. Every check: foreign keys, and triggers that guard, log and queue; none: heap and indexes alone.",
    )


async def exported(world: World, source: int, user: str) -> bytes:
    """Return the export of a user's memories, with their vectors."""
    database = Database(world.url, pool_size=1)
    try:
        actor = Actor(tenant_id=tenant_id(source), key_id=None, name="bench")
        wanted = ExportRequest(user_id=user, vectors=True)
        return b"".join([piece async for piece in Exports(database=database).lines(actor, wanted)])
    finally:
        await database.close()


async def imported(service: Service, content: bytes, target: int) -> float:
    """Return the memories a second of an import into an empty tenant."""
    async with Connection(service.port) as connection:
        began = perf_counter()
        answer = json.loads(await connection.send(Post.plain("/import", content, key_of(target))))
        return float(answer["imported"]["memory"]) / (perf_counter() - began)


async def _rows(world: World, tenant: int) -> Rows:
    found = {}
    for table in metadata.sorted_tables:
        if table.name not in _FILLED:
            continue
        columns = [column.name for column in table.columns if column.computed is None and column.identity is None]
        text = io.BytesIO()
        query = f"SELECT {', '.join(columns)} FROM {table.name} WHERE tenant_id = '{tenant_id(tenant)}'"  # noqa: S608
        await world.owner.copy_from_query(query, output=text)
        found[table.name] = (columns, text.getvalue())
    return found


async def _copied(world: World, rows: Rows, source: int, target: int, *, role: str) -> float:
    """Return the memories a second of storing the source's rows as the target's, in one transaction."""
    before, after = (str(tenant_id(one)).encode() for one in (source, target))
    began = perf_counter()
    async with world.owner.transaction():
        await world.owner.execute(f"SET LOCAL session_replication_role = {role}")
        for table, (columns, text) in rows.items():
            await world.owner.copy_to_table(table, source=io.BytesIO(text.replace(before, after)), columns=columns)
    return COUNT / (perf_counter() - began)
