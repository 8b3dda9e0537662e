"""What can never be served is refused at once, with the number that would do."""

from truehit.spec.geometry import Geometry


def refusal_of(
    geometry: Geometry,
    total_tokens: int,
    largest_input_tokens: int,
    encoder_budget_tokens: int | None,
) -> str | None:
    """Why a request of so many tokens (prompt and output) can never finish, or None."""
    if total_tokens > geometry.max_model_tokens:
        return (
            f"is {total_tokens} tokens, max_model_tokens is {geometry.max_model_tokens}; "
            f"{total_tokens} would do"
        )
    needed, have = geometry.request_blocks(total_tokens), geometry.pool_blocks - 1
    if needed > have:
        return f"needs {needed} blocks, the pool has {have}; a pool of {needed + 1} would do"
    if encoder_budget_tokens is not None and largest_input_tokens > encoder_budget_tokens:
        return (
            f"an input of {largest_input_tokens} tokens exceeds the encoder budget of "
            f"{encoder_budget_tokens}; a budget of {largest_input_tokens} would do"
        )
    return None
