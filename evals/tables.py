"""Tables of figures, as every evaluation prints them."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table


def figures(title: str, first: str, columns: Iterable[str]) -> Table:
    """Return a table without rows: a column of names, then columns of figures."""
    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def percent(part: int, whole: int) -> str:
    """Return a share as it is printed; of nothing, nothing."""
    return f"{part / whole:.1%}" if whole else ""
