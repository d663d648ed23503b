"""How much the tests notice: the code, changed a little: ``python -m benchmarks.mutate``.

A mutant is the package with one operator, constant, condition, call or statement changed. Lines are
sampled uniformly, and a change of each at random. A mutant is killed if a test of its part fails,
or takes far longer than without the change; those that survive are printed, and ask for a test, or
change nothing that is computed. What is documentation, annotation or error message is not changed.

Every mutant lives in a temporary copy of src and tests. Its part's sharpest tests come first, with
compiled code interpreted, which saves the compiler's minutes; the survivors then meet all tests of
their part as they are (not with ``--quick``).

    python -m benchmarks.mutate --number 50 --seed 1 --part core/streaming
    python -m benchmarks.mutate --part core/streaming.py:214:      # all changes of one line
"""

import argparse
import ast
import math
import os
import random
import resource
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium  # noqa: F401  what every fork would import is imported once
import numba
import pytest
import scipy.optimize
import scipy.sparse.linalg
import scipy.special  # noqa: F401

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src/optimist")
ARGUMENTS = ["-x", "-q", "-n0", "-pno:cacheprovider", "--hypothesis-seed=0"]
PARTS = ("core", "agents", "imitation", "mdp")


class Tests(NamedTuple):
    """The tests of some parts: the sharpest, which come first, and the folders with all."""

    parts: str
    interpreted: bool
    quick: str
    folders: str

    def names(self, quick: bool) -> list[str]:
        return shlex.split(self.quick if quick else self.folders)


TESTS = (  # the first of whose parts one is the beginning of the file's path
    Tests("core/streaming core/links", True, "tests/streaming/test_environment_oracle.py "
          "tests/streaming/test_agreement.py "
          "-k 'formulas or regression or (known_rewards and (busy or adaptive) and not last)'",
          "tests/streaming"),
    Tests("core/memory", False, "tests/streaming/test_environment_oracle.py "
          "tests/streaming/test_memory.py", "tests/streaming"),
    Tests("core/peers core/tabular", True, "tests/core/test_peers.py -k 'river or aggregated'",
          "tests/core tests/agents"),
    Tests("core/mirror core/roll_in core/timed imitation/oal imitation/forward_ail", True,
          "tests/core/test_mirror.py tests/core/test_timed.py tests/imitation/test_oal.py "
          "tests/imitation/test_forward_ail.py -k 'not large and not drawn and not grow'",
          "tests/core/test_mirror.py tests/core/test_timed.py tests/imitation"),
    Tests("core/policy core/norms", False, "tests/core/test_policies.py "
          "tests/streaming/test_policies.py",
          "tests/core tests/storage tests/streaming"),
    Tests("core/rewards", False, "tests/storage/test_choosers.py", "tests/storage tests/core"),
    Tests("core/storage", False, "tests/storage/test_kinds_of_files.py", "tests/storage"),
    Tests("core", True, "tests/core/test_prior.py tests/core/test_agreement.py "
          "tests/core/test_adaptive.py "
          "-k 'prior or (agrees and (river-False or river-busy or blocks-busy or linear-True))'",
          "tests/core tests/streaming tests/imitation"),
    Tests("agents", False, "tests/golden tests/agents/test_refusals.py "
          "tests/agents/test_diagnostics.py tests/agents/test_history.py",
          "tests/agents tests/streaming tests/storage tests/core"),
    Tests("imitation", False, "tests/golden tests/imitation/test_agreement.py "
          "tests/imitation/test_dataset.py tests/imitation/test_unseen_rewards.py",
          "tests/imitation tests/streaming"),
    Tests("mdp", False, "tests/mdp/test_finite.py tests/mdp/test_values.py "
          "tests/mdp/test_optimum.py tests/mdp/test_properties.py tests/mdp/test_validation.py",
          "tests/mdp tests/envs tests/core"),
)  # fmt: skip

BINARY: dict[type[ast.AST], Any] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
COMPARISONS = {ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
               ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
               ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
               ast.NotIn: (ast.In,)}  # fmt: skip
NAMES = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "floor": "ceil",
         "zeros": "ones", "cumsum": "cumprod", "flatnonzero": "argsort"}  # fmt: skip
