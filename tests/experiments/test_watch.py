"""The time left, with a simulated clock: what the watcher sees of two processes at work."""

from types import SimpleNamespace

import pytest

import optimist as opt
from optimist.experiments.execute import marks
from optimist.experiments.watch import ENOUGH_SECONDS, Tally

COMPILATION = 20.0


class Simulation:
    """Processes that take one run after the other; an episode costs what its world and agent do."""

    def __init__(self, study, costs, processes, done=0):
        self.now, self.ends, self.left = 0.0, {}, list(study.runs)
        free = [COMPILATION] * processes
        for run in study.runs:
            begin, process = min((t, i) for i, t in enumerate(free))
            cost = costs[run.world, run.agent]
            first = done * run.spec.episodes
            self.ends[run] = [
                (begin + cost * (mark - first), int(mark))
                for mark in marks(run.spec.episodes, run.spec.stride)
                if mark > first
            ]
            if first:
                self.ends[run].insert(0, (-1.0, int(first)))
            free[process] = self.ends[run][-1][0]
        self.end = max(free)

    def of(self, run):
        seen = [mark for t, mark in self.ends[run] if t <= self.now]
        episodes = max(seen, default=0)
        return SimpleNamespace(finished=episodes == run.spec.episodes, progress=episodes)


def estimates(study, costs, processes, done=0):
    """The time, the estimate and the true time left, for each look with an estimate."""
    simulation = Simulation(study, costs, processes, done)
    tally = Tally(study, simulation, clock=lambda: simulation.now)
    while simulation.now < simulation.end - 0.5:
        simulation.now += 0.5
        tally.look()
        if tally.seconds_left is not None:
            yield simulation.now, tally.seconds_left, simulation.end - simulation.now
        elif simulation.now < COMPILATION:
            assert "starting" in str(tally)
        else:
            assert "left" not in str(tally)


def a_study(**how):
    return opt.Study(
        worlds={"small": opt.envs.RiverSwim(3), "large": opt.envs.RiverSwim(9)},
        agents={"fast": opt.Rmax, "slow": opt.Psrl},
        **how,
    )


COSTS = {
    ("small", "fast"): 1e-3,
    ("small", "slow"): 1e-2,
    ("large", "fast"): 5e-3,
    ("large", "slow"): 1e-1,
}


@pytest.mark.parametrize("processes", [1, 2, 4])
@pytest.mark.parametrize("done", [0, 0.5])
def test_the_time_left_is_about_right_from_the_first_estimate_on(processes, done):
    found = list(estimates(a_study(episodes=400, seeds=10), COSTS, processes, done))
    first, estimate, truth = found[0]
    assert first >= COMPILATION + ENOUGH_SECONDS
    assert 1 / 5 < estimate / truth < 5  # costs that were not seen yet differ by up to 100
    later = [(e, t) for now, e, t in found if now > COMPILATION + (found[-1][0] - first) / 4]
    assert all(abs(e - t) < 0.25 * t + 5 for e, t in later)


def test_equal_costs_are_estimated_closely():
    costs = dict.fromkeys(COSTS, 2e-2)
    found = list(estimates(a_study(episodes=400, seeds=5), costs, 2))
    assert all(abs(e - t) < 0.15 * t + 2 for _, e, t in found)


def test_what_was_finished_before_is_not_part_of_the_pace():
    study = a_study(episodes=400, seeds=4)
    whole = next(iter(estimates(study, COSTS, 2)))
    rest = next(iter(estimates(study, COSTS, 2, done=0.5)))
    assert rest[1] < 0.8 * whole[1]
