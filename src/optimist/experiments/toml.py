"""Find the line of a key in TOML, and write plain data as TOML."""

import json
import math
import tomllib
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any


def line_of(text: str, path: tuple[str, ...]) -> int | None:
    r"""The line on which a TOML text defines a key, counting from 1; None if it has no such key.

    The parser does not report positions. But the text up to the end of a statement parses, so a
    key is defined by the first statement after which the parsed text has it.

    Examples
    --------
    >>> text = 'title = "x"\n[worlds.river]\nworld = "RiverSwim"\nn = 6\n'
    >>> line_of(text, ("worlds", "river")), line_of(text, ("worlds", "river", "n"))
    (2, 4)
    """
    lines = text.replace("\r\n", "\n").split("\n")

    def defined_by(n: int) -> bool:
        """Whether the text has the key after the statement that line n belongs to."""
        for end in range(n, len(lines) + 1):
            try:
                return _has_path(tomllib.loads("\n".join(lines[:end])), path)
            except tomllib.TOMLDecodeError:
                continue  # line `end` is inside a statement
        return False

    if not path or not defined_by(len(lines)):
        return None
    # Once defined, a key stays, so the lines can be bisected.
    return bisect_left(range(len(lines)), True, key=defined_by)


def _has_path(data: Any, path: tuple[str, ...]) -> bool:
    for key in path:
        if not isinstance(data, Mapping) or key not in data:
            return False
        data = data[key]
    return True


def write_toml(data: Mapping[str, Any]) -> str:
    """Write plain data as TOML: values first, then tables.

    Examples
    --------
    >>> print(write_toml({"title": "x", "worlds": {"river": {"world": "RiverSwim", "n": 6}}}))
    title = "x"
    <BLANKLINE>
    [worlds.river]
    world = "RiverSwim"
    n = 6
    <BLANKLINE>
    """
    return "\n".join(_table(data, ())) + "\n"


def _table(data: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    values = [f"{_key(k)} = {_value(v)}" for k, v in data.items() if not isinstance(v, Mapping)]
    lines = []
    if path and (values or not data):
        lines += ["", f"[{'.'.join(_key(k) for k in path)}]"]
    lines += values
    for key, value in data.items():
        if isinstance(value, Mapping):
            lines += _table(value, (*path, key))
    return lines


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_value(v) for v in value)}]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, str):  # JSON strings are TOML strings, except for DEL
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
