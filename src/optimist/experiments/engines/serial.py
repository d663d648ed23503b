"""One item after another, in this process: for debugging, and to compare the others with."""

from collections.abc import Callable, Iterator, Sequence

from optimist.experiments.engines.outcomes import Failure, R, T, attempt


class Serial:
    """Attempt an item when its outcome is asked for."""

    def map(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R | Failure]]:
        """The index and outcome of each item.

        Examples
        --------
        >>> list(Serial().map(abs, [3, -4]))
        [(0, 3), (1, 4)]
        """
        for index, item in enumerate(items):
            yield index, attempt(work, item)
