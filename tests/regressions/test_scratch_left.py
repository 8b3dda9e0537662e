"""scratch-left: a final chunk starts one block below the checkpoint it exports and owns scratch there.

The law provenance names it; the default rules hold. Written by `truehit regress`.
Smallest run found: 1 request, 2 prefill chunks, 20 tokens.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: scratch-left
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 4}
  - {name: state, kind: recurrent_state, block_tokens: 6}
  hash_unit_tokens: 2
  drafts: 1
  budget_tokens: 13
  max_model_tokens: 512
  pool_blocks: 11
  checkpoint_alignment_tokens: 2
  max_running: 4
max_steps: 600
requests:
- name: r1
  segments: ['doc:8', 'doc-2:11']
  shares: [10]
"""


def test_scratch_left_breaks_provenance() -> None:
    violation = first_of(judged_text(SCENARIO, "scratch-left"), "provenance")
    assert violation is not None
    assert violation.sentence == (
        "request r1: column 1 is published as state@12 but holds nothing (step 1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()
