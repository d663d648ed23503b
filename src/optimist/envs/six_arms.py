"""SixArms: better arms are harder to reach."""

from dataclasses import dataclass

import numpy as np

from optimist.envs.world import World
from optimist.mdp import FiniteMDP

REACH = (1.0, 0.15, 0.1, 0.05, 0.03, 0.01)
REWARD = (50, 133, 300, 800, 1660, 6000)


@dataclass(frozen=True)
class SixArms(World):
    """Six arms around a start (Strehl and Littman, 2008), with rewards divided by 6000.

    From the start, action i reaches arm i with probability 1, .15, .1, .05, .03, .01 and otherwise
    stays. On arm i the action i stays and pays 50, 133, 300, 800, 1660, 6000 (over 6000); every
    other action returns to the start and pays nothing.

    Attributes
    ----------
    gamma
        The discount factor.
    """

    gamma: float = 0.95

    def build(self) -> FiniteMDP:
        P = np.zeros((7, 6, 7))
        r = np.zeros((7, 6))
        P[1:, :, 0] = 1
        for i, (reach, reward) in enumerate(zip(REACH, REWARD, strict=True)):
            P[0, i, [0, i + 1]] = 1 - reach, reach
            P[i + 1, i] = np.eye(7)[i + 1]
            r[i + 1, i] = reward / max(REWARD)
        return FiniteMDP(P, r, np.eye(7)[0], self.gamma)

    @property
    def board(self) -> tuple[str, ...]:
        """The start, and the arms in order of reward."""
        return ("s.....$",)

    def position(self, state: int) -> tuple[int, int]:
        return 0, state
