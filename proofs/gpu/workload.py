"""What is timed, and the bytes that no implementation can avoid moving: pure arithmetic."""

from dataclasses import dataclass
from enum import StrEnum

VERIFIED_TOKENS = 5
"""A token and four drafts."""
SEGMENT_TOKENS = 64


class Kind(StrEnum):
    DECODE = "decode"
    VERIFY = "verify"
    COPY = "copy"
    CONV_DECODE = "conv decode"
    CONV = "conv"
    RECURRENCE = "recurrence"
    PREFILL = "prefill"


PACKED_ROWS = frozenset({Kind.DECODE, Kind.VERIFY, Kind.COPY, Kind.CONV_DECODE})
"""Their size is a number of rows; that of the others is the tokens of one row."""


@dataclass(frozen=True, slots=True)
class Workload:
    """`every_tokens`: a state is written at these multiples, 0: at the end only. `is_peer`: what
    flash-linear-attention does on the same inputs."""

    kind: Kind
    size: int
    every_tokens: int = 0
    is_peer: bool = False

    @property
    def name(self) -> str:
        """`decode B=32`, `prefill T=8192 every 1024`, `decode B=32 fla`."""
        size = f"{'B' if self.kind in PACKED_ROWS else 'T'}={self.size}"
        every = f" every {self.every_tokens}" if self.every_tokens else ""
        return f"{self.kind} {size}{every}{' fla' if self.is_peer else ''}"


@dataclass(frozen=True, slots=True)
class Layer:
    """Sizes of a gated delta net's layer; K = V = `size`. Activations are bf16, the pool fp32."""

    key_heads: int
    value_heads: int
    size: int

    @property
    def channels(self) -> int:
        """Of the convolution: q, k and v."""
        return (2 * self.key_heads + self.value_heads) * self.size

    @property
    def state_bytes(self) -> int:
        return self.value_heads * self.size * self.size * STATE_BYTES

    @property
    def window_bytes(self) -> int:
        return (CONV_WIDTH - 1) * self.channels * ACTIVATION_BYTES


STATE_BYTES = 4
ACTIVATION_BYTES = 2
DECAY_BYTES = 4
CONV_WIDTH = 4
LAYER = Layer(key_heads=16, value_heads=32, size=128)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
SOME_BATCHES = (1, 8, 32, 64, 256)
LENGTHS = (2048, 8192, 32768)
BOUNDARIES = (1024, 1616)
"""One a multiple of the segment, one that is not."""


def _workloads() -> tuple[Workload, ...]:
    """Those whose goals are judged come first: what the time does not suffice for is at the end."""
    prefills = [
        Workload(kind, tokens, every)
        for tokens in LENGTHS
        for kind in (Kind.RECURRENCE, Kind.PREFILL)
        for every in (0, *BOUNDARIES)
    ]
    prefill_peers = [Workload(Kind.PREFILL, tokens, is_peer=True) for tokens in LENGTHS]
    decodes = [Workload(Kind.DECODE, rows) for rows in BATCHES]
    decode_peers = [Workload(Kind.DECODE, rows, is_peer=True) for rows in BATCHES]
    verifies = [Workload(Kind.VERIFY, rows) for rows in SOME_BATCHES]
    verify_peers = [Workload(Kind.VERIFY, rows, is_peer=True) for rows in SOME_BATCHES]
    copies = [Workload(Kind.COPY, rows) for rows in SOME_BATCHES]
    convs = [
        *(Workload(Kind.CONV_DECODE, rows) for rows in (32, 256)),
        Workload(Kind.CONV, 8192),
        Workload(Kind.CONV, 8192, 1616),
    ]
    ours = (*decodes, *verifies, *copies, *prefills)
    return (*ours, *prefill_peers, *decode_peers, *verify_peers, *convs)


WORKLOADS = _workloads()


def stops(tokens: int, every_tokens: int) -> list[int]:
    """Ends of the segments of a row from 0: multiples of the segment, of what is written, and the
    row's end."""
    ends = {*range(SEGMENT_TOKENS, tokens, SEGMENT_TOKENS), tokens}
    return sorted(ends | set(range(every_tokens, tokens, every_tokens) if every_tokens else ()))


def written_stops(tokens: int, every_tokens: int) -> list[int]:
    """After which of them the state is written."""
    inner = range(every_tokens, tokens, every_tokens) if every_tokens else ()
    return sorted({*inner, tokens})


def floor_bytes(workload: Workload, layer: Layer) -> int:
    """Inputs read once, outputs and states written once. A prefill's is that of the whole layer,
    not of the kernels it is made of."""
    size = workload.size
    match workload.kind:
        case Kind.DECODE:
            return size * (2 * layer.state_bytes + _token_bytes(layer))
        case Kind.VERIFY:
            # The library keeps the last state only.
            states = 2 if workload.is_peer else 1 + VERIFIED_TOKENS
            return size * (states * layer.state_bytes + VERIFIED_TOKENS * _token_bytes(layer))
        case Kind.COPY:
            return size * 2 * layer.state_bytes
        case Kind.CONV_DECODE:
            moved = 2 * layer.window_bytes + 2 * layer.channels * ACTIVATION_BYTES
            return size * moved + layer.channels * CONV_WIDTH * ACTIVATION_BYTES
        case Kind.CONV:
            windows = (1 + len(written_stops(size, workload.every_tokens))) * layer.window_bytes
            moved = 2 * size + CONV_WIDTH
            return moved * layer.channels * ACTIVATION_BYTES + windows
        case Kind.PREFILL:
            states = 1 + len(written_stops(size, workload.every_tokens))
            return size * _token_bytes(layer) + states * layer.state_bytes
        case Kind.RECURRENCE:
            states = 1 + len(written_stops(size, workload.every_tokens))
            segments = len(stops(size, workload.every_tokens))
            h = segments * layer.state_bytes // STATE_BYTES * ACTIVATION_BYTES
            rows = (layer.key_heads + 3 * layer.value_heads) * layer.size * ACTIVATION_BYTES
            token = rows + layer.value_heads * DECAY_BYTES
            return size * token + h + states * layer.state_bytes


def _token_bytes(layer: Layer) -> int:
    """q, k, v, o, beta and g of a token."""
    vectors = (2 * layer.key_heads + 2 * layer.value_heads) * layer.size * ACTIVATION_BYTES
    return vectors + layer.value_heads * (ACTIVATION_BYTES + DECAY_BYTES)
