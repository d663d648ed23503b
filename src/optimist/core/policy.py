"""Policies as numbers: the d + d^2 of the paper (Section 3.3), or a table where none will do.

With Theta the sum of the epoch's n parameters theta, Lambda the covariance at its start,
u = ||phi||_{Lambda^{-1}}, CB the bonus and p the ascension function, the sum of the epoch's Q is

    S = (1 - p) (phi . Theta + n CB) + n p R_max H

(or, where heaven pays rewards that are known, p times their sum and that of gamma w, `Novelty`),
and the policy is softmax(eta S). A bonus by variances takes 2 d more numbers, a prior eight, and a
heaven whose worth is learnt d, for the rewards that it pays.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.core import schema, storage
from optimist.core.ascension import (
    EDGE,
    Ascension,
    Never,
    Novelty,
    Sigmoid,
    Threshold,
    Truncation,
    ascension_name,
    ascension_named,
)
from optimist.core.bonus import ROUNDING, Bonus, FixedBonus, VarianceBonus, bonus_name, bonus_named
from optimist.core.state import BASE, HOPE, MEAN, NOVEL, PRIOR, RIDGE
from optimist.errors import FileError
from optimist.features import FeatureMap, PerAction, StateFeatures, describe, from_description

HEADER = {
    "kind": str,
    "format": int,
    "updates": range(schema.MOST),
    "eta": str,
    "bonus": list,
    "gamma": float,
    "heaven": float,
    "ascension": list,
    "n_actions": range(1, schema.MOST),
    "features": dict | None,
    "reward": bool,
    "shift": float,
    "heaven_pays": bool,
}
"""What the header of the file of a `SoftmaxPolicy` says, and of which type."""


@dataclass(frozen=True)
class SoftmaxPolicy:
    """The policy of RMAX-RAVI-UCB after n updates in an epoch.

    Attributes
    ----------
    Theta
        The sum of the epoch's parameters theta, [d]. Truncated values have no closed form: for them
        it is all the n parameters, [n, d].
    Lambda
        The covariance at the start of the epoch, as its diagonal blocks [blocks, s, s].
    updates
        n, how many updates the epoch has seen; with none the policy is uniform.
    eta, bonus, ascension, heaven, gamma
        The parameters of the algorithm; ``heaven`` is R_max / (1 - gamma), or v_max, unless
        ``heaven_pays``. At eta =
        infinity the policy is greedy for the last update alone, and ``updates`` is 1.
    features
        The map phi.
    rewards
        The sum of the epoch's rewards on pairs [X, A], if they are not linear in phi and so not in
        Theta; otherwise None.
    weights
        The weights of that sum if they are linear, [d], where heaven pays them; otherwise they are
        in Theta.
    reward
        Instead of those, the rewards of an update as a known function of states [n, ...], [n, A].
    shift
        A constant reward of every update.
    heaven_pays
        Whether heaven pays rewards that are known and do not change, beside ``heaven``, which is
        then gamma w in the mean of the epoch's updates (`Novelty`).
    prior
        The numbers of the prior that was learnt (`optimist.core.prior`), or zeros.
    moments
        The regressions of the values and of their squares, by which variances are known, [2, d];
        or empty.
    """

    Theta: FloatArray
    Lambda: FloatArray
    updates: int
    eta: float
    bonus: Bonus
    ascension: Ascension
    heaven: float
    features: FeatureMap
    rewards: FloatArray | None = None
    weights: FloatArray | None = None
    reward: Callable[[Any], FloatArray] | None = None
    shift: float = 0.0
    gamma: float = 0.0
    heaven_pays: bool = False
    prior: FloatArray = field(default_factory=lambda: np.zeros(PRIOR))
    moments: FloatArray = field(default_factory=lambda: np.zeros((2, 0)))

    def probabilities(self, states: ArrayLike) -> FloatArray:
        """pi(. | x) for one state, [A], or a batch, [..., A]."""
        rows, block = self.features.in_blocks(states)
        d = self.Theta.shape[-1]
        if self.features.dim != d:
            raise ValueError(f"the policy has d = {d}, its features {self.features.dim}")
        if self.updates == 0:
            return np.full(block.shape, 1 / block.shape[-1])
        S = self._sum_of_values(rows, block, states)
        if np.isinf(self.eta):
            return np.asarray(np.eye(S.shape[-1])[np.argmax(S, axis=-1)])
        weights = np.exp(self.eta * (S - S.max(axis=-1, keepdims=True)))
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))

    def predict(self, state: ArrayLike, rng: np.random.Generator | None = None) -> int:
        """An action: the most likely one, or one drawn from the policy if a generator is given."""
        return _action(self.probabilities(state), rng)

    def _sum_of_values(self, rows: FloatArray, block: IntArray, states: ArrayLike) -> FloatArray:
        u = self._uncertainty(rows, block)
        CB, n = self._bonuses(rows, block, u), self.updates
        each = CB + self.shift + self.prior[BASE]  # what every update adds
        if self.reward is not None:
            batch = np.asarray(states)[None] if CB.ndim == 1 else np.asarray(states)
            each = each + self.reward(batch).reshape(CB.shape)
        all_of_them: FloatArray | float = 0.0  # what they add together
        if self.rewards is not None:
            all_of_them = self.rewards[checks.indices(states, "state", len(self.rewards))]
        elif self.weights is not None:
            all_of_them = self._predict(rows, block, self.weights)
        if isinstance(self.ascension, Truncation):
            parts = (self._predict(rows, block, theta) for theta in np.atleast_2d(self.Theta))
            return np.asarray(sum(np.minimum(x + each + all_of_them, self.heaven) for x in parts))
        target = self._predict(rows, block, self.Theta) + n * each + all_of_them
        match self.ascension:
            case Sigmoid():
                p = self.ascension(CB)
            case Threshold(level):
                p = (u > level).astype(np.float64)
            case Novelty(level):
                share = self._of_prior(rows, u)
                p = np.minimum(self.prior[NOVEL] * share, 1.0)
                p = np.where(share > level * EDGE, 1.0, p)
            case Never():
                return np.asarray(target)
        beyond: FloatArray | float = n * self.heaven
        if self.heaven_pays:
            beyond += self._paid(np.broadcast_to(all_of_them, CB.shape), rows, block, p)
        return np.asarray((1 - p) * target + p * beyond)

    def _paid(
        self, sums: FloatArray, rows: FloatArray, block: IntArray, p: FloatArray
    ) -> FloatArray:
        """What heaven pays to pairs, whose rewards have these sums over the epoch's updates.

        Where new pairs may be better than what is known of their state, they are all alike.
        """
        r, new = sums / self.updates, p == 1
        known = r + self.gamma * (self.prior[MEAN] + self._predict(rows, block, self.moments[0]))
        best = np.maximum(np.where(new, 0.0, known).max(axis=-1, keepdims=True), 0.0)
        alike = new & (r + self.gamma * self.prior[HOPE] > best * EDGE)
        return np.where(alike, sums.max(axis=-1, keepdims=True), sums)

    def _bonuses(self, rows: FloatArray, block: IntArray, u: FloatArray) -> FloatArray:
        """CB, from the uncertainty of the pairs."""
        if isinstance(self.bonus, FixedBonus):
            return self.bonus.beta * u
        data = 1 - self._of_prior(rows, u)
        known = np.where(data > 0, data, np.inf)  # a pair without data has no variance
        first, second = (self._predict(rows, block, m) / known for m in self.moments)
        variance = second - first**2
        variance = np.where(variance > ROUNDING * second, variance, 0.0)
        deviation = np.sqrt(np.maximum(variance, 0.0) / known)
        return np.asarray(self.gamma * self.bonus.c * deviation * u)

    def _of_prior(self, rows: FloatArray, u: FloatArray) -> FloatArray:
        """The share of the prior in the estimates of pairs."""
        norms = np.broadcast_to((rows**2).sum(axis=-1), u.shape)
        share = np.divide(self.prior[RIDGE] * u**2, norms, out=np.zeros_like(u), where=norms > 0)
        return np.asarray(np.minimum(share, 1.0))

    def _predict(self, rows: FloatArray, block: IntArray, theta: FloatArray) -> FloatArray:
        """phi . theta."""
        parts = theta.reshape(self.features.blocks, -1)[block]
        return np.asarray((rows * parts).sum(axis=-1))

    def _uncertainty(self, rows: FloatArray, block: IntArray) -> FloatArray:
        """||phi|| in the norm of Lambda^{-1}."""
        if self.Lambda.shape[1] == 1:  # diagonal, whatever the features
            diagonal = self.Lambda.reshape(self.features.blocks, -1)[block]
            return np.asarray(np.sqrt((rows**2 / diagonal).sum(axis=-1)))
        rows = np.broadcast_to(rows, (*block.shape, rows.shape[-1]))
        u = np.empty(block.shape)
        for b in np.unique(block):
            here = block == b
            u[here] = np.linalg.norm(rows[here] @ self._roots[b].T, axis=-1)
        return u

    @cached_property
    def _roots(self) -> FloatArray:
        """L^{-1} with Lambda = L L', of each block: the norm of a row is that of L^{-1} row."""
        L = np.linalg.cholesky(self.Lambda)
        return np.asarray(np.linalg.solve(L, np.broadcast_to(np.eye(L.shape[1]), L.shape)))

    def save(self, path: str | Path) -> None:
        """Write the policy's numbers: d + d^2 of them, or fewer where Lambda is block-diagonal."""
        header: dict[str, Any] = {
            "updates": int(self.updates),
            "eta": repr(float(self.eta)),
            "bonus": bonus_name(self.bonus),
            "gamma": float(self.gamma),
            "heaven": float(self.heaven),
            "ascension": ascension_name(self.ascension),
            "n_actions": self.features.n_actions,
            "features": describe(self.features),
            "reward": self.reward is not None,
            "shift": float(self.shift),
            "heaven_pays": bool(self.heaven_pays),
        }
        arrays = {"Theta": self.Theta, "Lambda": self.Lambda}
        if self.prior.any():
            arrays["prior"] = self.prior
        if self.moments.size:
            arrays["moments"] = self.moments
        if self.rewards is not None:
            arrays["rewards"] = self.rewards
        if self.weights is not None:
            arrays["weights"] = self.weights
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
        return _action(self.probabilities(state), rng)

    def save(self, path: str | Path) -> None:
        """Write the table."""
        storage.write(path, "table policy", {}, {"table": self.table})