SYMMETRIC = ("isinstance", "zip", "min", "max", "minimum", "maximum", "dot", "isclose")
"""Functions whose first two arguments may be exchanged, or where that is an error at once."""
NAMES |= {other: name for name, other in NAMES.items()}


class Mutant(NamedTuple):
    """A change of bytes ``begin`` to ``end`` of a file."""

    file: str  # below the package
    line: int
    begin: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {' '.join(self.old.split())}  ->  {self.new}"

    def of(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.begin] + self.new.encode() + source[self.end :]


def expressions(node: ast.AST) -> Iterator[ast.expr]:
    """What may stand in the place of an expression."""
    match node:
        case ast.BinOp(left, op, right) if type(op) in BINARY:
            yield ast.BinOp(left, BINARY[type(op)](), right)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(BINARY[type(op)](), values)
        case ast.Compare(left, [op], right):
            for other in COMPARISONS[type(op)]:
                yield ast.Compare(left, [other()], right)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield from map(ast.Constant, {value + 1, value * 2, type(value)(0)} - {value})
        case ast.Name(name) if name in NAMES:
            yield ast.Name(NAMES[name])
        case ast.Attribute(value, name) if name in NAMES:
            yield ast.Attribute(value, NAMES[name])
        case ast.Call(function, [first, second, *rest], keywords) if not (
            isinstance(second, ast.Constant) or ast.unparse(function).split(".")[-1] in SYMMETRIC
        ):
            yield ast.Call(function, [second, first, *rest], keywords)
        case ast.Tuple([first, second, *rest], ast.Load()) if ":" not in ast.unparse(node):
            yield ast.Tuple([second, first, *rest])


