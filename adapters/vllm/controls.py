"""`python -m truehit.adapters.vllm.controls VERSION ...`: clean controls, which must be silent."""

import argparse
import sys
from random import Random

from truehit.adapters.vllm.audit.controls import Control, control
from truehit.adapters.vllm.audit.reading import Symptom, is_judged, steps_of, symptoms
from truehit.adapters.vllm.driver import Driver
from truehit.adapters.vllm.environment import build
from truehit.spec.laws.base import ViolationClass


def main() -> int:
    """0 if all are silent, else 1."""
    parser = argparse.ArgumentParser(prog="python -m truehit.adapters.vllm.controls")
    parser.add_argument("versions", nargs="+")
    parser.add_argument("--steps", type=int, default=20_000, help="of each family and release")
    wanted = parser.parse_args()
    loud = False
    for version in wanted.versions:
        with Driver(build(version, _tell)) as driver:
            for family in Control:
                steps, found = run(driver, family, wanted.steps)
                print(f"vllm=={version} {family}: {steps} steps, {len(found)} alarms", flush=True)
                loud = loud or bool(found)
                for symptom in found[:3]:
                    print(f"  {symptom.violation_class}, {symptom.law}: {symptom.sentence}")
    return 1 if loud else 0


def run(driver: Driver, family: Control, least_steps: int) -> tuple[int, list[Symptom]]:
    """Steps that a family took, and what was not silent in them."""
    random, steps = Random(family), 0
    lookahead = bool(driver.facts()["knows_lookahead"])
    found: list[Symptom] = []
    while steps < least_steps:
        trial = control(family, random, lookahead)
        driven = driver.run(trial.scenario, {"repairs": sorted(trial.repairs)})
        if not is_judged(driven):
            raise RuntimeError(f"a control of {family} cannot be judged, so it shows nothing")
        steps += steps_of(driven.trace)
        found += [s for s in symptoms(driven) if s.violation_class is not ViolationClass.POLICY]
    return steps, found


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
