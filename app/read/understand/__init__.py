"""Stage 1: the question, read by rules. `read` needs the words alone, `resolve` what the store knows."""

from app.read.understand.parse import names_of, parse_question, possessives_in
from app.read.understand.resolve import knows_no_word, resolve_question, respell, says_little, specificity

__all__ = [
    "knows_no_word",
    "names_of",
    "parse_question",
    "possessives_in",
    "resolve_question",
    "respell",
    "says_little",
    "specificity",
]
