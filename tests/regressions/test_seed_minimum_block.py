"""seed-minimum-block: the minimum block is not the state block.

The law seed names it; the default rules hold. Written by `truehit regress`.
Smallest run found: 2 requests, 2 prefill chunks, 15 tokens.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: seed-minimum-block
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 2}
  - {name: state, kind: recurrent_state, block_tokens: 3}
  hash_unit_tokens: 1
  budget_tokens: 6
  max_model_tokens: 512
  pool_blocks: 7
  max_running: 2
max_steps: 600
requests:
- name: r1
  segments: ['doc:4', 'doc-2:2']
- name: r2
  segments: ['doc:4', 'doc-2:3']
"""


def test_seed_minimum_block_breaks_seed() -> None:
    violation = first_of(judged_text(SCENARIO, "seed-minimum-block"), "seed")
    assert violation is not None
    assert violation.sentence == (
        "request r2: group state resumes at 6 from column 2, not 1 (step 1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()
