"""Which states a trace leaves to be found: for each request, where another one with its tokens can
resume once it has ended."""

from collections.abc import Iterable
from dataclasses import replace

from truehit.spec.geometry_file import geometry_from_json
from truehit.spec.laws.judge import Judge
from truehit.spec.ledger import Ledger, LedgerError
from truehit.spec.tokens import TokenPath
from truehit.spec.trace import Complete, End, EndWhy, Event, Header, Submit


def findable_states(trace: Iterable[Event]) -> dict[str, tuple[int, ...]]:
    """Request -> positions at which every state group has a key for its tokens, when the step that
    it ended in is known complete; at the end of the trace for one that is still open."""
    events = iter(trace)
    header = next(events)
    assert isinstance(header, Header)
    # No law is asked here: a judge without planes only keeps the ledger.
    judge = Judge(geometry_from_json(header.geometry), replace(header, planes=()))
    paths: dict[str, TokenPath] = {}
    ended: dict[str, int] = {}
    found: dict[str, tuple[int, ...]] = {}
    for event in events:
        try:
            judge.feed(event)
        except LedgerError:
            break
        match event:
            case Submit():
                paths[event.request] = judge.ledger.requests[event.request].path
            case End(why=why) if why != EndWhy.PREEMPT:
                ended[event.request] = event.step
            case Complete(of=int(known)):
                for name in [name for name, step in ended.items() if step <= known]:
                    del ended[name]
                    found[name] = _states(judge.ledger, paths[name])
            case _:
                pass
    return {name: found.get(name, _states(judge.ledger, path)) for name, path in paths.items()}


def _states(ledger: Ledger, path: TokenPath) -> tuple[int, ...]:
    """Positions on the path that every state group has a key of."""
    indices = [group.index for group in ledger.by_index if group.is_state]
    if not indices:
        return ()
    named = {
        tokens
        for node in path.nodes
        for tokens in ledger.keys.state_positions.get((indices[0], node), ())
        if tokens <= path.tokens
    }
    return tuple(
        sorted(t for t in named if all(ledger.keys.finds(index, path, t) for index in indices))
    )
