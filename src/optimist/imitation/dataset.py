"""Expert features: the only data that imitation learning gets from an expert (Section 5)."""

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
from optimist.display.card import card
from optimist.display.svg import bars
from optimist.envs import World
from optimist.errors import FileError
from optimist.features import FeatureMap
from optimist.imitation import dataset_files
from optimist.imitation.episodes import Trajectory, discounted_means
from optimist.imitation.recording import (
    PolicyLike,
    Recordable,
    check_map,
    expected_features,
    finite_mdp,
    record_pairs,
)
from optimist.imitation.rows import check_norms, read_bound, read_rows
from optimist.mdp import FiniteMDP


@dataclass(frozen=True, init=False, repr=False, eq=False)
class FeatureDataset:
    """Features phi_r(X, A) of an expert's pairs (X, A) ~ mu(pi_E), without actions or rewards.

    Parameters
    ----------
    features
        One row per sample, [n, d].
    bound
        Upper bound B on the norms of the rows; by default the largest of them.
    gamma
        The discount factor of mu(pi_E), if it is known.
    exact
        Whether the only row is lambda(pi_E) = E[phi_r(X, A)]: a dataset of infinite size.

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
            raise TypeError(f"exact must be True or False; got {exact!r}")
        if exact and len(rows) != 1:
            raise ValueError(f"an exact dataset must have one row, lambda(pi_E); got {len(rows)}")
        # The fields have the names of the parameters, as dataclasses.replace requires.
        self.__dict__.update(
            features=rows,
            bound=read_bound(bound, rows),
            gamma=None if gamma is None else checks.discount(gamma),
            exact=bool(exact),
        )

    # Recording an expert

    @staticmethod
    def from_policy(
        world: World | FiniteMDP, policy: PolicyLike, phi: FeatureMap
    ) -> "FeatureDataset":
        """The exact feature expectations lambda(pi) = sum mu(pi) phi of a policy.

        Parameters
        ----------
        world
            A world or a `FiniteMDP`; its rewards are not used.
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
        world: Recordable,
        policy: PolicyLike,
        phi: FeatureMap,
        samples: int,
        rng: np.random.Generator,
        gamma: float | None = None,
        seed: int | None = None,
        absorbing: Any = None,
    ) -> "FeatureDataset":
        """The features of independent draws from mu(pi), as the paper assumes.

        Each row belongs to the last pair of its own rollout, which stops after each step with
        probability 1 - gamma.

        Parameters
        ----------
        world, policy, samples, rng, gamma, seed, absorbing
            As of `record_pairs`: the policy is the expert's, and ``samples`` is tau_E.
        phi
            The features of rewards, phi_r.

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
        episodes: Iterable[Trajectory] | str, phi: FeatureMap, gamma: float, absorbing: Any = None
    ) -> "FeatureDataset":
        """One row per trajectory: the discounted mean of phi(x_t, a_t).

        Step t has weight (1 - gamma) gamma^t, so weight gamma^T remains after T steps. If the
        trajectory terminated, its last observation is absorbing and gets that weight, with the last
        action (which matters only if phi depends on actions there); the row is then an unbiased
        estimate of lambda(pi_E). If the trajectory was truncated, the weights are normalised by
        their sum 1 - gamma^T. The row is then biased by gamma^T times the difference of the means
        before and after the cut: by at most 2 B gamma^T in norm. Longer trajectories reduce this
        bias, more trajectories do not. (`GeometricReset` cuts trajectories short; `from_rollouts`
        keeps their last pairs instead, without bias.)

        Rows are as independent as the trajectories, so tau_E is their number. Norms are within the
        bound B of phi.

        Parameters
        ----------
        episodes
            A Minari dataset, its id, or any iterable of objects with ``observations`` [T + 1, ...],
            ``actions`` [T] and ``terminations`` [T]. Flatten dictionaries and tuples first. The
            last two may be missing or None: all observations then count.
        phi
            The features of rewards, phi_r; without actions it must not depend on them.
        gamma
            The discount factor.
        absorbing
            The observation in which a terminated trajectory stays, by default its last one. For
            `FiniteMDP.from_gymnasium` it is the last state, the common end of all episodes.

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

    # Contents

    @cached_property
    def mean(self) -> FloatArray:
        """The estimate of lambda(pi_E), [d]: the mean of the rows."""
        return checks.frozen(self.features.mean(axis=0))

    @property
    def size(self) -> float:
        """The number tau_E of samples; infinite if the dataset is exact."""
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
        ValueError: phi must have d = 2, as the rows of the dataset; got d = 3. Give the feature map
        phi_r that it was recorded with
        """
        check_map(phi)
        if self.dim != phi.dim:
            raise ValueError(
                f"phi must have d = {self.dim}, as the rows of the dataset; got d = {phi.dim}. "
                "Give the feature map phi_r that it was recorded with"
            )
        check_norms(self.features, phi.bound, "the bound B = {:.6g} of phi")

    def __len__(self) -> int:
        return len(self.features)

    def __repr__(self) -> str:
        size = "exact" if self.exact else f"size={len(self)}"
        gamma = "" if self.gamma is None else f", gamma={self.gamma:g}"
        return f"FeatureDataset({size}, dim={self.dim}, bound={self.bound:.6g}{gamma})"

    def _repr_html_(self) -> str:
        facts = {
            "samples": "exact" if self.exact else f"{len(self):,}",
            "features": f"{self.dim:,}",
        }
        facts["bound"] = f"{self.bound:.4g}"
        if self.gamma is not None:
            facts["gamma"] = f"{self.gamma:g}"
        return card("FeatureDataset", facts, bars(self.mean, "mean of each feature"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FeatureDataset):
            return NotImplemented
        declared = (self.bound, self.gamma, self.exact) == (other.bound, other.gamma, other.exact)
        return declared and np.array_equal(self.features, other.features)

    def __reduce__(self) -> tuple[Any, ...]:
        # Call the constructor again, since unpickled arrays are writable.
        return FeatureDataset, (self.features, self.bound, self.gamma, self.exact)

    # On disk

    def save(self, path: str | Path) -> None:
        """Write the dataset as .npz, .parquet or .csv, atomically.

        The first two formats hold everything. A csv file holds the rows only: when it is read, the
        bound is the largest norm and gamma is unknown (``dataclasses.replace(dataset, gamma=0.9)``
        restores it). An exact dataset is refused as csv.
        """
        declared = {"bound": self.bound, "gamma": self.gamma, "exact": self.exact}
        dataset_files.write(path, self.features, declared)

    @staticmethod
    def load(path: str | Path) -> "FeatureDataset":
        r"""The dataset in a file that `save` or another tool wrote.

        A foreign .npz file must hold one array, or one called ``features``. A foreign .parquet or
        .csv file must hold numbers only, one column per feature; the header of a csv file is
        optional.

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
