"""The source of a page: one run that learns in this process."""

from dataclasses import dataclass
from typing import ClassVar

from optimist.live.feed import Feed


@dataclass(frozen=True)
class RunSource:
    """One run, which can be paused."""

    run: Feed
    table: ClassVar[str] = ""

    def feed(self, run: str) -> Feed | None:
        """The feed of the run."""
        return self.run if run == "" else None

    def close(self) -> None:
        """Nothing to close."""
