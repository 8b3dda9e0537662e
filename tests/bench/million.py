"""A prompt of 1,000,000 tokens, sent twice, on the oracle: CPU seconds and peak memory.

Run as `python tests/bench/million.py`: a process of its own, because the peak is the process's.
"""

import resource
import time

from truehit.reference.ruleset import DEFAULT
from truehit.reference.run import Run, run
from truehit.spec.geometry import Geometry, Group, Kind, ReachOnly
from truehit.spec.laws.judge import check_trace
from truehit.spec.scenario import After, Request, Scenario
from truehit.spec.tokens import Segment

PROMPT_TOKENS = 1_000_000
BLOCK_TOKENS = 16


def sent_twice(prompt_tokens: int, state_block_tokens: int) -> Scenario:
    """One prompt and its resend: pages of 16 tokens, retention 0, a pool that holds both."""
    groups = (
        Group("attention", Kind.FULL_ATTENTION, BLOCK_TOKENS),
        Group("state", Kind.RECURRENT_STATE, state_block_tokens),
    )
    geometry = Geometry(
        groups=groups,
        hash_unit_tokens=BLOCK_TOKENS,
        retention=ReachOnly(),
        max_model_tokens=2 * prompt_tokens,
        pool_blocks=3 * prompt_tokens // BLOCK_TOKENS + 100,
    )
    document = (Segment("document", prompt_tokens),)
    requests = (Request("first", document), Request("again", document, arrival=After("first")))
    return Scenario("million", geometry, requests)


def served(prompt_tokens: int, state_block_tokens: int) -> Run:
    """The run of it under the default rules."""
    return run(sent_twice(prompt_tokens, state_block_tokens), DEFAULT)


def main() -> None:
    """One line for each state block."""
    for state_block_tokens in (1600, BLOCK_TOKENS):
        before = time.process_time()
        result = served(PROMPT_TOKENS, state_block_tokens)
        ran = time.process_time()
        verdict = check_trace(result.events)
        judged = time.process_time()
        assert verdict.violations == (), verdict.violations[:3]
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"state block {state_block_tokens:4}: hit {result.served[1].hit:,}, run "
            f"{ran - before:.2f} s, laws {judged - ran:.2f} s, {len(result.events):,} events, "
            f"peak {peak_mb:,.0f} MB"
        )


if __name__ == "__main__":
    main()
