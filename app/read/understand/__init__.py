"""Stage 1: the question, read by rules. `read` needs the words alone, `resolve` what the store knows."""

from app.read.understand.names import possessives_in
from app.read.understand.parse import names_of, parse_question
from app.read.understand.resolve import resolve_question, specificity

__all__ = ["names_of", "parse_question", "possessives_in", "resolve_question", "specificity"]
