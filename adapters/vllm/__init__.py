"""vLLM as a subject: an environment of each release or tree, and what runs inside it."""
