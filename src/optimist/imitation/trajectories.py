"""Expert trajectories, with actions or without, and the views that learners take of them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from optimist import checks, limits
from optimist.checks import FloatArray
from optimist.envs import World
from optimist.errors import FileError
from optimist.features import FeatureMap
from optimist.imitation import trajectory_files
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.episodes import Trajectory, each_episode, features_of
from optimist.imitation.paths import default_length, record_paths
from optimist.imitation.recording import (
    PolicyLike,
    Recordable,
    check_map,
    discount_of,
    finite_mdp,
    refuse_given,
)
from optimist.imitation.simulation import draw_entries
from optimist.imitation.trajectory_arrays import WeightedPairs, finite_states
from optimist.imitation.trajectory_base import Trajectories
from optimist.imitation.trajectory_views import (
    continued,
    discount_weights,
    discounted_features,
    states_in,
)
from optimist.mdp import FiniteMDP

View = Literal["whole", "last"]


class TrajectoryDataset(Trajectories):
    """Whole trajectories of an expert, x_0, a_0, x_1, a_1, ..., with actions or without.

    Lengths may differ. States are numbers 0, ..., X - 1 of a finite world, or observations of an
    environment. Learners read views of the same data:

    ==============  ================================================================================
    `last`          one pair per trajectory at a geometric time: independent draws of mu(pi_E)
    `whole`         all pairs, the one at time t weighted by (1 - gamma) gamma^t / (1 - gamma^T)
    `by_time`       the empirical law of x_t for each t
    iteration       the paths one by one; `split` halves them at random
    ==============  ================================================================================

    Do not record them with geometric resets: the views discount. A cut after T steps biases `last`
    and `whole` by a share gamma^T of the weight at most.

    Parameters
    ----------
    states
        The trajectories: a sequence of arrays [T_i, ...], or one array [n, T, ...]. With
        ``lengths``, all steps one after another, [N, ...].
    actions
        The actions in the same form; None if they were not recorded.
    lengths
        The number of steps of each trajectory, for states and actions that stand one after another.
    gamma
        The discount factor, if it is known; `in_world` adds that of a world.

    Attributes
    ----------
    states, actions, lengths, gamma
        As above; states and actions stand one after another, and are read-only.

    Examples
    --------
    >>> data = TrajectoryDataset([[0, 1, 1], [0, 0]], actions=[[1, 0, 0], [0, 1]], gamma=0.5)
    >>> data
    TrajectoryDataset(2 trajectories of 2 to 3 steps, states and actions, gamma=0.5)
    >>> data.state_occupancy(n_states=2)
    array([0.78571429, 0.21428571])
    >>> data.by_time(n_states=2)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    # Recording an expert

    @staticmethod
    def from_rollouts(
        world: Recordable,
        policy: PolicyLike,
        trajectories: int,
        rng: np.random.Generator,
        length: int | None = None,
        gamma: float | None = None,
        actions: bool = True,
        seed: int | None = None,
        absorbing: Any = None,
    ) -> "TrajectoryDataset":
        """Trajectories of one fixed length from nu0, without resets.

        Parameters
        ----------
        world, policy, rng, gamma, seed, absorbing
            As of `record_pairs`.
        trajectories
            Their number tau_E.
        length
            Their length T, by default ceil(log(50) / (1 - gamma)): then gamma^T <= 0.02.
        actions
            Whether actions are kept.

        Examples
        --------
        >>> from optimist import envs
        >>> world, rng = envs.RiverSwim(3, gamma=0.9), np.random.default_rng(0)
        >>> TrajectoryDataset.from_rollouts(world, world.mdp.uniform_policy, 100, rng)
        TrajectoryDataset(100 trajectories of 40 steps, states and actions, gamma=0.9)
        """
        known = discount_of(world, gamma)
        if isinstance(world, World | FiniteMDP):
            refuse_given(gamma, seed, absorbing)
        T = default_length(known) if length is None else length
        x, a = record_paths(world, policy, trajectories, T, rng, seed, absorbing)
        return TrajectoryDataset(x, a if actions else None, gamma=known)

    @staticmethod
    def from_episodes(
        episodes: Iterable[Trajectory] | str,
        gamma: float | None = None,
        length: int | None = None,
        actions: bool = True,
        absorbing: Any = None,
    ) -> "TrajectoryDataset":
        """The trajectories of a Minari dataset, or of objects like its episodes.

        A trajectory that terminated stays in its last observation, with its last action, until it
        has ``length`` steps. One that was cut off keeps the observations that have an action, or
        all if there are no actions.

        Parameters
        ----------
        episodes
            A Minari dataset, its id, or any iterable of objects with ``observations`` [T + 1, ...],
            and ``actions`` [T] and ``terminations`` [T] unless the actions were not recorded.
        gamma
            The discount factor.
        length
            See above; by default that of `from_rollouts`, for which gamma must be given.
        actions
            Whether actions are kept, if there are any.
        absorbing
            The observation in which terminated trajectories stay, if it is not their last one.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> seen = SimpleNamespace(observations=[0, 1, 2], terminations=[False, True])
        >>> TrajectoryDataset.from_episodes([seen], length=5).states
        array([0, 1, 2, 2, 2])
        """
        T = default_length(gamma) if length is None and gamma is not None else length
        paths = each_episode(episodes, lambda steps: continued(steps, T, actions, absorbing))
        a = [path.actions for path in paths]
        recorded = sum(each is not None for each in a)
        if recorded not in (0, len(a)):
            raise ValueError(
                f"all trajectories must have actions, or none; {recorded} of {len(a)} have actions"
            )
        return TrajectoryDataset(
            [path.states for path in paths], a if recorded else None, gamma=gamma
        )

    def in_world(self, world: World | FiniteMDP) -> "TrajectoryDataset":
        r"""The same trajectories as states of a world, with its gamma, if they fit it.

        Observations of two numbers are positions (row, column) on the map of the world, as
        `World.position` has them.

        Examples
        --------
        >>> from optimist import envs
        >>> seen = TrajectoryDataset([[(0, 0), (0, 1), (1, 1)]])
        >>> seen.in_world(envs.GridWorld("S.\n#G"))
        TrajectoryDataset(1 trajectory of 3 steps, states, gamma=0.9)
        >>> seen.in_world(envs.GridWorld("S.\nG#"))
        Traceback (most recent call last):
        ...
        ValueError: episode 0, t = 2: a position must be a state of GridWorld; got (1, 1)
        """
        return replace(self, states=states_in(self, world), gamma=finite_mdp(world).gamma)

    # Views

    def last(self, rng: np.random.Generator) -> WeightedPairs:
        """One pair per trajectory at a geometric time, drawn again if it is not below T.

        The pairs are independent draws of mu(pi_E), up to gamma^T; the weights are equal.
        """
        gamma, n = self.discount(), len(self)
        cumulative = np.cumsum(gamma ** np.arange(self.lengths.max()))
        none = np.zeros(n, dtype=np.int64)
        at = self.offsets[:-1] + draw_entries(
            cumulative, none, self.lengths - 1, checks.generator(rng)
        )
        a = None if self.actions is None else self.actions[at]
        return WeightedPairs(self.states[at], a, np.full(n, 1 / n))

    def whole(self) -> WeightedPairs:
        """All pairs, the one at time t with weight (1 - gamma) gamma^t / (1 - gamma^T) / n."""
        return WeightedPairs(self.states, self.actions, discount_weights(self) / len(self))

    def state_occupancy(self, n_states: int) -> FloatArray:
        """The occupancy of states in the view `whole`, [X]."""
        return self.whole().state_occupancy(n_states)

    def occupancy(self, n_states: int, n_actions: int) -> FloatArray:
        """The occupancy of pairs in the view `whole`, [X, A]."""
        return self.whole().occupancy(n_states, n_actions)

    def by_time(self, n_states: int) -> FloatArray:
        """The empirical law of x_t among the trajectories longer than t, [T, X]."""
        self.check_any()
        x, T = finite_states(self.states, n_states), int(self.lengths.max())
        limits.need(24 * T * n_states, f"the laws of {n_states:,} states at {T:,} times")
        counts = np.bincount(self.times * n_states + x, minlength=T * n_states)
        laws = counts.reshape(T, n_states).astype(np.float64)
        return np.asarray(laws / laws.sum(axis=1, keepdims=True))

    def features(
        self, phi: FeatureMap, view: View = "whole", rng: np.random.Generator | None = None
    ) -> FeatureDataset:
        """The features of a view, one row per trajectory.

        Parameters
        ----------
        phi
            The features of rewards phi_r. Without actions it must not depend on them.
        view
            "whole" for the discounted mean of each trajectory, "last" for the features of one pair
            of each, drawn by ``rng``.

        Examples
        --------
        >>> from optimist.features import OneHotState, StateOnly
        >>> data = TrajectoryDataset([[0, 1, 1]], gamma=0.5)
        >>> data.features(StateOnly(OneHotState(2), n_actions=3)).mean
        array([0.57142857, 0.42857143])
        """
        check_map(phi)
        limits.need(16 * len(self) * phi.dim, f"{len(self):,} rows of {phi.dim:,} features")
        if view == "last":
            pairs = self.last(checks.generator(rng))
            rows = features_of(phi, pairs.states, pairs.actions)
        elif view == "whole":
            rows = discounted_features(self, phi)
        else:
            raise ValueError(f"view must be 'whole' or 'last'; got {view!r}")
        return FeatureDataset(rows, bound=phi.bound, gamma=self.gamma)

    # On disk

    def save(self, path: str | Path) -> None:
        """Write the dataset as .parquet or .csv, one row per step, or as .npz; atomically.

        The columns are ``episode``, ``t``, ``state`` (or ``state_0``, ... for observations) and
        ``action`` if there are actions. A csv file does not hold gamma.
        """
        self.check_any()
        trajectory_files.write(path, self.states, self.actions, self.lengths, self.gamma)

    @staticmethod
    def load(path: str | Path, states: Sequence[str] | None = None) -> "TrajectoryDataset":
        r"""The dataset in a file that `save` or another tool wrote.

        A .parquet or .csv file has one row per step, in any order, with the columns ``episode`` (a
        number), ``t`` (0, 1, ... in each episode), those of the state (``states``, by default
        ``state`` or ``state_0``, ``state_1``, ...), and ``action`` if it was recorded; further
        columns of numbers are not read. Columns of whole numbers give whole numbers; one such
        column gives states, several give observations, which `in_world` can place on the map of a
        world. A .npz file has arrays ``states``, ``lengths``, and ``actions`` if there are any.

        Examples
        --------
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp(), "log.csv")
        >>> _ = file.write_text("episode,t,row,column\n1,0,0,0\n1,1,0,1\n2,0,0,0\n")
        >>> TrajectoryDataset.load(file, states=["row", "column"])
        TrajectoryDataset(2 trajectories of 1 to 2 steps, observations of 2 numbers)
        """
        x, a, lengths, gamma = trajectory_files.read(path, states)
        try:
            return TrajectoryDataset(x, a, lengths, gamma)
        except (TypeError, ValueError) as error:
            raise FileError(f"{path}: {error}") from None
