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
    blocks = (total + 3 + 15) // 16
    for i in range(8):
        state[i] = INITIAL[i]
    for block in range(blocks):
        first = block * 16
        for i in range(16):
            at = first + i
            if at < 8:
                words[i] = parent[at]
            elif at < total:
                words[i] = np.uint32(tokens[start + at - 8])
            elif at == total:
                words[i] = np.uint32(0x80000000)
            else:
                words[i] = np.uint32(0)
        if block == blocks - 1:
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
