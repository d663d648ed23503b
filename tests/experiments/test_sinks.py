"""Curves for TensorBoard are written while a run goes on, each point once."""

import time
from dataclasses import dataclass, field

import numpy as np
import pytest
from tensorboardX.proto.event_pb2 import Event

import optimist as opt
from optimist.experiments import run, watch
from optimist.experiments.sinks import TensorBoard

EPISODES, LATE = 60, 40


def points(folder):
    """All points in the files of a folder: the tag, the step and the value of each."""
    found = []
    for file in sorted(folder.rglob("events.*")):
        data = file.read_bytes()
        while data:  # records: length, checksum, event, checksum
            size = int.from_bytes(data[:8], "little")
            event = Event.FromString(data[12 : 12 + size])
            found += [(v.tag, event.step, v.simple_value) for v in event.summary.value]
            data = data[16 + size :]
    return found


AT = {}
"""What is called at the late episode: it cannot be a parameter of the algorithm."""


@dataclass
class Waiting(opt.Algorithm):
    """Plays uniformly, and waits late in the run until it is let go on."""

    late: int = field(default=LATE)

    def start(self, problem):
        self.shape = np.array([problem.n_states, problem.n_actions])
        self.episode = 0

    def act(self, state, rng):
        return int(rng.integers(self.shape[1]))

    def observe(self, state, action, reward, next_state, terminated):
        pass

    def end_episode(self):
        self.episode += 1
        if self.episode == self.late and "call" in AT:
            AT.pop("call")()

    def policy(self):
        return np.full(self.shape, 1 / self.shape[1])


@pytest.mark.parametrize("stopped", [False, True])
def test_points_appear_before_the_run_ends_and_each_once(tmp_path, monkeypatch, stopped):
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.05)
    early = []

    def look():
        until = time.monotonic() + 60
        while not early and time.monotonic() < until:
            early.extend(points(tmp_path / "logs"))
            time.sleep(0.05)
        if stopped:
            raise KeyboardInterrupt

    AT["call"] = look
    study = opt.Study({"river": opt.envs.RiverSwim(3)}, {"it": Waiting}, EPISODES, seeds=1)
    how = {"jobs": 1, "checkpoint_seconds": 0}
    if stopped:
        with pytest.raises(KeyboardInterrupt):
            run(study, tmp_path / "out", sinks=[TensorBoard(tmp_path / "logs")], **how)
    results = run(study, tmp_path / "out", sinks=[TensorBoard(tmp_path / "logs")], **how)
    assert early
    assert max(step for _, step, _ in early) <= LATE
    found = points(tmp_path / "logs")
    assert set(early) <= set(found)
    curves = results.folder.of(study.runs[0]).curves
    for tag in ("regret", "suboptimality", "value"):
        steps = {step: value for name, step, value in found if name == tag}
        assert len(steps) == sum(name == tag for name, _, _ in found)
        assert sorted(steps) == curves["episode"].tolist()
        np.testing.assert_allclose([steps[k] for k in sorted(steps)], curves[tag], rtol=1e-6)


def test_points_of_a_study_by_steps_are_at_its_steps(tmp_path):
    lake = opt.envs.Gym("FrozenLake-v1", gamma=0.95)
    study = opt.Study({"lake": lake}, {"R-max": opt.Rmax}, steps=50, seeds=1)
    results = run(study, tmp_path / "out", jobs=1, sinks=[TensorBoard(tmp_path / "logs")])
    curves = results.folder.of(study.runs[0]).curves
    found = {step: value for tag, step, value in points(tmp_path / "logs") if tag == "return"}
    assert list(found) == list(range(1, 51))
    np.testing.assert_allclose(list(found.values()), curves["return"], rtol=1e-6)


def test_a_sink_may_be_any_function_of_finished_runs(tmp_path):
    study = opt.Study({"river": opt.envs.RiverSwim(3)}, {"it": opt.Rmax}, 20, seeds=2)
    seen = []
    run(study, tmp_path, jobs=1, sinks=[lambda r, folder: seen.append(folder.of(r).finished)])
    assert seen == [True, True]
