"""The end of a residency: everything the request holds goes back, all or nothing."""

from truehit.engine import fields as f
from truehit.engine.compiled import compiled
from truehit.engine.log import log_end
from truehit.engine.memory import Core
from truehit.engine.offer import forget_encoded
from truehit.engine.quiet import wake
from truehit.engine.tables import close_table


@compiled
def _leave(c: Core, slot: int) -> None:
    """Out of the running requests; the order of the others stays."""
    count, at = c.now[f.N_RUNNING], 0
    while at < count and c.running[at] != slot:
        at += 1
    if at == count:
        return
    for i in range(at, count - 1):
        c.running[i] = c.running[i + 1]
    if at < c.now[f.N_CURSOR]:
        c.now[f.N_CURSOR] -= 1
    c.now[f.N_RUNNING] = count - 1
    c.now[f.N_PROMISED] -= c.request[slot, f.R_PROMISE]


@compiled
def end_residency(c: Core, slot: int, why: int) -> None:
    """Release everything a request holds. What it has computed is gone; what it published is
    not."""
    log_end(c, slot, why)
    for kind in range(3):
        for g in range(c.group.shape[0]):
            of_state = c.group[g, f.G_KIND] == f.STATE
            of_circular = c.group[g, f.G_KIND] == f.CIRCULAR
            turn = 0 if of_state else (2 if of_circular else 1)
            if turn == kind:
                close_table(c, slot, g)
    _leave(c, slot)
    forget_encoded(c, slot)
    row = c.request[slot]
    row[f.R_RESIDENCY] += 1
    row[f.R_PREEMPTED] += 1
    row[f.R_COMPUTED] = row[f.R_PROCESSED] = row[f.R_SAMPLING] = 0
    row[f.R_STATUS] = f.WAITING if why == f.END_PREEMPT else f.ENDED
    wake(c, slot)
