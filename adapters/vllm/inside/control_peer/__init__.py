"""A real vLLM scheduler that does named workloads on request, a JSON line at a time."""
