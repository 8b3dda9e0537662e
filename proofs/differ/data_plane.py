"""The data plane of a run: what the pages really hold, and what the model really computed.

A scenario runs on a small random model whose pages carry ghosts. Then three things are compared:

* the ghost of every page with what the ledger says the page holds, from the events alone;
* the step of the first read of a page that is not the reader's, with that of the law *neutrality*;
* up to that step, the logits of every token with those of the same tokens computed alone, which
  plain torch does in float64 whatever the back end.

So a wrong page is told apart from a wrong sum: the first is named, the second is a number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from truehit.engine.model.backend import Backend, BackendName, TorchBackend, backend_of
from truehit.engine.model.ghost import Ghosts, fold
from truehit.engine.model.plane import Model
from truehit.engine.model.random_model import config_for, random_model
from truehit.engine.model.scenario import (
    ModelRun,
    ScenarioPlane,
    against_alone,
    run_on_model,
)
from truehit.engine.run import streams_of
from truehit.proofs.differ.data_difference import (
    DataCount,
    DataDifference,
    LogitsDiffer,
    PageDiffers,
    ReadsDiffer,
)
from truehit.spec.ghost import State, describe
from truehit.spec.laws.judge import Judge, Verdict
from truehit.spec.scenario import Scenario
from truehit.spec.tokens import TokenPath
from truehit.spec.trace import Copy, Event, Header, Transfer, Write

SEED = 1
TYPES: Mapping[BackendName, torch.dtype] = {
    BackendName.TORCH: torch.float64,
    BackendName.INTERPRETER: torch.float32,
    BackendName.CUDA: torch.float32,
}
TOLERANCES: Mapping[torch.dtype, float] = {torch.float64: 1e-9, torch.float32: 1e-4}
"""Logits have a standard deviation of about 1; the largest differences seen are 2e-14 and 2e-5."""


@dataclass(frozen=True, slots=True)
class DataRun:
    """A run on a model, judged. `difference`: the first one, if any."""

    ran: ModelRun
    verdict: Verdict
    difference: DataDifference | None
    count: DataCount


def run_with_data(scenario: Scenario, rules: str, name: BackendName) -> DataRun:
    """Run a scenario on a small random model and compare its data plane."""
    backend = backend_of(name)
    model = random_model(config_for(scenario.geometry), SEED, TYPES[name], backend.device)
    ran = run_on_model(scenario, rules, model, backend)
    verdict, judge, owners = _judged(ran.run.events, scenario)
    ghosts = _ghosts(ran.data)
    pages = [(block, name) for block, name in sorted(owners.items()) if block]
    difference: DataDifference | None = _first_page(scenario, ghosts, judge, pages)
    if difference is None:
        difference = _reads(ran.data, ghosts, verdict)
    plain = TorchBackend()
    exact = random_model(model.config, SEED, torch.float64, plain.device)
    tolerance = TOLERANCES[model.activations]
    tokens, largest, wrong = _logits(ran.data, exact, plain, tolerance, _first_false(ghosts))
    count = DataCount(len(pages), tokens, largest)
    return DataRun(ran, verdict, difference or wrong, count)


def _ghosts(data: ScenarioPlane) -> Ghosts:
    assert data.plane.watch is not None
    return data.plane.watch.ghosts


def _judged(
    events: Sequence[Event], scenario: Scenario
) -> tuple[Verdict, Judge, Mapping[int, str]]:
    """The verdict, the ledger at the end, and the group that wrote each block last."""
    header = events[0]
    assert isinstance(header, Header)
    judge = Judge(scenario.geometry, header)
    owners: dict[int, str] = {}
    for event in events[1:]:
        judge.feed(event)
        match event:
            case Write(group=group, blocks=blocks) | Transfer(group=group, blocks=blocks):
                owners.update(dict.fromkeys(blocks, group))
            case Copy(group=group, target=target):
                owners[target] = group
            case _:
                pass
    return judge.finish(), judge, owners


# --- pages ------------------------------------------------------------------------------------


class _Ids:
    """Token ids and digests of paths."""

    def __init__(self, scenario: Scenario) -> None:
        self._streams = streams_of(scenario)
        self._known: dict[tuple[int, ...], list[int]] = {}

    def ids(self, path: TokenPath, low: int, high: int) -> list[int]:
        """Of the tokens [low, high) of a path."""
        ids: list[int] = []
        for segment in path.segments:
            first, _ = self._streams[segment.name]
            ids += range(first, first + segment.tokens)
        return ids[low:high]

    def digests(self, path: TokenPath) -> list[int]:
        """Entry n: of the first n tokens."""
        if path.nodes not in self._known:
            digests = [0]
            for token in self.ids(path, 0, path.tokens):
                digests.append(fold(digests[-1], token))
            self._known[path.nodes] = digests
        return self._known[path.nodes]

    def of_spans(self, content: State) -> tuple[int, int]:
        """Tokens and digest of a state."""
        tokens = digest = 0
        for low, high, path in content.spans:
            if digest == 0 and low == 0:
                digest = self.digests(path)[high]
            else:
                for token in self.ids(path, low, high):
                    digest = fold(digest, token)
            tokens += high - low
        return tokens, digest


def _first_page(
    scenario: Scenario, ghosts: Ghosts, judge: Judge, pages: Sequence[tuple[int, str]]
) -> PageDiffers | None:
    """The first page whose ghost is not what the ledger says."""
    pool, ids = judge.ledger.pool, _Ids(scenario)
    numbers = {group.name: number for number, group in enumerate(scenario.geometry.groups)}
    for block, name in pages:
        number = numbers[name]
        if number not in ghosts.groups():
            continue
        content = pool.states[block]
        if judge.ledger.groups[name].is_state:
            if isinstance(content, State):
                held = ghosts.state(number, block)
                if held is None or (held.tokens, held.digest) != ids.of_spans(content):
                    words = "nothing" if held is None else held.words()
                    return PageDiffers(name, block, describe(content), words)
            continue
        entries = ghosts.entries(number, [block])[0].tolist()
        size = scenario.geometry.groups[number].block_tokens
        for low, high, path in pool.pages[block]:
            if path is None:
                continue
            digests = ids.digests(path)
            for position in range(low, high):
                found = entries[position % size]
                if found != [position + 1, digests[position + 1]]:
                    held_words = f"entry {found[0] - 1}" if found[0] > 0 else "nothing"
                    return PageDiffers(name, block, f"entry {position}", held_words)
    return None


# --- reads ------------------------------------------------------------------------------------


def _first_false(ghosts: Ghosts) -> int | None:
    return min((finding.step for finding in ghosts.findings), default=None)


def _reads(data: ScenarioPlane, ghosts: Ghosts, verdict: Verdict) -> ReadsDiffer | None:
    """The ghosts and the law find the first false read in the same step, or neither finds any."""
    told = min((v.step for v in verdict.of_law("neutrality")), default=None)
    found = _first_false(ghosts)
    if told == found:
        return None
    sentences = [finding.sentence(data.name(finding.request)) for finding in ghosts.findings]
    sentences += [violation.sentence for violation in verdict.of_law("neutrality")]
    return ReadsDiffer(found, told, sentences[0])


# --- numbers ----------------------------------------------------------------------------------


def _logits(
    data: ScenarioPlane, exact: Model, plain: Backend, tolerance: float, until: int | None
) -> tuple[int, float, LogitsDiffer | None]:
    """Tokens compared of the steps before `until`, their largest difference, and the first beyond
    the tolerance."""
    tokens, largest, first = 0, 0.0, None
    for compared in against_alone(data, exact, plain):
        own, by = compared.own, compared.by
        if until is not None and own.step >= until:
            break
        tokens += len(by)
        largest = max(largest, by.max().item())
        if first is None and by.max().item() > tolerance:
            at = int((by > tolerance).nonzero()[0])
            first = LogitsDiffer(
                data.name(own.request), own.start + at, own.step, by[at].item(), tolerance
            )
    return tokens, largest, first
