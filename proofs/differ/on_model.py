"""The fast engine with a model on its tables, in the form of a subject: its events, and what its
data plane holds and computes.

Drawn models are small, and many: one thread each is faster than all cores for one."""

import torch

from truehit.engine.model.backend import BackendName
from truehit.proofs.differ.data_plane import run_with_data
from truehit.proofs.differ.subject import Traced
from truehit.spec.scenario import Scenario


def on_torch(scenario: Scenario, rules: str) -> Traced:
    """Plain torch, float64."""
    return _traced(scenario, rules, BackendName.TORCH)


def on_interpreter(scenario: Scenario, rules: str) -> Traced:
    """The kernels in Triton's interpreter, float32; the process needs TRITON_INTERPRET=1."""
    return _traced(scenario, rules, BackendName.INTERPRETER)


def on_cuda(scenario: Scenario, rules: str) -> Traced:
    """The kernels on a GPU, float32."""
    return _traced(scenario, rules, BackendName.CUDA)


def _traced(scenario: Scenario, rules: str, name: BackendName) -> Traced:
    torch.set_num_threads(1)
    done = run_with_data(scenario, rules, name)
    run = done.ran.run
    return Traced(run.events, run.steps, done.difference, done.count)
