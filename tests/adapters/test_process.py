"""A process inside an environment: what keeps it from answering is one line."""

import sys
from pathlib import Path

import pytest

from truehit.adapters.vllm.environment import Environment
from truehit.adapters.vllm.problems import PeerError
from truehit.adapters.vllm.process import Process

ECHO = """
import json, sys
for line in sys.stdin:
    order = json.loads(line)
    if order["do"] == "die":
        sys.exit("the reason")
    answer = {"problem": "no such thing"} if order["do"] == "fail" else {"echo": order["do"]}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """An environment whose release is one small module that answers."""
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    return Environment("1.2.3", Path(sys.executable), tmp_path, tmp_path / "cache")


def test_orders_are_answered_in_turn(environment: Environment) -> None:
    with Process(environment, "echo") as process:
        assert [process.ask(do=word)["echo"] for word in ("one", "two")] == ["one", "two"]


def test_a_problem_is_one_line_and_the_process_lives_on(environment: Environment) -> None:
    with Process(environment, "echo") as process:
        with pytest.raises(PeerError, match=r"^echo inside vllm 1\.2\.3: no such thing$"):
            process.ask(do="fail")
        assert process.ask(do="still here") == {"echo": "still here"}


def test_a_death_is_told_with_its_last_words(environment: Environment) -> None:
    words = r"^echo inside vllm 1\.2\.3 ended with exit code 1: the reason$"
    with Process(environment, "echo") as process, pytest.raises(PeerError, match=words):
        process.ask(do="die")


def test_a_package_that_cannot_start_is_told(environment: Environment) -> None:
    words = r"ended with exit code 1: .*No module named absent"
    with Process(environment, "absent") as process, pytest.raises(PeerError, match=words):
        process.ask(do="anything")
