"""minimum-block-grid breaks the law provenance; the default rules hold.

A finer group sets the grid, and a budget that is no multiple of the state block.
Smallest run found: 1 request, 2 prefill chunks, 6 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: minimum-block-grid
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 1}
  - {name: state, kind: recurrent_state, block_tokens: 2}
  hash_unit_tokens: 1
  budget_tokens: 3
  max_model_tokens: 16384
  pool_blocks: 9
max_steps: 600
requests:
- name: r1
  segments: ['doc:5']
"""


def test_minimum_block_grid_breaks_provenance() -> None:
    violation = first_of(judged_text(SCENARIO, "minimum-block-grid"), "provenance")
    assert violation is not None
    assert violation.sentence == (
        "request r1: column 1 is published as state@4 but holds state@3 (step 1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()


def test_stop_from_misaligned_holds() -> None:
    assert judged_text(SCENARIO, "stop-from-misaligned").violations == ()

