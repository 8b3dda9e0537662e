"""SHA-256 of `parent digest, tokens`: the identity of a prefix, block by block.

A digest is eight big-endian words (uint32[8]); a token is four bytes, big-endian. So the bytes that
are hashed are well defined and `hashlib` gives the same digest. On processors with SHA instructions
one compression takes about a tenth of the time of the portable one; which one runs is decided once,
when this module is loaded. Source: FIPS 180-4."""

from hashlib import sha256

import numpy as np

from truehit.engine.compiled import IS_COMPILED, compiled
from truehit.engine.memory import Int32, UInt32
from truehit.engine.sha256_rounds import INITIAL, compress

__all__ = ["digest_of_salt", "extend_digest"]


def digest_of_salt(salt: str) -> UInt32:
    """The parent digest of a request's first block: requests with different salts share nothing."""
    return np.frombuffer(sha256(salt.encode()).digest(), dtype=">u4").astype(np.uint32)


@compiled
def _extend(
    parent: UInt32, tokens: Int32, start: int, count: int, state: UInt32, words: UInt32
) -> None:
    """Hash 32 bytes of parent and `count` tokens; the message is padded as the standard says."""
    total = 8 + count
    for i in range(8):
        words[i] = parent[i]
        state[i] = INITIAL[i]
    at, left, read = 8, count, start
    while True:
        taken = min(16 - at, left)
        for i in range(taken):
            words[at + i] = np.uint32(tokens[read + i])
        at, left, read = at + taken, left - taken, read + taken
        if at < 16:
            break
        compress(state, words)
        at = 0
    for i in range(at, 16):
        words[i] = np.uint32(0)
    words[at] = np.uint32(0x80000000)
    if at > 13:
        compress(state, words)
        for i in range(16):
            words[i] = np.uint32(0)
    words[14] = np.uint32(total * 32 >> 32)
    words[15] = np.uint32(total * 32 & 0xFFFFFFFF)
    compress(state, words)


def _extend_plainly(
    parent: UInt32, tokens: Int32, start: int, count: int, state: UInt32, words: UInt32
) -> None:
    """The same by hashlib, where nothing is compiled."""
    message = parent.astype(">u4").tobytes() + tokens[start : start + count].astype(">u4").tobytes()
    state[:] = np.frombuffer(sha256(message).digest(), dtype=">u4")


extend_digest = _extend if IS_COMPILED else _extend_plainly
