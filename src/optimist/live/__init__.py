"""A page that shows runs while they learn: ``agent.learn(2000, live=True)``.

It needs ``pip install 'optimist[live]'``.

Examples
--------
>>> import optimist as opt
>>> agent = opt.Optimist(opt.envs.FourRooms(), seed=0)
>>> with opt.live.open_page() as page:
...     history = agent.learn(50, live=page.feed)
>>> page.address.startswith("http://127.0.0.1:")
True
"""

import sys
import weakref
from typing import TYPE_CHECKING, Any

from optimist.live.feed import Feed
from optimist.live.files import StudySource
from optimist.live.frames import Frame, Frames
from optimist.live.source import RunSource

if TYPE_CHECKING:
    from optimist.live.server import Page

__all__ = ["Feed", "Frame", "Frames", "StudySource", "open_page", "page_of"]

_pages: "weakref.WeakKeyDictionary[Any, Page]" = weakref.WeakKeyDictionary()


def open_page(source: Any = None, host: str = "127.0.0.1", port: int = 0) -> "Page":
    """Open a page; it is closed with ``close()``, or at the end of a ``with`` block.

    Parameters
    ----------
    source
        The source of the page: a `Feed`, by default a new one, ``page.feed``; or a `StudySource`.
    host, port
        Where it listens: by default where only this machine reaches it, at any free port. With
        another host, whoever has the address of the page and reaches this machine sees the run and
        can hold it back; what is sent is not encrypted.
    """
    try:
        from optimist.live.server import Page
    except ImportError as error:
        raise ImportError(f"{error}: a live page needs pip install 'optimist[live]'") from None
    if source is None:
        source = Feed()
    return Page(RunSource(source) if isinstance(source, Feed) else source, host, port)


def page_of(agent: Any) -> Feed:
    """The feed of an agent with a page of its own, whose address is printed.

    There is one page for an agent; it stays as long as the agent does.
    """
    if agent not in _pages:
        page = _pages[agent] = open_page()
        weakref.finalize(agent, page.close)
        print(f"live: {page.address}", file=sys.stderr, flush=True)
    found: Feed = _pages[agent].feed
    return found