def changes(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Places below a node, and the text to put there."""
    match node:
        case ast.If(test) | ast.While(test) | ast.IfExp(test):
            if "TYPE_CHECKING" in ast.unparse(test):
                return
            yield test, f"(not ({ast.unparse(test)}))"
        case ast.AugAssign(target, op, value):
            yield node, "pass"
            if type(op) in BINARY:
                yield node, ast.unparse(ast.AugAssign(target, BINARY[type(op)](), value))
        case ast.Assign([ast.Attribute() | ast.Subscript()]) | ast.Expr(ast.Call()):
            yield node, "pass"
        case ast.Slice(lower, upper):
            yield from ((b, f"({ast.unparse(b)}) + 1") for b in (lower, upper) if b is not None)
    for new in expressions(node):
        yield node, f"({ast.unparse(ast.fix_missing_locations(new))})"
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom | ast.Assert):
        return
    for name, field in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list", "bases"):
            for child in field if isinstance(field, list) else [field]:
                if isinstance(child, ast.AST):
                    yield from changes(child)


def mutants(file: str, source: bytes) -> Iterator[Mutant]:
    """All mutants of a file."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for place, text in changes(ast.parse(source)):
        first, last = place.lineno, place.end_lineno  # type: ignore[attr-defined]
        begin = starts[first - 1] + place.col_offset  # type: ignore[attr-defined]
        end = starts[last - 1] + place.end_col_offset  # type: ignore[attr-defined]
        yield Mutant(file, first, begin, end, source[begin:end].decode(), text)


def sample(number: int, seed: int, part: str) -> list[Mutant]:
    """One mutant each of that many lines; all of them if the part is a line."""
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for room in PARTS:
        for path in sorted((ROOT / PACKAGE / room).rglob("*.py")):
            file = path.relative_to(ROOT / PACKAGE).as_posix()
            for mutant in mutants(file, path.read_bytes()):
                if f"{file}:{mutant.line}:".startswith(part):
                    lines.setdefault((file, mutant.line), []).append(mutant)
    if not lines:
        raise SystemExit(f"no line of {', '.join(PARTS)} that could be changed begins with {part}")
    if len(lines) == 1:
        return [mutant for line in lines.values() for mutant in line]
    rng = random.Random(seed)
    chosen = rng.sample(list(lines), min(number, len(lines)))
    return [rng.choice(lines[line]) for line in chosen]


def tests_of(mutant: Mutant) -> Tests:
    return next(tests for tests in TESTS if mutant.file.startswith(tuple(tests.parts.split())))


def copy_of(tree: Path, to: Path) -> Path:
    """A copy of what the tests need, with the compiler's cache."""
    shutil.copytree(tree / "src", to / "src", ignore=shutil.ignore_patterns("*.pyc"))
    shutil.copytree(tree / "tests", to / "tests")
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy2(tree / name, to)
    return to


def start(tree: Path, tests: list[str], interpreted: bool, seconds: float) -> int:
    """Begin to run tests in a tree, in a fork of this process with so much CPU time; its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        with open(tree / "output", "w") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds),) * 2)
        signal.alarm(math.ceil(40 * seconds))  # and what waits for ever
        os.chdir(tree)
        os.environ["PYTHONPATH"] = str(tree / "src")
        sys.path[:] = [str(tree / "src"), *(p for p in sys.path if p not in ("", str(ROOT)))]
        numba.config.DISABLE_JIT = int(interpreted)  # type: ignore[attr-defined]
        code = int(pytest.main([*ARGUMENTS, *tests]))
    finally:
        os._exit(code)


def finished() -> tuple[int, bool, float]:
    """Wait for a run of tests: its id, whether they passed, its CPU seconds."""
    child, status, usage = os.wait3(0)
    return child, os.waitstatus_to_exitcode(status) == 0, usage.ru_utime + usage.ru_stime


def survivors(made: list[Mutant], quick: bool, jobs: int, folder: Path) -> list[Mutant]:
    """The mutants that the tests do not notice: the quick ones, or all of their parts."""
    limits: dict[Tests, float] = {}
    unchanged = folder / "unchanged"
    for tests in map(tests_of, made):  # how long they take if nothing is changed; they must pass
        if tests not in limits:
            start(unchanged, tests.names(quick), quick and tests.interpreted, 3600)
            _, passed, seconds = finished()
            if not passed:
                raise SystemExit(f"{tests.names(quick)} fail as they are: {said(unchanged)}")
            print(f"{seconds:7.1f} s  {' '.join(tests.names(quick))}", flush=True)
            limits[tests] = 3 * seconds + (10 if quick and tests.interpreted else 120)  # to compile
    waiting, running, alive = list(reversed(made)), dict[int, tuple[Mutant, Path]](), []
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            tree = copy_of(unchanged, Path(tempfile.mkdtemp(dir=folder)))
            tests, path = tests_of(mutant), tree / PACKAGE / mutant.file
            made_at = path.stat().st_mtime_ns
            path.write_bytes(mutant.of(path.read_bytes()))
            if not tests.interpreted:  # nothing has to be compiled anew (conftest.py)
                os.utime(path, ns=(made_at, made_at))
            own = sorted((tree / "tests").glob(f"{path.parent.name}/test_{path.stem}*.py"))
            names = [*map(str, own), *tests.names(quick), str(path)]
            child = start(tree, names, quick and tests.interpreted, limits[tests])
            running[child] = mutant, tree
        child, passed, seconds = finished()
        mutant, tree = running.pop(child)
        how = "survived" if passed else f"killed by {said(tree)}"
        print(f"{seconds:7.1f} s  {mutant}: {how}", flush=True)
        if passed:
            alive.append(mutant)
        shutil.rmtree(tree)
    return alive


def said(tree: Path) -> str:
    """The first test that failed, or how the output ends."""
    lines = (tree / "output").read_text().strip().splitlines()
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return (failed or lines[-1:] or ["too much time"])[0]


def main() -> None:
    """Print what becomes of a sample of mutants."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--number", type=int, default=50, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="", help="the beginning of the path: core/, mdp/kernel")
    parser.add_argument("--jobs", type=int, default=1, help="how many at once")
    parser.add_argument("--quick", action="store_true", help="the sharpest tests alone")
    given = parser.parse_args()
    made = sample(given.number, given.seed, given.part)
    with tempfile.TemporaryDirectory() as folder:
        copy_of(ROOT, Path(folder, "unchanged"))
        alive = survivors(made, True, given.jobs, Path(folder))
        if alive and not given.quick:
            alive = survivors(alive, False, given.jobs, Path(folder))
    print(f"{len(made)} mutants, {len(made) - len(alive)} killed, {len(alive)} survived:")
    for mutant in alive:
        print(f"  {mutant}")


if __name__ == "__main__":
    main()
