"""The audit accuses nobody who is innocent. (What it finds, the mutants show.)"""

from dataclasses import replace

import pytest

from truehit.engine.api import Engine
from truehit.engine.audit import Audit

from .room import Device, hybrid, serve_all


@pytest.mark.parametrize("steps_in_flight", [1, 2, 3])
def test_a_source_taken_again_while_its_copy_is_in_flight_is_in_device_order(
    steps_in_flight: int,
) -> None:
    """The source of a copy is given back when a later step can only write it later. A reset puts
    it first in the queue, so the very next step takes it: after the copy, on the device."""
    geometry = hybrid(4, 4, pool_blocks=64, steps_in_flight=steps_in_flight)
    engine = Engine(replace(geometry, fine_hits=True, hash_unit_tokens=1))
    audit, device = Audit(engine.host), Device(engine)
    engine.submit(list(range(7)), output_tokens=1)
    serve_all(device)
    engine.submit(list(range(7)), output_tokens=2)
    copies = 0
    while engine.host.slots:
        if len(engine.host.in_flight) == steps_in_flight:
            device.step()
        copies += len(engine.schedule().copies)
        engine.reset_cache()
    assert copies == 3
    assert audit.findings() == []
