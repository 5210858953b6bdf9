"""Stage 2a: one SQL statement, one CTE an arm, every filter inside every arm."""

from app.read.retrieve.lexical import nominators
from app.read.retrieve.links import read_links
from app.read.retrieve.search import Search, SearchFilters
from app.read.retrieve.semantic import is_exact
from app.read.retrieve.statement import Retrieved, retrieve

__all__ = ["Retrieved", "Search", "SearchFilters", "is_exact", "nominators", "read_links", "retrieve"]
