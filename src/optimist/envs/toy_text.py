"""ToyText: Gymnasium's toy-text environments as worlds."""

from dataclasses import dataclass

import gymnasium

from optimist.envs.gym_world import check_id, read_options
from optimist.envs.world import World
from optimist.mdp import FiniteMDP


@dataclass(frozen=True)
class ToyText(World):
    """A toy-text environment of Gymnasium, its rewards mapped affinely onto [0, 1].

    Terminated transitions lead to one added state, the last, which is never left. It pays what a
    reward of 0 is mapped to, so policies keep their order. In CliffWalking a step costs 1 and the
    cliff 100; here a step pays .99, and every step after the goal pays 1. Time limits are not part
    of the world.

    Attributes
    ----------
    name
        The name of the environment: "FrozenLake-v1", "FrozenLake8x8-v1", "CliffWalking-v1",
        "Taxi-v4", or another with a table of transitions.
    options
        Keyword arguments for `gymnasium.make`, as `Gym` has them: "is_slippery=false".
    gamma
        The discount factor.

    Examples
    --------
    >>> cliff = ToyText("CliffWalking-v1", gamma=0.9).mdp
    >>> cliff.n_states, cliff.r[-1].round(12)
    (49, array([1., 1., 1., 1.]))
    >>> round(cliff.reward_map.inverse_value(cliff.optimal().value, 0.9), 6)  # 13 steps
    -7.458134
    """

    name: str = "FrozenLake-v1"
    options: str = ""
    gamma: float = 0.99

    def build(self) -> FiniteMDP:
        known, options = check_id(self.name, "name"), read_options(self.options)
        try:
            env = gymnasium.make(known, **options)
        except Exception as error:  # whatever the environment raises
            given = f" with options = {self.options!r}" if options else ""
            said = f"{type(error).__name__}: {error}"
            raise ValueError(f"name = {self.name!r} cannot be made{given}: {said}") from error
        try:
            return FiniteMDP.from_gymnasium(env, self.gamma).affine()
        except TypeError as error:
            raise ValueError(f"name = {self.name!r}: {error}") from None
        finally:
            env.close()
