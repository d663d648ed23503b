"""What the theorem says of a world: its parameters, and its bound term by term."""

import textwrap
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from optimist import checks
from optimist.checks import FloatArray
from optimist.envs import World
from optimist.features import FeatureMap, OneHot, Table
from optimist.mdp import FiniteMDP, LinearMDP
from optimist.theory import parameters, sample_complexity
from optimist.theory.covariance import number_of_epochs
from optimist.theory.practice import PRACTICE, Practice
from optimist.theory.regret import RegretBound, regret_bound

LINEAR = 1e-8
"""How far, relative to the largest entry, rewards and transitions may be from linear: rounding."""

SHARE = 0.1
"""The suboptimality, as a share of the optimum, for which episodes are counted."""

WIDTH = 79
"""The width of the explanation, in characters."""

ORDERS = {
    "heaven": ("uncertain pairs to heaven", "d^3 H^3"),
    "heaven_chance": ("what chance adds to that", "d^2 H^4"),
    "leak": ("certain pairs to heaven", "H^2"),
    "epochs": ("values jump at epochs", "d H^2"),
    "policy": ("policy: steps and resets", "sqrt(d H^{9/2} K log A)"),
    "bonuses": ("bonuses that were added", "sqrt(d^3 H^3 K)"),
    "bonuses_chance": ("what chance adds to that", "d H^2"),
}
"""What each term of the bound is, and its order."""


@dataclass(frozen=True)
class Explanation:
    """What Theorem main-full says of a world; ``print`` it.

    Attributes
    ----------
    world
        Its name.
    K, delta
        The number of episodes, and the failure probability of each event.
    d, B, W_max, R_max, n_actions, gamma, H
        What the bound depends on, as it is used: the theorem asks for B, W_max, R_max >= 1.
    omega, alpha, eta, beta
        The theorem's parameters.
    L_max, T, Q_max, epochs
        Bounds on the length of an episode, on all steps, on values and on the number of epochs.
    bound
        The bound on the regret, term by term.
    nontrivial_from
        The K from which on the bound is below K H R_max.
    optimum
        V*, the exact value of an optimal policy from the start.
    epsilon
        A tenth of it.
    episodes_for_epsilon, steps_for_epsilon
        The K from which on the bound on the average regret is at most epsilon, and H times it; None
        if nothing can be earned.
    practice
        What is used in practice instead.
    notes
        Where the world does not meet what the theorem assumes, in sentences.
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
    practice: Practice
    notes: tuple[str, ...]

    @property
    def excess(self) -> float:
        """How many times the trivial bound the bound is."""
        return float(self.bound.mended / self.bound.trivial)

    @property
    def sizes(self) -> str:
        """The world's sizes in a line."""
        return (
            f"d = {self.d:,}, A = {self.n_actions}, H = {readable(self.H)}, B = {self.B:.3g}, "
            f"W_max = {self.W_max:.3g}, R_max = {self.R_max:.3g}"
        )

    @property
    def parameter_rows(self) -> list[tuple[str, str, str, str]]:
        """Name, the theorem's value, the value in practice, and meaning of each parameter."""
        used = self.practice
        return [
            ("beta", readable(self.beta), readable(used.beta), "bonuses are beta ||phi||"),
            ("eta", readable(self.eta), readable(used.eta), "learning rate of the policy"),
            ("omega", readable(self.omega), readable(used.omega), "threshold of ascension"),
            ("alpha", readable(self.alpha), readable(used.alpha), "slope of ascension"),
            ("updates", "1", str(used.updates), "after each episode"),
            ("ridge", "1", readable(used.ridge), "of the covariance"),
            ("L_max", readable(self.L_max), "", "no episode is longer"),
            ("T", readable(self.T), "", "no more steps in all"),
            ("Q_max", readable(self.Q_max), "", "no value is larger"),
            ("E(K)", readable(self.epochs), "", "no more epochs"),
        ]

    @property
    def bound_rows(self) -> list[tuple[str, str, str, str]]:
        """Name, value, order and meaning of each term; then the total and the trivial bound."""
        terms = [
            (name, readable(value), ORDERS[name][1], ORDERS[name][0])
            for name, value in self.bound.terms.items()
        ]
        return [
            *terms,
            ("total", readable(self.bound.total), "", "as it is printed"),
            ("epoch_starts", readable(self.bound.epoch_starts), "d^3 H^4", "a gap in the proof"),
            ("mended", readable(self.bound.mended), "", "with that and 1 / gamma"),
            ("trivial", readable(self.bound.trivial), "K H R_max", "and at most this anyway"),
        ]

    @property
    def sentences(self) -> list[str]:
        """What it comes to, and what to mind."""
        share = self.bound.terms[self.bound.dominant] / self.bound.total
        found = [
            f"{self.bound.dominant} is {share:.0%} of the printed bound at K = {self.K:,}; "
            f"with probability {max(0.0, 1 - 4 * self.delta):g} the mended one holds."
        ]
        if self.excess > 1:
            found.append(
                f"It says something from K = {readable(self.nontrivial_from)} episodes on; "
                f"at K = {self.K:,} it is {readable(self.excess)} times the trivial bound."
            )
        else:
            found.append(f"It is {self.excess:.1%} of the trivial one.")
        if self.episodes_for_epsilon is not None and self.steps_for_epsilon is not None:
            found.append(
                f"It guarantees an average regret of {SHARE:.0%} of V* = {self.optimum:.4g} from "
                f"K = {readable(self.episodes_for_epsilon)} episodes on, "
                f"{readable(self.steps_for_epsilon)} steps."
            )
        return [*found, *self.notes]

    def as_data(self) -> dict[str, Any]:
        """All of it as plain data."""
        found = asdict(self)
        found["bound"] |= {"total": self.bound.total, "dominant": self.bound.dominant}
        return found

    def __str__(self) -> str:
        title = f"{self.world}: what the theorem says of K = {self.K:,} episodes"
        return "\n".join(
            [
                f"{title} (delta = {self.delta:g})",
                self.sizes,
                "",
                *_aligned([("", "theorem", "practice", ""), *self.parameter_rows], ">"),
                "",
                *_aligned([("regret", "at most", "order", ""), *self.bound_rows], "<"),
                "",
                *(line for text in self.sentences for line in textwrap.wrap(text, WIDTH)),
            ]
        )


