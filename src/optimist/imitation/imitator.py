"""Base class of all learners from an expert's data, with the checks that they share."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np

from optimist import checks
from optimist.agents.driver import Policy
from optimist.agents.history import History
from optimist.checks import IntArray
from optimist.core import schema, storage
from optimist.display.boards import Map
from optimist.envs import World
from optimist.errors import FileError
from optimist.features import FeatureMap
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP

Sees = Literal["pairs", "states", "features"]

WITHOUT_ACTIONS = "Mobile, ForwardAIL, FraIL, Ilarl and OgaIL learn from states alone"


@dataclass(frozen=True)
class Place:
    """A finite world as kept for pictures: the places of states, not their rewards."""

    name: str
    map: Map | None

    @classmethod
    def of(cls, world: World | FiniteMDP) -> "Place":
        """The name and the map of a world, on which goals and pits are ground."""
        there = world.map if isinstance(world, World) else None
        if there is not None:
            ground = str.maketrans("$x", "==")
            there = replace(there, board=tuple(line.translate(ground) for line in there.board))
        return cls(type(world).__name__, there)


class Imitator(ABC):
    """A learner that sees an expert's data, and never a reward.

    ``Learner(world, expert, *, K=None, seed=0, stride=10, config=None, **parameters)`` makes one.
    The world is copied without its rewards. The same seed gives the same bytes.

    Attributes
    ----------
    sees
        The expert's data that it reads: "pairs" of states and actions, "states", or "features".
    needs_actions, needs_deterministic
        Whether the expert's data must have actions, and one action in each state.
    needs_kernel
        Whether it knows P and nu0. If not, it only plays the world.
    needs_K
        Whether the number of episodes must be known before the first.
    plays
        Whether it plays episodes. If not, `learn` takes no number of them, and is called once.
    """

    Config: ClassVar[type[Any]]
    sees: ClassVar[Sees]
    needs_actions: ClassVar[bool] = False
    needs_deterministic: ClassVar[bool] = False
    needs_kernel: ClassVar[bool] = False
    needs_K: ClassVar[bool] = False
    plays: ClassVar[bool] = True
    of_K: ClassVar[str] = "the learner"
    """The quantity that depends on K, for the error that requests K."""

    @abstractmethod
    def learn(self, *args: Any, **kwargs: Any) -> History:
        """Learn; the history of what was played."""

    @property
    @abstractmethod
    def policy(self) -> Policy:
        """The present policy."""

    @property
    @abstractmethod
    def output(self) -> Policy:
        """The policy that the guarantee of the algorithm is about."""

    @property
    @abstractmethod
    def history(self) -> History:
        """The history of all episodes so far."""

    @abstractmethod
    def save(self, folder: str | Path) -> None:
        """Write the whole learner into a folder."""

    @classmethod
    @abstractmethod
    def load(cls, folder: str | Path, world: Any, *given: Any, **settings: Any) -> Self:
        """The learner in a folder; world and expert are given again."""

    # Checks

    @classmethod
    def _read_world(cls, world: Any) -> FiniteMDP:
        """A finite world without its rewards; others are refused."""
        if not isinstance(world, World | FiniteMDP):
            why = "must know P" if cls.needs_kernel else "keeps tables of all states"
            raise TypeError(
                f"world must be a World or FiniteMDP, as {cls.__name__} {why}; "
                f"got {type(world).__name__}"
            )
        mdp = world.mdp if isinstance(world, World) else world
        return mdp.with_rewards(np.zeros((mdp.n_states, mdp.n_actions)))

    @classmethod
    def _read_expert(cls, expert: Any, world: World | FiniteMDP) -> TrajectoryDataset:
        """Trajectories as states of the world; data that the learner cannot use are refused."""
        if not isinstance(expert, TrajectoryDataset):
            raise TypeError(
                f"expert must be a TrajectoryDataset, as {cls.__name__} sees {cls.sees}; got "
                f"{type(expert).__name__}"
            )
        expert.check_any()
        data = expert.in_world(world)
        if cls.needs_actions and data.actions is None:
            raise ValueError(
                f"expert must have actions, as {cls.__name__} learns from them; it has states "
                f"only. {WITHOUT_ACTIONS}"
            )
        return data

    def _check_deterministic(self, data: TrajectoryDataset, n_states: int, config: Any) -> None:
        """Refuse an expert that takes different actions in one state, if that is of no use."""
        if self.needs_deterministic:
            known_actions(data, n_states)

    @classmethod
    def _read_K(cls, K: int | None) -> int | None:
        """The number of episodes that the learner is made for, if it was given."""
        return None if K is None else checks.count(K, "K", below=checks.MOST)


def known_actions(data: TrajectoryDataset, n_states: int) -> IntArray:
    """kappa(x), the action that was seen in x, [X]; -1 where none was.

    Two different actions in one state are refused.
    """
    return _only_actions(data, data.states, n_states)


def timed_actions(data: TrajectoryDataset, n_states: int, T: int) -> IntArray:
    """kappa_t(x), the action that was seen in x at time t < T, [T, X]; -1 where none was.

    Two different actions in one state at one time are refused.
    """
    found = _only_actions(data, data.times * n_states + data.states, T * n_states)
    return found.reshape(T, n_states)


def _only_actions(data: TrajectoryDataset, place: IntArray, places: int) -> IntArray:
    """The only action in each place, [places], or -1."""
    assert data.actions is not None  # only learners that need actions call this
    kappa = np.full(places, -1)
    kappa[place] = data.actions
    other = np.flatnonzero(kappa[place] != data.actions)
    if other.size:
        i = int(other[0])
        raise ValueError(
            f"expert must be deterministic; in state {data.states[i]} it plays {data.actions[i]} "
            f"({data.place(i)}) and {kappa[place[i]]}. Oal and BehaviouralCloning learn from any "
            "expert"
        )
    return kappa


def as_features(
    expert: FeatureDataset | TrajectoryDataset, phi: FeatureMap, world: World | FiniteMDP
) -> FeatureDataset:
    """The expert's features: as given, or of the view "whole" of its trajectories.

    Examples
    --------
    >>> from optimist import envs
    >>> from optimist.features import OneHotState, StateOnly
    >>> world, phi = envs.RiverSwim(3, gamma=0.5), StateOnly(OneHotState(3), n_actions=2)
    >>> as_features(TrajectoryDataset([[0, 1, 1]]), phi, world).mean
    array([0.57142857, 0.42857143, 0.        ])
    """
    if isinstance(expert, TrajectoryDataset):
        return expert.in_world(world).features(phi)
    return expert


class MadeForK(Protocol):
    """A driver whose parameters depend on the number of episodes K."""

    K: int | None

    @property
    def episodes(self) -> int: ...


@contextmanager
def first_call(kind: type[Imitator], driver: MadeForK, episodes: int | None) -> Iterator[None]:
    """A call of `learn`, whose ``episodes`` set K if it is the first and K was not given."""
    K = driver.K
    if K is None and kind.needs_K:
        if episodes is None:
            raise ValueError(
                f"{kind.of_K} depends on the number of episodes: give K= to {kind.__name__}, or "
                "episodes= to the first call of learn"
            )
        driver.K = checks.count(episodes, "episodes")
    try:
        yield
    except BaseException:
        if not driver.episodes:  # the next call is the first
            driver.K = K
        raise


def saved_settings(
    path: Path, before: dict[str, Any], now: dict[str, Any], K: int | None
) -> dict[str, Any]:
    """The settings of a learner that was saved, if those given now are the same.

    K, where it is not given again, is that of the file.
    """
    now = dict(now)
    with storage.reading(path):
        schema.fields(before, dict.fromkeys(now, object), "settings")
        if before["K"] is not None:
            checks.count(before["K"], "K")
    if K is None:
        now["K"] = before["K"]
    others = [name for name in now if not checks.same(before.get(name), now[name])]
    if others:
        was = ", ".join(f"{n} was {before.get(n)}, is {now[n]}" for n in others)
        raise FileError(f"{path} belongs to another configuration: {was}")
    return now
