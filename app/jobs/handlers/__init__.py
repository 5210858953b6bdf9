"""One file for each kind of job; `app.jobs.handler.discover` finds them."""
