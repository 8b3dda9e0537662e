"""stop-from-misaligned breaks the law reach; the default rules hold.

An aligned start spans several boundaries.
Smallest run found: 1 request, 2 prefill chunks, 4 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: stop-from-misaligned
geometry:
  groups:
  - {name: state, kind: recurrent_state, block_tokens: 1}
  hash_unit_tokens: 1
  budget_tokens: 2
  max_model_tokens: 16384
  pool_blocks: 3
max_steps: 600
requests:
- name: r1
  segments: ['doc:3']
"""


def test_stop_from_misaligned_breaks_reach() -> None:
    violation = first_of(judged_text(SCENARIO, "stop-from-misaligned"), "reach")
    assert violation is not None
    assert violation.sentence == (
        "request r1: passed the kept position 1 in step 0 but group state has no key there "
        "(step 0)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()

