"""Watching a run while it learns: a watcher reads the agent and changes nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Protocol

from optimist import checks
from optimist.agents.progress import Bar


class Watcher(Protocol):
    """Sees a run between calls that play episodes. How these are divided changes no number."""

    def begin(self, agent: Any, total: int | None) -> None:
        """Learning begins; it will play ``total`` episodes, if their number is given."""

    def ahead(self, agent: Any) -> int:
        """How many episodes may be played before `look`, at least one."""

    def look(self, agent: Any, columns: dict[str, Any], bar: Bar) -> None:
        """Episodes were played; these are their columns. It may wait, but not during an
        interruption.
        """

    def end(self, agent: Any) -> None:
        """Learning has ended, perhaps with an error."""


class Unwatched:
    """A watcher that does nothing."""

    def ahead(self, agent: Any) -> int:
        """All episodes."""
        return checks.MOST

    def look(self, agent: Any, columns: dict[str, Any], bar: Bar) -> None:
        """Do nothing."""


@contextmanager
def watched(live: bool | Watcher, agent: Any, total: int | None) -> Iterator[Any]:
    """The watcher while the block runs: none, a page on this machine, or the one given."""
    if live is False:
        yield Unwatched()
        return
    # By name: the page is in a room above this one, and needs packages that few runs do.
    watcher: Watcher = import_module("optimist.live").page_of(agent) if live is True else live
    watcher.begin(agent, total)
    try:
        yield watcher
    finally:
        watcher.end(agent)
