"""Scopes that a process holds in memory as columns, and the reads of a question from them.

The store stays the only truth. A scope is held as of a snapshot; a question's look-up tells what has changed since, so
what it reads from memory is what it would read from the store. SQL (`app.read.source`) answers what is not held.
"""
