"""The powers that the table of Appendix C implies, and those that were measured."""

from itertools import product

import pytest

from optimist.theory.literature import TABLE, measured

IMPLIED = {
    "BehaviouralCloning": [(-1.0,), (), (2.0,)],  # the tabular row
    "LinearCloning": [(-1.0,), (), (2.0,)],
    "MimicMD": [(-1.0,), (), (1.5,)],
    "Oal": [(-0.5,), (-0.5,), (1.0, 2.0)],
    "MbTail": [(-1.0,), (-0.5,), (1.5, 1.5)],
    "ForwardAIL": [(-0.5,), (-0.5,), (2.0, 2.0)],
    "Mobile": [(-0.5,), (-0.5,), (1.0, 2.5)],
    "OgaIL": [(-0.5,), (-0.5,), (1.5, 2.0)],
    "Ilarl": [(-0.5,), (-0.25,), (1.0, 2.0)],
    "FraIL": [(-0.5,), (-0.5,), (1.0, 2.25)],
}
ROWS = {row.learner: row for row in TABLE if row.learner}


@pytest.mark.parametrize("learner", ROWS)
def test_powers_are_those_of_the_costs(learner):
    """eps = (H^a / n)^{1/b} if the cost is n = H^a / eps^b."""
    for axis, wanted in zip(("tau_E", "K", "H"), IMPLIED[learner], strict=True):
        assert ROWS[learner].powers(axis) == pytest.approx(wanted)


def test_every_row_was_measured_on_the_axes_that_it_has():
    """And nothing else was; a learner that plays no episodes has no power of K."""
    found = {(power.learner, power.axis, power.world) for power in measured()}
    worlds = ("hard ResetCliff", "GridWorld", "LowerTauE")
    axes = ("tau_E", "K", "H")
    assert found == {
        (learner, axis, world)
        for learner, axis, world in product(ROWS, axes, worlds)
        if ROWS[learner].powers(axis)
    }


def test_measured_powers_lie_in_their_intervals():
    assert {len(power.found) for power in measured()} <= {0, 1, 3}
    intervals = [power.found for power in measured() if len(power.found) == 3]
    assert len(intervals) > 30
    for value, low, high in intervals:
        assert low <= value <= high
