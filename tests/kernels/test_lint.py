"""Each rule is seen to refuse something, to let the right way pass, and the package keeps them."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent

import pytest

from truehit.kernels import lint
from truehit.kernels.lint import WHY, findings

HEAD = "import triton\nimport triton.language as tl\n"
KERNEL = "@triton.jit\ndef kernel(x, y, sources, page_stride, end, SIZE: tl.constexpr):\n"
LAUNCHER = "def launch(x, ids):\n"
TABLE = "TABLE = KernelTable('kernel', kernel, (), {})\n"


def module(text: str) -> str:
    return HEAD + dedent(text)


def body(text: str) -> str:
    return HEAD + KERNEL + indent(dedent(text).strip("\n"), "    ") + "\n"


def launcher(text: str, rest: str = TABLE) -> str:
    written = indent(dedent(text).strip("\n"), "    ")
    return body("pass") + rest + LAUNCHER + written + "\n"


VECTOR = "at = tl.arange(0, SIZE)\n"
LOADED = "page = tl.load(sources)\n"
REFUSED = [
    ("search", module("@triton.autotune(configs=[], key=[])\n@triton.jit\ndef f(x):\n    pass")),
    ("search", module("@triton.heuristics({})\n@triton.jit\ndef f(x):\n    pass")),
    ("search", module("from triton import autotune")),
    ("foreign", body("tl.extra.cuda.libdevice.tanh(x)")),
    ("foreign", module("from triton.language.extra import libdevice")),
    ("foreign", body("tl.inline_asm_elementwise('', '', [x], tl.int32, True, 1)")),
    ("block pointers", body("b = tl.make_block_ptr(x, (1,), (1,), (0,), (1,), (0,))")),
    ("block pointers", body("x = tl.advance(x, (1,))")),
    ("alias", module("exp = tl.exp")),
    ("alias", module("exp: object = tl.exp")),
    ("alias", module("from triton.language import exp")),
    ("loop variable", body("for i in range(0, end):\n    y += i.to(tl.int64)")),
    ("precision", body("y = tl.dot(x, x)")),
    ("precision", body("y = tl.dot(x, x, y, allow_tf32=False)")),
    ("mask", body(VECTOR + "v = tl.load(x + at)")),
    ("mask", body(VECTOR + "tl.store(y + at, 0.0)")),
    ("mask", body(VECTOR + "there = at * 2\nnext = there + 1\ntl.store(y + next, 0.0)")),
    ("mask", body(VECTOR + "tl.store(x + tl.load(y + at, mask=at < end), 0)")),
    ("mask", body(VECTOR + "tl.atomic_add(x + at, 1)")),
    ("mask", body("p = x\nwhile end > 0:\n    tl.load(p)\n    p += tl.arange(0, SIZE)")),
    ("64 bits", body(LOADED + "v = tl.load(x + page * page_stride)")),
    ("64 bits", body(LOADED + "v = tl.load(x + page * SIZE)")),
    ("64 bits", body("v = tl.load(x + tl.program_id(0) * page_stride)")),
    ("64 bits", body("v = tl.load(x + tl.program_id(0) * page_step_units)")),
    ("64 bits", body(LOADED + "v = tl.load(x + (page * page_stride).to(tl.int64))")),
    ("waiting", launcher("kernel[(1,)](x)\nreturn x.item()")),
    ("waiting", launcher("for i in ids.tolist():\n    kernel[(i,)](x)")),
    ("waiting", launcher("torch.cuda.synchronize()\nkernel[(1,)](x)")),
    (
        "waiting",
        launcher("check(x)\nkernel[(1,)](x)", TABLE + "def check(x):\n    x.max().cpu()\n"),
    ),
    ("table", launcher("kernel[(1,)](x)", "")),
    ("table", launcher("kernel[(1,)](x)", "NAMES = ['kernel']\n")),
]
ALLOWED = [
    module("TYPES = {torch.float32: tl.float32}"),
    module("EPSILON = tl.constexpr(1e-6)"),
    body("for i in range(0, end):\n    y += tl.cast(i, tl.int64)"),
    body("y = tl.dot(x, x, input_precision='ieee')"),
    body(VECTOR + "v = tl.load(x + at, mask=at < end, other=0.0)"),
    body(VECTOR + "v = tl.load(x + at, at < end)\ntl.store(y + at, v, at < end)"),
    body("v = tl.load(x + tl.program_id(0))"),
    body(VECTOR + "n = tl.sum(tl.load(x + at, mask=at < end))\ntl.store(y + n, 0)"),
    body(LOADED + "v = tl.load(x + page.to(tl.int64) * page_stride + 1)"),
    body(
        "page = tl.load(sources).to(tl.int64)\nfar = page + 1\nv = tl.load(x + far * page_stride)"
    ),
    body("v = tl.load(x + tl.cast(tl.program_id(0), tl.int64) * page_stride)"),
    body(VECTOR + "v = tl.load(x + at, mask=at < page_units * 2)"),
    body(LOADED + "if page + 2 < end:\n    pass"),
    launcher("kernel[(1,)](x)"),
    launcher("kernel[(1,)](x)", TABLE + "def plain_reference(x):\n    return x.tolist()\n"),
]


@pytest.mark.parametrize(("rule", "source"), REFUSED)
def test_what_breaks_a_rule_is_refused_by_that_rule_alone(rule: str, source: str) -> None:
    assert {each.rule for each in findings(source, "kernel.py")} == {rule}


@pytest.mark.parametrize("source", ALLOWED)
def test_the_right_way_passes(source: str) -> None:
    assert findings(source, "kernel.py") == ()


def test_every_rule_has_something_that_it_refuses() -> None:
    assert {rule for rule, _ in REFUSED} == WHY.keys()


def test_a_finding_says_where_what_and_why() -> None:
    (finding,) = findings(module("exp = tl.exp"), "decode.py")
    assert str(finding) == f"decode.py:3: writes exp = tl.exp (alias: {WHY['alias']})"


def package() -> list[Path]:
    files = sorted(Path(lint.__file__).parent.glob("*.py"))
    return [each for each in files if each.name not in lint.INTERPRETED]


@pytest.mark.parametrize("path", package(), ids=lambda path: path.name)
def test_the_package_breaks_no_rule(path: Path) -> None:
    assert [str(each) for each in findings(path.read_text(encoding="utf-8"), path.name)] == []


def test_what_is_not_linted_is_there() -> None:
    here = Path(lint.__file__).parent
    assert all((here / name).exists() for name in lint.INTERPRETED)


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("exp = tl.exp\n", 1, "1 findings in 1 files"),
        ("x = 1\n", 0, "0 findings in 1 files"),
        ("x = (\n", 2, "lint: "),
    ],
)
def test_the_exit_code_says_whether_something_was_found(
    tmp_path: Path, text: str, code: int, said: str
) -> None:
    (tmp_path / "kernel.py").write_text(text)
    line = [sys.executable, "-m", "truehit.kernels.lint", str(tmp_path / "kernel.py")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert said in done.stdout + done.stderr
