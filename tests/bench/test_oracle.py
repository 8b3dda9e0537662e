"""How long the oracle takes for a long prompt and its resend, pages of 16 tokens."""

import time

import pytest

from .measured import Measured
from .million import BLOCK_TOKENS, PROMPT_TOKENS, served

pytestmark = pytest.mark.benchmark(timer=time.process_time)


@pytest.mark.parametrize("state_block_tokens", [1600, BLOCK_TOKENS])
def test_a_prompt_sent_twice(measured: Measured, state_block_tokens: int) -> None:
    tokens = PROMPT_TOKENS if measured.whole else PROMPT_TOKENS // 50
    result = measured.of(served, tokens, state_block_tokens, rounds=3)
    first, again = result.served
    assert first.hit == 0
    assert again.hit == (tokens - 1) // state_block_tokens * state_block_tokens
