"""The pool: which block is taken next, what keys survive, and that counts always add up."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truehit.reference.pool import NULL_BLOCK, Key, Pool, PoolError


def key(tokens: int, group: str = "state") -> Key:
    return Key(group, tokens, (1, tokens))


def test_blocks_are_taken_in_the_order_of_their_ids_and_never_the_null_block() -> None:
    pool = Pool(5)
    assert pool.take(4) == ([1, 2, 3, 4], [])
    assert pool.free_count == 0
    assert pool.references(NULL_BLOCK) == 0


def test_what_is_not_there_is_not_taken_in_part() -> None:
    pool = Pool(4)
    pool.take(1)
    with pytest.raises(PoolError, match="3 blocks asked, 2 free"):
        pool.take(3)
    assert pool.free_count == 2


def test_blocks_freed_without_keys_go_first_in_list_order_and_keyed_ones_last() -> None:
    pool = Pool(7)
    pool.take(5)
    pool.publish(key(16), 2)
    pool.publish(key(32), 4)
    pool.release([4, 5, 2, 1, 3])
    assert pool.take(6)[0] == [5, 1, 3, 6, 4, 2]


def test_a_block_with_two_readers_is_free_only_after_both() -> None:
    pool = Pool(3)
    (block,), _ = pool.take(1)
    pool.touch(block)
    pool.release([block])
    assert not pool.is_free(block)
    pool.release([block])
    assert pool.is_free(block)


def test_adopting_a_free_block_takes_it_out_of_the_queue_and_keeps_its_keys() -> None:
    pool = Pool(4)
    pool.take(1)
    pool.publish(key(16), 1)
    pool.release([1])
    assert pool.keyed_free_count == 1
    pool.touch(1)
    assert (pool.keyed_free_count, pool.references(1)) == (0, 1)
    assert pool.take(2)[0] == [2, 3]
    assert pool.find(key(16)) == 1


def test_taking_a_block_evicts_all_its_keys() -> None:
    pool = Pool(2)
    pool.take(1)
    pool.publish(key(20), 1)
    pool.publish(key(32), 1)
    pool.release([1])
    assert pool.take(1) == ([1], [1])
    assert pool.find(key(20)) is None
    assert pool.find(key(32)) is None
    assert pool.lost == {key(20), key(32)}


def test_the_first_of_two_blocks_under_one_key_is_found_until_it_goes() -> None:
    pool = Pool(3)
    pool.take(2)
    assert pool.publish(key(16), 2)
    assert pool.publish(key(16), 1)
    assert pool.find(key(16)) == 2
    pool.release([2])
    assert pool.take(1) == ([2], [2])
    assert pool.find(key(16)) == 1
    assert pool.lost == set()


def test_publishing_the_same_key_again_changes_nothing() -> None:
    pool = Pool(3)
    pool.take(1)
    assert pool.publish(key(16), 1)
    assert not pool.publish(key(16), 1)


def test_a_key_that_comes_back_is_not_lost() -> None:
    pool = Pool(2)
    pool.take(1)
    pool.publish(key(16), 1)
    pool.release([1])
    pool.take(1)
    pool.publish(key(16), 1)
    assert pool.lost == set()


def test_after_a_reset_nothing_is_found_and_every_key_is_lost() -> None:
    pool = Pool(4)
    pool.take(2)
    pool.publish(key(16), 1)
    pool.publish(key(16, "attention"), 2)
    pool.release([1])
    pool.drop_all_keys()
    assert pool.find(key(16)) is None
    assert pool.keyed_free_count == 0
    assert not pool.has_keys(2)
    assert pool.lost == {key(16), key(16, "attention")}


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.data())
def test_counts_and_readers_agree_with_a_naive_book_after_any_history(data: st.DataObject) -> None:
    pool, readers, names = Pool(9), Counter[int](), dict[int, set[int]]()
    for _ in range(data.draw(st.integers(1, 40))):
        free = [block for block in range(1, 9) if not readers[block]]
        used = [block for block in range(1, 9) if readers[block]]
        findable = sorted({n for keys in names.values() for n in keys})
        match data.draw(st.sampled_from(("take", "release", "publish", "touch"))):
            case "take" if free:
                taken, evicted = pool.take(data.draw(st.integers(1, len(free))))
                assert evicted == [block for block in taken if names.pop(block, None)]
                readers.update(taken)
            case "release" if used:
                gone = data.draw(st.lists(st.sampled_from(used), min_size=1, unique=True))
                pool.release(gone)
                readers.subtract(gone)
            case "publish" if used:
                block, tokens = data.draw(st.sampled_from(used)), data.draw(st.integers(1, 4))
                pool.publish(key(tokens), block)
                names.setdefault(block, set()).add(tokens)
            case "touch" if findable:
                found = pool.find(key(data.draw(st.sampled_from(findable))))
                assert found is not None
                pool.touch(found)
                readers[found] += 1
        keyed_free = sum(1 for block in names if not readers[block])
        assert pool.keyed_free_count == keyed_free
        assert pool.referenced_count == sum(1 for block in readers if readers[block])
        assert [pool.references(b) for b in range(1, 9)] == [readers[b] for b in range(1, 9)]
        for tokens in range(1, 5):
            holders = {block for block, keys in names.items() if tokens in keys}
            assert (pool.find(key(tokens)) in holders) == bool(holders)
