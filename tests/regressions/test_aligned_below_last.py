"""aligned-below-last: a drop backs the last position off by a block; a share cuts a chunk beyond it.

The law provenance names it; the default rules hold. Written by `truehit regress`.
Smallest run found: 1 request, 2 prefill chunks, 5 tokens.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: aligned-below-last
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 1, drafted: true}
  - {name: state, kind: recurrent_state, block_tokens: 3}
  hash_unit_tokens: 1
  drop: {mode: block, cap: clamped}
  budget_tokens: 2
  max_model_tokens: 512
  pool_blocks: 8
  max_running: 8
max_steps: 600
requests:
- name: r1
  segments: ['doc:4']
"""


def test_aligned_below_last_breaks_provenance() -> None:
    violation = first_of(judged_text(SCENARIO, "aligned-below-last"), "provenance")
    assert violation is not None
    assert violation.sentence == (
        "request r1: column 0 is published as state@3 but holds state@2 (step 1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()
