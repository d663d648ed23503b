"""Every block of code in the documentation runs, or is read by the program that it is written for.

Blocks of Python with prompts are doctests (`make test` runs them as such). Here are the others.
"""

import ast
import doctest
import importlib
import shlex
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from reference.commands import check_command

import optimist as opt

ROOT = Path(__file__).parents[2]
LANGUAGES = {"python", "sh", "toml", "text", "{eval-rst}", "{glossary}", "{toctree}"}


def of_language(blocks, language):
    return [block for block in blocks if block.language == language]


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """A folder with the files that the pages speak of: mine.py, made of their classes, and MDPs."""
    folder = tmp_path_factory.mktemp("mine")
    parser, source = doctest.DocTestParser(), []
    for page in ("world", "agent"):
        text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text(encoding="utf-8")
        examples = [example.source for example in parser.get_examples(text)]
        source += [code for code in examples if code.startswith(("import", "from", "@", "class"))]
    (folder / "mine.py").write_text("".join(source), encoding="utf-8")
    mdp = opt.envs.RiverSwim(3).mdp
    np.savez(folder / "mine.npz", P=mdp.P, r=mdp.r, nu0=mdp.nu0, gamma=mdp.gamma)
    return folder


@pytest.fixture
def in_its_folder(mine, monkeypatch):
    monkeypatch.chdir(mine)
    monkeypatch.syspath_prepend(str(mine))
    importlib.import_module("mine")
    yield mine
    del sys.modules["mine"]


def test_blocks_say_what_they_are(blocks):
    assert len(blocks) > 100
    assert {block.language for block in blocks} <= LANGUAGES


def test_python_without_prompts_uses_names_that_exist(blocks):
    """It needs a cluster or another package, so it is read and not run."""
    plain = [block for block in of_language(blocks, "python") if ">>>" not in block.text]
    assert plain
    for block in plain:
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("opt."):
                eval(ast.unparse(node), {"opt": opt})


def test_commands_exist_with_their_flags(blocks, in_its_folder):
    lines = [line for block in of_language(blocks, "sh") for line in block.text.splitlines()]
    commands = [words for line in lines for words in commands_in(line)]
    assert sum(words[0] == "optimist" for words in commands) > 20
    for words in commands:
        check_command(words)


def commands_in(line):
    """The commands of a line of a shell, without its comment."""
    words = shlex.split(line, comments=True)
    while "&&" in words:
        yield words[: words.index("&&")]
        words = words[words.index("&&") + 1 :]
    if words:
        yield words


def test_studies_are_studies(blocks, in_its_folder):
    studies = 0
    for block in of_language(blocks, "toml"):
        data = tomllib.loads(block.text)
        if "worlds" in data and "agents" in data and "StableBaselines" not in block.text:
            (in_its_folder / "study.toml").write_text(block.text, encoding="utf-8")
            opt.Study.read("study.toml")
            studies += 1
    assert studies >= 4


@pytest.mark.parametrize(
    "line",
    [
        "optimist learn RiverSwim --agent.nothing 1",
        "make nothing",
        "python -m benchmarks.nothing",
        "python -m benchmarks.rates --nothing",
        "python -m benchmarks.defaults --nothing",
        "python docs/nothing.py",
        "nothing",
    ],
)
def test_a_wrong_command_is_noticed(line, in_its_folder):
    with pytest.raises((SystemExit, AssertionError, ModuleNotFoundError)):
        check_command(shlex.split(line))
