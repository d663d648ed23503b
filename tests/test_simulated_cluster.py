"""The simulated cluster of the benchmarks: makespans that can be computed by hand."""

import itertools
import math
import sys
from pathlib import Path

import pytest

from optimist.experiments.executors import Executor, Failure

sys.path.append(str(Path(__file__).parents[1]))  # for the benchmarks
from benchmarks.simulated import RESTART_SECONDS, Cluster


def carry_out(seconds, **options):
    """The outcomes of items that take so many seconds, in order, and the cluster."""
    options = {"workers": 3, "processor": lambda: 0.0, **options}
    cluster = Cluster(seconds=lambda item: item[1], outcome=lambda item: item[0], **options)
    outcomes = list(Executor(cluster.pool()).map(abs, list(enumerate(seconds))))
    return outcomes, cluster


def test_ten_items_on_three_workers():
    """The first free worker takes the next item.

    One worker runs the items 0, 5, 8, 9, which end at 3, 4.5, 5 and 6.25 s; one 1, 3, 6, 7, until
    1, 3.5, 3.75 and 5.75 s; one 2 and 4, until 2 and 6 s.
    """
    outcomes, cluster = carry_out([3.0, 1.0, 2.0, 2.5, 4.0, 1.5, 0.25, 2.0, 0.5, 1.25])
    assert cluster.now == 6.25
    assert outcomes == [(index, index) for index in (1, 2, 0, 3, 6, 5, 8, 7, 4, 9)]
    assert (cluster.submitted, cluster.most_pending, cluster.deaths) == (10, 3, 0)


def test_items_are_submitted_as_workers_become_free():
    outcomes, cluster = carry_out([8.0, 1.0, 1.0, 1.0, 1.0], workers=2)
    assert [index for index, _ in outcomes] == [1, 2, 3, 4, 0]
    assert cluster.now == 8.0
    _, cluster = carry_out([1.0, 1.0, 1.0, 1.0, 8.0], workers=2)
    assert cluster.now == 10.0  # the long item last
    _, cluster = carry_out([1.0] * 6, workers=1)
    assert (cluster.now, cluster.most_pending) == (6.0, 1)


def test_a_death_is_tried_again_once_from_its_checkpoint():
    """One worker dies after 5 s at an item of 8 s, of which two checkpoints have kept 4."""
    lives = itertools.chain([5.0], itertools.repeat(math.inf))
    outcomes, cluster = carry_out([8.0, 9.0], workers=2, lifetime=lambda: next(lives))
    assert (cluster.deaths, cluster.submitted) == (1, 3)
    assert outcomes == [(1, 1), (0, 0)]
    # The other worker is busy until 9 s; the dead one is back at 10 s.
    assert cluster.now == 9.0 + 4.0
    assert RESTART_SECONDS == 5.0


def test_an_item_whose_workers_always_die_is_lost():
    outcomes, cluster = carry_out([8.0], lifetime=lambda: 1.0)
    [(index, failure)] = outcomes
    assert (index, cluster.deaths, cluster.now) == (0, 3, 3.0)
    assert isinstance(failure, Failure)
    assert failure.kind == "lost"


@pytest.mark.parametrize(("cost", "overhead"), [(0.25, 0.0), (0.0, 0.25)])
def test_time_of_the_loop_delays_the_workers(cost, overhead):
    """Each reading of the processor's clock costs; so does each submission."""
    clock = itertools.count()
    cheap = carry_out([1.0] * 4, workers=2)[1]
    dear = carry_out([1.0] * 4, workers=2, processor=lambda: cost * next(clock), overhead=overhead)[
        1
    ]
    assert cheap.now == 2.0
    assert dear.now > 2.0
    assert (dear.scheduling > 0) == (cost > 0)
