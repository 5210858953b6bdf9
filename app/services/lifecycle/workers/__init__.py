"""What is done to a tenant's memories by the clock: one file for each; `worker.discover` finds them."""