def _action(pi: FloatArray, rng: np.random.Generator | None) -> int:
    if pi.ndim != 1:
        raise ValueError(
            f"predict takes one state, and was given a batch {pi.shape[:-1]} of them; "
            "probabilities takes batches"
        )
    return int(np.argmax(pi)) if rng is None else int(rng.choice(pi.size, p=pi))


def load_policy(
    path: str | Path,
    features: FeatureMap | StateFeatures | None = None,
    reward: Callable[[Any], FloatArray] | None = None,
) -> SoftmaxPolicy | TablePolicy:
    """The policy in a file, ready to act, without the world it was learnt in.

    Parameters
    ----------
    path
        A file written by ``policy.save``.
    features
        The features of the policy, or of states, one copy for each action. Those of this library
        are known from the file, but for tables; others are not in it and have to be given again.
    reward
        The known rewards that it was learnt with, if it was, as a function into [0, R_max].

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
        with storage.reading(path):
            schema.fields(header, {"kind": str, "format": int}, "the header")
            schema.check(arrays, {"table": schema.policy(_sizes(arrays, "table", 2)[:2])})
        return TablePolicy(arrays["table"])
    if header["kind"] != "softmax policy":
        raise FileError(f"{path} holds a {header['kind']}, not a policy")
    with storage.reading(path):
        schema.fields(header, HEADER, "the header")
        eta, gamma = float(header["eta"]), checks.discount(header["gamma"])
        if not eta > 0:
            raise ValueError(f"eta must be positive; got {eta}")
        ascension = ascension_named(*header["ascension"])
        bonus = bonus_named(*header["bonus"])
        if features is None and header["features"] is not None:
            features = from_description(header["features"])
    if features is None:
        raise ValueError(f"{path} was learnt with features of its own: give them as features=")
    if isinstance(features, StateFeatures):
        features = PerAction(features, header["n_actions"])
    d = _sizes(arrays, "Theta", 1)[-1]
    if features.dim != d or features.n_actions != header["n_actions"]:
        raise ValueError(
            f"{path} has d = {d} and {header['n_actions']} actions; "
            f"the features have d = {features.dim} and {features.n_actions}"
        )
    if header["reward"] != (reward is not None):
        known = "a known reward: give it as" if header["reward"] else "estimated rewards: give no"
        raise ValueError(f"{path} was learnt with {known} reward=")
    with storage.reading(path):
        each = isinstance(ascension, Truncation) and not np.isinf(eta) and header["updates"] > 0
        needs_moments = isinstance(bonus, VarianceBonus) or header["heaven_pays"]
        schema.check(arrays, _layout(features, arrays, header["updates"] * each, needs_moments))
    return SoftmaxPolicy(
        Theta=arrays["Theta"],
        Lambda=arrays["Lambda"],
        updates=header["updates"],
        eta=eta,
        bonus=bonus,
        ascension=ascension,
        heaven=header["heaven"],
        features=features,
        rewards=arrays.get("rewards"),
        weights=arrays.get("weights"),
        reward=reward,
        shift=header["shift"],
        gamma=gamma,
        heaven_pays=header["heaven_pays"],
        prior=arrays.get("prior", np.zeros(PRIOR)),
        moments=arrays.get("moments", np.zeros((2, 0))),
    )


def _layout(
    features: FeatureMap, arrays: dict[str, Any], thetas: int, needs_moments: bool
) -> dict[str, schema.Array]:
    """What the arrays of a policy must be; those that not all policies have, if they are there.

    Truncated values need all parameters theta of the epoch, so many.
    """
    d, s = features.dim, features.dim // features.blocks
    diagonal = "Lambda" in arrays and arrays["Lambda"].shape == (d, 1, 1)
    wanted = {
        "Theta": schema.real((thetas, d) if thetas else (d,)),
        "Lambda": schema.covariance((d, 1, 1) if diagonal else (features.blocks, s, s)),
    }
    others = {
        "prior": schema.prior((PRIOR,)),
        "moments": schema.real((2, d)),
        "rewards": schema.real((_sizes(arrays, "rewards", 1)[0], features.n_actions)),
        "weights": schema.real((d,)),
    }
    required = {"moments"} if needs_moments else set()
    return {**wanted, **{n: a for n, a in others.items() if n in arrays or n in required}}


def _sizes(arrays: dict[str, Any], name: str, least: int) -> tuple[int, ...]:
    """The shape of an array, if it is there and has as many axes; else one that it cannot have."""
    shape: tuple[int, ...] = arrays[name].shape if name in arrays else ()
    return shape if len(shape) >= least else (0,) * least
