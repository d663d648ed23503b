"""The files of a run: curves at every stride, and snapshots at the marks."""

import itertools

import numpy as np
import pytest

from optimist.agents.plotted import cumulative
from optimist.errors import FileError
from optimist.experiments.certified import COLUMNS as CERTIFIED
from optimist.experiments.curves import average, final, read_curves, write_curves
from optimist.experiments.execute import Task, execute, marks
from optimist.experiments.run_folder import RunFolder
from optimist.imitation import ImitationHistory


@pytest.fixture
def finished(tmp_path):
    """The folder of a run that has finished."""

    def carried_out(spec):
        assert execute(Task(spec, str(tmp_path / spec.id))).state == "finished"
        return RunFolder(tmp_path / spec.id)

    return carried_out


# Regret


def test_regret_is_the_sum_over_all_episodes_those_not_evaluated_interpolated():
    rng = np.random.default_rng(0)
    for gap in (1, *(40,) * 20):  # at first every policy is evaluated
        episode = 1 + np.append(0, np.cumsum(rng.integers(1, gap + 1, size=rng.integers(0, 30))))
        lost = rng.normal(size=len(episode))
        every = np.interp(np.arange(1, episode[-1] + 1), episode, lost)
        expected = np.cumsum(every)[episode - 1]
        np.testing.assert_allclose(cumulative(episode, lost), expected, rtol=0, atol=1e-11)


def test_averages():
    lost = np.arange(25.0)
    curves = {"episode": np.arange(1, 26), "suboptimality": lost, "regret": np.cumsum(lost)}
    assert average(curves) == 12.0
    assert final(curves) == 23.5  # of the last two
    assert final({"suboptimality": lost[:9]}) == 8.0  # of the last one


# Marks


