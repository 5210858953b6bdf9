"""What it takes: memory of the processes, size of the tables."""

from __future__ import annotations

from pathlib import Path

from bench.figures import Book
from bench.stage import Stage

_PROC = Path("/proc")
_KB = 1024
_SIZES = """
    SELECT c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid), c.reltuples
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname = 'public' AND pg_total_relation_size(c.oid) > 1000000
    ORDER BY pg_total_relation_size(c.oid) DESC
"""
_INDEX_SIZES = """
    SELECT indexrelname, pg_relation_size(indexrelid) FROM pg_stat_user_indexes
    WHERE relname = 'memory_index' ORDER BY 2 DESC
"""


async def usage(stage: Stage, book: Book) -> None:
    """Report what the run's store takes on disk and its processes in memory."""
    owner = stage.world.owner
    tables = [
        (name, _mb(table), _mb(indexes), f"{max(0, rows):,.0f}")
        for name, table, indexes, rows in await owner.fetch(_SIZES)
    ]
    memories = await owner.fetchval("SELECT count(*) FROM memories")
    total = await owner.fetchval("SELECT pg_database_size(current_database())")
    note = f"{memories:,} memories, {total / memories:,.0f} bytes each in all."
    book.table("Tables", ("table", "MB", "indexes MB", "rows"), tables, note)
    indexes = [(name, _mb(size)) for name, size in await owner.fetch(_INDEX_SIZES)]
    book.table("Indexes of memory_index", ("index", "MB"), indexes)
    server = await owner.fetchval("SELECT pg_backend_pid()")
    if (_PROC / "self").exists():
        postmaster = _parent(server)
        rows = [
            ("service", _mb(resident(stage.service.pid))),
            ("Postgres, all processes, what they share counted once", _mb(_proportional(postmaster))),
        ]
        book.table("Memory", ("process", "MB"), rows)


def _mb(size: int) -> str:
    return f"{size / 1_000_000:,.1f}"


def _parent(pid: int) -> int:
    return int((_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])


def resident(pid: int) -> int:
    """Return the resident bytes of a process."""
    return _field(_PROC / str(pid) / "status", "VmRSS")


def _proportional(postmaster: int) -> int:
    """Return the proportional set sizes of a process and its children together; resident ones where hidden."""
    family = [postmaster]
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            try:
                if _parent(int(entry.name)) == postmaster:
                    family.append(int(entry.name))
            except (OSError, ValueError):
                continue
    return sum(_share(pid) for pid in family)


def _share(pid: int) -> int:
    try:
        return _field(_PROC / str(pid) / "smaps_rollup", "Pss")
    except OSError:
        return resident(pid)


def _field(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * _KB
    return 0
