"""Policies as numbers: the d + d^2 of the paper (Section 3.3), or a table where none will do.

With Theta the sum of the epoch's n parameters theta, Lambda the covariance at its start,
u = ||phi||_{Lambda^{-1}}, CB = beta u and p the ascension function, the sum of the epoch's Q is

    S = (1 - p) (phi . Theta + n CB) + n p R_max H,

and the policy is softmax(eta S).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray
from optimist.core import storage
from optimist.core.ascension import (
    Ascension,
    Never,
    Sigmoid,
    Threshold,
    Truncation,
    ascension_name,
    ascension_named,
)
from optimist.features import FeatureMap, OneHot


@dataclass(frozen=True)
class SoftmaxPolicy:
    """The policy of RMAX-RAVI-UCB after n updates in an epoch.

    Attributes
    ----------
    Theta
        The sum of the epoch's parameters theta, [d].
    Lambda
        The covariance at the start of the epoch, as its diagonal blocks [blocks, s, s].
    updates
        n, how many updates the epoch has seen; with none the policy is uniform.
    eta, beta, ascension, heaven
        The parameters of the algorithm; ``heaven`` is R_max / (1 - gamma). At eta = infinity the
        policy is greedy for the last update alone, and ``updates`` is 1.
    features
        The map phi.
    rewards
        The sum of the epoch's rewards on pairs [X, A], if they are not linear in phi and so not in
        Theta; otherwise None.
    """

    Theta: FloatArray
    Lambda: FloatArray
    updates: int
    eta: float
    beta: float
    ascension: Ascension
    heaven: float
    features: FeatureMap
    rewards: FloatArray | None = None

    def probabilities(self, states: ArrayLike) -> FloatArray:
        """pi(. | x) for one state, [A], or a batch, [..., A]."""
        phi = self.features.all_actions(states)
        if phi.shape[-1] != self.Theta.size:
            raise ValueError(f"the policy has d = {self.Theta.size}, its features {phi.shape[-1]}")
        if self.updates == 0:
            return np.full(phi.shape[:-1], 1 / phi.shape[-2])
        S = self._sum_of_values(phi, states)
        if np.isinf(self.eta):
            return np.asarray(np.eye(S.shape[-1])[np.argmax(S, axis=-1)])
        weights = np.exp(self.eta * (S - S.max(axis=-1, keepdims=True)))
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))

    def predict(self, state: ArrayLike, rng: np.random.Generator | None = None) -> int:
        """An action: the most likely one, or one drawn from the policy if a generator is given."""
        pi = self.probabilities(state)
        return int(np.argmax(pi)) if rng is None else int(rng.choice(pi.size, p=pi))

    def _sum_of_values(self, phi: FloatArray, states: ArrayLike) -> FloatArray:
        u = self._uncertainty(phi)
        CB, n = self.beta * u, self.updates
        target: FloatArray = phi @ self.Theta + n * CB
        if self.rewards is not None:
            target = target + self.rewards[checks.indices(states, "state", len(self.rewards))]
        match self.ascension:
            case Sigmoid():
                p = self.ascension(CB)
            case Threshold(level):
                p = (u > level).astype(np.float64)
            case Truncation():  # storable at n = 1 only, when eta is infinite
                return np.minimum(target, self.heaven)
            case Never():
                return target
        return np.asarray((1 - p) * target + n * p * self.heaven)

    def _uncertainty(self, phi: FloatArray) -> FloatArray:
        """||phi|| in the norm of Lambda^{-1}."""
        n_blocks, s, _ = self.Lambda.shape
        parts = phi.reshape(*phi.shape[:-1], n_blocks, s)
        if s == 1:
            squares = parts[..., 0] ** 2 / self.Lambda[:, 0, 0]
        else:
            # With Lambda = L L', the norm is that of L^{-1} phi; one factor serves all rows.
            L = np.linalg.cholesky(self.Lambda)
            columns = parts.reshape(-1, n_blocks, s).transpose(1, 2, 0)  # [blocks, s, rows]
            squares = (np.linalg.solve(L, columns) ** 2).sum(axis=1).T.reshape(parts.shape[:-1])
        return np.asarray(np.sqrt(squares.sum(axis=-1)))

    def save(self, path: str | Path) -> None:
        """Write the policy's numbers: d + d^2 of them, or fewer where Lambda is block-diagonal."""
        header: dict[str, Any] = {
            "updates": int(self.updates),
            "eta": repr(float(self.eta)),
            "beta": float(self.beta),
            "heaven": float(self.heaven),
            "ascension": ascension_name(self.ascension),
            "n_actions": self.features.n_actions,
            "one_hot": isinstance(self.features, OneHot),
        }
        arrays = {"Theta": self.Theta, "Lambda": self.Lambda}
        if self.rewards is not None:
            arrays["rewards"] = self.rewards
        storage.write(path, "softmax policy", header, arrays)


@dataclass(frozen=True)
class TablePolicy:
    """A policy as its probabilities on a finite world, [X, A].

    Truncated values have no closed form, so what RAVI-UCB plays is kept as a table.
    """

    table: FloatArray

    def probabilities(self, states: ArrayLike) -> FloatArray:
        """pi(. | x) for one state, [A], or a batch, [..., A]."""
        return self.table[checks.indices(states, "state", len(self.table))]

    def predict(self, state: ArrayLike, rng: np.random.Generator | None = None) -> int:
        """An action: the most likely one, or one drawn from the policy if a generator is given."""
        pi = self.probabilities(state)
        return int(np.argmax(pi)) if rng is None else int(rng.choice(pi.size, p=pi))

    def save(self, path: str | Path) -> None:
        """Write the table."""
        storage.write(path, "table policy", {}, {"table": self.table})


def load_policy(
    path: str | Path, features: FeatureMap | None = None
) -> SoftmaxPolicy | TablePolicy:
    """The policy in a file, ready to act, without the world it was learnt in.

    Parameters
    ----------
    path
        A file written by ``policy.save``.
    features
        The features of the policy. One-hot features are known from the file; others are not in it
        and have to be given again.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp(), "p.safetensors")
    >>> TablePolicy(np.array([[0.25, 0.75]])).save(file)
    >>> load_policy(file).probabilities(0)
    array([0.25, 0.75])
    """
    header, arrays = storage.read(path)
    if header["kind"] == "table policy":
        return TablePolicy(arrays["table"])
    if header["kind"] != "softmax policy":
        raise storage.FileError(f"{path} holds a {header['kind']}, not a policy")
    Theta = arrays["Theta"]
    if features is None:
        if not header["one_hot"]:
            raise ValueError(f"{path} was learnt with features of its own: give them as features=")
        features = OneHot(Theta.size // header["n_actions"], header["n_actions"])
    if features.dim != Theta.size or features.n_actions != header["n_actions"]:
        raise ValueError(
            f"{path} has d = {Theta.size} and {header['n_actions']} actions; "
            f"the features have d = {features.dim} and {features.n_actions}"
        )
    return SoftmaxPolicy(
        Theta=Theta,
        Lambda=arrays["Lambda"],
        updates=header["updates"],
        eta=float(header["eta"]),
        beta=header["beta"],
        ascension=ascension_named(*header["ascension"]),
        heaven=header["heaven"],
        features=features,
        rewards=arrays.get("rewards"),
    )
