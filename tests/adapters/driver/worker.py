"""A worker mirror that is fed by hand: outputs of a scheduler as a test needs them."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from truehit.adapters.vllm.inside.driver.mirror import Mirror
from truehit.adapters.vllm.inside.driver.out import Recorder
from truehit.adapters.vllm.inside.driver.plan import Group

B = 16
"""The block of the state group; a page holds as many."""
STATE = Group("state", "recurrent_state", B, False, None)
PAGES = Group("pages", "full_attention", B, False, None)
Line = dict[str, Any]
Rule = dict[tuple[int, int], tuple[int, int]]


class Worker:
    """One mirror. `checkpoints`: chunk -> (position, column)."""

    def __init__(
        self,
        groups: tuple[Group, ...] = (STATE,),
        checkpoints: Rule | None = None,
        seed: int = B,
    ) -> None:
        rule = checkpoints or {}
        self.recorder = Recorder()
        self.mirror = Mirror(self.recorder, groups, lambda s, e: rule.get((s, e)), seed)

    def step(
        self,
        tokens: dict[str, int],
        *,
        new: tuple[SimpleNamespace, ...] = (),
        cached: Mapping[str, tuple[int, list[list[int]] | None]] | None = None,
        resumed: tuple[str, ...] = (),
        finished: tuple[str, ...] = (),
        copies: tuple[tuple[int, int], ...] = (),
        accepted: dict[str, tuple[int, int]] | None = None,
    ) -> list[Line]:
        """What a step wrote down. `cached`: request -> (computed, blocks); `accepted`: request ->
        (drafts that are right, drafts)."""
        known, verified = cached or {}, accepted or {}
        output = SimpleNamespace(
            finished_req_ids=finished,
            scheduled_new_reqs=new,
            scheduled_cached_reqs=SimpleNamespace(
                req_ids=list(known),
                num_computed_tokens=[computed for computed, _ in known.values()],
                new_block_ids=[blocks for _, blocks in known.values()],
                resumed_req_ids=set(resumed),
            ),
            num_scheduled_tokens=tokens,
            scheduled_spec_decode_tokens={n: [0] * drafts for n, (_, drafts) in verified.items()},
            kv_cache_block_copies=[
                SimpleNamespace(src_block_id=source, dst_block_id=target)
                for source, target in copies
            ],
        )
        kept = {n: 1 + verified[n][0] if n in verified else count for n, count in tokens.items()}
        sampled = {n: 1 + verified[n][0] if n in verified else 1 for n in tokens}
        mark = len(self.recorder.events)
        self.mirror.run(output, kept, sampled)
        self.recorder.next_step()
        return self.recorder.events[mark:]


def arrives(name: str, computed: int, *columns: list[int]) -> SimpleNamespace:
    """A request that the worker has not seen, with the blocks of each group."""
    return SimpleNamespace(req_id=name, num_computed_tokens=computed, block_ids=columns)


def short(lines: list[Line]) -> list[tuple[Any, ...]]:
    """The events of the state group in few words, in device order: (read, column, block, tokens),
    (copy, source, target, why), (write, column, block, start, end, source, rejected)."""
    said: list[tuple[Any, ...]] = []
    for line in lines:
        if line.get("group") != STATE.name:
            continue
        match line["kind"]:
            case "read":
                said.append(("read", line["column"], line["block"], line["tokens"]))
            case "copy":
                said.append(("copy", line["source"], line["target"], line["why"]))
            case "write":
                span = (line["start"], line["end"], line["source"], line["rejected_tokens"])
                said.append(("write", line["column"], line["blocks"][0], *span))
    return said


def meetings(lines: list[Line]) -> list[tuple[Any, ...]]:
    """(block, phase, requests) of what is unordered."""
    return [
        (line["block"], line["phase"], tuple(line["requests"]))
        for line in lines
        if line["kind"] == "unordered"
    ]
