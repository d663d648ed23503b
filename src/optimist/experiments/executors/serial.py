"""Run items one after another in this process: for debugging, and as a reference."""

from collections.abc import Callable, Iterator, Sequence

from optimist.experiments.executors.outcomes import Failure, R, T, attempt


class Serial:
    """An executor that runs each item when its outcome is requested."""

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R | Failure]]:
        """Yield the index and outcome of each item.

        Examples
        --------
        >>> list(Serial().map(abs, [3, -4]))
        [(0, 3), (1, 4)]
        """
        for index, item in enumerate(items):
            yield index, attempt(work, item)
