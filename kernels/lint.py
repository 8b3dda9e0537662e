"""What a kernel may not say, read from its source: constructs that a test without a GPU cannot
judge, or that would make it judge something else than what runs.

`python -m truehit.kernels.lint [FILE ...]`: one line a finding; exit code 0: none, 1: some, 2: a
file that cannot be read. Default: the kernels of this package.

Not seen: arithmetic in bf16 (the interpreter's replacements refuse it), values behind a call (a
helper's result counts as a vector where one of its arguments is one), races, barriers."""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WHY = {
    "search": "what is tuned at run time is not what was compiled here; write a KernelTable",
    "foreign": "the interpreter runs no foreign code: libdevice and assembly are never tested",
    "block pointers": "removed in Triton 3.9; plain pointers or tensor descriptors",
    "alias": "the interpreter replaces what hangs on `tl`; another name keeps the compiled one",
    "loop variable": "under the interpreter it is a Python int, without `.to`; use tl.cast",
    "precision": "the default rounds fp32 operands to tf32, which only a GPU does; write which",
    "mask": "nothing checks bounds: a vector that runs over the end reads or writes a neighbour",
    "64 bits": "a pool has more than 2**31 elements: cast the index before it meets its stride",
    "table": "what no table names is not compiled by the gate; add it to a KernelTable",
    "waiting": "a launcher that reads from the device stops the host until the device is idle",
}
SEARCHES = frozenset({"autotune", "heuristics"})
FOREIGN = frozenset({"libdevice", "inline_asm_elementwise", "extra"})
BLOCK_POINTERS = frozenset({"make_block_ptr", "advance"})
WAITS = frozenset({"item", "tolist", "cpu", "numpy", "nonzero", "synchronize"})
STRIDE = re.compile(r"(^|_)(strides?|step_units)$")
PAGES = re.compile(r"(^|_)(sources?|targets?|pages?|blocks?|tables?|slots?)$")
MEMORY = frozenset({"load", "store", "atomic_add", "atomic_xchg"})
# Its kernels are looked at by the interpreter, and run nowhere else.
INTERPRETED = frozenset({"interpreter.py"})
WHOLE_REDUCTIONS = frozenset({"sum", "max", "min"})
VECTORS = frozenset({"arange", "full", "zeros"})
MASK_POSITION = {"load": 1, "store": 2, "atomic_add": 2, "atomic_xchg": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """`rule` is a key of WHY."""

    file: str
    line: int
    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what} ({self.rule}: {WHY[self.rule]})"


def findings(source: str, file: str) -> tuple[Finding, ...]:
    """Everything one file says that it may not, in the order of its lines."""
    tree = ast.parse(source)
    functions = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    compiled = [each for each in functions if is_compiled(each)]
    found = [
        *words(tree),
        *aliases(tree),
        *waits(functions, {each.name for each in compiled}),
        *unnamed(tree, functions, {each.name for each in compiled}),
        *(each for function in compiled for each in kernel(function)),
    ]
    return tuple(Finding(file, *each) for each in sorted(set(found)))


Said = tuple[int, str, str]


def words(tree: ast.Module) -> Iterator[Said]:
    """Names that are refused wherever they stand."""
    refused = dict.fromkeys(SEARCHES, "search") | dict.fromkeys(FOREIGN, "foreign")
    refused |= dict.fromkeys(BLOCK_POINTERS, "block pointers")
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name("tl" | "triton") | ast.Attribute(), attr=name):
                if name in refused:
                    yield node.lineno, refused[name], f"uses {ast.unparse(node)}"
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("triton"):
                said = {*module.split("."), *(each.name for each in names)}
                for name in sorted(said & refused.keys()):
                    yield node.lineno, refused[name], f"imports {name}"


def aliases(tree: ast.Module) -> Iterator[Said]:
    """A second name for something of `tl`, made by an assignment or an import."""
    for node in tree.body:
        match node:
            case (
                ast.Assign(value=ast.Attribute(value=ast.Name("tl")))
                | ast.AnnAssign(value=ast.Attribute(value=ast.Name("tl")))
            ):
                yield node.lineno, "alias", f"writes {ast.unparse(node)}"
            case ast.ImportFrom(module="triton.language"):
                yield node.lineno, "alias", f"writes {ast.unparse(node)}"


def waits(functions: list[ast.FunctionDef], kernels: set[str]) -> Iterator[Said]:
    """Reads from the device in functions that launch, and in what those call in their file."""
    by_name = {each.name: each for each in functions if each.name not in kernels}
    pending = [each for each in by_name.values() if launches(each, kernels)]
    reached: set[str] = set()
    while pending:
        function = pending.pop()
        if function.name in reached:
            continue
        reached.add(function.name)
        for call in calls(function):
            match call.func:
                case ast.Attribute(attr=name) if name in WAITS:
                    yield call.lineno, "waiting", f"{function.name} calls .{name}()"
                case ast.Name(name) if name in by_name:
                    pending.append(by_name[name])


def unnamed(
    tree: ast.Module, functions: list[ast.FunctionDef], kernels: set[str]
) -> Iterator[Said]:
    """Kernels that a function of the file launches, and no table at its margin names."""
    margin = [each for each in tree.body if isinstance(each, ast.Assign | ast.AnnAssign)]
    named = {node.id for each in margin for node in ast.walk(each) if isinstance(node, ast.Name)}
    for function in functions:
        for name in sorted(kernels - named):
            if launches(function, {name}):
                yield function.lineno, "table", f"{function.name} launches {name}"


