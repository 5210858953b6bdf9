"""The life of memories in sets: what workers do to many at once, and what brings one back."""
