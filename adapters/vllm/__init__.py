"""vLLM as a subject: releases, installations and checkouts: an environment of each, and what runs inside it."""
