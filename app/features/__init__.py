"""The features: what a write or a question can do without, a folder each, which can be removed."""
