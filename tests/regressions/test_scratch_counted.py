"""scratch-counted breaks the law admission; the default rules hold.

Scratch moves in a checkpoint step, so fewer blocks are taken than estimated.
Smallest run found: 1 request, 2 prefill chunks, 10 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: scratch-counted
geometry:
  groups:
  - {name: state, kind: recurrent_state, block_tokens: 2}
  hash_unit_tokens: 2
  drafts: 1
  retention: 0
  budget_tokens: 5
  max_model_tokens: 16384
  pool_blocks: 6
  checkpoint_alignment_tokens: 1
max_steps: 600
requests:
- name: r1
  segments: ['doc:9']
"""


def test_scratch_counted_breaks_admission() -> None:
    violation = first_of(judged_text(SCENARIO, "scratch-counted"), "admission")
    assert violation is not None
    assert violation.sentence == (
        "request r1: the estimate is 3 blocks but 2 are taken (step 1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()

