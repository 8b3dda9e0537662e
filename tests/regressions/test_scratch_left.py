"""scratch-left breaks the law provenance; the default rules hold.

A final chunk starts one block below the checkpoint it exports and owns scratch there.
Smallest run found: 1 request, 2 prefill chunks, 11 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: scratch-left
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 2}
  - {name: state, kind: recurrent_state, block_tokens: 3}
  hash_unit_tokens: 1
  drafts: 1
  budget_tokens: 7
  max_model_tokens: 16384
  pool_blocks: 11
  checkpoint_alignment_tokens: 1
max_steps: 600
requests:
- name: r1
  segments: ['doc:10']
  shares: [4]
"""


def test_scratch_left_breaks_provenance() -> None:
    violation = first_of(judged_text(SCENARIO, "scratch-left"), "provenance")
    assert violation is not None
    assert violation.sentence == (
        "request r1: column 1 is published as state@6 but holds nothing (step 1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()

