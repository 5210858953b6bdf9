"""Workers, which change a tenant's memories on a schedule: one file for each, found by `worker.discover`."""
