"""The coming episode of a finite world: the data that determine its path before it is played."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from optimist.checks import FloatArray, IntArray
from optimist.core.state import Simulator


@dataclass(frozen=True)
class ComingEpisode:
    """An episode that is played under one policy, drawn in the order of the compiled loops.

    It draws from a copy of the generator: the run does not notice.

    Attributes
    ----------
    world
        The entries of the kernel.
    cumulative
        The cumulative probabilities of the policy, [X, A].
    state
        The state that it begins in, or -1 if that is drawn first.
    generator
        The state of the generator of the run.
    observe_last
        Whether the learner uses the last pair, so that its next state is drawn too.

    Examples
    --------
    >>> from optimist import RmaxRaviUcb, envs
    >>> agent = RmaxRaviUcb(envs.RiverSwim(6), seed=0)
    >>> coming = agent.coming_episode
    >>> steps = agent.learn(1).steps[0]
    >>> len(coming.path) == steps, coming.path[0]
    (np.True_, np.int64(0))
    """

    world: Simulator
    cumulative: FloatArray
    state: int
    generator: Mapping[str, Any]
    observe_last: bool = False

    @property
    def path(self) -> IntArray:
        """The states in which an action is taken, in order, [steps]."""
        bits = getattr(np.random, self.generator["bit_generator"])()
        bits.state = self.generator
        rng, (first, after, cumulative, start, *_), gamma = (
            np.random.Generator(bits),
            self.world,
            self.world.gamma,
        )
        n_actions, states, going = self.cumulative.shape[1], [], True
        x = self.state if self.state >= 0 else _draw(start, 0, len(start), rng)
        while going:
            states.append(x)
            pair = x * n_actions + _draw(self.cumulative[x], 0, n_actions, rng)
            going = rng.random() < gamma
            if going or self.observe_last:
                x = int(after[_draw(cumulative, first[pair], first[pair + 1], rng)])
        return np.array(states)


def _draw(cumulative: FloatArray, begin: int, end: int, rng: np.random.Generator) -> int:
    """As `optimist.core.linalg.draw_between` does."""
    return min(bisect_right(cumulative, rng.random(), int(begin), int(end)), int(end) - 1)
