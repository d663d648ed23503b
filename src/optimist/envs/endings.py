"""How the episodes of an environment end: as it ends them, or also by geometric resets."""

import numpy as np

from optimist.envs.gym_world import Gym
from optimist.envs.players import Players

PATIENCE = 10
"""The length, in horizons H, from which an episode counts as one that would never end."""


class Endings:
    """Whether episodes are broken off after each step with probability 1 - gamma.

    By default they are not, as long as the environment ends its episodes: the first episode of 10 H
    steps is broken off, and from then on resets are geometric. An environment that declares a time
    limit, or has cut off an episode itself, keeps its own endings.

    Parameters
    ----------
    world
        The declaration of the environment.
    players
        The environment that is played.

    Examples
    --------
    >>> world = Gym("CliffWalking-v1", gamma=0.9)  # ends at its goal alone
    >>> endings = Endings(world, Players(world.make()))
    >>> endings.geometric, endings.exceeds_patience(steps=99), endings.exceeds_patience(steps=100)
    (False, False, True)
    >>> endings.geometric
    True
    """

    def __init__(self, world: Gym, players: Players) -> None:
        declared, stoppable = world.geometric, players.can_be_stopped
        if declared and not stoppable:
            raise ValueError(
                "geometric resets break off one episode while others go on: make the vector "
                "environment with autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED"
            )
        geometric = players.endless and stoppable if declared is None else declared
        settled = declared is not None or players.limited or players.endless or not stoppable
        self.gamma = world.gamma
        self.flags = np.array([geometric, settled])  # the state to save
        players.geometric = self.geometric

    @property
    def geometric(self) -> bool:
        """Whether resets are geometric now."""
        return bool(self.flags[0])

    def __str__(self) -> str:
        if self.geometric:
            return f"episodes are broken off with probability {1 - self.gamma:.3g} a step"
        return "episodes end as the environment ends them"

    def continues(self, rng: np.random.Generator) -> bool:
        """Draw whether the episode goes on after a step; it does unless resets are geometric."""
        return not self.flags[0] or bool(rng.random() < self.gamma)

    def cut_off(self) -> None:
        """Note that the environment has cut an episode off itself."""
        self.flags[1] = True

    def exceeds_patience(self, steps: int) -> bool:
        """Whether to break off an episode that has not ended after so many steps."""
        over = not self.flags[1] and steps >= round(PATIENCE / (1 - self.gamma))
        if over:
            self.flags[:] = True
        return over
