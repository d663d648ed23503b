"""What it takes to reach a cluster: its Python package, and someone who listens at its address."""

import socket
from importlib import import_module
from typing import Any

PATIENCE = 5.0
"""How many seconds a cluster may take to answer; its own client would wait for a minute."""


def package(name: str, extra: str) -> Any:
    """The package of this name, which comes with an extra of optimist."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"the engine {extra!r} needs the package {name!r}: pip install 'optimist[{extra}]'"
        ) from error


def knock(address: str, who: str) -> None:
    """Refuse an address, ``host:port`` with or without a protocol, where nobody listens.

    Examples
    --------
    >>> knock("localhost", who="Dask scheduler")
    Traceback (most recent call last):
    ...
    ValueError: 'localhost' is not the address of a Dask scheduler, such as '10.0.0.1:8786'
    """
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"{address!r} is not the address of a {who}, such as '10.0.0.1:8786'")
    try:
        socket.create_connection((host, int(port)), PATIENCE).close()
    except OSError as error:
        raise ConnectionError(
            f"no {who} answers at {address!r}: is it running there? ({error})"
        ) from None