def explain(
    world: World | FiniteMDP, K: int, delta: float = 0.1, features: FeatureMap | None = None
) -> Explanation:
    """What the theorem says of a world, with all its constants.

    Parameters
    ----------
    world
        A world, or an MDP with rewards in [0, R_max].
    K
        The number of episodes, at least 8.
    delta
        The failure probability of each event.
    features
        By default those in which a linear MDP is linear, otherwise one-hot features. W_max is the
        norm of the shortest w with r = Phi w.

    Examples
    --------
    >>> from optimist import envs
    >>> found = explain(envs.RiverSwim(6, gamma=0.9), K=1000)
    >>> found.d, round(found.beta), found.bound.dominant
    (12, 126644, 'heaven_chance')
    >>> print(found.sentences[1])
    It says something from K = 3.5e22 episodes on; at K = 1,000 it is 1.4e15 times the trivial
    bound.
    """
    K = checks.count(K, "K", least=8)
    mdp = world.mdp if isinstance(world, World) else world
    if not isinstance(mdp, FiniteMDP):
        raise TypeError(f"world = {world!r} must be a World, FiniteMDP or LinearMDP")
    given = _features(mdp, features)
    least, most = mdp.reward_range
    if least < 0:
        raise ValueError(f"rewards go down to {least:g}: map them onto [0, R_max] with affine()")
    W_max, notes = _linear(mdp, given)
    R_max = 1.0 if isinstance(world, World) else most
    used = []
    for name, value in (("B", given.bound), ("W_max", W_max), ("R_max", R_max)):
        used.append(max(value, 1.0))
        if value < 1 - checks.RANGE_TOLERANCE:
            notes.append(f"{name} = {value:.3g}: the theorem assumes at least 1, and 1 is used.")
    B, W, R = used
    sizes = (given.dim, mdp.n_actions, mdp.gamma, B, W, R, delta)
    optimum, omega, alpha = mdp.optimal().value, parameters.omega(K), parameters.alpha(K)
    beta = parameters.beta(K, given.dim, mdp.gamma, B, W, R, delta)
    epsilon = SHARE * optimum
    needed = sample_complexity.episodes_needed(epsilon, *sizes) if epsilon > 0 else None
    T = parameters.steps(K, mdp.gamma, delta)
    return Explanation(
        world=type(world).__name__,
        K=K,
        delta=float(delta),
        d=given.dim,
        B=B,
        W_max=W,
        R_max=R,
        n_actions=mdp.n_actions,
        gamma=mdp.gamma,
        H=mdp.horizon,
        omega=omega,
        alpha=alpha,
        eta=parameters.eta(K, given.dim, mdp.n_actions, mdp.gamma, B, R, delta),
        beta=beta,
        L_max=parameters.longest_episode(K, mdp.gamma, delta),
        T=T,
        Q_max=parameters.value_bound(mdp.gamma, R, omega, alpha),
        epochs=number_of_epochs(T, given.dim, B),
        bound=regret_bound(K, *sizes, beta=beta),
        nontrivial_from=sample_complexity.nontrivial_from(*sizes),
        optimum=optimum,
        epsilon=epsilon,
        episodes_for_epsilon=needed,
        steps_for_epsilon=None if needed is None else mdp.horizon * needed,
        practice=PRACTICE,
        notes=tuple(notes),
    )


