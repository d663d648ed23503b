"""Objects that hold arrays, in one line."""

from dataclasses import fields
from reprlib import Repr
from typing import Any


class _Brief(Repr):
    """Shortens long values, and shows arrays by their types and shapes."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = 3
        self.maxlevel = 2
        self.maxstring = self.maxlong = self.maxother = 50

    def repr1(self, x: Any, level: int) -> str:
        shape = getattr(x, "shape", None)
        if shape and hasattr(x, "dtype"):  # an array, dense or sparse
            return f"{x.dtype}[{', '.join(map(str, shape))}]"
        return super().repr1(x, level)


_brief = _Brief()


def one_line(thing: Any) -> str:
    """A dataclass or a named tuple in one line, for its ``__repr__``.

    Examples
    --------
    >>> import numpy as np
    >>> from typing import NamedTuple
    >>> class Found(NamedTuple):
    ...     V: np.ndarray
    ...     value: float
    ...     __repr__ = one_line
    >>> Found(np.zeros((3, 2)), 0.5)
    Found(V=float64[3, 2], value=0.5)
    """
    if isinstance(thing, tuple):
        values: dict[str, Any] = thing._asdict()  # type: ignore[attr-defined]
    else:
        values = {f.name: getattr(thing, f.name) for f in fields(thing) if f.repr}
    shown = (f"{name}={_brief.repr(value)}" for name, value in values.items())
    return f"{type(thing).__name__}({', '.join(shown)})"
