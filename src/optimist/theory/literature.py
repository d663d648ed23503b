"""The costs of other imitation algorithms: the table of Appendix C.

Constants and logarithms are dropped, as in the paper. H is the horizon if it is finite, otherwise
1 / (1 - gamma).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal


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


@dataclass(frozen=True)
class Row:
    """An algorithm, and its costs of epsilon-suboptimal imitation.

    Attributes
    ----------
    algorithm, setting, source
        Its name, its assumptions, and its reference.
    features_only
        Whether the expert's features suffice, without actions; "states" if states are needed.
    expert, mdp
        The number of expert trajectories and of episodes in the MDP; None if it needs none.
    expert_formula, mdp_formula
        The same in the notation of the paper.
    """

    algorithm: str
    setting: str
    source: str
    features_only: Literal["yes", "no", "states"]
    expert: Cost
    expert_formula: str
    mdp: Cost | None = None
    mdp_formula: str = "-"


TABLE = (
    Row(
        "Behavioural cloning",
        "function approximation, episodic",
        "Foster et al. 2024",
        "no",
        lambda p: p.H**2 * p.log_policies / p.epsilon**2,
        "H^2 log|Pi| / eps^2",
    ),
    Row(
        "Behavioural cloning",
        "tabular, episodic",
        "Rajaraman et al. 2020",
        "no",
        lambda p: p.H**2 * p.n_states / p.epsilon,
        "H^2 |X| / eps",
    ),
    Row(
        "Behavioural cloning",
        "deterministic linear expert, episodic",
        "Rajaraman et al. 2021",
        "no",
        lambda p: p.H**2 * p.d / p.epsilon,
        "H^2 d / eps",
    ),
    Row(
        "Mimic-MD",
        "tabular, known P, deterministic expert, episodic",
        "Rajaraman et al. 2020",
        "no",
        lambda p: p.H**1.5 * p.n_states / p.epsilon,
        "H^{3/2} |X| / eps",
    ),
    Row(
        "OAL",
        "tabular, episodic",
        "Shani et al. 2021",
        "no",
        lambda p: p.H**2 * p.n_states / p.epsilon**2,
        "H^2 |X| / eps^2",
        lambda p: p.H**4 * p.n_states**2 * p.n_actions / p.epsilon**2,
        "H^4 |X|^2 |A| / eps^2",
    ),
    Row(
        "MB-TAIL",
        "tabular, deterministic expert, episodic",
        "Xu et al. 2023",
        "no",
        lambda p: p.H**1.5 * p.n_states / p.epsilon,
        "H^{3/2} |X| / eps",
        lambda p: p.H**3 * p.n_states**2 * p.n_actions / p.epsilon**2,
        "H^3 |X|^2 |A| / eps^2",
    ),
    Row(
        "FAIL",
        "episodic, pi_E in Pi and V^{pi_E} in F",
        "Sun et al. 2019",
        "states",
        lambda p: p.H**4 * (p.log_policies + p.log_values) / p.epsilon**2,
        "H^4 log(|Pi| |F|) / eps^2",
        lambda p: p.H**4 * (p.log_policies + p.log_values) / p.epsilon**2,
        "H^4 log(|Pi| |F|) / eps^2",
    ),
    Row(
        "Mobile",
        "episodic, r_true in R and P in a class",
        "Kidambi et al. 2021",
        "states",
        lambda p: p.H**2 * p.log_rewards / p.epsilon**2,
        "H^2 log|R| / eps^2",
        lambda p: p.H**5 * p.log_models / p.epsilon**2,
        "H^5 log|P| / eps^2",
    ),
    Row(
        "OGAIL",
        "linear mixture MDP, episodic, W_max = sqrt(d)",
        "Liu et al. 2022",
        "yes",
        lambda p: p.H**3 * p.d**2 / p.epsilon**2,
        "H^3 d^2 / eps^2",
        lambda p: p.H**4 * p.d**3 / p.epsilon**2,
        "H^4 d^3 / eps^2",
    ),
    Row(
        "ILARL",
        "linear MDP, W_max = 1",
        "Viano et al. 2024",
        "yes",
        lambda p: p.d * p.H**2 / p.epsilon**2,
        "d H^2 / eps^2",
        lambda p: p.d**3 * p.H**8 / p.epsilon**4,
        "d^3 H^8 / eps^4",
    ),
    Row(
        "FRA-IL",
        "linear MDP",
        "this paper",
        "yes",
        lambda p: p.W_max**2 * p.H**2 / p.epsilon**2,
        "W_max^2 H^2 / eps^2",
        lambda p: p.d**3 * p.H**4.5 / p.epsilon**2,
        "d^3 H^{9/2} / eps^2",
    ),
    Row(
        "Lower bound",
        "linear MDP",
        "this paper",
        "yes",
        lambda p: p.W_max**2 * p.H**2 / p.epsilon**2,
        "W_max^2 H^2 / eps^2",
        lambda p: p.d * p.H**2 / p.epsilon**2,
        "d H^2 / eps^2",
    ),
)
"""The rows of the table, in its order."""
