"""Extraction by rules: a turn's sentences, their clauses, and what each kind of clause says worth keeping."""

from app.providers.rules.extractor import RulesExtractor

__all__ = ["RulesExtractor"]
