"""A policy comes back from its file bit for bit, and the file is no larger than its numbers."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from reference.variants import VARIANTS

from optimist import RmaxRaviUcb, load_policy
from optimist.agents import VariantAgent
from optimist.core import FixedBonus, Sigmoid, TablePolicy, VarianceBonus, Variant
from optimist.features import OneHot, Table

HEADER = 1000  # bytes


def assert_same_policy(one, other, n_states=6):
    assert type(one) is type(other)
    states = np.arange(n_states)
    first, second = one.probabilities(states), other.probabilities(states)
    assert first.tobytes() == second.tobytes()
    assert [one.predict(x) for x in states] == [other.predict(x) for x in states]
    draws = [[p.predict(x, np.random.default_rng(x)) for x in states] for p in (one, other)]
    assert draws[0] == draws[1]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_policy_comes_back_bit_for_bit(settings, make, name, tmp_path):
    """One-hot features are known from the file; saving again writes the same bytes."""
    for kind in settings:
        mdp, features = settings[kind]()
        agent = make((mdp, features), VARIANTS[name])
        for episodes in (0, 1, 60):
            if episodes:
                agent.learn(episodes)
            for policy in (agent.policy, agent.output):
                for file in ("one", "two"):
                    policy.save(str(tmp_path / file))
                again = load_policy(str(tmp_path / "one"), None if kind == "one-hot" else features)
                assert_same_policy(policy, again, mdp.n_states)
                assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one", "two"]


def test_all_that_a_policy_is_made_of_comes_back(make, settings, tmp_path):
    """However its arrays lie in memory."""
    mdp, features = settings["blocks"]()
    policy = make((mdp, features), episodes=40).policy
    strided = replace(
        policy,
        eta=float(np.nextafter(policy.eta, 1)),
        Theta=np.repeat(policy.Theta, 2)[::-2],
        Lambda=np.asfortranarray(np.repeat(policy.Lambda, 4, axis=0))[::4].transpose(0, 2, 1),
        rewards=np.broadcast_to(policy.rewards[0], policy.rewards.shape),
    )
    for each in (policy, strided):
        each.save(tmp_path / "p")
        found = load_policy(tmp_path / "p", features)
        for name in ("Theta", "Lambda", "rewards"):
            np.testing.assert_array_equal(getattr(found, name), getattr(each, name))
        for name in ("updates", "eta", "bonus", "gamma", "ascension", "heaven"):
            assert getattr(found, name) == getattr(each, name)
    table = TablePolicy(np.asfortranarray(np.random.default_rng(1).dirichlet(np.ones(3), 10))[::2])
    table.save(tmp_path / "t")
    assert_same_policy(table, load_policy(tmp_path / "t"), 5)


def test_parameters_may_be_numbers_of_numpy(mdp, tmp_path):
    """As they are when a configuration comes from a sweep over an array."""
    usual = {"eta": 0.1, "beta": 0.25, "alpha": 4.0, "omega": 2.0, "r_max": 2.0, "updates": 2}
    numpy = {name: np.array([number])[0] for name, number in usual.items()}
    single = Variant(
        eta=np.float32(0.1),
        bonus=FixedBonus(np.float32(0.3)),
        ascension=Sigmoid(np.float32(4), np.float32(2)),
        ridge=np.float64(2),
        updates=np.int64(2),
    )
    assert RmaxRaviUcb.Config(**numpy) == RmaxRaviUcb.Config(**usual)
    for agent in (RmaxRaviUcb(mdp, **numpy), VariantAgent(mdp, config=single)):
        agent.learn(20)
        agent.policy.save(tmp_path / "p")
        assert_same_policy(agent.policy, load_policy(tmp_path / "p"))
        agent.save(tmp_path)
        assert type(agent).load(tmp_path, mdp).config == agent.config


def test_dense_policies_are_d_plus_d_squared_numbers(make, settings, tmp_path):
    """Others are fewer: d + d s, with blocks of size s, and rewards that are not linear in phi."""
    for kind, expected in (("dense", 4 + 4**2), ("one-hot", 2 * 18), ("blocks", 9 + 9 * 3 + 18)):
        make(settings[kind](), episodes=40).policy.save(tmp_path / "p")
        assert 0 < (tmp_path / "p").stat().st_size - 8 * expected < HEADER, kind


def test_adaptive_policies_have_four_more_vectors_and_a_few_numbers(setting, make, tmp_path):
    mdp, features = setting
    policy = make(setting, VARIANTS["adaptive"], episodes=40).policy
    policy.save(tmp_path / "p")
    d, s, rewards = features.dim, features.dim // features.blocks, policy.rewards
    assert (rewards is None) == (policy.weights is not None)
    numbers = d * s + 3 * d + features.blocks + (d if rewards is None else rewards.size)
    assert 0 < (tmp_path / "p").stat().st_size - 8 * numbers < HEADER
    found = load_policy(tmp_path / "p", features)
    assert (found.bonus, found.gamma) == (VarianceBonus(), mdp.gamma)
    assert found.moments.shape == (2, d)
    assert found.concentration.shape == (features.blocks,)
    assert found.heaven_pays
    np.testing.assert_array_equal(found.prior, policy.prior)


def test_features_have_to_be_given_and_to_fit(make, settings, tmp_path):
    for name in ("dense", "blocks"):
        make(settings[name](), episodes=5).policy.save(tmp_path / "p")
        with pytest.raises(ValueError, match="give them as features="):
            load_policy(tmp_path / "p")
    make(settings["one-hot"](), episodes=5).policy.save(tmp_path / "p")
    tables = Table(np.ones((6, 3, 17))), Table(np.ones((6, 2, 18)))
    for features in (OneHot(5, 3), OneHot(9, 2), *tables):
        with pytest.raises(ValueError, match=r"has d = 18 and 3 actions; the features have d ="):
            load_policy(tmp_path / "p", features)


WITHOUT = """
import sys
for name in ("numba", "llvmlite", "rich"):
    sys.modules[name] = None
from optimist import load_policy
import optimist.core, optimist.core.policy_files
assert load_policy is optimist.core.load_policy is optimist.core.policy_files.load_policy
for path in sys.argv[1:]:
    print(load_policy(path).probabilities(range(6)).tobytes().hex())
"""


def test_a_policy_acts_without_a_compiler_and_a_world(make, settings, tmp_path):
    command, expected = [sys.executable, "-c", WITHOUT], []
    for kind in ("sigmoid", "truncation"):
        policy = make(settings["one-hot"](), VARIANTS[kind], episodes=40).policy
        policy.save(tmp_path / kind)
        command.append(str(tmp_path / kind))
        expected.append(policy.probabilities(range(6)).tobytes().hex())
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.stdout.split() == expected, done.stderr