def test_marks_are_multiples_of_the_stride_from_zero_to_the_end():
    lengths = (1, 2, 3, 9, 10, 11, 99, 100, 101, 1000, 54_321, 10**7)
    for episodes, stride in itertools.product(lengths, (1, 2, 3, 7, 10, 100, 12_345)):
        found = marks(episodes, stride)
        assert (found[0], found[-1]) == (0, episodes)
        assert (np.diff(found) > 0).all()
        assert (found[:-1] % stride == 0).all()
        assert min(10, -(-episodes // stride)) <= len(found) <= 28


def test_marks_are_dense_at_the_beginning_and_nowhere_far_apart():
    found = marks(100_000, 10)
    assert found[1] == 10
    assert (found <= 1000).sum() >= 8
    assert np.diff(found).max() <= 10_000


# Curves


def test_a_run_keeps_the_curves_of_learning_in_one_go_and_what_the_agent_believed(spec, finished):
    folder = finished(spec)
    check_curves(folder.curves, spec)
    if spec.world.mdp.n_states == 8:  # the linear one, which cannot be drawn
        assert not (folder.path / "snapshots.safetensors").exists()
    else:
        check_snapshots(folder.shots(spec.world), spec)


def check_curves(curves, spec):
    history = spec.learner().learn(spec.episodes)
    at, mdp = history.evaluated, spec.world.mdp
    np.testing.assert_array_equal(at, np.arange(0, spec.episodes, spec.stride))
    steps, more = history.steps, {}
    if isinstance(history, ImitationHistory):
        steps = steps + history.rollouts
        value = mdp.value(history.policies)
        lost = mdp.optimal().value - value
        phi = spec.learner().reward_features.all_actions(np.arange(mdp.n_states))
        shown = mdp.feature_expectations(mdp.optimal().policy, phi)
        matched = mdp.feature_expectations(history.policies, phi)
        more["matching_error"] = np.linalg.norm(matched - shown, axis=1)
    else:
        value, lost = history.values(), history.regrets()
    expected = {
        "episode": at + 1,
        "steps": np.cumsum(steps)[at],
        "epoch": history.epoch[at],
        "value": value,
        "suboptimality": lost,
        **more,
        "optimistic_value": history.optimistic_value[at],
        "bonus": history.bonus[at],
        "ascension": history.ascension[at],
        "regret": cumulative(at + 1, lost),
    }
    certified = set(CERTIFIED) if spec.certify else set()  # tests/experiments/test_certified.py
    assert set(curves) == set(expected) | certified
    assert [name for name in curves if name not in certified] == list(expected)
    for name, column in expected.items():
        assert curves[name].dtype == column.dtype, name
        np.testing.assert_allclose(curves[name], column, rtol=1e-12, atol=1e-12, err_msg=name)
    best = mdp.optimal().value
    np.testing.assert_allclose(curves["value"] + curves["suboptimality"], best, rtol=1e-12)


def check_snapshots(found, spec):
    agent, states = spec.learner(), np.arange(spec.world.mdp.n_states)
    np.testing.assert_array_equal(found.episodes, marks(spec.episodes, spec.stride))
    for i, mark in enumerate(found.episodes):
        if mark:
            agent.learn(int(mark) - agent.episodes)
        believed = agent.diagnostics
        np.testing.assert_array_equal(found.value[i], believed.V)
        np.testing.assert_array_equal(found.bonus[i], believed.CB)
        np.testing.assert_array_equal(found.ascension[i], believed.p)
        np.testing.assert_array_equal(found.policy[i], agent.policy.probabilities(states))
    assert not (found.value[0] == found.value[-1]).all()


def test_curves_come_back_bit_for_bit(tmp_path):
    rng = np.random.default_rng(0)
    curves = {"episode": np.arange(1, 500), "a": rng.normal(size=499), "b": np.full(499, 0.1)}
    curves["a"][:4] = [0.0, -0.0, 5e-324, 1e308]
    write_curves(tmp_path / "c", curves, "one")
    found = read_curves(tmp_path / "c", "one")
    assert {n: c.tobytes() for n, c in found.items()} == {n: c.tobytes() for n, c in curves.items()}
    write_curves(tmp_path / "again", found, "one")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "c").read_bytes()


def test_any_reader_of_parquet_reads_them(specs, finished):
    pandas = pytest.importorskip("pandas")
    folder = finished(specs["anytime"])
    table = pandas.read_parquet(folder.path / "curves.parquet")
    np.testing.assert_array_equal(table["regret"], folder.curves["regret"])


def test_files_that_hold_no_curves_are_refused(tmp_path):
    for damage in (b"", b"PAR1", b"{}", b"PAR1" + bytes(100) + b"PAR1"):
        (tmp_path / "c").write_bytes(damage)
        with pytest.raises(FileError, match="holds no curves, or it is damaged"):
            read_curves(tmp_path / "c", "one")
    with pytest.raises(FileError, match="holds no curves"):
        read_curves(tmp_path / "nowhere", "one")


def test_an_altered_byte_is_refused_or_has_no_influence(tmp_path):
    curves = {"episode": np.arange(1, 8), "a": np.random.default_rng(0).normal(size=7)}
    write_curves(tmp_path / "c", curves, "one")
    data, refused = (tmp_path / "c").read_bytes(), 0
    for at in range(len(data)):
        (tmp_path / "c").write_bytes(data[:at] + bytes([data[at] ^ 0x95]) + data[at + 1 :])
        try:
            found = read_curves(tmp_path / "c", "one")
        except FileError:
            refused += 1
            continue
        assert list(found) == list(curves)
        assert [c.tobytes() for c in found.values()] == [c.tobytes() for c in curves.values()]
    assert refused > len(data) / 2


# Snapshots


@pytest.mark.parametrize(("most", "there"), [(5, False), (6, True)])
def test_worlds_too_large_to_show_have_no_snapshots(specs, finished, monkeypatch, most, there):
    monkeypatch.setattr("optimist.envs.world.MOST_STATES", most)
    assert (finished(specs["river"]).path / "snapshots.safetensors").exists() == there


def test_another_file_is_not_snapshots(specs, finished):
    folder = finished(specs["river"])
    (folder.path / "policy.safetensors").replace(folder.path / "snapshots.safetensors")
    with pytest.raises(FileError, match="holds a softmax policy, not snapshots"):
        folder.shots(specs["river"].world)
