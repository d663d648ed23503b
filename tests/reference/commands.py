"""Whether a command that a page shows exists, with its flags. Nothing is carried out."""

import argparse
import importlib
import re
import sys
from pathlib import Path
from unittest.mock import patch

from optimist.cli.parse import parse

ROOT = Path(__file__).parents[2]
OTHERS = {"pip", "dask", "ray", "pre-commit"}
"""Commands of other projects, which are not checked."""


class Parsed(Exception):
    """The flags are right, and nothing more is to be done."""


def check_command(words):
    """Fail if the command is not there, or does not take these words."""
    if words[0] == "optimist":
        parse(words[1:])
    elif words[0] == "make":
        assert words[1] in re.findall(r"^([\w-]+):", read("Makefile"), re.M), words
    elif words[:2] == ["python", "-m"]:
        check_module(words[2], words[3:])
    elif words[0] == "python":
        assert (ROOT / words[1]).is_file(), words
    else:
        assert words[0] in OTHERS, words


def check_module(name, words):
    """Of a module without a parser, that its folder is all it is given."""
    with patch.object(sys, "path", [str(ROOT), *sys.path]):
        module = importlib.import_module(name)
    if not hasattr(module, "argparse"):
        assert callable(module.main)
        assert not any(word.startswith("-") for word in words), words
        return
    real = argparse.ArgumentParser.parse_args

    def parse_args(self, *given):
        real(self, *given)
        raise Parsed

    with (
        patch.object(argparse.ArgumentParser, "parse_args", parse_args),
        patch.object(sys, "argv", [name, *words]),
    ):
        try:
            module.main()
        except Parsed:
            return
    raise AssertionError(f"{name} has run")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")
