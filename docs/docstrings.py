"""Docstrings are plain text with examples and formulas; Sphinx reads them as reStructuredText."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from numpy.typing import ArrayLike
from sphinx.ext.napoleon.docstring import NumpyDocstring
from sphinx.util.typing import stringify_annotation

from optimist.checks import FloatArray, IntArray
from optimist.mdp.kernel import AnyMatrix

ALIASES = {"FloatArray": FloatArray, "IntArray": IntArray, "ArrayLike": ArrayLike}
ALIASES["AnyMatrix"] = AnyMatrix
WRITTEN_OUT = sorted(
    ((stringify_annotation(kind, "smart"), name) for name, kind in ALIASES.items()),
    key=lambda pair: -len(pair[0]),
)
"""Types as Sphinx writes them out, the longest first, and their names in our code."""


def _as_restructured_text(lines: Iterable[str]) -> Iterator[str]:
    """Indented paragraphs of the prose become literal blocks, and |x| is a norm."""
    prose, before, formula, example = True, "", False, False
    for line in lines:
        if re.fullmatch(r"-{3,}", line):
            prose = False  # the sections, where descriptions are indented
        if line.strip() and not before.strip():
            was, formula = formula, prose and line.startswith("    ")
            example = line.lstrip().startswith(">>>")
            if formula and not was and not example:
                yield from ("::", "")
        plain = formula or example or line.lstrip().startswith(">>>")
        parts = [line] if plain else re.split(r"(``.*?``)", line)
        yield "".join(p if plain or p.startswith("``") else p.replace("|", r"\|") for p in parts)
        before = line


def _read(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Before napoleon reads the sections."""
    lines[:] = list(_as_restructured_text(lines))
    if what in ("attribute", "property", "data"):  # of which it reads "words: more" as a type
        done[name] = NumpyDocstring(lines, app.config, app, "method", name, thing).lines()


def _restore(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """After it."""
    lines[:] = done.pop(name, lines)


def _name_types(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str
) -> tuple[str, str] | None:
    """Write types as our code does."""
    if signature is None:  # a property
        return None
    texts = [signature, returned or ""]
    for written, alias in WRITTEN_OUT:
        texts = [text.replace(written, alias) for text in texts]
    return texts[0], texts[1]


done: dict[str, list[str]] = {}
"""Descriptions of attributes that are under way."""


def connect(app: Any) -> None:
    """Handle what autodoc says while it reads."""
    app.connect("autodoc-process-docstring", _read, priority=400)
    app.connect("autodoc-process-docstring", _restore, priority=600)
    app.connect("autodoc-process-signature", _name_types)
