"""Expert features alone: all that imitation learning is given of an expert (Section 5)."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks, limits
from optimist.checks import FloatArray
from optimist.envs import World
from optimist.errors import FileError
from optimist.features import FeatureMap
from optimist.imitation import dataset_files
from optimist.imitation.episodes import Episode, discounted_means
from optimist.imitation.recording import (
    AnyWorld,
    PolicyLike,
    check_map,
    expected_features,
    finite_mdp,
    record_pairs,
)
from optimist.imitation.rows import check_norms, read_bound, read_rows
from optimist.mdp import FiniteMDP


@dataclass(frozen=True, init=False, repr=False, eq=False)
class FeatureDataset:
    """Features phi_r(X, A) of an expert's pairs (X, A) ~ mu(pi_E): no actions, and no rewards.

    Parameters
    ----------
    features
        One row for each sample, [n, d].
    bound
        An upper bound B on the norm of every row; the largest of their norms if not given.
    gamma
        The discount factor of mu(pi_E), if it is known.
    exact
        Whether the one row is lambda(pi_E) = E[phi_r(X, A)] itself: a dataset of infinite size.

    Attributes
    ----------
    features, bound, gamma, exact
        As above; the features are read-only.

    Examples
    --------
    >>> expert = FeatureDataset([[1, 0], [0, 1], [1, 0], [1, 0]], gamma=0.9)
    >>> expert
    FeatureDataset(size=4, dim=2, bound=1, gamma=0.9)
    >>> expert.mean
    array([0.75, 0.25])
    """

    features: FloatArray
    bound: float
    gamma: float | None
    exact: bool

    def __init__(
        self,
        features: ArrayLike,
        bound: float | None = None,
        gamma: float | None = None,
        exact: bool = False,
    ) -> None:
        rows = checks.frozen(read_rows(features))
        if not isinstance(exact, (bool, np.bool_)):
            raise TypeError(f"exact = {exact!r} must be True or False")
        if exact and len(rows) != 1:
            raise ValueError(
                f"features has {len(rows)} rows; an exact dataset has one, lambda(pi_E) itself"
            )
        # dataclasses.replace builds from the fields, so they have the names of the parameters.
        self.__dict__.update(
            features=rows,
            bound=read_bound(bound, rows),
            gamma=None if gamma is None else checks.discount(gamma),
            exact=bool(exact),
        )

    # How an expert is recorded

    @staticmethod
    def from_policy(
        world: World | FiniteMDP, policy: PolicyLike, phi: FeatureMap
    ) -> "FeatureDataset":
        """The feature expectations lambda(pi) = sum mu(pi) phi of a policy, exactly.

        Parameters
        ----------
        world
            A world or a `FiniteMDP`; its rewards are not looked at.
        policy
            The expert: an array [X, A], or an object with ``probabilities(states)``.
        phi
            The features of rewards, phi_r.

        Examples
        --------
        >>> from optimist import envs
        >>> from optimist.features import OneHotState, StateOnly
        >>> world = envs.GridWorld("S.G", slip=0, gamma=0.5)
        >>> phi = StateOnly(OneHotState(3), n_actions=4)
        >>> expert = FeatureDataset.from_policy(world, world.mdp.optimal().policy, phi)
        >>> expert, expert.mean
        (FeatureDataset(exact, dim=3, bound=1, gamma=0.5), array([0.5 , 0.25, 0.25]))
        """
        mean = expected_features(world, policy, phi)
        gamma = finite_mdp(world).gamma
        return FeatureDataset(mean[None], bound=phi.bound, gamma=gamma, exact=True)

    @staticmethod
    def from_rollouts(
        world: AnyWorld,
        policy: PolicyLike,
        phi: FeatureMap,
        samples: int,
        rng: np.random.Generator,
        gamma: float | None = None,
        seed: int | None = None,
        absorbing: Any = None,
    ) -> "FeatureDataset":
        """Samples as the paper assumes them: independent draws from mu(pi), seen through phi.

        Each row is of the last pair of a rollout of its own, which stops after each step with
        probability 1 - gamma; `record_pairs` says more.

        Parameters
        ----------
        world
            A world, a `FiniteMDP`, or a Gymnasium environment without a time limit.
        policy
            The expert: an array [X, A], or an object with ``probabilities(states)``.
        phi
            The features of rewards, phi_r.
        samples
            The number of rows, tau_E.
        rng
            What is random.
        gamma, seed
            The discount factor and the seed of a Gymnasium environment; a world has its own.
        absorbing
            The observation that a terminated environment stays in, if it is not its last one; see
            `from_episodes`.

        Examples
        --------
        >>> from optimist import envs
        >>> from optimist.features import OneHotState, StateOnly
        >>> world = envs.GridWorld("S.G", slip=0, gamma=0.5)
        >>> phi = StateOnly(OneHotState(3), n_actions=4)
        >>> rng = np.random.default_rng(0)
        >>> FeatureDataset.from_rollouts(world, world.mdp.optimal().policy, phi, 10_000, rng).mean
        array([0.499 , 0.2505, 0.2505])
        """
        check_map(phi, world)
        n = checks.count(samples, "samples")
        limits.need(16 * n * phi.dim, f"{n:,} samples of {phi.dim:,} features")  # and a copy
        states, actions = record_pairs(world, policy, samples, rng, gamma, seed, absorbing)
        known = finite_mdp(world).gamma if gamma is None else gamma
        return FeatureDataset(phi(states, actions), bound=phi.bound, gamma=known)

    @staticmethod
    def from_episodes(
        episodes: Iterable[Episode] | str, phi: FeatureMap, gamma: float, absorbing: Any = None
    ) -> "FeatureDataset":
        """One row for each whole trajectory: its discounted mean of phi(x_t, a_t).

        The weight of step t is (1 - gamma) gamma^t, and after T steps gamma^T is left. If the
        trajectory terminated, its last observation is absorbing and takes what is left, with the
        last action (which matters only if phi looks at actions there). Then the mean of the row is
        lambda(pi_E). If it was cut off, the weights are divided by their sum 1 - gamma^T instead.
        Such a row is off the mean over the endless trajectory by gamma^T times the difference of
        the means before and after the cut: by at most 2 B gamma^T in norm, a bias which more
        trajectories do not take away, but longer ones do. (Those that `GeometricReset` cuts are
        short; `from_rollouts` keeps their last pairs instead, which leaves no bias.)

        Rows are as independent as the trajectories, so tau_E is the number of those, and their
        norms are within the bound B of phi.

        Parameters
        ----------
        episodes
            A Minari dataset, its id, or any iterable of objects with ``observations`` [T + 1, ...],
            ``actions`` [T] and ``terminations`` [T]. Observations that are dictionaries or tuples
            have to be flattened first.
        phi
            The features of rewards, phi_r.
        gamma
            The discount factor.
        absorbing
            The observation that a terminated trajectory stays in, if it is not its last one: the
            last state of `FiniteMDP.from_gymnasium`, in which all its endings meet.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> from optimist.features import OneHotState, StateOnly
        >>> cut = SimpleNamespace(observations=[0, 1, 2], actions=[0, 0], terminations=[False] * 2)
        >>> FeatureDataset.from_episodes([cut], StateOnly(OneHotState(3), 1), gamma=0.5).mean
        array([0.66666667, 0.33333333, 0.        ])
        """
        check_map(phi)
        rows = discounted_means(episodes, phi, gamma, absorbing)
        return FeatureDataset(rows, bound=phi.bound, gamma=gamma)

    # What it holds

    @cached_property
    def mean(self) -> FloatArray:
        """The estimate of lambda(pi_E), [d]: the mean of the rows."""
        return checks.frozen(self.features.mean(axis=0))

    @property
    def size(self) -> float:
        """The number tau_E of samples: infinity if the dataset is exact."""
        return math.inf if self.exact else len(self.features)

    @property
    def dim(self) -> int:
        """The number d of features."""
        return int(self.features.shape[1])

    def check_fits(self, phi: FeatureMap) -> None:
        """Refuse a dataset that cannot have been recorded with this feature map.

        Examples
        --------
        >>> from optimist.features import OneHotState, StateOnly
        >>> FeatureDataset([[1, 0]]).check_fits(StateOnly(OneHotState(3), n_actions=2))
        Traceback (most recent call last):
        ...
        ValueError: the dataset has rows of d = 2 features, and phi has d = 3: give the feature map
        phi_r that it was recorded with
        """
        check_map(phi)
        if self.dim != phi.dim:
            raise ValueError(
                f"the dataset has rows of d = {self.dim} features, and phi has d = {phi.dim}: "
                "give the feature map phi_r that it was recorded with"
            )
        check_norms(self.features, phi.bound, "the bound B = {:.6g} of phi")

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        size = "exact" if self.exact else f"size={len(self)}"
        gamma = "" if self.gamma is None else f", gamma={self.gamma:g}"
        return f"FeatureDataset({size}, dim={self.dim}, bound={self.bound:.6g}{gamma})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureDataset):
            return NotImplemented
        declared = (self.bound, self.gamma, self.exact) == (other.bound, other.gamma, other.exact)
        return declared and np.array_equal(self.features, other.features)

    def __reduce__(self) -> tuple[Any, ...]:
        # Built anew, since unpickled arrays are writable.
        return FeatureDataset, (self.features, self.bound, self.gamma, self.exact)

    # On disk

    def save(self, path: str | Path) -> None:
        """Write the dataset as .npz, .parquet or .csv; the file appears whole or not at all.

        The first two hold everything. A csv file holds the rows alone: its bound is read as the
        largest norm, its gamma as unknown, and ``dataclasses.replace(dataset, gamma=0.9)`` puts it
        back; an exact dataset cannot be told from a sample there and is refused.
        """
        declared = {"bound": self.bound, "gamma": self.gamma, "exact": self.exact}
        dataset_files.write(path, self.features, declared)

    @staticmethod
    def load(path: str | Path) -> "FeatureDataset":
        r"""The dataset in a file of ours or of another tool.

        Of another tool, an .npz file holds one array, or one called ``features``; the columns of a
        .parquet or .csv file are all numbers, one column for each feature; the header of the latter
        may be missing.

        Examples
        --------
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp(), "expert.csv")
        >>> _ = file.write_text("speed,height\n0.5,0.25\n1.0,0\n")
        >>> FeatureDataset.load(file).mean
        array([0.75 , 0.125])
        """
        features, declared = dataset_files.read(path)
        try:
            return FeatureDataset(features, **declared)
        except (TypeError, ValueError) as error:
            raise FileError(f"{path}: {error}") from None
