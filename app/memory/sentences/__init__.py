"""Sentences about events of the audit log, by action; `@` in one stands for the date."""
