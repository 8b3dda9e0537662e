"""A hybrid model that runs on the engine's tables: all state in pages, nothing beside them."""
