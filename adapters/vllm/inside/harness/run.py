"""A scenario on the scheduler, step by step, with eyes on keys, pool and estimates."""

# vLLM is there only in the environments that this text is run in.
# mypy: disable-error-code="import-not-found, import-untyped, no-any-unimported, attr-defined"
import traceback
from collections.abc import Callable
from typing import Any

from vllm.sampling_params import SamplingParams
from vllm.v1 import outputs, request

from .engine import build, only
from .seen import Seen
from .worker import Worker

IDLE_STEPS = 24
"""So many steps without a token, and nothing is expected any more."""


class Run:
    """One scenario on one scheduler, with eyes on its pool, its keys and its estimates."""

    def __init__(self, scenario: dict[str, Any], seen: Seen) -> None:
        self.scenario, self.seen = scenario, seen
        self.sent = {sent["name"]: sent for sent in scenario["requests"]}
        self.scheduler, self.hasher, self.unit = build(scenario)
        self.worker = Worker(scenario, self.seen, self.scheduler, self.unit)
        self.manager, self.pool = self.scheduler.kv_cache_manager, self.worker.pool
        self.moments = self.seen.moments
        self.known: dict[bytes, tuple[str, int]] = {}
        self.keys: dict[tuple[bytes, int], str] = {}
        self.now, self.estimate = "", (0, 0)
        self.zeroes, self.decodes = dict.fromkeys(self.sent, 0), dict.fromkeys(self.sent, 0)

    def watch(self) -> None:
        """Stand between the scheduler, its cache manager and the pool."""
        self.watch_keys()
        around(self.pool, "get_new_blocks", self.on_take)
        around(self.manager, "allocate_slots", self.on_allocate)
        around(self.manager.coordinator, "get_num_blocks_to_allocate", self.on_estimate)
        around(self.scheduler, "_mamba_block_aligned_split", self.on_split)
        for name in ("cache_full_blocks", "cache_partial_block", "move_block_hashes"):
            if hasattr(self.pool, name):
                around(self.pool, name, self.on_file)

    def watch_keys(self) -> None:
        """The map of keys is empty now: another of its kind that tells what it is told."""
        run, kind = self, type(self.pool.cached_block_hash_to_block)

        class Telling(kind):  # type: ignore[misc, valid-type]
            def insert(self, key: Any, block: Any) -> None:
                super().insert(key, block)
                run.keys[bytes(key), block.block_id] = run.now

            def pop(self, key: Any, block_id: int) -> Any:
                run.keys.pop((bytes(key), block_id), None)
                return super().pop(key, block_id)

        self.pool.cached_block_hash_to_block = Telling()
        self.keys.clear()

    def on_take(self, inner: Any, *more: Any, **named: Any) -> Any:
        blocks = inner(*more, **named)
        for block in blocks:
            self.worker.held.pop(block.block_id, None)
            self.worker.entries.pop(block.block_id, None)
        return blocks

    def on_estimate(self, inner: Any, *more: Any, **named: Any) -> int:
        self.estimate = inner(*more, **named), self.pool.get_num_free_blocks()
        return self.estimate[0]

    def on_allocate(self, inner: Any, new: Any, *more: Any, **named: Any) -> Any:
        self.learn_keys(new)
        done = inner(new, *more, **named)
        taken = self.estimate[1] - self.pool.get_num_free_blocks()
        if done is not None and taken != self.estimate[0]:
            words = f"the estimate is {self.estimate[0]} blocks but {taken} are taken"
            self.seen.say("estimate", self.now, "", words)
        return done

    def on_file(self, inner: Any, *more: Any, **named: Any) -> Any:
        first: Any = more[0] if more else named.get("request")
        if hasattr(first, "block_hashes"):
            self.learn_keys(first)
        return inner(*more, **named)

    def learn_keys(self, new: Any) -> None:
        self.now = new.request_id
        for number, digest in enumerate(new.block_hashes, 1):
            self.known[bytes(digest)] = self.now, number * self.unit

    def on_split(self, inner: Any, new: Any, tokens: int, *more: Any) -> int:
        taken: int = inner(new, tokens, *more)
        name, deferred = new.request_id, self.seen.deferred
        self.zeroes[name] = 0 if taken or not tokens else self.zeroes[name] + 1
        deferred[name] = max(deferred.get(name, 0), self.zeroes[name])
        return taken

    def play(self) -> None:
        """Until every request has ended, nothing moves any more, or the steps are used up."""
        idle = 0
        while self.seen.step < self.scenario["max_steps"] and idle < IDLE_STEPS:
            try:
                idle = 0 if self.one_step() or self.waits() else idle + 1
            except Exception as problem:
                self.seen.fault = fault_words(problem)
                break
            self.seen.step += 1
            if not self.scheduler.requests and not self.waits():
                break
        self.seen.finished = {name for name, moment in self.moments if moment == "finished"}
        if not self.scheduler.requests:
            self.seen.lost = self.scenario["pool_blocks"] - 1 - self.pool.get_num_free_blocks()

    def waits(self) -> bool:
        """Something is to come that needs only time."""
        later = any(step >= self.seen.step for step, *_ in self.scenario["actions"])
        return later or any(
            (name, "submitted") not in self.moments
            and ("after" not in sent or sent["after"][:2] in self.moments)
            for name, sent in self.sent.items()
        )

    def one_step(self) -> bool:
        """Whether a token was scheduled."""
        self.act()
        self.arrive()
        output = self.scheduler.schedule()
        counts, drafted = output.num_scheduled_tokens, output.scheduled_spec_decode_tokens
        answers = {name: self.answer(name, len(drafted.get(name, ()))) for name in counts}
        rejected = {n: 1 + len(drafted[n]) - len(answers[n]) for n in counts if drafted.get(n)}
        kept = {name: tokens - rejected.get(name, 0) for name, tokens in counts.items()}
        self.worker.work(output, kept, {name: len(answers[name]) for name in counts})
        for name in counts:
            self.moments.setdefault((name, "scheduled"), self.seen.step)
            new = self.scheduler.requests[name]
            if new.num_computed_tokens >= new.num_prompt_tokens:
                self.moments.setdefault((name, "prefilled"), self.seen.step)
        self.learn(output, answers)
        self.check_keys()
        return bool(counts)

    def act(self) -> None:
        for step, kind, name in self.scenario["actions"]:
            if step == self.seen.step and kind == "reset_cache":
                # The pool takes a new map where it may reset.
                if self.scheduler.reset_prefix_cache():
                    self.watch_keys()
            elif step == self.seen.step and name in self.scheduler.requests:
                self.scheduler.finish_requests(name, request.RequestStatus.FINISHED_ABORTED)

    def due(self, sent: dict[str, Any]) -> bool:
        if "after" not in sent:
            return bool(sent["at"] <= self.seen.step)
        other, moment, delay = sent["after"]
        at = self.moments.get((other, moment))
        return at is not None and self.seen.step > at + delay

    def arrive(self) -> None:
        for name, sent in self.sent.items():
            if (name, "submitted") in self.moments or not self.due(sent):
                continue
            length = {"max_tokens": sent["output_tokens"], "ignore_eos": True}
            new = only(
                request.Request,
                request_id=name,
                prompt_token_ids=self.seen.paths[name][: -sent["output_tokens"]],
                sampling_params=SamplingParams(**length),
                pooling_params=None,
                cache_salt=sent.get("salt"),
                priority=sent.get("priority", 0),
                arrival_time=float(len(self.moments)),
                block_hasher=self.hasher,
            )
            self.moments[name, "submitted"] = self.seen.step
            self.scheduler.add_request(new)

    def answer(self, name: str, drafts: int) -> list[int]:
        """What the model would sample: the next tokens of the request's own output."""
        new, sent = self.scheduler.requests[name], self.sent[name]
        if new.num_computed_tokens < new.num_tokens:
            return []
        known, right = new.num_output_tokens, drafts
        if drafts and "accepted" in sent:
            right = sent["accepted"][min(self.decodes[name], len(sent["accepted"]) - 1)]
            self.decodes[name] += 1
        count = min(1 + min(right, drafts), sent["output_tokens"] - known)
        return self.seen.ids(sent["output"], known, known + count)

    def learn(self, output: Any, answers: dict[str, list[int]]) -> None:
        order, requests = list(answers), self.scheduler.requests
        result = only(
            outputs.ModelRunnerOutput,
            req_ids=order,
            req_id_to_index={name: place for place, name in enumerate(order)},
            sampled_token_ids=[answers[name] for name in order],
            logprobs=None,
            prompt_logprobs_dict={},
            pooler_output=[],
        )
        self.scheduler.update_from_output(output, result)
        submitted = [name for name, moment in self.moments if moment == "submitted"]
        for name in submitted:
            if name not in requests:
                self.moments.setdefault((name, "finished"), self.seen.step)
        drafts = self.scenario["drafts"]
        if drafts and order:
            known = [requests[n].num_output_tokens if n in requests else None for n in order]
            proposals = [
                [] if at is None else self.seen.ids(self.sent[name]["output"], at, at + drafts)
                for name, at in zip(order, known, strict=True)
            ]
            self.scheduler.update_draft_token_ids(outputs.DraftTokenIds(order, proposals))

    def check_keys(self) -> None:
        """Every key that can be found names a block that holds exactly its prefix."""
        for (key, block), who in self.keys.items():
            group = int.from_bytes(key[-4:], "big")
            # Some releases name a larger block by the hashes of all its units.
            name, tokens = self.known.get(key[:-4]) or self.known[key[-36:-4]]
            prefixes, where = self.seen.prefixes[name], self.scenario["groups"][group]["name"]
            size = self.scenario["groups"][group]["block_tokens"]
            column = (tokens - 1) // size
            if group in self.worker.states:
                state = self.worker.held.get(block)
                right, truth = state == prefixes[tokens], self.seen.word(name, state)
                claim = f"state@{tokens}"
            else:
                entries, base = self.worker.entries.get(block, {}), column * size
                positions = range(base, tokens)
                wrong = [p for p in positions if entries.get(p - base) != prefixes[p + 1]]
                right, truth = not wrong, f"not those of {wrong[:4]}"
                claim = f"entries [{base}, {tokens})"
            if right:
                self.seen.published.setdefault((where, prefixes[tokens]), self.seen.step)
            else:
                words = f"column {column} is published as {claim} but holds {truth}"
                self.seen.say("published", who, where, words)


def around(owner: Any, name: str, watcher: Callable[..., Any]) -> None:
    """Let the watcher stand before a method of one object."""
    inner = getattr(owner, name)
    setattr(owner, name, lambda *more, **named: watcher(inner, *more, **named))


def fault_words(problem: Exception) -> str:
    """The exception, and the function it comes from."""
    text = " ".join(f"{type(problem).__name__}: {problem}".split())
    return f"{text} (in {traceback.extract_tb(problem.__traceback__)[-1].name})"


def play(scenario: dict[str, Any], *repairs: Callable[[Any, int], None]) -> Seen:
    """Run it on a new scheduler; repairs change one decision of that scheduler each."""
    seen = Seen(scenario)
    try:
        run = Run(scenario, seen)
    except Exception as problem:
        seen.fault = fault_words(problem)
        return seen
    for repair in repairs:
        repair(run.scheduler, run.worker.size)
    run.watch()
    run.play()
    return seen
