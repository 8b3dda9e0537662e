"""Released versions of vLLM as subjects: an environment of each, and what runs inside it."""