def _features(mdp: FiniteMDP, features: FeatureMap | None) -> FeatureMap:
    if features is None:
        if isinstance(mdp, LinearMDP):
            return Table(mdp.Phi)
        return OneHot(mdp.n_states, mdp.n_actions)
    if not isinstance(features, FeatureMap):
        raise TypeError(f"features = {features!r} must be a FeatureMap, such as Table(array)")
    if features.n_actions != mdp.n_actions:
        raise ValueError(f"features of {features.n_actions} actions, but there are {mdp.n_actions}")
    return features


def _linear(mdp: FiniteMDP, features: FeatureMap) -> tuple[float, list[str]]:
    """W_max, and what is not linear in the features."""
    if isinstance(features, OneHot):
        return float(np.linalg.norm(mdp.r)), []
    Phi = features.all_actions(np.arange(mdp.n_states)).reshape(-1, features.dim)
    w, *_ = np.linalg.lstsq(Phi, mdp.r.ravel())
    notes = []
    if _off(Phi @ w, mdp.r.ravel()):
        notes.append("Rewards are not linear in the features: the theorem does not apply.")
    kernel = mdp.kernel if isinstance(mdp.kernel, np.ndarray) else mdp.kernel.toarray()
    if _off(Phi @ np.linalg.lstsq(Phi, kernel)[0], kernel):
        notes.append("Transitions are not linear in the features: the theorem does not apply.")
    return float(np.linalg.norm(w)), notes


def _off(fitted: FloatArray, wanted: FloatArray) -> bool:
    return bool(np.abs(fitted - wanted).max() > LINEAR * max(np.abs(wanted).max(), 1e-300))


def readable(x: float) -> str:
    """A number of any size, to three digits at most.

    Examples
    --------
    >>> [readable(x) for x in (3.14e19, 126_644.2, 92.103, 0.0123, 2e-9, 0)]
    ['3.1e19', '126,644', '92.1', '0.0123', '2.0e-9', '0']
    """
    if x == 0:
        return "0"
    if not 1e-4 <= abs(x) < 1e7:
        digits, _, power = f"{x:.1e}".partition("e")
        return f"{digits}e{int(power)}"
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def _aligned(rows: list[tuple[str, str, str, str]], side: str) -> list[str]:
    """Rows of four columns as lines; ``side`` says to which side the third one goes."""
    a, b, c, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    return [f"  {name:<{a}}  {x:>{b}}  {y:{side}{c}}  {text}".rstrip() for name, x, y, text in rows]
