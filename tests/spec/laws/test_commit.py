"""commit: keys of steps that did not run, or that still run, are not found."""

from .script import Script
from .test_clean import first_request, two_requests


def test_keys_of_steps_that_ran_pass() -> None:
    assert two_requests().sentences("commit") == []


def test_the_key_of_a_failed_chunk_is_named() -> None:
    script = Script().submit("a", ("doc", 4), output=1).schedule("a", 0, 4, 4)
    script.place("a", "state", 0, 4).publish("a", "state", (4, 4)).complete(failed=("a",))
    assert script.sentences("commit") == [
        "request a: at the end of step 0 the key of 4 tokens names block 4 of group state, "
        "which was never written"
    ]


def test_the_key_of_a_preempted_chunk_that_was_to_overwrite_is_named() -> None:
    script = Script().submit("a", ("doc", 4), output=1).schedule("a", 0, 3, 4)
    script.place("a", "state", 0, 4).write("a", "state", 0, 4, start=0, end=3).complete()
    script.schedule("a", 3, 4, 4).publish("a", "state", (4, 4)).end("a", "preempt").complete()
    assert script.sentences("commit") == [
        "request a: at the end of step 1 the key of 4 tokens names block 4 of group state, "
        "which was not written in that step"
    ]


def test_a_chunk_that_wrote_something_else_is_not_commits_business() -> None:
    script = Script().submit("a", ("doc", 4), output=1).schedule("a", 0, 4, 4)
    script.place("a", "state", 0, 4).write("a", "state", 0, 4, start=0, end=3)
    verdict = script.publish("a", "state", (4, 4)).complete().judge()
    assert verdict.of_law("commit") == ()
    assert len(verdict.of_law("provenance")) == 1


def test_a_false_key_of_an_earlier_chunk_is_not_commits_business() -> None:
    script = Script().submit("a", ("doc", 8), output=1).schedule("a", 0, 3, 8)
    script.place("a", "state", 0, 4).write("a", "state", 0, 4, start=0, end=3).complete()
    script.schedule("a", 4, 8, 8).publish("a", "state", (4, 4)).complete()
    assert script.sentences("commit") == []


def test_a_state_key_of_the_same_step_is_not_adopted() -> None:
    script = Script().submit("a", ("doc", 8), output=1).submit("b", ("doc", 8), output=1)
    script.schedule("a", 0, 4, 8).place("a", "state", 0, 4).publish("a", "state", (4, 4))
    script.adopt("b", "state", 0, 4, tokens=4)
    script.write("a", "state", 0, 4, start=0, end=4).complete()
    assert script.sentences("commit") == [
        "request b: column 0 of group state adopts block 4 at 4 tokens whose key request a "
        "published in the same step, before its write (step 0)"
    ]


def test_a_state_that_was_true_before_may_be_filed_and_adopted_in_one_step() -> None:
    script = Script().submit("a", ("doc", 8), output=1).submit("b", ("doc", 8), output=1)
    script.place("a", "state", 0, 4).write("a", "state", 0, 4, start=0, end=4).complete()
    script.publish("a", "state", (4, 4)).adopt("b", "state", 0, 4, tokens=4).complete()
    assert script.sentences("commit") == []


def test_a_false_state_of_an_earlier_step_is_not_commits_business() -> None:
    script = Script().submit("a", ("doc", 8), output=1).submit("b", ("doc", 8), output=1)
    script.place("a", "state", 0, 4).write("a", "state", 0, 4, start=0, end=3)
    script.publish("a", "state", (4, 4)).complete().adopt("b", "state", 0, 4, tokens=4).complete()
    assert script.sentences("commit") == []


def test_attention_pages_of_the_same_step_may_be_adopted() -> None:
    script = Script().submit("a", ("doc", 8), output=1).submit("b", ("doc", 8), output=1)
    script.schedule("a", 0, 4, 8).place("a", "full", 0, 4).publish("a", "full", (4, 4))
    script.adopt("b", "full", 0, 4, tokens=4)
    script.write("a", "full", 0, 4, start=0, end=4).read("b", "full", 0, 0, 4).complete()
    verdict = script.judge()
    assert verdict.of_law("commit") == ()
    assert verdict.of_law("neutrality") == ()
    assert verdict.of_law("ownership") == ()


def test_a_block_without_a_key_of_the_own_prefix_is_not_adopted() -> None:
    script = two_requests()
    script.submit("c", ("other", 9), output=1).adopt("c", "state", 1, 5, tokens=8).complete()
    assert script.sentences("commit") == [
        "request c: column 1 of group state adopts block 5 at 8 tokens "
        "without a findable key of its own prefix (step 5)"
    ]


def test_an_evicted_key_is_not_adopted() -> None:
    script = first_request().unpublish("full", 1)
    script.submit("b", ("doc", 8), ("tail-b", 4)).adopt("b", "full", 0, 1, 2, tokens=8).complete()
    assert script.sentences("commit") == [
        "request b: column 0 of group full adopts block 1 at 8 tokens "
        "without a findable key of its own prefix (step 4)"
    ]


def test_true_keys_of_earlier_steps_stay_when_their_request_is_preempted() -> None:
    script = Script().submit("a", ("doc", 8), output=1)
    script.prefill("a", 8, (1, 2), (3, 4))
    script.end("a", "preempt").unpublish("state", 4, why="taken_back").complete()
    assert script.sentences("commit") == [
        "request a: its key of 8 tokens, true since step 1, is taken back in step 2"
    ]
