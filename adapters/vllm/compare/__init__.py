"""Two vLLMs beside each other: what one finds, keeps and proves that the other does not."""
