"""Dask workers in one process, for `benchmarks.cluster`: they sleep, so they need no cores.

``python -m benchmarks.dask_host ADDRESS WORKERS FOLDER`` prints a line when all are connected.
"""

import asyncio
import logging
import sys
from typing import Any

from distributed import Worker

AT_ONCE = 20  # workers that connect at a time


async def main(address: str, number: int, folder: str) -> None:
    """Start the workers, and run until they are told to end."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    options: dict[str, Any] = {
        "nthreads": 1,
        "memory_limit": None,
        "host": "127.0.0.1",
        "dashboard": False,
    }
    workers = [Worker(address, local_directory=folder, **options) for _ in range(number)]
    for first in range(0, number, AT_ONCE):
        await asyncio.gather(*workers[first : first + AT_ONCE])
    print("connected", flush=True)
    await asyncio.gather(*(worker.finished() for worker in workers))  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
