"""What a workload calls: the kernels' launchers, or their references in torch, which is how the
timing section runs where there is no GPU."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from truehit.kernels import chunk, conv, decode, pages, recurrence


@dataclass(frozen=True, slots=True)
class Operations:
    """Arguments as those of the launchers."""

    copy_pages: Callable[..., None]
    causal_conv: Callable[..., Tensor]
    decode: Callable[..., Tensor]
    recurrence: Callable[..., tuple[Tensor, Tensor]]
    chunk: Callable[..., Tensor]
    library_chunk: Callable[..., object]
    library_recurrent: Callable[..., object]


def launchers() -> Operations:
    """The kernels; flash-linear-attention is imported when it is first asked for."""
    return Operations(
        copy_pages=pages.copy_pages,
        causal_conv=conv.causal_conv,
        decode=decode.gated_delta_decode,
        recurrence=recurrence.state_recurrence,
        chunk=chunk.gated_delta_chunk,
        library_chunk=library_chunk,
        library_recurrent=library_recurrent,
    )


def references() -> Operations:
    """Torch, and no library."""
    return Operations(
        copy_pages=pages.copy_pages_reference,
        causal_conv=_conv_reference,
        decode=decode.decode_reference,
        recurrence=recurrence.recurrence_reference,
        chunk=chunk.chunk_reference,
        library_chunk=_no_library,
        library_recurrent=_no_library,
    )


def library_chunk(*inputs: Tensor, state: Tensor) -> object:
    """A prefill of flash-linear-attention, from a state and to one; `[1, T, ...]`."""
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule

    return _called(chunk_gated_delta_rule, inputs, state)


def library_recurrent(*inputs: Tensor, state: Tensor) -> object:
    """Its decoding; `[rows, tokens, ...]`."""
    from fla.ops.gated_delta_rule import fused_recurrent_gated_delta_rule

    return _called(fused_recurrent_gated_delta_rule, inputs, state)


def _called(function: Callable[..., object], inputs: tuple[Tensor, ...], state: Tensor) -> object:
    q, k, v, g, beta = inputs
    return function(
        q=q,
        k=k,
        v=v,
        g=g,
        beta=beta,
        initial_state=state,
        output_final_state=True,
        use_qk_l2norm_in_kernel=True,
        state_v_first=True,
    )


def _conv_reference(*inputs: Tensor | int) -> Tensor:
    """Without the length of the longest row, which sizes a grid."""
    return conv.causal_conv_reference(*inputs[:-1])  # type: ignore[arg-type]


def _no_library(*inputs: Tensor, state: Tensor) -> object:
    raise ImportError("flash-linear-attention is compared on a GPU only")
