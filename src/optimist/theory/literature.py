"""The costs of other imitation algorithms: the table of Appendix C.

Constants and logarithms are dropped, as in the paper. H is the horizon if it is finite, otherwise
1 / (1 - gamma). Beside the costs stands what the learners of the rows do in practice: how their
gaps were measured to fall (docs/rivals.md).
"""

import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from importlib import resources
from typing import Literal, NamedTuple


@dataclass(frozen=True)
class Problem:
    """The sizes that the costs depend on.

    Attributes
    ----------
    epsilon
        The allowed suboptimality.
    H, d, n_states, n_actions, W_max
        As in the paper.
    log_policies, log_values, log_rewards, log_models
        The logarithms of the sizes of the classes Pi, F, R and P given to an algorithm.
    """

    epsilon: float
    H: float
    d: float = 1.0
    n_states: float = 1.0
    n_actions: float = 1.0
    W_max: float = 1.0
    log_policies: float = 1.0
    log_values: float = 1.0
    log_rewards: float = 1.0
    log_models: float = 1.0


Cost = Callable[[Problem], float]

POWER = re.compile(r"(log\(.*?\)|[^\s^]+)(?:\^\{?([\d/]+)\}?)?")
"""A symbol, and its exponent if it has one: H, H^2 or H^{3/2}."""


def _evaluate(formula: str, p: Problem) -> float:
    """The value of a quotient of products of powers, such as "H^{3/2} |X| / eps"."""
    sizes = {
        "eps": p.epsilon, "H": p.H, "d": p.d, "|X|": p.n_states, "|A|": p.n_actions,
        "W_max": p.W_max, "log|Pi|": p.log_policies, "log|R|": p.log_rewards,
        "log|P|": p.log_models, "log(|Pi| |F|)": p.log_policies + p.log_values,
    }  # fmt: skip
    above, below = (
        math.prod(sizes[symbol] ** float(Fraction(power or 1)) for symbol, power in product)
        for product in map(POWER.findall, formula.split(" / "))
    )
    return float(above / below)


Axis = Literal["tau_E", "K", "H"]


class Power(NamedTuple):
    """The gap (H^a / n)^{1 / b} that a cost n = H^a / eps^b allows, as powers of n and H."""

    of_n: float
    of_H: float


def power(cost: Cost) -> Power:
    """The powers of a cost, which is a product of powers.

    Examples
    --------
    >>> power(TABLE[3].expert)                                   # H^{3/2} |X| / eps, of Mimic-MD
    Power(of_n=-1.0, of_H=1.5)
    """
    one, more = Problem(epsilon=1.0, H=1.0), math.e
    b = math.log(cost(replace(one, epsilon=1 / more)) / cost(one))
    a = math.log(cost(replace(one, H=more)) / cost(one))
    return Power(-1 / b, a / b)


@dataclass(frozen=True)
class Row:
    """An algorithm, and its costs of epsilon-suboptimal imitation.

    Attributes
    ----------
    algorithm, setting, source
        Its name, its assumptions, and its reference.
    learner
        Its name in `optimist.imitation.IMITATORS`; "" for the lower bound, which is no algorithm.
    features_only
        Whether the expert's features suffice, without actions; "states" if states are needed.
    expert_formula, mdp_formula
        The number of expert trajectories and of episodes in the MDP, in the notation of the paper;
        "-" if it needs none.
    """

    algorithm: str
    learner: str
    setting: str
    source: str
    features_only: Literal["yes", "no", "states"]
    expert_formula: str
    mdp_formula: str = "-"

    @property
    def expert(self) -> Cost:
        """The number of expert trajectories."""
        return partial(_evaluate, self.expert_formula)

    @property
    def mdp(self) -> Cost | None:
        """The number of episodes in the MDP; None if it needs none."""
        return None if self.mdp_formula == "-" else partial(_evaluate, self.mdp_formula)

    def powers(self, axis: Axis) -> tuple[float, ...]:
        """The power of the gap in tau_E, K or H that the costs imply.

        Of H there are two: where expert trajectories are few, and where episodes are.

        Examples
        --------
        >>> TABLE[-2].powers("tau_E"), TABLE[-2].powers("K"), TABLE[-2].powers("H")
        ((-0.5,), (-0.5,), (1.0, 2.25))
        """
        expert, mdp = power(self.expert), None if self.mdp is None else power(self.mdp)
        if axis == "tau_E":
            return (expert.of_n,)
        if axis == "K":
            return () if mdp is None else (mdp.of_n,)
        return (expert.of_H,) if mdp is None else (expert.of_H, mdp.of_H)


