"""A process inside an environment: what keeps it from answering is one line, and none outlives its
limits of time and memory."""

import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from truehit.adapters.vllm.environment import Environment
from truehit.adapters.vllm.problems import PeerEnded, PeerError, PeerLate
from truehit.adapters.vllm.process import Process

ECHO = """
import json, subprocess, sys, time
for line in sys.stdin:
    order = json.loads(line)
    match order["do"]:
        case "die":
            sys.exit("the reason")
        case "crash":
            import os, signal
            os.kill(os.getpid(), signal.SIGSEGV)
        case "hang":
            time.sleep(100)
        case "hang with a child":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
            with open(order["file"], "w") as target:
                target.write(str(child.pid))
            print('{"half": ', end="", flush=True)
            time.sleep(100)
        case "take":
            held = bytearray(order["bytes"])
        case "half":
            print('{"half": ', end="", flush=True)
            sys.exit("half")
        case "chat":
            print("Loading ...", flush=True)
            continue
    answer = {"problem": "no such thing"} if order["do"] == "fail" else {"echo": order["do"]}
    print(json.dumps(answer), flush=True)
"""
LATE_STARTER = "import time\ntime.sleep(0.6)\n" + ECHO


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """An environment whose release is one small module that answers."""
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    (tmp_path / "late_starter.py").write_text(LATE_STARTER, encoding="utf-8")
    python = Path(sys.executable)
    package = tmp_path / "vllm"
    return Environment("vllm==1.2.3", "1.2.3", python, package, (tmp_path,), tmp_path / "cache")


def gone(pid: int) -> bool:
    """Whether it has ended; one that nobody waits for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2][1] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_orders_are_answered_in_turn(environment: Environment) -> None:
    with Process(environment, "echo") as process:
        assert [process.ask(do=word)["echo"] for word in ("one", "two")] == ["one", "two"]


def test_a_problem_is_one_line_and_the_process_lives_on(environment: Environment) -> None:
    with Process(environment, "echo") as process:
        with pytest.raises(PeerError, match=r"^echo inside vllm==1\.2\.3: no such thing$"):
            process.ask(do="fail")
        assert process.ask(do="still here") == {"echo": "still here"}


def test_a_death_is_told_with_its_last_words(environment: Environment) -> None:
    words = r"^echo inside vllm==1\.2\.3 ended with exit code 1: the reason$"
    with Process(environment, "echo") as process, pytest.raises(PeerError, match=words):
        process.ask(do="die")


def test_a_crash_is_told_with_its_signal(environment: Environment) -> None:
    words = r"^echo inside vllm==1\.2\.3 ended by SIGSEGV: it wrote nothing$"
    with Process(environment, "echo") as process, pytest.raises(PeerEnded, match=words):
        process.ask(do="crash")


def test_half_an_answer_is_none(environment: Environment) -> None:
    with Process(environment, "echo") as process, pytest.raises(PeerEnded, match=r"1: half$"):
        process.ask(do="half")


def test_what_is_no_answer_ends_the_process(environment: Environment) -> None:
    """The answer that follows it would be taken for the next order's."""
    words = r"was ended: 'Loading \.\.\.\\n' is no answer$"
    with Process(environment, "echo") as process:
        with pytest.raises(PeerEnded, match=words):
            process.ask(do="chat")
        with pytest.raises(PeerEnded, match=r"ended by SIGKILL"):
            process.ask(do="one")


def test_a_late_answer_ends_the_process(environment: Environment) -> None:
    words = r"^echo inside vllm==1\.2\.3: no answer in 0\.3 s$"
    with Process(environment, "echo", answer_limit_seconds=0.3) as process:
        assert process.ask(do="one") == {"echo": "one"}
        with pytest.raises(PeerLate, match=words):
            process.ask(do="hang")
        with pytest.raises(PeerEnded, match=r"ended by SIGKILL"):
            process.ask(do="two")


def test_what_a_late_process_started_ends_with_it(environment: Environment, tmp_path: Path) -> None:
    file = tmp_path / "child"
    with Process(environment, "echo", answer_limit_seconds=1.5) as process:
        process.ask(do="one")
        with pytest.raises(PeerLate):
            process.ask(do="hang with a child", file=str(file))
    child = int(file.read_text(encoding="utf-8"))
    deadline = time.monotonic() + 5
    while not gone(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert gone(child)


def test_an_order_that_nobody_reads_is_late_too(environment: Environment) -> None:
    """It is larger than what a pipe holds, so that writing it waits."""
    with (
        Process(
            environment, "late_starter", start_limit_seconds=0.1, answer_limit_seconds=0.1
        ) as process,
        pytest.raises(PeerLate, match=r"no answer in 0\.2 s$"),
    ):
        process.ask(do="one", text="x" * 1_000_000)


def test_the_first_answer_may_wait_for_the_imports(environment: Environment) -> None:
    with Process(environment, "late_starter", answer_limit_seconds=0.4) as process:
        assert process.ask(do="one") == {"echo": "one"}


def test_an_interrupted_order_ends_the_process(environment: Environment) -> None:
    with Process(environment, "echo") as process:
        process.ask(do="one")
        watch = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        watch.start()
        with pytest.raises(KeyboardInterrupt):
            process.ask(do="hang")
        with pytest.raises(PeerEnded, match=r"ended by SIGKILL"):
            process.ask(do="two")


def test_memory_ends_at_its_limit(environment: Environment) -> None:
    words = r"ended with exit code 1: MemoryError \(its memory limit is 256 MiB\)$"
    with Process(environment, "echo", memory_limit_bytes=256 << 20) as process:
        assert process.ask(do="take", bytes=100 << 20) == {"echo": "take"}
        with pytest.raises(PeerEnded, match=words):
            process.ask(do="take", bytes=300 << 20)


def test_memory_has_a_limit_where_none_is_asked_for(environment: Environment) -> None:
    with Process(environment, "echo") as process, pytest.raises(PeerEnded, match=r"4,096 MiB"):
        process.ask(do="take", bytes=5 << 30)


def test_an_interpreter_that_cannot_start_is_told(environment: Environment, tmp_path: Path) -> None:
    broken = replace(environment, python=tmp_path / "absent")
    with pytest.raises(PeerEnded, match=r"cannot be started \(No such file or directory\)$"):
        Process(broken, "echo")


def test_a_package_that_cannot_start_is_told(environment: Environment) -> None:
    words = r"ended with exit code 1: .*No module named absent"
    with Process(environment, "absent") as process, pytest.raises(PeerError, match=words):
        process.ask(do="anything")
