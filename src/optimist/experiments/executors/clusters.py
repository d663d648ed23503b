"""Connecting to a cluster: import its Python package, check that its address answers."""

import socket
from importlib import import_module
from typing import Any

CONNECT_SECONDS = 5.0
"""Timeout for connecting to a cluster; Dask's own default is a minute."""


def package(name: str, extra: str) -> Any:
    """Import a package that comes with an extra of optimist."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"the executor {extra!r} needs the package {name!r}: pip install 'optimist[{extra}]'"
        ) from error


def check_reachable(address: str, who: str) -> None:
    """Raise an error unless a server listens at ``host:port``; a protocol may come first.

    Examples
    --------
    >>> check_reachable("localhost", who="Dask scheduler")
    Traceback (most recent call last):
    ...
    ValueError: 'localhost' is not the address of a Dask scheduler, such as '10.0.0.1:8786'
    """
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"{address!r} is not the address of a {who}, such as '10.0.0.1:8786'")
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except OSError as error:
        raise ConnectionError(
            f"no {who} answers at {address!r}: is it running there? ({error})"
        ) from None
