"""The page's server: its own thread, a token in its address, and no blocking call.

Every viewer reads frames by their numbers, at its own pace: one that does not read costs a buffer
of a connection, and is dropped after a while. Frames are made into text once for all viewers.
"""

import asyncio
import ipaddress
import json
import secrets
import socket
import time
from collections.abc import Awaitable, Callable, MutableMapping
from functools import cache
from importlib import resources
from threading import Event, Thread
from typing import Any, Protocol

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from optimist.report.page import asset

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

LOOK_SECONDS = 0.05
"""How often a viewer's stream looks for new frames."""

BEAT_SECONDS = 10.0
"""A stream says at least so often that it is there."""

PATIENCE_SECONDS = 20.0
"""A viewer that takes longer to read a frame is dropped."""

WORK_SECONDS = 0.002
"""Frames are made into text for about so long at a look: meanwhile, learning cannot go on."""

MOST_CONNECTIONS = 64
SEND_BYTES = 2**18
"""The bytes that the system may buffer for a viewer that does not read."""

BODY_BYTES = 1000
"""Controls are shorter than this."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}

SHARED = ("dom.js", "colours.js", "board.js")
"""Scripts of the report that the page uses, before its own."""

OWN = ("store.js", "chart.js", "boards.js", "table.js", "controls.js", "start.js")


class Source(Protocol):
    """The source of a page: one run, or a study with its runs."""

    def feed(self, run: str) -> Any:
        """The feed of a run, named as in the table; "" is the one to show first."""

    @property
    def table(self) -> str:
        """The runs of a study as JSON; "" without one."""

    def close(self) -> None:
        """The page is closed."""


class Page:
    """A page on this machine that shows runs while they learn.

    Parameters
    ----------
    source
        The source of what it shows.
    host, port
        Where it listens: by default where only this machine reaches it, at any free port.

    Attributes
    ----------
    address
        Where to open it; the token in it is all that is needed to see and to control the run.
    thread
        Where the server runs.
    opened, closing
        Set when a browser has opened it, and when it is closed.
    """

    def __init__(self, source: Source, host: str = "127.0.0.1", port: int = 0) -> None:
        self.source, self.host = source, host
        self.opened, self.closing = Event(), Event()
        self._token = secrets.token_urlsafe(24)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.create_server((host, port), family=family)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BYTES)
        self.port = int(self._socket.getsockname()[1])
        config = uvicorn.Config(
            self._app(), loop="asyncio", http="h11", ws="none", lifespan="off", log_config=None,
            log_level="critical", access_log=False, server_header=False,
            limit_concurrency=MOST_CONNECTIONS, timeout_graceful_shutdown=1,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        run = self._server.run
        self.thread = Thread(target=run, kwargs={"sockets": [self._socket]}, daemon=True)
        self.thread.start()

    @property
    def address(self) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{self.port}/{self._token}/"

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def feed(self) -> Any:
        """The feed that is shown first."""
        return self.source.feed("")

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server; open pages keep their last state."""
        self.closing.set()
        self._server.should_exit = True
        self.thread.join(timeout=5)
        self.source.close()
        self._socket.close()

    def _app(self) -> Starlette:
        routes = [
            Route("/", self._file("live.html", "text/html")),
            Route("/live.css", self._file("live.css", "text/css")),
            Route("/live.js", self._file("live.js", "text/javascript")),
            Route("/events", self._events),
            Route("/control", self._control, methods=["POST"]),
        ]
        guard = Middleware(Guard, token=self._token, names=self._names)
        return Starlette(routes=routes, middleware=[guard])

    def _names(self, host: str) -> bool:
        """Whether a name in the header Host is one of this page's.

        It refuses foreign pages whose name resolves to this address.
        """
        name, _, port = host.rpartition(":")
        name = name.strip("[]")
        if port != str(self.port):
            return False
        if is_loopback(self.host):
            return name == "localhost" or is_loopback(name)
        return name in (self.host, "localhost", socket.gethostname()) or _is_number(name)

    def _file(self, name: str, kind: str) -> Any:
        async def answer(request: Request) -> Response:
            return Response(content(name), media_type=kind)

        return answer

    async def _events(self, request: Request) -> Response:
        asked = request.query_params
        number = request.headers.get("last-event-id") or asked.get("after", "0")
        if not number.isdecimal() or len(number) > 15:
            return PlainTextResponse("after must be the number of a frame", 400)
        feed = self.source.feed(asked.get("run", ""))
        if feed is None:
            return PlainTextResponse("there is no such run", 404)
        return Stream(self, feed, int(number))

    async def _control(self, request: Request) -> Response:
        """Pause a run, let it continue, or ask it for one more frame."""
        feed = self.source.feed(request.query_params.get("run", ""))
        if feed is None:
            return PlainTextResponse("there is no such run", 404)
        if not feed.controls:
            return PlainTextResponse("this run belongs to another process", 403)
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return PlainTextResponse("controls are JSON", 415)
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > BODY_BYTES:
                return PlainTextResponse("controls are short", 413)
        try:
            asked = json.loads(body)
        except ValueError:
            asked = None
        [(what, on)] = asked.items() if isinstance(asked, dict) and len(asked) == 1 else [("", 0)]
        if what == "step" and on is True:
            feed.step()
        elif what == "hold" and isinstance(on, bool):
            feed.hold(on)
        else:
            return PlainTextResponse('controls are {"hold": true or false} or {"step": true}', 400)
        return JSONResponse({"held": feed.held})


