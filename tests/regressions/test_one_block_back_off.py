"""one-block-back-off breaks the law reach; the default rules hold.

The last position is backed off below what the lookup offers.
Smallest run found: 1 request, 1 prefill chunk, 4 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: one-block-back-off
geometry:
  groups:
  - {name: attention, kind: full_attention, block_tokens: 1, drafted: true}
  - {name: state, kind: recurrent_state, block_tokens: 2}
  hash_unit_tokens: 1
  drop: {mode: block, cap: margin}
  budget_tokens: 3
  max_model_tokens: 16384
  pool_blocks: 7
max_steps: 600
requests:
- name: r1
  segments: ['doc:3']
"""


def test_one_block_back_off_breaks_reach() -> None:
    violation = first_of(judged_text(SCENARIO, "one-block-back-off"), "reach")
    assert violation is not None
    assert violation.sentence == (
        "request r1: passed the kept position 2 in step 0 but group state has no key there "
        "(step 0)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()


def test_stop_from_misaligned_holds() -> None:
    assert judged_text(SCENARIO, "stop-from-misaligned").violations == ()

