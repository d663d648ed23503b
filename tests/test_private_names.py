"""Tests know the package by its public names, so that what is behind them can be replaced."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PACKAGE = TESTS.parent / "src" / "optimist"
PRIVATE = re.compile(r"\b_[A-Za-z]\w*")  # neither `_` nor `__name__`
OF_NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}  # documented, and public
OF_NOTEBOOKS = {"_repr_html_", "_repr_mimebundle_"}  # likewise, by IPython


def defined_in(tree):
    """The private names that a module gives to modules, functions, classes and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            name = node.id if isinstance(node, ast.Name) else node.attr
        else:
            continue
        if PRIVATE.fullmatch(name):
            yield name


@pytest.fixture(scope="module")
def private():
    """Every private name of the package."""
    files = list(PACKAGE.rglob("*.py"))
    modules = {file.stem for file in files if PRIVATE.fullmatch(file.stem)}
    defined = (defined_in(ast.parse(file.read_text())) for file in files)
    return modules.union(*defined) - OF_NAMED_TUPLES - OF_NOTEBOOKS


def used_in(source, private):
    """The private names of the package that a test uses, also in strings: patches and scripts."""
    tree = ast.parse(source)
    own = set(defined_in(tree))
    for node in ast.walk(tree):
        words = []
        if isinstance(node, ast.Attribute):
            of_itself = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            words = [] if of_itself and node.attr in own else [node.attr]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            words = PRIVATE.findall(" ".join([getattr(node, "module", None) or "", *names]))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = PRIVATE.findall(node.value)
        yield from ((node.lineno, word) for word in words if word in private)


def test_no_test_uses_a_private_name_of_the_package(private):
    assert len(private) > 100
    found = [
        f"{file.relative_to(TESTS)}:{line}: {name}"
        for file in sorted(TESTS.rglob("*.py"))
        if file != Path(__file__)
        for line, name in used_in(file.read_text(), private)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "agent._driver.rng",
        "agent._driver = None",
        "from optimist.core.memory import _grown",
        "monkeypatch.setattr(dynamics, '_driver', None)",
        "monkeypatch.setattr('optimist.agents.agent._driver', None)",
        "SCRIPT = 'agent._driver.rng'",
        "class Mine(Agent):\n    def rng(self):\n        return self._driver.rng",
    ],
)
def test_a_private_name_is_found(source, private):
    assert [name for _, name in used_in(source, private)] in (["_driver"], ["_grown"])


def test_other_names_with_underscores_are_not_the_packages(private):
    source = (
        "class Env:\n    def _grown(self):\n        return self._grown(state._replace(x=__name__))"
    )
    assert list(used_in(source, private)) == []
