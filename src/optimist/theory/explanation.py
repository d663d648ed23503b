"""Evaluate Theorem main-full for one world: its parameters, and its bound term by term."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from optimist import checks
from optimist.checks import FloatArray
from optimist.display.card import card, table
from optimist.display.numbers import readable
from optimist.envs import World
from optimist.features import FeatureMap, OneHot, Table
from optimist.mdp import FiniteMDP, LinearMDP
from optimist.theory import parameters, sample_complexity
from optimist.theory.covariance import number_of_epochs
from optimist.theory.regret import RegretBound, regret_bound

LINEAR = 1e-8
"""Tolerance on the linearity of rewards and transitions, relative to their largest entry."""

SHARE = 0.1
"""epsilon as a share of the optimal value."""


@dataclass(frozen=True)
class Explanation:
    """The numbers of Theorem main-full for one world; ``optimist theory`` prints them.

    Attributes
    ----------
    world
        The name of the world's class.
    K, delta
        The number of episodes, and the failure probability of each event.
    d, B, W_max, R_max, n_actions, gamma, H
        The sizes that the bound depends on. B, W_max and R_max are raised to 1 where the world's
        are smaller, as the theorem assumes.
    omega, alpha, eta, beta
        The theorem's parameters.
    L_max, T, Q_max, epochs
        Bounds on the length of an episode, the number of steps, the values and the number of
        epochs.
    bound
        The bound on the regret, term by term.
    nontrivial_from
        The smallest K at which the bound is below K H R_max.
    optimum
        V*, the optimal value from the initial distribution.
    epsilon
        A tenth of V*.
    episodes_for_epsilon, steps_for_epsilon
        The smallest K at which the bound on the average regret is at most epsilon, and H times it;
        None if V* = 0.
    notes
        The assumptions of the theorem that the world does not meet, one sentence each.
    """

    world: str
    K: int
    delta: float
    d: int
    B: float
    W_max: float
    R_max: float
    n_actions: int
    gamma: float
    H: float
    omega: float
    alpha: float
    eta: float
    beta: float
    L_max: float
    T: float
    Q_max: float
    epochs: float
    bound: RegretBound
    nontrivial_from: float
    optimum: float
    epsilon: float
    episodes_for_epsilon: float | None
    steps_for_epsilon: float | None
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return (
            f"Explanation({self.world}, K={self.K:,}, d={self.d:,}, H={self.H:.4g}, "
            f"beta={self.beta:.4g}, nontrivial_from={self.nontrivial_from:.2g})"
        )

    def _repr_html_(self) -> str:
        sizes = {"K": f"{self.K:,}", "d": f"{self.d:,}", "actions": self.n_actions}
        numbers = {n: readable(getattr(self, n)) for n in ("H", "beta", "eta", "omega", "alpha")}
        largest = self.bound.total
        terms = [
            {"term": name, "at most": readable(value), "share": f"{value / largest:.1%}"}
            for name, value in (self.bound.terms | {"total": largest}).items()
        ]
        says = f"The bound says something from K = {readable(self.nontrivial_from)} episodes on."
        title = f"Explanation of {self.world}"
        return card(title, sizes | numbers, table(terms), note=" ".join([says, *self.notes]))

    @property
    def excess(self) -> float:
        """The bound divided by the trivial bound K H R_max."""
        return float(self.bound.mended / self.bound.trivial)

    def as_data(self) -> dict[str, Any]:
        """All fields as nested dictionaries, with the total and dominant term of the bound."""
        found = asdict(self)
        found["bound"] |= {"total": self.bound.total, "dominant": self.bound.dominant}
        return found


def explain(
    world: World | FiniteMDP, K: int, delta: float = 0.1, features: FeatureMap | None = None
) -> Explanation:
    """Evaluate the theorem, with all its constants, for one world.

    Parameters
    ----------
    world
        A world, or an MDP with rewards in [0, R_max].
    K
        The number of episodes, at least 8.
    delta
        The failure probability of each event.
    features
        The feature map; by default that of a linear MDP, otherwise one-hot features. W_max is the
        norm of the shortest w with r = Phi w.

    Examples
    --------
    >>> from optimist import envs
    >>> found = explain(envs.RiverSwim(6, gamma=0.9), K=1000)
    >>> found.d, round(found.beta), found.bound.dominant
    (12, 126644, 'heaven_chance')
    >>> f"the bound is nontrivial from K = {found.nontrivial_from:.1e}"
    'the bound is nontrivial from K = 3.5e+22'
    """
    K = checks.count(K, "K", least=8)
    mdp = world.mdp if isinstance(world, World) else world
    if not isinstance(mdp, FiniteMDP):
        raise TypeError(
            f"world must be a World, FiniteMDP or LinearMDP; got {type(world).__name__}"
        )
    phi = _feature_map(mdp, features)
    smallest, largest = mdp.reward_range
    if smallest < 0:
        raise ValueError(
            f"rewards must be at least 0; got {smallest:g}. Map them onto [0, R_max] with affine()"
        )
    W_max, notes = _fit_linear(mdp, phi)
    R_max = 1.0 if isinstance(world, World) else largest
    sizes: dict[str, Any] = {"d": phi.dim, "n_actions": mdp.n_actions, "gamma": mdp.gamma}
    for name, value in (("B", phi.bound), ("W_max", W_max), ("R_max", R_max)):
        sizes[name] = max(value, 1.0)
        if value < 1 - checks.RANGE_TOLERANCE:
            notes.append(f"{name} = {value:.3g}: the theorem assumes at least 1, and 1 is used.")
    d, A, gamma, B, W, R = sizes.values()
    sizes["delta"] = delta
    optimum, omega, alpha = mdp.optimal().value, parameters.omega(K), parameters.alpha(K)
    beta = parameters.beta(K, d, gamma, B, W, R, delta)
    epsilon = SHARE * optimum
    needed = sample_complexity.episodes_needed(epsilon, **sizes) if epsilon > 0 else None
    T = parameters.steps(K, gamma, delta)
    return Explanation(
        world=type(world).__name__,
        K=K,
        **{**sizes, "delta": float(delta)},
        H=mdp.horizon,
        omega=omega,
        alpha=alpha,
        eta=parameters.eta(K, d, A, gamma, B, R, delta),
        beta=beta,
        L_max=parameters.longest_episode(K, gamma, delta),
        T=T,
        Q_max=parameters.value_bound(gamma, R, omega, alpha),
        epochs=number_of_epochs(T, d, B),
        bound=regret_bound(K, **sizes, beta=beta),
        nontrivial_from=sample_complexity.nontrivial_from(**sizes),
        optimum=optimum,
        epsilon=epsilon,
        episodes_for_epsilon=needed,
        steps_for_epsilon=None if needed is None else mdp.horizon * needed,
        notes=tuple(notes),
    )


def _feature_map(mdp: FiniteMDP, features: FeatureMap | None) -> FeatureMap:
    if features is None:
        if isinstance(mdp, LinearMDP):
            return Table(mdp.Phi)
        return OneHot(mdp.n_states, mdp.n_actions)
    if not isinstance(features, FeatureMap):
        raise TypeError(
            f"features must be a FeatureMap, such as Table(array); got {type(features).__name__}"
        )
    if features.n_actions != mdp.n_actions:
        raise ValueError(
            f"features must be of {mdp.n_actions} actions, as the world; got {features.n_actions}"
        )
    return features


def _fit_linear(mdp: FiniteMDP, features: FeatureMap) -> tuple[float, list[str]]:
    """W_max, and a sentence for rewards and for transitions if not linear in the features."""
    if isinstance(features, OneHot):
        return float(np.linalg.norm(mdp.r)), []
    Phi = features.all_actions(np.arange(mdp.n_states)).reshape(-1, features.dim)
    w, *_ = np.linalg.lstsq(Phi, mdp.r.ravel())
    notes = []
    if _differ(Phi @ w, mdp.r.ravel()):
        notes.append("Rewards are not linear in the features: the theorem does not apply.")
    kernel = mdp.kernel if isinstance(mdp.kernel, np.ndarray) else mdp.kernel.toarray()
    if _differ(Phi @ np.linalg.lstsq(Phi, kernel)[0], kernel):
        notes.append("Transitions are not linear in the features: the theorem does not apply.")
    return float(np.linalg.norm(w)), notes


def _differ(fitted: FloatArray, wanted: FloatArray) -> bool:
    return bool(np.abs(fitted - wanted).max() > LINEAR * max(np.abs(wanted).max(), 1e-300))
