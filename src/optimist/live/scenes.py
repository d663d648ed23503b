"""The scenes of an agent: a board, a map of two dimensions, a picture, or numbers alone."""

import io
from typing import Any

import numpy as np

from optimist.agents import Agent, PythonAgent, VariantAgent
from optimist.checks import FloatArray
from optimist.display.boards import Map
from optimist.envs import ArrayWorld, Gym, World
from optimist.envs.world import MOST_STATES
from optimist.experiments.maps import SIDE, centres, corners, is_plane
from optimist.imitation.imitator import Place
from optimist.live.frames import Frame
from optimist.mdp import FiniteMDP

MOST_PIXELS = 640
"""Pictures of an environment are at most so wide and high."""


class Scene:
    """The picture of a run; by default numbers alone.

    Attributes
    ----------
    title
        The agent and the world.
    picture
        The board or the map; None without one.
    optimal
        The optimal value, if it is known.
    judges
        Whether exact values are known.
    """

    picture: Map | None = None
    optimal: float | None = None
    judges: bool = False

    def __init__(self, agent: Agent) -> None:
        self.title = title_of(agent)

    def shoot(self, agent: Any, frame: Frame) -> None:
        """Add the agent's present estimates to a frame."""

    def complete(self, frame: Frame) -> None:
        """Add the slow parts, from copies: in the order of the frames, in another thread."""


class BoardScene(Scene):
    """A finite world on a board.

    Of a learner that imitates, which sees no rewards and no goals, there is where its policy goes
    instead of what that is worth.
    """

    def __init__(self, agent: Any, picture: Map, imitates: bool = False) -> None:
        super().__init__(agent)
        self.mdp = agent.mdp
        self.picture, self.judges = picture, not imitates
        self._shown = {"occupancy" if imitates else "value"}
        self._judged: tuple[int, float] | None = None  # the episodes and the loss of the last frame
        self._regret = 0.0

    def shoot(self, agent: Any, frame: Frame) -> None:
        frame.snapshot = agent.snapshot

    def complete(self, frame: Frame) -> None:
        assert frame.snapshot is not None
        now, frame.snapshot = frame.snapshot.beliefs, None
        boards = {
            "value": now.value,
            "bonus": now.bonus.mean(axis=1),
            "ascension": now.ascension.mean(axis=1),
            "visits": now.visits.sum(axis=1),
        }
        frame.policy = now.policy
        if not self.judges:
            boards["occupancy"] = self.mdp.state_occupancy(now.policy)
            del boards["value"]
        # An agent without bonuses, or without a heaven, has none of them from the beginning on.
        self._shown |= {k for k, board in boards.items() if np.nanmax(board, initial=0) > 0}
        frame.boards = {k: board for k, board in boards.items() if k in self._shown}
        if self.judges:
            if np.isfinite(now.value).all():
                frame.numbers["optimistic_value"] = float(self.mdp.nu0 @ now.value)
            self._judge(frame, now.policy)

    def _judge(self, frame: Frame, policy: FloatArray) -> None:
        """Exact numbers: the value of the policy, and the regret of all policies so far."""
        best = self.mdp.optimal()  # kept there once it is found
        value = float(self.mdp.value(policy))
        self.optimal, loss = best.value, best.value - value
        if self._judged is not None:
            # The policy of a frame plays the next episode; those between are interpolated.
            since, before = self._judged
            n = frame.episodes - since
            self._regret += n * before + (loss - before) * (n - 1) / 2
        self._judged = frame.episodes, loss
        frame.numbers |= {"value": value, "regret": self._regret}


class MapScene(Scene):
    """An environment whose observations are points of a bounded plane."""

    def __init__(self, agent: Any, world: Gym) -> None:
        super().__init__(agent)
        self.picture, self._centres = map_of(corners(world)), centres(world)

    def shoot(self, agent: Any, frame: Frame) -> None:
        seen = agent.believe(self._centres)
        boards = {
            "value": seen.value,
            "bonus": seen.bonus.mean(axis=1),
            "ascension": seen.ascension.mean(axis=1),
            "visits": seen.visits.sum(axis=1),
        }
        frame.boards = boards
        frame.action = seen.policy.argmax(axis=1)
        frame.points = agent.latest_path


class RenderedScene(Scene):
    """An environment that draws itself, shown as it is when the latest episode has ended."""

    def __init__(self, agent: Any, env: Any) -> None:
        super().__init__(agent)
        self._env = env

    def shoot(self, agent: Any, frame: Frame) -> None:
        frame.picture = as_png(self._env.render())


def scene_of(agent: Any) -> Scene:
    """The scene that fits an agent."""
    world = agent.world
    if isinstance(world, FiniteMDP):
        world = ArrayWorld(world)
    if isinstance(world, World):
        small = world.mdp.n_states <= MOST_STATES
        return BoardScene(agent, board_of(world)) if small else Scene(agent)
    if isinstance(world, Place):
        return Scene(agent) if world.map is None else BoardScene(agent, world.map, imitates=True)
    env = agent.env
    if getattr(env, "render_mode", None) == "rgb_array":
        return RenderedScene(agent, env)
    if isinstance(world, Gym) and isinstance(agent, VariantAgent) and is_plane(world):
        return MapScene(agent, world)
    return Scene(agent)


def title_of(agent: Any) -> str:
    """The agent and its world, in words."""
    kind = type(agent.algorithm) if isinstance(agent, PythonAgent) else type(agent)
    world = agent.world
    name = getattr(world, "name", type(world).__name__)
    if isinstance(world, FiniteMDP):
        name = f"a world of {world.n_states:,} states"
    return f"{kind.__name__} in {name}"


def board_of(world: World) -> Map:
    """The board of a finite world."""
    cells = np.array([world.position(x) for x in range(world.mdp.n_states)])
    moves = np.array(world.moves) if world.moves else None
    return Map(tuple(world.board), cells, moves)


def map_of(ends: FloatArray) -> Map:
    """A map of a plane with these ends of both dimensions, [2, 2]."""
    cells = np.stack(np.divmod(np.arange(SIDE**2), SIDE), axis=1)
    return Map(("." * SIDE,) * SIDE, cells, axes=ends)


def as_png(pixels: Any) -> bytes:
    """Pixels [height, width, 3] as a PNG that is not too large."""
    from PIL import Image

    image = Image.fromarray(np.asarray(pixels, dtype=np.uint8))
    image.thumbnail((MOST_PIXELS, MOST_PIXELS))
    buffer = io.BytesIO()
    image.save(buffer, "png")
    return buffer.getvalue()
