"""Real engines as subjects: drivers that run inside the environment of the engine."""
