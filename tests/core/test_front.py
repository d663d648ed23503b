"""An update goes over the states that were met, and every number is as if it went over all."""

import numpy as np
import pytest
import scipy.sparse as sp

from optimist import Optimist, RmaxRaviUcb
from optimist.agents import Cfpo, LsviUcb, OptimisticVI, RaviUcb, Rlsvi, Rmax, finite_driver
from optimist.agents.driver import RunSettings
from optimist.agents.finite_driver import FiniteDriver
from optimist.core.state import CHUNK
from optimist.envs import GridWorld
from optimist.mdp import FiniteMDP

X, A = 1200, 3

CONFIGS = {
    "Optimist": Optimist.Config(),
    "proven": Optimist.Config.proven(0.1),
    "RmaxRaviUcb": RmaxRaviUcb.Config(),
    "RaviUcb": RaviUcb.Config(),
    "OptimisticVI": OptimisticVI.Config(),
    "Rmax": Rmax.Config(),
    "LsviUcb": LsviUcb.Config(),
    "Cfpo": Cfpo.Config(),
    "Rlsvi": Rlsvi.Config(),  # draws a bonus for every pair: all states take part
}


@pytest.fixture(scope="module")
def mdp():
    """A sparse world of four kinds of states, in which episodes begin in many of them."""
    rng = np.random.default_rng(3)
    rows = np.repeat(np.arange(X * A), 2)
    after = (rows // A + rng.integers(-30, 31, rows.size)) % X
    P = sp.csr_array((rng.dirichlet([1, 1], X * A).ravel(), (rows, after)), shape=(X * A, X))
    kinds = np.array([[0, 0, 0], [0, 0.5, 0], [0.2, 0, 0.1], [1, 0, 0]])
    r = kinds[rng.choice(4, X, p=[0.6, 0.25, 0.147, 0.003])]
    nu0 = np.zeros(X)
    nu0[100:140] = 1 / 40
    return FiniteMDP(P, r, nu0, 0.9)


def learnt(mdp, config, stride=20):
    """A driver that has learnt for 66 episodes, and the columns of its history."""
    driver = FiniteDriver(mdp, None, config.variant(), RunSettings(config, seed=5, stride=stride))
    parts = []
    while driver.episodes < 66:
        parts.append(driver.learn_some(min(66 - driver.episodes, 25)))
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return driver, columns


@pytest.mark.parametrize("name", CONFIGS)
def test_every_number_is_as_if_all_states_took_part(name, mdp, monkeypatch):
    """Leads are met, kinds run out, and policies are kept on the way."""
    some, columns = learnt(mdp, CONFIGS[name])
    monkeypatch.setattr(finite_driver, "SMALL", X + 1)
    every, wanted = learnt(mdp, CONFIGS[name])
    assert every.front.active.all()
    assert some.front.active.all() == (name == "Rlsvi")
    for arrays, others in ((columns, wanted), (some.arrays, every.arrays)):
        assert arrays.keys() == others.keys()
        for array, found in arrays.items():
            assert np.array_equal(found, others[array]), array
    assert np.array_equal(some.pi, every.pi)


def test_a_saved_learner_goes_on_byte_for_byte(mdp, tmp_path):
    whole, part = Optimist(mdp, seed=1, stride=10), Optimist(mdp, seed=1, stride=10)
    whole.learn(60, show_progress=False)
    part.learn(33, show_progress=False)
    part.save(tmp_path / "part")
    again = Optimist.load(tmp_path / "part", mdp)
    again.learn(27, show_progress=False)
    wanted = vars(whole.diagnostics)
    for name, found in vars(again.diagnostics).items():
        assert np.array_equal(found, wanted[name]), name


def test_an_update_goes_over_what_was_met():
    """In a grid of 10,000 states no more than the chunks of those met and of the leads."""
    lines = [list("." * 100) for _ in range(100)]
    lines[50][50], lines[99][99] = "S", "G"
    world = GridWorld("\n".join(map("".join, lines)), gamma=0.98)
    driver, _ = learnt(world.mdp, CONFIGS["Optimist"], stride=0)
    front, kinds = driver.front, np.unique(world.mdp.r, axis=0)
    assert 20 < front.met.sum() < 3000
    assert front.active.sum() <= front.met.sum() + len(kinds)
    spans = front.parts[: front.n_parts[0]]
    assert np.diff(spans, axis=1).sum() == front.active.sum() * CHUNK
    assert front.active[np.flatnonzero(front.met) // CHUNK].all()


def test_leads_are_of_their_kind_and_have_no_data(mdp):
    driver, _ = learnt(mdp, CONFIGS["Optimist"])
    front = driver.front
    visits = (driver.regression.Lambda[:, 0, 0] - driver.ridge).reshape(X, A).sum(axis=1)
    for kind, at in enumerate(front.at):
        members, lead = np.flatnonzero(front.kind == kind), front.order[at]
        assert (mdp.r[members] == mdp.r[members[0]]).all()
        assert front.kind[lead] == kind
        assert front.met[lead] == front.met[members].all()
        if not front.met[lead]:
            assert visits[lead] == 0
            assert front.active[lead // CHUNK]
