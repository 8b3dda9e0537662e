"""aligned-below-last breaks the law provenance; the default rules hold.

A drop backs the last position off by a block; a share cuts a chunk beyond it.
Smallest run found: 1 request, 2 prefill chunks, 4 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: aligned-below-last
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 1, drafted: true}
  - {name: state, kind: recurrent_state, block_tokens: 2}
  hash_unit_tokens: 1
  drop: {mode: block, cap: clamped}
  budget_tokens: 2
  max_model_tokens: 16384
  pool_blocks: 7
max_steps: 600
requests:
- name: r1
  segments: ['doc:3']
  shares: [1]
"""


def test_aligned_below_last_breaks_provenance() -> None:
    violation = first_of(judged_text(SCENARIO, "aligned-below-last"), "provenance")
    assert violation is not None
    assert violation.sentence == (
        "request r1: column 0 is published as state@2 but holds state@1 (step 1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()

