"""Worlds as Gymnasium environments."""

from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from optimist.checks import FloatArray
from optimist.envs import drawing

if TYPE_CHECKING:
    from optimist.envs.world import World

RenderFrame = Any


class FiniteEnv(gymnasium.Env[Any, Any]):
    """A world, played one step at a time.

    Observations and actions are the indices of states and actions. The process never ends by
    itself; the wrapper `GeometricReset` divides it into episodes, as in what
    ``gymnasium.make("optimist/DeepSea-v0")`` returns.

    Parameters
    ----------
    world
        The world to play.
    render_mode
        "ansi" for text, "rgb_array" for pixels, or None.

    Examples
    --------
    >>> from optimist import envs
    >>> env = envs.DeepSea(4).make()
    >>> state, info = env.reset(seed=3)
    >>> env.step(1)
    (2, 0.0, False, False, {})
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium declares it as an instance variable
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
    }

    def __init__(self, world: "World", render_mode: str | None = None) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            modes = self.metadata["render_modes"]
            raise ValueError(f"render_mode must be None or one of {modes}; got {render_mode!r}")
        self.world = world
        self.render_mode = render_mode
        self.observation_space = spaces.Discrete(world.mdp.n_states)
        self.action_space = spaces.Discrete(world.mdp.n_actions)
        self._state: int | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Draw a state from nu0."""
        super().reset(seed=seed)
        self._state = self._draw(self.world.mdp.nu0)
        return self._state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move to a state drawn from P(. | x, a) and pay r(x, a, x')."""
        mdp = self.world.mdp
        if self._state is None:
            raise RuntimeError("step() was called before reset(); call reset() first")
        if not self.action_space.contains(action):
            raise ValueError(f"action must be in 0, ..., {mdp.n_actions - 1}; got {action!r}")
        action = int(action)  # a boolean would index as a mask
        pair = self._state * mdp.n_actions + action
        kernel, rewards = mdp.kernel, mdp.transition_rewards
        if isinstance(kernel, np.ndarray):
            after = drawn = self._draw(kernel[pair])
        else:
            entries = slice(int(kernel.indptr[pair]), int(kernel.indptr[pair + 1]))
            drawn = entries.start + self._draw(kernel.data[entries])
            after = int(kernel.indices[drawn])
        if rewards is None:
            reward = mdp.r[self._state, action]
        elif isinstance(rewards, np.ndarray):
            reward = rewards[self._state, action, after]
        else:
            reward = rewards.data[drawn]  # stored on the entries of the kernel
        self._state = after
        return after, float(reward), False, False, {}

    def render(self) -> RenderFrame:
        """The board with the agent on it, in the environment's render mode."""
        if self.render_mode is None:
            raise RuntimeError("render() needs a render_mode; pass one when making the environment")
        if self._state is None:
            raise RuntimeError("render() was called before reset(); call reset() first")
        draw = drawing.text if self.render_mode == "ansi" else drawing.image
        return draw(self.world, self._state)

    def _draw(self, probabilities: FloatArray) -> int:
        """An index with these probabilities."""
        cumulative = probabilities.cumsum()
        # Scaled by the sum, which is 1 up to rounding: entries of probability 0 are never drawn.
        return int(cumulative.searchsorted(self.np_random.random() * cumulative[-1], side="right"))
