"""pruned-lookup breaks the law joint; the default rules hold.

The last block of a match is never used, so every hit loses one to hide a poison.
Smallest run found: 2 requests, 3 prefill chunks, 5 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: pruned-lookup
geometry:
  groups:
  - {name: state, kind: recurrent_state, block_tokens: 1}
  hash_unit_tokens: 1
  budget_tokens: 1
  max_model_tokens: 16384
  pool_blocks: 3
max_steps: 600
requests:
- name: r1
  segments: ['doc:1']
- name: r2
  segments: ['doc:1', 'doc-2:1']
"""


def test_pruned_lookup_breaks_joint() -> None:
    violation = first_of(judged_text(SCENARIO, "pruned-lookup"), "joint")
    assert violation is not None
    assert violation.sentence == (
        "request r2: hits 0, but every group can resume at 1 (step 1)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()