class Guard:
    """Passes requests with the token, a right Host and no other Origin; adds the headers."""

    def __init__(self, app: Any, token: str, names: Callable[[str], bool]) -> None:
        self._app, self._token, self._names = app, token, names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        host, origin = headers.get("host", ""), headers.get("origin")
        first, _, rest = scope["path"].lstrip("/").partition("/")
        refused = None
        if not self._names(host):
            refused = PlainTextResponse("this is not the host of the page", 421)
        elif not secrets.compare_digest(first.encode(), self._token.encode()):
            refused = PlainTextResponse("not found", 404)
        elif origin != f"http://{host}" and (origin is not None or scope["method"] == "POST"):
            refused = PlainTextResponse("this page is controlled from itself alone", 403)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(k.encode(), v.encode()) for k, v in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}
        await (refused or self._app)(inner, receive, with_headers)


class Stream(Response):
    """The frames of a run from one on, as server-sent events."""

    def __init__(self, page: Page, feed: Any, number: int) -> None:
        super().__init__(media_type="text/event-stream")
        self._page, self._feed, self._number = page, feed, number
        self._told: dict[str, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._feed.viewers += 1
        self._page.opened.set()
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            quiet = 0.0
            while not gone.done() and not self._page.closing.is_set():
                text = self._news()
                quiet = 0.0 if text else quiet + LOOK_SECONDS
                if quiet > BEAT_SECONDS:
                    text, quiet = ": still here\n\n", 0.0
                if text:
                    part = {"type": "http.response.body", "body": text.encode(), "more_body": True}
                    await asyncio.wait_for(send(part), PATIENCE_SECONDS)
                if not text or self._feed.state == "learning":
                    await asyncio.wait([gone], timeout=LOOK_SECONDS)
            await send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            pass  # it does not read
        finally:
            gone.cancel()
            self._feed.viewers -= 1

    def _news(self) -> str:
        """The changes since the last call."""
        feed, until = self._feed, time.perf_counter() + WORK_SECONDS
        parts: list[str] = []
        while not parts or time.perf_counter() < until:
            found = feed.frames.after(self._number)
            if found is None:
                break
            self._number, frame = found
            parts.append(f"id: {self._number}\ndata: {feed.text_of(frame)}\n\n")
        status = json.dumps({**feed.status, "controls": feed.controls}, allow_nan=False)
        first = []
        for name, text in (
            ("head", feed.head),
            ("status", status),
            ("table", self._page.source.table),
        ):
            if text and text != self._told.get(name):
                self._told[name] = text
                first.append(f"event: {name}\ndata: {text}\n\n")
        return "".join([*first, *parts])


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


@cache
def content(name: str) -> str:
    """A file of the page; scripts are joined into one module, as those of the report are."""
    if name == "live.js":
        return "\n".join([*map(asset, SHARED), *map(_own, OWN)])
    return f"{asset('page.css')}\n{_own(name)}" if name == "live.css" else _own(name)


def _own(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def is_loopback(name: str) -> bool:
    """Whether a host is this machine, reachable from it alone.

    Examples
    --------
    >>> [is_loopback(name) for name in ("127.0.0.1", "::1", "localhost", "0.0.0.0")]
    [True, True, True, False]
    """
    return name == "localhost" or (_is_number(name) and ipaddress.ip_address(name).is_loopback)


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
