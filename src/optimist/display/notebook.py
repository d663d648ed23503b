"""Display in a notebook: progress bars, and whole pages."""

import logging
import sys
import time
from html import escape
from pathlib import Path
from typing import Any, Self

from optimist.display.card import FAINT
from optimist.display.svg import INK

LOOK_SECONDS = 0.1
"""A bar is drawn anew at most so often."""

FRAME = "width:100%;box-sizing:border-box;height:680px;border:1px solid #8886;border-radius:6px"

MAY = "allow-scripts allow-downloads"
"""The permissions of a page in its frame; downloads are pictures of charts."""


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class Bar:
    """A progress bar below a cell, with the methods of rich's bar. It disappears when stopped.

    It is HTML that is displayed anew, without widgets: so it shows in Jupyter, in VS Code and on
    exported pages, and needs no extension.
    """

    def __init__(self) -> None:
        self.text, self.done, self.total = "", 0, None  # type: str, int, int | None
        self._said, self._at = "", 0.0
        self._shown: Any = None

    def add_task(self, text: str, total: int | None = None) -> int:
        """Set the description and the total."""
        self.text, self.total = text, total
        self.say("")
        return 0

    def start(self) -> None:
        """Show the bar."""
        import IPython.display

        show: Any = IPython.display.display
        self._shown = show(self, display_id=True)
        _bars.append(self)

    def advance(self, task: int, n: int) -> None:
        """Add to the work done."""
        self.update(task, completed=self.done + n)

    def update(self, task: int, *, completed: int | None = None, description: str = "") -> None:
        """Set the work done; the display changes at most every `LOOK_SECONDS`."""
        self.done = self.done if completed is None else completed
        self.text = description or self.text
        if time.monotonic() - self._at > LOOK_SECONDS:
            self.say("")

    def say(self, sentence: str) -> None:
        """Show a sentence until the next progress."""
        self._at, self._said = time.monotonic(), sentence
        if self._shown is not None:
            self._shown.update(self)

    def stop(self) -> None:
        """Remove the bar."""
        _bars.remove(self)
        self.text = ""
        self.say("")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        if not self.text:
            return ""
        share = f" {self.done / self.total:.0%}" if self.total else ""
        return self._said or f"{self.text}{share}"

    def _repr_html_(self) -> str:
        if not self.text:
            return ""
        value = f'value="{self.done}" max="{self.total}"' if self.total and not self._said else ""
        style = f"width:16em;vertical-align:middle;accent-color:{INK}"
        return (
            f'<div><progress {value} style="{style}"></progress> '
            f'<span style="{FAINT}">{escape(repr(self))}</span></div>'
        )


_bars: list[Bar] = []
"""Those that are shown, the innermost last."""


def announce(sentence: str) -> None:
    """Show a sentence on the bar below a cell, or in a terminal; elsewhere it goes to the log."""
    if _bars:
        _bars[-1].say(sentence)
    elif in_notebook() or (sys.stderr is not None and sys.stderr.isatty()):
        print(sentence, file=sys.stderr)
    else:
        logging.getLogger("optimist").info(sentence)


class Page(type(Path())):  # type: ignore[misc]
    """The path of a page, which a notebook shows as the page itself.

    The page is part of the notebook, in a frame in which its scripts see nothing else.
    """

    def _repr_html_(self) -> str:
        text = escape(self.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{text}" sandbox="{MAY}" style="{FRAME}"></iframe>'
