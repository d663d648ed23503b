"""Pages that show runs while they learn."""

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optimist.cli.flags import LOOPBACK, Live
from optimist.errors import ExecutorError, StudyError
from optimist.experiments import Study
from optimist.experiments.study_folder import StudyFolder
from optimist.experiments.temporary import temporary_folder
from optimist.text import printable

if TYPE_CHECKING:
    from optimist.live.server import Page

WAIT_SECONDS = 30.0
"""How long a run that a terminal started waits until its page is open."""


@contextmanager
def opened(source: Any, host: str) -> Iterator["Page"]:
    """A page while the block runs; its address is printed."""
    from optimist import live

    try:
        page = live.open_page(source, host)
    except ImportError as error:
        raise ExecutorError(str(error)) from error
    except OSError as error:
        raise StudyError(f"cannot listen at host {host!r}: {error.strerror}") from error
    with page:
        say(f"live: {page.address}")
        if not page.loopback:
            say(
                f"other machines can reach {host}: anyone with this address sees the runs and can "
                "pause them; the connection is not encrypted"
            )
        yield page


@contextmanager
def shown(
    study: Study, out: Path | None, flags: Live, feeds: Mapping[str, Any] | None = None
) -> Iterator[Path | None]:
    """A page of a study while the block runs, if requested; yields the folder to run the study in.

    In a terminal, runs of this process wait for somebody to open the page, and the page stays open
    at the end until Ctrl-C.
    """
    if not flags.live:
        if flags.host != LOOPBACK:
            raise StudyError("--host needs --live, whose page listens there")
        yield None
        return
    from optimist import live

    with ExitStack() as stack:
        place = out
        if place is None:
            place, remove = temporary_folder()
            stack.callback(remove)
        StudyFolder(place).prepare(study)
        page = stack.enter_context(opened(live.StudySource(place, study, feeds), flags.host))
        if feeds:
            wait_for_viewer(page)
        yield place
        if _in_terminal():
            linger()


def wait_for_viewer(page: "Page") -> None:
    """Wait in a terminal until the page is open, so that a short run is not missed."""
    if _in_terminal():
        say(f"the first run begins when the page is open, or in {WAIT_SECONDS:.0f} s")
        page.opened.wait(WAIT_SECONDS)


def linger() -> None:
    """Keep the page until Ctrl-C."""
    say("Ctrl-C closes the page")
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        return


def check_recording(file: Path | None) -> None:
    """Refuse a moving picture of another kind, or without the packages that it needs."""
    if file is None:
        return
    from optimist.live.recording import check_kind

    try:
        check_kind(file)
    except ImportError as error:
        raise ExecutorError(str(error)) from error
    except ValueError as error:
        raise StudyError(str(error)) from error


def record(feed: Any, file: Path) -> None:
    """Write a moving picture of a run."""
    from optimist.live.recording import record

    if not len(feed.frames):
        raise StudyError(f"cannot record {file}: no run was played, or it failed")
    record(feed, file)
    say(f"recorded in {file}")


def _in_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def say(line: str) -> None:
    """Print a line on the error output."""
    if sys.stderr is not None:
        print(printable(line), file=sys.stderr, flush=True)
