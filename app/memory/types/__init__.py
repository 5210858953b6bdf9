"""One file a memory type: its payload, its meaning, its policy. `registry.discover()` reads this folder."""
