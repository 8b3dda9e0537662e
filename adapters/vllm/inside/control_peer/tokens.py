"""The same token ids on both sides; two requests of a workload differ from their first token on."""

VOCABULARY_TOKENS = 32_000
# Coprime to the vocabulary, so that a sequence does not repeat itself soon.
STRIDE = 7_919
APART = 104_729


def prompt(index: int, count: int) -> list[int]:
    """`count` token ids of request `index`; any two indexes below 16,000 share no prefix."""
    first = 2 * index + 1
    return [
        (first + place * STRIDE + (place // VOCABULARY_TOKENS) * APART) % VOCABULARY_TOKENS
        for place in range(count)
    ]


def sampled(index: int, count: int) -> list[int]:
    """What the model answers request `index` with in every step: drafts, then one more."""
    return [(index + place) % VOCABULARY_TOKENS for place in range(count)]
