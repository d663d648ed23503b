"""The two families of hard MDPs in the paper's lower bounds for imitation (Appendix E).

Both have two states, x_0 and x_1, and one special action a*, which stays in x_0 with a probability
larger by epsilon than every other action; nothing else depends on the actions. They are linear MDPs
of dimension d = 2 + 2A: phi_r(x, a) = e_x, so that rewards and expert data depend on states alone,
and phi_P is one-hot.
"""

from dataclasses import dataclass

import numpy as np

from optimist import checks
from optimist.checks import FloatArray
from optimist.envs.world import World
from optimist.mdp import LinearMDP


@dataclass(frozen=True)
class LowerK(World):
    """A member of the family of Theorem LowerK: x_0 pays 1, and a* stays there longest.

    In x_0 the action a* leaves with probability delta - epsilon and every other with delta; x_1 is
    left with probability delta, where delta = (1 - gamma) / gamma. Episodes start in x_0. The
    family has A members, one for each choice of a*; the expert always plays it. With epsilon = 0
    all actions are alike, as in the reference MDP of the proof.

    Attributes
    ----------
    n_actions
        Number of actions.
    special
        The action a* that stays in x_0 longest.
    epsilon
        How much less probable it is that a* leaves x_0.
    gamma
        The discount factor.
    """

    n_actions: int = 4
    special: int = 0
    epsilon: float = 0.05
    gamma: float = 0.9

    @classmethod
    def family(cls, n_actions: int, epsilon: float, gamma: float) -> "list[LowerK]":
        """The A members M_1, ..., M_A."""
        return [cls(n_actions, special, epsilon, gamma) for special in range(n_actions)]

    def build(self) -> LinearMDP:
        _check_special(self.special, self.n_actions)
        delta = _delta(self.gamma)
        if not 0 <= checks.real_number(self.epsilon, "epsilon") < delta:
            raise ValueError(
                f"epsilon must be in [0, delta) = [0, {delta:g}); got {self.epsilon:g}"
            )
        return _two_states(self, delta, w=[1, 0], nu0=[1, 0])

    @property
    def expert(self) -> FloatArray:
        """The expert pi_E, which always plays a*, [2, A]."""
        return _always(self.special, self.n_actions)

    @property
    def board(self) -> tuple[str, ...]:
        """x_0 and x_1."""
        return ("$x",)


@dataclass(frozen=True)
class LowerTauE(World):
    """A member of the pair of Theorem LowerTauE: equal dynamics, different rewarded states.

    Member i pays w_max in x_i. Both states are left with probability delta = (1 - gamma) / gamma,
    except that a* leaves x_0 with delta - epsilon; episodes start in either with probability 1/2.
    The expert of member 0 always plays a*, that of member 1 another action. Their state occupancies
    are nearly the same, so that telling them apart takes many expert samples.

    Attributes
    ----------
    member
        Which member of the pair: the state that pays, 0 or 1.
    n_actions
        Number of actions.
    special
        The action a* that stays in x_0 longest.
    epsilon
        How much less probable it is that a* leaves x_0.
    w_max
        The reward of the state that pays.
    gamma
        The discount factor.
    """

    member: int = 0
    n_actions: int = 2
    special: int = 0
    epsilon: float = 0.05
    w_max: float = 1.0
    gamma: float = 0.9

    @classmethod
    def pair(
        cls, n_actions: int, epsilon: float, gamma: float, w_max: float = 1.0
    ) -> "tuple[LowerTauE, LowerTauE]":
        """The two members M_0 and M_1."""
        first, second = (cls(i, n_actions, 0, epsilon, w_max, gamma) for i in (0, 1))
        return first, second

    def build(self) -> LinearMDP:
        _check_special(self.special, self.n_actions)
        if checks.count(self.member, "member", least=0) > 1:
            raise ValueError(f"member must be 0 or 1; got {self.member!r}")
        delta = _delta(self.gamma)
        if not 0 <= checks.real_number(self.epsilon, "epsilon") <= delta:
            raise ValueError(
                f"epsilon must be in [0, delta] = [0, {delta:g}]; got {self.epsilon:g}"
            )
        w_max = checks.positive(self.w_max, "w_max")
        w = [w_max, 0] if self.member == 0 else [0, w_max]
        return _two_states(self, delta, w, nu0=[0.5, 0.5])

    @property
    def expert(self) -> FloatArray:
        """The expert of this member, [2, A]: always a*, or always the action after it."""
        return _always((self.special + self.member) % self.n_actions, self.n_actions)

    @property
    def board(self) -> tuple[str, ...]:
        """x_0 and x_1."""
        return ("$x",) if self.member == 0 else ("x$",)


def _two_states(
    world: LowerK | LowerTauE, delta: float, w: list[float], nu0: list[float]
) -> LinearMDP:
    n_actions = world.n_actions
    world.check_size(2, n_actions, successors=4 + 2 * n_actions)  # and 2 + 2A features
    P = np.empty((2, n_actions, 2))
    P[0] = 1 - delta, delta
    P[1] = delta, 1 - delta
    P[0, world.special] = 1 - delta + world.epsilon, delta - world.epsilon
    return LinearMDP.from_parts(
        Phi_r=np.repeat(np.eye(2)[:, None], n_actions, axis=1),
        w=w,
        Phi_P=np.eye(2 * n_actions).reshape(2, n_actions, -1),
        M=P.reshape(-1, 2),
        nu0=nu0,
        gamma=world.gamma,
    )


def _delta(gamma: float) -> float:
    """Delta = (1 - gamma) / gamma, as both proofs choose it; they need gamma >= 1/2."""
    if checks.discount(gamma) < 0.5:
        raise ValueError(f"gamma must be at least 1/2, so that delta <= 1; got {gamma:g}")
    return (1 - gamma) / gamma


def _check_special(special: int, n_actions: int) -> None:
    checks.count(n_actions, "n_actions", least=2)
    if checks.count(special, "special", least=0) >= n_actions:
        raise ValueError(f"special must be in {{0, ..., {n_actions - 1}}}; got {special}")


def _always(action: int, n_actions: int) -> FloatArray:
    """The policy that plays one action in both states, [2, A]."""
    return np.tile(np.eye(n_actions)[action], (2, 1))
