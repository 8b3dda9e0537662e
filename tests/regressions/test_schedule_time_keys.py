"""schedule-time-keys breaks the law commit; the default rules hold.

Two requests with one prefix arrive together.
Smallest run found: 2 requests, 2 prefill chunks, 17 tokens. Written by `truehit regress`.
"""

from truehit.proofs.regress.judged import first_of, judged_text

SCENARIO = """\
schema: 1
name: schedule-time-keys
geometry:
  groups:
  - {name: state, kind: recurrent_state, block_tokens: 7}
  hash_unit_tokens: 7
  budget_tokens: 8
  max_model_tokens: 512
  pool_blocks: 5
  max_running: 2
max_steps: 600
requests:
- name: r1
  segments: ['doc:7']
- name: r2
  segments: ['doc:8']
"""


def test_schedule_time_keys_breaks_commit() -> None:
    violation = first_of(judged_text(SCENARIO, "schedule-time-keys"), "commit")
    assert violation is not None
    assert violation.sentence == (
        "request r2: column 0 of group state adopts block 1 at 7 tokens whose key request r1 "
        "published in the same step, before its write (step 0)"
    )


def test_default_holds() -> None:
    assert judged_text(SCENARIO, "default").violations == ()

