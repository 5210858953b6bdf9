"""Lifecycle workers, which change a tenant's memories on a schedule: one file for each, found by `runner.discover`."""