def launches(function: ast.FunctionDef, kernels: set[str]) -> bool:
    """Does it say `kernel[grid](...)`?"""
    return any(
        isinstance(call.func, ast.Subscript)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in kernels
        for call in calls(function)
    )


def kernel(function: ast.FunctionDef) -> Iterator[Said]:
    """What only a compiled function may not say."""
    counters = {
        node.target.id
        for node in ast.walk(function)
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name)
    }
    kinds = Kinds.of(function)
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(name), attr="to")) if name in counters:
                yield node.lineno, "loop variable", f"writes {ast.unparse(node)}"
            case ast.Call(func=ast.Attribute(value=ast.Name("tl"), attr="dot"), keywords=keywords):
                if not any(each.arg == "input_precision" for each in keywords):
                    yield node.lineno, "precision", f"writes {ast.unparse(node)}"
            case ast.Call(func=ast.Attribute(value=ast.Name("tl"), attr=name), args=args):
                if name in MEMORY and kinds.is_vector(args[0]) and not has_mask(node, name):
                    yield node.lineno, "mask", f"writes {ast.unparse(node)}"
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                names = [each.id for each in (left, right) if isinstance(each, ast.Name)]
                strided = [each for each in names if STRIDE.search(each) or each in kinds.pages]
                if strided and not kinds.is_wide(left) and not kinds.is_wide(right):
                    yield node.lineno, "64 bits", f"writes {ast.unparse(node)}"


@dataclass(frozen=True, slots=True)
class Kinds:
    """Local names of a kernel: those that hold vectors, 64-bit integers, and page ids as loaded."""

    vectors: frozenset[str]
    wide: frozenset[str]
    pages: frozenset[str]

    @classmethod
    def of(cls, function: ast.FunctionDef) -> "Kinds":
        """Until nothing more is learned: a loop may use a name above its assignment."""
        kinds = cls(frozenset(), frozenset(), frozenset())
        while (more := kinds._after(function)) != kinds:
            kinds = more
        return kinds

    def _after(self, function: ast.FunctionDef) -> "Kinds":
        vectors, wide, pages = set(self.vectors), set(self.wide), set(self.pages)
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(name)], value=value):
                    pass
                case ast.AugAssign(target=ast.Name(name), value=value):
                    pass
                case _:
                    continue
            if self.is_vector(value):
                vectors.add(name)
            if self.is_wide(value):
                wide.add(name)
            if is_page(value):
                pages.add(name)
        return Kinds(frozenset(vectors), frozenset(wide), frozenset(pages))

    def is_vector(self, node: ast.expr) -> bool:
        """More than one element, as far as the text says."""
        match node:
            case ast.Name(name):
                return name in self.vectors
            case ast.Call(func=ast.Attribute(value=ast.Name("tl"), attr=name)) if name in VECTORS:
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name("tl"), attr=name), args=[_]) if (
                name in WHOLE_REDUCTIONS and not node.keywords
            ):
                return False
        return any(self.is_vector(each) for each in expressions(node))

    def is_wide(self, node: ast.expr) -> bool:
        """Is the arithmetic done in 64 bits?"""
        match node:
            case ast.Name(name):
                return name in self.wide
            case ast.Call(func=ast.Attribute(attr="to" | "cast")):
                return any(ast.unparse(each) == "tl.int64" for each in node.args)
            case ast.BinOp(left=left, right=right):
                return self.is_wide(left) or self.is_wide(right)
            case ast.Subscript(value=value):
                return self.is_wide(value)
        return False


def is_page(node: ast.expr) -> bool:
    """A load from an argument that is named for pages."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name("tl"), attr="load"), args=[pointer, *_]):
            names = (each.id for each in ast.walk(pointer) if isinstance(each, ast.Name))
            return PAGES.search(next(names, "")) is not None
    return False


def has_mask(call: ast.Call, name: str) -> bool:
    """By its name or by its place."""
    named = any(each.arg == "mask" for each in call.keywords)
    return named or len(call.args) > MASK_POSITION[name]


def is_compiled(function: ast.FunctionDef) -> bool:
    """Does it carry triton.jit, called or not?"""
    return any(ast.unparse(each).startswith("triton.jit") for each in function.decorator_list)


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """All calls below a node."""
    return (each for each in ast.walk(node) if isinstance(each, ast.Call))


def expressions(node: ast.expr) -> Iterator[ast.expr]:
    """The direct parts of an expression."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.keyword):
            yield each.value
        elif isinstance(each, ast.expr):
            yield each


def main() -> int:
    """Lint the files that are named, or the package's."""
    package = sorted(Path(__file__).parent.glob("*.py"))
    paths = [Path(each) for each in sys.argv[1:]] or [
        each for each in package if each.name not in INTERPRETED
    ]
    try:
        texts = [(path, path.read_text(encoding="utf-8")) for path in paths]
        found = [each for path, text in texts for each in findings(text, path.name)]
    except (OSError, SyntaxError, UnicodeDecodeError) as problem:
        print(f"lint: {problem}", file=sys.stderr)
        return 2
    print("\n".join([*map(str, found), f"{len(found)} findings in {len(paths)} files"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