CLONING, THIS = "Behavioural cloning", "this paper"

TABLE = (
    Row(
        CLONING, "BehaviouralCloning", "function approximation, episodic",
        "Foster et al. 2024", "no", "H^2 log|Pi| / eps^2",
    ),
    Row(
        CLONING, "BehaviouralCloning", "tabular, episodic",
        "Rajaraman et al. 2020", "no", "H^2 |X| / eps",
    ),
    Row(
        CLONING, "LinearCloning", "deterministic linear expert, episodic",
        "Rajaraman et al. 2021", "no", "H^2 d / eps",
    ),
    Row(
        "Mimic-MD", "MimicMD", "tabular, known P, deterministic expert, episodic",
        "Rajaraman et al. 2020", "no", "H^{3/2} |X| / eps",
    ),
    Row(
        "OAL", "Oal", "tabular, episodic",
        "Shani et al. 2021", "no", "H^2 |X| / eps^2", "H^4 |X|^2 |A| / eps^2",
    ),
    Row(
        "MB-TAIL", "MbTail", "tabular, deterministic expert, episodic",
        "Xu et al. 2023", "no", "H^{3/2} |X| / eps", "H^3 |X|^2 |A| / eps^2",
    ),
    Row(
        "FAIL", "ForwardAIL", "episodic, pi_E in Pi and V^{pi_E} in F",
        "Sun et al. 2019", "states", "H^4 log(|Pi| |F|) / eps^2", "H^4 log(|Pi| |F|) / eps^2",
    ),
    Row(
        "Mobile", "Mobile", "episodic, r_true in R and P in a class",
        "Kidambi et al. 2021", "states", "H^2 log|R| / eps^2", "H^5 log|P| / eps^2",
    ),
    Row(
        "OGAIL", "OgaIL", "linear mixture MDP, episodic, W_max = sqrt(d)",
        "Liu et al. 2022", "yes", "H^3 d^2 / eps^2", "H^4 d^3 / eps^2",
    ),
    Row(
        "ILARL", "Ilarl", "linear MDP, W_max = 1",
        "Viano et al. 2024", "yes", "d H^2 / eps^2", "d^3 H^8 / eps^4",
    ),
    Row("FRA-IL", "FraIL", "linear MDP", THIS, "yes", "W_max^2 H^2 / eps^2", "d^3 H^{9/2} / eps^2"),
    Row("Lower bound", "", "linear MDP", THIS, "yes", "W_max^2 H^2 / eps^2", "d H^2 / eps^2"),
)  # fmt: skip
"""The rows of the table, in its order."""


# In practice


@dataclass(frozen=True)
class Measured:
    """The power of the gap in tau_E, K or H that was measured in a world.

    Attributes
    ----------
    learner, view, axis, world
        As in docs/rivals.md; ``view`` is what the learner reads of the expert's trajectories.
    found
        The power with its interval of 95%; the power alone if there is none; empty if there was no
        gap left to measure.
    """

    learner: str
    view: str
    axis: Axis
    world: str
    found: tuple[float, ...]


def measured() -> tuple[Measured, ...]:
    """All powers that were measured, as `benchmarks.rivals --measured` wrote them.

    Examples
    --------
    >>> sorted({power.axis for power in measured() if power.learner == "FraIL"})
    ['H', 'K', 'tau_E']
    """
    text = resources.files(__package__).joinpath("measured.toml").read_text(encoding="utf-8")
    return tuple(
        Measured(learner, view, axis, world, tuple(found))
        for learner, views in tomllib.loads(text)["powers"].items()
        for view, axes in views.items()
        for axis, worlds in axes.items()
        for world, found in worlds.items()
    )
