"""A scenario on a real scheduler, step by step: arrivals, the schedule, the worker, the results."""

from typing import Any

from . import names
from .accepts import only
from .bridges.checkpoints import Sizes, checkpoint_rule
from .build import Subject, alignment_tokens, build
from .mirror import Mirror
from .out import Recorder
from .plan import Plan, Sent
from .repairs import repair
from .spy_keys import watch_map
from .spy_steps import Spy
from .tokens import Streams

IDLE_STEPS = 24
"""Steps without a token after which nothing is expected any more."""
COUNTED_BLOCKS = 4096
"""A pool of at most so many blocks is counted after every step."""


class Play:
    """One run. `events` is its trace; the first one says what the engine runs with."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._recorder = Recorder()
        self._streams = Streams()
        self._pending = list(plan.requests)
        self._sent: dict[str, Sent] = {}
        self._moments: dict[tuple[str, str], int] = {}
        self._decodes: dict[str, int] = {}
        self._live: list[str] = []

    @property
    def events(self) -> list[dict[str, Any]]:
        return self._recorder.events

    def run(self) -> None:
        """Until every request has ended, or nothing moves, or the steps are used up. Whatever goes
        wrong in the engine is an event, and the end."""
        try:
            subject = build(self._plan)
        except Exception as problem:
            self._fault(problem)
            return
        self._start(subject)
        idle = 0
        while self._recorder.step < self._plan.max_steps and idle < IDLE_STEPS:
            try:
                moved = self._step()
            except Exception as problem:
                self._fault(problem)
                return
            if moved is None:
                return
            idle = 0 if moved else idle + 1
            self._recorder.next_step()

    def _fault(self, problem: Exception) -> None:
        where = problem.__traceback__
        while where is not None and where.tb_next is not None:
            where = where.tb_next
        place = where.tb_frame.f_code.co_name if where is not None else ""
        text = " ".join(f"{type(problem).__name__}: {problem}".split())
        self._recorder.emit("error", message=f"{text} (in {place})", request=None)

    def _start(self, subject: Subject) -> None:
        plan, recorder = self._plan, self._recorder
        self._subject, self._scheduler = subject, subject.scheduler
        recorder.emit("engine", **subject.facts())
        repair(subject, plan)
        groups = [group.name for group in plan.groups]
        rule = checkpoint_rule(_checkpoint_sizes(plan, subject))
        self._spy = Spy(subject, recorder, groups, rule)
        watch_map(subject.manager.block_pool, self._spy.keys)
        self._spy.install()
        self._mirror = Mirror(recorder, plan.groups, rule, subject.seed_block_tokens)

    # --- arrivals -----------------------------------------------------------------------------

    def _due(self, sent: Sent) -> bool:
        step = self._recorder.step
        if sent.after is None:
            return sent.at <= step
        request, moment, delay = sent.after
        seen = self._moments.get((request, moment))
        return seen is not None and step > seen + delay

    def _arrive(self) -> None:
        due = [sent for sent in self._pending if self._due(sent)]
        for sent in due:
            self._pending.remove(sent)
            self._submit(sent)

    def _submit(self, sent: Sent) -> None:
        self._recorder.emit(
            "submit",
            request=sent.name,
            segments=[f"{name}:{tokens}" for name, tokens in sent.segments],
            output=sent.output,
            output_tokens=sent.output_tokens,
            salt=sent.salt,
            priority=sent.priority,
        )
        request = only(
            names.Request,
            request_id=sent.name,
            prompt_token_ids=self._streams.prompt(sent),
            sampling_params=names.SamplingParams(max_tokens=sent.output_tokens, ignore_eos=True),
            pooling_params=None,
            cache_salt=sent.salt or None,
            priority=sent.priority,
            arrival_time=float(len(self._sent)),
            block_hasher=self._subject.hasher,
        )
        self._sent[sent.name] = sent
        self._moments[sent.name, "submitted"] = self._recorder.step
        self._live.append(sent.name)
        self._scheduler.add_request(request)

    def _act(self) -> None:
        for step, kind, request in self._plan.actions:
            if step != self._recorder.step:
                continue
            if kind == "abort" and request in self._scheduler.requests:
                self._scheduler.finish_requests(request, names.RequestStatus.FINISHED_ABORTED)
            elif kind == "reset_cache" and self._scheduler.reset_prefix_cache():
                self._spy.keys.forget_all()
                watch_map(self._subject.manager.block_pool, self._spy.keys)
                self._recorder.emit("reset")

    # --- one step -----------------------------------------------------------------------------

    def _step(self) -> bool | None:
        """Whether a token was scheduled; None: nothing is left to do."""
        self._act()
        self._arrive()
        later = any(step > self._recorder.step for step, _, _ in self._plan.actions)
        if not self._scheduler.requests and not self._waits_for_step() and not later:
            return None
        self._spy.begin_step()
        output = self._scheduler.schedule()
        self._spy.other_changes(list(self._scheduler.requests))
        self._spy.end_schedule()
        answers = self._answers(output)
        kept = self._kept(output, answers)
        sampled = {name: len(tokens) for name, tokens in answers.items()}
        self._mirror.asked = self._spy.copied
        self._mirror.run(output, kept, sampled)
        self._spy.end_copies()
        self._note(output)
        self._learn(output, answers)
        accepted = [
            [name, kept[name] - 1] for name in kept if output.scheduled_spec_decode_tokens.get(name)
        ]
        self._complete(accepted)
        return bool(output.num_scheduled_tokens) or self._waits_for_step() or later

    def _waits_for_step(self) -> bool:
        return any(sent.after is None for sent in self._pending) or any(
            (sent.after[0], sent.after[1]) in self._moments
            for sent in self._pending
            if sent.after is not None
        )

    def _answers(self, output: Any) -> dict[str, list[int]]:
        """What the model samples: the next tokens of each request's own output stream."""
        answers: dict[str, list[int]] = {}
        for name in output.num_scheduled_tokens:
            request, sent = self._scheduler.requests[name], self._sent[name]
            if request.num_computed_tokens < request.num_tokens:
                answers[name] = []
                continue
            drafts = len(output.scheduled_spec_decode_tokens.get(name, ()))
            known = request.num_output_tokens
            left = sent.output_tokens - known
            count = min(1 + self._acceptance(sent, drafts), left)
            answers[name] = self._streams.ids(sent.output, known, known + count)
        return answers

    def _acceptance(self, sent: Sent, drafts: int) -> int:
        if not drafts or not sent.accepted:
            return drafts
        number = self._decodes.get(sent.name, 0)
        self._decodes[sent.name] = number + 1
        return min(sent.accepted[min(number, len(sent.accepted) - 1)], drafts)

    def _kept(self, output: Any, answers: dict[str, list[int]]) -> dict[str, int]:
        """Of the tokens of each row, those that stay computed."""
        drafted = output.scheduled_spec_decode_tokens
        return {
            name: len(answers[name]) + tokens - 1 - len(drafted[name])
            if drafted.get(name)
            else tokens
            for name, tokens in output.num_scheduled_tokens.items()
        }

    def _note(self, output: Any) -> None:
        step = self._recorder.step
        for name in output.num_scheduled_tokens:
            self._moments.setdefault((name, "scheduled"), step)
            request = self._scheduler.requests[name]
            if request.num_computed_tokens >= request.num_prompt_tokens:
                self._moments.setdefault((name, "prefilled"), step)

    def _learn(self, output: Any, answers: dict[str, list[int]]) -> None:
        scheduler = self._scheduler
        order = list(output.num_scheduled_tokens)
        result = only(
            names.ModelRunnerOutput,
            req_ids=order,
            req_id_to_index={name: place for place, name in enumerate(order)},
            sampled_token_ids=[answers[name] for name in order],
            logprobs=None,
            prompt_logprobs_dict={},
            pooler_output=[],
        )
        scheduler.update_from_output(output, result)
        drafts = self._plan.geometry.get("drafts", 0)
        if drafts and order:
            proposals = [self._drafted(name, drafts) for name in order]
            scheduler.update_draft_token_ids(names.DraftTokenIds(order, proposals))
        for name in list(self._live):
            if name not in scheduler.requests:
                self._live.remove(name)
                self._moments[name, "finished"] = self._recorder.step

    def _drafted(self, name: str, drafts: int) -> list[int]:
        """What the drafter proposes: ids only; how many are right is decided when they return."""
        if name not in self._scheduler.requests:
            return []
        known = self._scheduler.requests[name].num_output_tokens
        return self._streams.ids(self._sent[name].output, known, known + drafts)

    def _complete(self, accepted: list[list[Any]]) -> None:
        self._spy.other_changes(list(self._scheduler.requests))
        pool = self._subject.manager.block_pool
        counts: dict[str, int | None] = {}
        if pool.num_gpu_blocks <= COUNTED_BLOCKS:
            free = pool.get_num_free_blocks()
            keyed = sum(
                1
                for block in pool.blocks
                if block.ref_cnt == 0 and not block.is_null and self._spy.keys.keyed(block.block_id)
            )
            counts = {
                "referenced_blocks": pool.num_gpu_blocks - 1 - free,
                "keyed_free_blocks": keyed,
                "empty_free_blocks": free - keyed,
            }
        step = self._recorder.step
        self._recorder.emit("complete", of=step, accepted=accepted, failed=[], **counts)


def _checkpoint_sizes(plan: Plan, subject: Subject) -> Sizes | None:
    """None: no chunk exports a state."""
    spacing = plan.geometry.get("checkpoint_alignment_tokens")
    state = next((g for g in plan.groups if g.kind == "recurrent_state"), None)
    if spacing is None or state is None:
        return None
    fine = plan.geometry["hash_unit_tokens"] if plan.geometry.get("fine_hits") else None
    return Sizes(
        block_tokens=state.block_tokens,
        spacing_tokens=spacing,
        unit_tokens=subject.unit_tokens,
        worker_unit_tokens=fine or state.block_tokens,
        alignment_tokens=alignment_tokens(plan, subject),
        lookahead_tokens=subject.lookahead_tokens,
        drops=subject.drops,
    )
