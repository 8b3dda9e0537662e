"""seed-minimum-block breaks the law seed; the default rules hold.

The minimum block is not the state block.
Smallest run found: 2 requests, 2 prefill chunks, 19 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: seed-minimum-block
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 1}
  - {name: state, kind: recurrent_state, block_tokens: 8}
  hash_unit_tokens: 1
  budget_tokens: 8
  max_model_tokens: 16384
  pool_blocks: 13
max_steps: 600
requests:
- name: r1
  segments: ['doc:8']
- name: r2
  segments: ['doc:8', 'doc-2:1']
"""


def test_seed_minimum_block_breaks_seed() -> None:
    violation = first_of(judged_text(SCENARIO, "seed-minimum-block"), "seed")
    assert violation is not None
    assert violation.sentence == (
        "request r2: group state resumes at 8 from column 7, not 0 (step 1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()

