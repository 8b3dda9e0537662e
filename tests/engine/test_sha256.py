"""The identity of a prefix is plain SHA-256: hashlib gives the same digest for every input.

Both compressions are asked: the one that runs on this processor, and the portable one."""

from collections.abc import Callable
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from truehit.engine import fields as f
from truehit.engine.api import Engine
from truehit.engine.memory import Int32, UInt32
from truehit.engine.sha256 import digest_of_salt, extend_digest
from truehit.engine.sha256_rounds import INITIAL, ROUND, _compress_portable, compress

from .room import CI, hybrid

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")
TOKENS = np.random.default_rng(1).integers(0, 2**31 - 1, 600).astype(np.int32)
# Around the places where the padding needs one more block: 64 bytes are 16 words.
EDGES = (0, 1, 4, 5, 6, 7, 8, 20, 21, 22, 23, 24, 37, 38, 39)


def expected(parent: UInt32, tokens: Int32) -> bytes:
    """By the standard library."""
    message = b"".join(int(word).to_bytes(4, "big") for word in (*parent, *tokens))
    return sha256(message).digest()


def as_bytes(state: UInt32) -> bytes:
    return state.astype(">u4").tobytes()


@CI
@given(st.binary(min_size=32, max_size=32), st.integers(0, 200), st.integers(0, 400))
@example(b"\xff" * 32, 0, 400)
@example(b"\x80" * 32, 0, 1)
def test_a_digest_is_that_of_hashlib(parent_bytes: bytes, start: int, count: int) -> None:
    parent = np.frombuffer(parent_bytes, ">u4").astype(np.uint32)
    state, words = np.zeros(8, np.uint32), np.zeros(16, np.uint32)
    extend_digest(parent, TOKENS, start, count, state, words)
    assert as_bytes(state) == expected(parent, TOKENS[start : start + count])


@pytest.mark.parametrize("count", EDGES)
def test_the_padding_is_right_at_every_edge(count: int) -> None:
    parent, start = digest_of_salt("tenant"), 3
    state, words = np.zeros(8, np.uint32), np.zeros(16, np.uint32)
    extend_digest(parent, TOKENS, start, count, state, words)
    assert as_bytes(state) == expected(parent, TOKENS[start : start + count])


def by_hand(compression: Callable[[UInt32, UInt32], object], message: bytes) -> bytes:
    """The digest of a message, padded here, one compression a block of 64 bytes."""
    padded = message + b"\x80" + b"\0" * ((55 - len(message)) % 64)
    padded += (8 * len(message)).to_bytes(8, "big")
    state = INITIAL.copy()
    for at in range(0, len(padded), 64):
        compression(state, np.frombuffer(padded[at : at + 64], ">u4").astype(np.uint32))
    return as_bytes(state)


@CI
@given(st.binary(max_size=300))
def test_the_compression_of_this_processor_is_that_of_the_standard(message: bytes) -> None:
    assert by_hand(compress, message) == sha256(message).digest()


@CI
@given(st.binary(max_size=300))
def test_the_portable_compression_is_that_of_the_standard(message: bytes) -> None:
    assert by_hand(_compress_portable, message) == sha256(message).digest()


def test_the_constants_are_those_of_the_standard() -> None:
    assert (hex(INITIAL[0]), hex(INITIAL[-1])) == ("0x6a09e667", "0x5be0cd19")
    assert (hex(ROUND[0]), hex(ROUND[-1])) == ("0x428a2f98", "0xc67178f2")


def keys_of(prompt: list[int], salt: str) -> list[bytes]:
    """The keys a submitted prompt gets."""
    engine = Engine(hybrid())
    slot = engine.host.slots[engine.submit(prompt, output_tokens=1, salt=salt)]
    first, units = engine.host.core.request[slot, [f.R_KEYS, f.R_HASHED_UNITS]].tolist()
    return [as_bytes(row) for row in engine.host.core.key[first : first + units]]


def test_keys_are_a_chain_of_digests_from_the_salt() -> None:
    prompt = TOKENS[:23].tolist()
    chain, parent = [], sha256(b"tenant").digest()
    for unit in range(23 // 4):
        words = (token.to_bytes(4, "big") for token in prompt[4 * unit : 4 * unit + 4])
        parent = sha256(parent + b"".join(words)).digest()
        chain.append(parent)
    assert keys_of(prompt, "tenant") == chain


@CI
@given(st.text(max_size=8), st.text(max_size=8))
@example("", "\0")
@example("a", "b")
def test_salts_separate_all_keys(one: str, other: str) -> None:
    prompt = TOKENS[:20].tolist()
    shared = set(keys_of(prompt, one)) & set(keys_of(prompt, other))
    assert bool(shared) == (one == other)


def test_a_prefix_shares_exactly_the_keys_before_the_first_other_token() -> None:
    prompt = TOKENS[:40].tolist()
    for at in range(40):
        other = [*prompt[:at], prompt[at] ^ 1, *prompt[at + 1 :]]
        pairs = list(zip(keys_of(prompt, ""), keys_of(other, ""), strict=True))
        assert [mine == theirs for mine, theirs in pairs] == [n < at // 4 for n in range(10)]
