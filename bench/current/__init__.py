"""A public benchmark of which memory serves the value that is current."""
