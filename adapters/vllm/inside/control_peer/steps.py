"""Steps of a real scheduler: the worker is played, the scheduler is timed."""

from collections.abc import Callable, Iterator
from typing import Any

from . import release
from .clock import Stopwatch
from .subject import Subject
from .tokens import sampled
from .workloads import MOST_STEPS


def step(subject: Subject, drafts: int, watch: Stopwatch) -> Any:
    """One step, timed without the worker's part and without handing over the next drafts."""
    scheduler = subject.scheduler
    watch.start()
    output = scheduler.schedule()
    watch.stop()
    answer = played(scheduler, output)
    watch.start()
    scheduler.update_from_output(output, answer)
    watch.stop()
    if drafts:
        proposals = [sampled(int(name), drafts) for name in answer.req_ids]
        scheduler.update_draft_token_ids(release.DraftTokenIds(answer.req_ids, proposals))
    return output


def until(
    reached: Callable[[], object], subject: Subject, drafts: int, watch: Stopwatch
) -> Iterator[Any]:
    """Steps, one after another, the last of them the one after which it is reached."""
    for _ in range(MOST_STEPS):
        yield step(subject, drafts, watch)
        if reached():
            return
    raise RuntimeError(f"{MOST_STEPS} steps did not bring the requests where they should be")


def played(scheduler: Any, output: Any) -> Any:
    """What the worker answers: every draft was right and one token follows; in the middle of a
    prompt nothing is sampled."""
    names = list(output.num_scheduled_tokens)
    drafted = output.scheduled_spec_decode_tokens
    answers = []
    for name in names:
        request = scheduler.requests[name]
        ends_known_tokens = request.num_computed_tokens >= request.num_tokens
        count = len(drafted.get(name, ())) + 1 if ends_known_tokens else 0
        answers.append(sampled(int(name), count))
    return release.ModelRunnerOutput(
        req_ids=names,
        req_id_to_index={name: place for place, name in enumerate(names)},
        sampled_token_ids=answers,
    )


def blocks(output: Any) -> int:
    """The blocks that a step hands to its worker, null blocks left out."""
    new = [request.block_ids for request in output.scheduled_new_reqs]
    new += [groups for groups in output.scheduled_cached_reqs.new_block_ids if groups]
    return sum(1 for groups in new for group in groups for block in group if block)
