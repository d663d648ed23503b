"""Pages that are made of the code: the API by rooms, the command line, and files of the root."""

import contextlib
import importlib
import inspect
import io
import os
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from sphinx.pycode import ModuleAnalyzer

ROOMS = {
    "mdp": "Markov decision processes",
    "features": "Feature maps",
    "envs": "Worlds and environments",
    "agents": "Agents",
    "imitation": "Imitation",
    "core": "The algorithm's parts",
    "theory": "The paper's formulas",
    "verification": "The paper's statements, checked",
    "live": "The page while it learns",
    "experiments": "Studies",
    "testing": "Checks of your own classes",
    "errors": "Errors",
}
"""The rooms of the package with public names, and their titles."""

BASES = (
    *("Agent", "PythonAgent", "Imitator", "World", "FeatureMap", "StateFeatures", "WeightClass"),
    *("Algorithm", "Env", "Wrapper", "Exception", "Warning", "ABC", "Generic", "Protocol"),
    *("tuple", "dict", "object", "Mapping"),
)
"""Classes whose methods are described once, at the class itself."""

GENERATED = ("reference/api", "reference/commands")


def public_names(module: ModuleType) -> list[str]:
    """What a room exports: `__all__`, or what is defined in it."""
    listed: list[str] | None = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed, key=str.lower)
    defined = vars(module).items()
    return [name for name, x in defined if getattr(x, "__module__", "") == module.__name__]


def _home(module: ModuleType, name: str) -> str:
    """The room in which a name is defined."""
    where = getattr(getattr(module, name), "__module__", module.__name__)
    return where.split(".")[1] if where.startswith("optimist.") else module.__name__.split(".")[1]


def _entry(module: str, name: str) -> Iterator[str]:
    """One name: a class with its members and the class of its parameters, a function, a value."""
    thing = getattr(importlib.import_module(module), name)
    if inspect.isclass(thing):
        yield f".. autoclass:: {module}.{name}"
        yield "   :members:"
        yield f"   :inherited-members: {', '.join(BASES)}"
        yield "   :show-inheritance:"
        config = getattr(thing, "Config", None)
        exported = getattr(importlib.import_module(module), "__all__", ())
        own = inspect.isclass(config) and config.__module__ == thing.__module__
        if config and own and config.__name__ not in exported:
            yield ""
            yield f".. autoclass:: {config.__module__}.{config.__qualname__}"
            yield "   :members:"
            yield "   :exclude-members: __init__"
    elif callable(thing):
        yield f".. autofunction:: {module}.{name}"
    else:
        yield f".. py:data:: {module}.{name}"
        yield ""
        yield f"   {_about_data(module, name)}"
    yield ""


def _about_data(module: str, name: str) -> str:
    """The sentence below a value, in the module that defines it."""
    package = importlib.import_module(module)
    for found in (module, *(f"{module}.{m.name}" for m in pkgutil.iter_modules(package.__path__))):
        analyzer = ModuleAnalyzer.for_module(found)
        analyzer.analyze()
        if ("", name) in analyzer.attr_docs:
            return " ".join(analyzer.attr_docs["", name]).strip()
    raise LookupError(f"{module}.{name} has no sentence below it")


def _room_page(room: str) -> str:
    """A page of the API: a table of all names, then each of them."""
    module = importlib.import_module(f"optimist.{room}")
    names = public_names(module)
    parts = [name for name in names if inspect.ismodule(getattr(module, name))]
    lines = [f"# {ROOMS[room]}: `optimist.{room}`", "", inspect.getdoc(module) or "", ""]
    for part in (f"optimist.{room}", *(f"optimist.{room}.{name}" for name in parts)):
        here = importlib.import_module(part)
        if part != f"optimist.{room}":
            lines += [f"## `{part}`", "", inspect.getdoc(here) or "", ""]
            inside = [n for n in public_names(here) if callable(getattr(here, n))]
            inside = [n for n in inside if not n.startswith("_")]
        else:
            inside = [name for name in names if name not in parts and not name.startswith("__")]
        lines += ["```{eval-rst}", f".. currentmodule:: {part}", "", ".. autosummary::"]
        data = [name for name in inside if not callable(getattr(here, name))]
        listed = [name for name in inside if name not in data]
        lines += ["   :nosignatures:", "", *(f"   {name}" for name in listed), ""]
        for name in inside:
            lines += _entry(part, name) if _home(here, name) == room else ()
        lines += ["```", ""]
    return "\n".join(lines)


def _help(words: list[str]) -> str:
    """What the command line prints."""
    from optimist.cli import main

    os.environ |= {"COLUMNS": "88", "TERM": "dumb", "NO_COLOR": "1"}
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main(words)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n")


def _commands_page() -> str:
    """The command line, as its parser explains it."""
    from optimist.cli.flags import COMMANDS

    lines = [
        "# The command line",
        "",
        "Printed by the commands themselves, when the site is built.",
    ]
    for words in ([], *([name] for name in COMMANDS)):
        title = " ".join(["optimist", *words])
        lines += ["", f"## `{title}`", "", "```text", _help([*words, "--help"]), "```"]
    for title, words in (("Agents and their parameters", ["agents"]), ("Worlds", ["envs"])):
        lines += ["", f"## {title}", "", f"`optimist {words[0]}` prints:", ""]
        lines += ["```text", _help(words), "```"]
    return "\n".join(lines)


def _of_the_root(root: Path, name: str) -> str:
    """A page of the root of the project, its links made those of the site."""
    text = (root / name).read_text(encoding="utf-8")
    text = re.sub(r"\]\(docs/", "](../", text)
    text = re.sub(r"\[([^]]+)\]\((?:tests|benchmarks)/[^)]*\)", r"`\1`", text)
    text = re.sub(r"\]\(CITATION.cff\)", "](../index.md#citation)", text)
    for page, place in {
        "PAPER": "paper",
        "CONTRIBUTING": "contributing",
        "CHANGELOG": "changes",
    }.items():
        text = text.replace(f"]({page}.md", f"]({place}.md")
    return text


def write_pages(docs: Path) -> None:
    """Write all of them, each only if it differs, so that Sphinx reads only what changed."""
    pages = {f"reference/api/{room}.md": _room_page(room) for room in ROOMS}
    pages["reference/commands.md"] = _commands_page()
    pages["reference/paper.md"] = _of_the_root(docs.parent, "PAPER.md")
    pages["reference/changes.md"] = _of_the_root(docs.parent, "CHANGELOG.md")
    pages["reference/contributing.md"] = _of_the_root(docs.parent, "CONTRIBUTING.md")
    for name, text in pages.items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
