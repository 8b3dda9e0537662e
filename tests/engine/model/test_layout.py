"""Fields of a page do not overlap, whatever the layers, groups and types, and a view of the pool
reads and writes its own bytes and no others."""

from dataclasses import replace
from math import prod

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from truehit.engine.model.config import Mixer, ModelConfig
from truehit.engine.model.layout import (
    ALIGNMENT_BYTES,
    AttentionPages,
    DeltaNetPages,
    Field,
    Layout,
    lay_out,
    owners_of,
)
from truehit.engine.model.pool import Pool
from truehit.engine.model.random_model import SMALL, config_for
from truehit.spec.geometry import Geometry, Group, Kind

from .drive import hybrid

TYPES = (torch.float64, torch.float32, torch.bfloat16)
PAGES = 5


def _fields(layout: Layout, group: int) -> list[Field]:
    fields = [layout.ghosts[group]] if group in layout.ghosts else []
    for layer in layout.layers:
        if layer.group == group:
            match layer:
                case DeltaNetPages(_, states, windows):
                    fields += [states, windows]
                case AttentionPages(_, keys, values):
                    fields += [keys, values]
    return fields


@st.composite
def _cases(draw: st.DrawFn) -> tuple[ModelConfig, Geometry]:
    states, pages = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    groups = [Group(f"s{n}", Kind.RECURRENT_STATE, 8) for n in range(states)]
    for n in range(pages if states else max(pages, 1)):
        block = draw(st.sampled_from((1, 3, 4, 16)))
        groups.append(Group(f"p{n}", Kind.FULL_ATTENTION, block))
    if draw(st.booleans()):
        groups.append(Group("ring", Kind.CIRCULAR_BUFFER, 4))
    geometry = Geometry(tuple(draw(st.permutations(groups))), 1)
    nets = states and states + draw(st.integers(0, 3))
    attentions = len(geometry.attention_groups)
    attentions = attentions and attentions + draw(st.integers(0, 3))
    mixers = draw(st.permutations([Mixer.DELTA_NET] * nets + [Mixer.ATTENTION] * attentions))
    sizes = st.sampled_from((1, 2, 3, 8))
    net = replace(
        SMALL.delta_net, value_heads=2, key_size=draw(sizes), value_size=draw(sizes), width=3
    )
    shape = replace(SMALL.attention, size=draw(sizes))
    return replace(SMALL, mixers=tuple(mixers), delta_net=net, attention=shape), geometry


@given(_cases(), st.sampled_from(TYPES), st.sampled_from(TYPES), st.booleans())
@settings(max_examples=120, deadline=None, derandomize=True)
def test_fields_of_a_group_do_not_overlap(
    case: tuple[ModelConfig, Geometry], activations: torch.dtype, states: torch.dtype, ghosts: bool
) -> None:
    config, geometry = case
    layout = lay_out(config, geometry, activations, states, ghosts)
    assert layout.page_bytes % ALIGNMENT_BYTES == 0
    assert len(layout.layers) == len(config.mixers)
    seen = 0
    for group in range(len(geometry.groups)):
        ends = 0
        for field in sorted(_fields(layout, group), key=lambda own: own.offset_bytes):
            assert field.offset_bytes >= ends and field.offset_bytes % ALIGNMENT_BYTES == 0
            ends = field.offset_bytes + prod(field.shape) * field.dtype.itemsize
            seen += 1
        assert ends <= layout.page_bytes
    used = {layer.group for layer in layout.layers}
    assert seen == 2 * len(config.mixers) + (len(used) if ghosts else 0)
    assert all(geometry.groups[group].kind is not Kind.CIRCULAR_BUFFER for group in used)


@given(_cases(), st.sampled_from(TYPES))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_a_view_is_its_own_bytes(case: tuple[ModelConfig, Geometry], dtype: torch.dtype) -> None:
    config, geometry = case
    layout = lay_out(config, geometry, dtype, dtype, has_ghosts=True)
    pool = Pool(layout, PAGES, torch.device("cpu"))
    for group in range(len(geometry.groups)):
        for field in _fields(layout, group):
            pool.bytes.zero_()
            view = pool.view(field)
            assert view.shape == (PAGES, *field.shape) and view[0].is_contiguous()
            view[3] = 1
            size = prod(field.shape) * field.dtype.itemsize
            own = pool.bytes[0, 3, field.offset_bytes : field.offset_bytes + size]
            assert torch.equal(own.view(field.dtype), torch.ones(prod(field.shape)).to(field.dtype))
            own.zero_()
            assert not pool.bytes.any(), "nothing outside the field was written"


def test_groups_share_the_layers_out_in_order() -> None:
    mixers = (Mixer.DELTA_NET, Mixer.DELTA_NET, Mixer.ATTENTION) * 2
    config = replace(SMALL, mixers=mixers, sparse=(False,) * 6)
    assert owners_of(config, hybrid()) == (0, 0, 1, 0, 0, 1)
    assert owners_of(config, hybrid(states=2, pages=2)) == (0, 0, 2, 1, 1, 3)
    assert owners_of(config, hybrid(states=3)) == (0, 0, 3, 1, 2, 3)


@pytest.mark.parametrize(
    ("states", "pages", "sentence"),
    [
        (0, 1, "groups: 0 of them for 3 layers of linear_attention; 1 works"),
        (1, 0, "groups: 0 of them for 1 layers of full_attention; 1 works"),
        (4, 1, "groups: 4 of them for 3 layers of linear_attention; 1 works"),
        (1, 2, "groups: 2 of them for 1 layers of full_attention; 1 works"),
    ],
)
def test_groups_that_do_not_match_the_layers(states: int, pages: int, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        owners_of(SMALL, hybrid(states=states, pages=pages))
    assert str(caught.value) == sentence


@pytest.mark.parametrize(("states", "pages"), [(0, 1), (1, 0), (1, 1), (3, 2)])
def test_a_model_is_made_for_every_geometry(states: int, pages: int) -> None:
    geometry = hybrid(states=states, pages=pages)
    config = config_for(geometry)
    assert set(owners_of(config, geometry)) == set(range(states + pages))
