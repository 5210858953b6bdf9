"""Stage 1: the question, read by rules. `read` needs the words alone, `resolve` what the store knows."""

from app.read.understand.belongings import asked
from app.read.understand.reading import names_of, read
from app.read.understand.resolving import resolve, specificity

__all__ = ["asked", "names_of", "read", "resolve", "specificity"]
