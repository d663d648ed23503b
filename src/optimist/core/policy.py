"""Policies as numbers: the d + d^2 of the paper (Section 3.3), or a table where none will do.

With Theta the sum of the epoch's n parameters theta, Lambda the covariance at its start,
u = ||phi||_{Lambda^{-1}}, CB the bonus and p the ascension function, the sum of the epoch's Q is

    S = (1 - p) (phi . Theta + n CB) + n p R_max H

(or, where heaven pays rewards that are known, p times their sum and that of gamma w, `Novelty`),
and the policy is softmax(eta S). A variance bonus takes 2 d more numbers, a prior five, and a
heaven whose worth is learnt d, for the rewards that it pays.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.checks import FloatArray, IntArray
from optimist.core import schema, storage
from optimist.core.ascension import Ascension, Truncation
from optimist.core.bonus import Bonus, VarianceBonus
from optimist.core.norms import norms
from optimist.core.optimism import EDGE, optimism
from optimist.core.variant import optimism_with
from optimist.errors import FileError
from optimist.features import FeatureMap, PerAction, StateFeatures, describe, from_description
from optimist.parameters import from_plain_value, plain_value

HEADER = {
    "kind": str,
    "format": int,
    "updates": range(checks.MOST),
    "eta": float | str,
    "bonus": dict,
    "gamma": float,
    "heaven": float,
    "ascension": dict,
    "n_actions": range(1, checks.MOST),
    "features": dict | None,
    "reward": bool,
    "shift": float,
    "heaven_pays": bool,
    "prior": dict,
}
"""The fields in the header of the file of a `SoftmaxPolicy`, and their types."""


class PolicyPrior(NamedTuple):
    """The numbers of a learnt prior that a policy needs (`optimist.core.state.PRIOR`)."""

    ridge: float = 0.0
    novel: float = 0.0
    v: float = 0.0
    expected: float = 0.0
    hope: float = 0.0


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
        ``heaven_pays``. At eta = infinity the policy is greedy for the last update alone, and
        ``updates`` is 1.
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
        then the mean of gamma w over the epoch's updates (`Novelty`).
    prior
        The learnt prior (`optimist.core.prior`), or zeros.
    moments
        The regressions of the values and of their squares, [2, d]; or empty.
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
    prior: PolicyPrior = PolicyPrior()  # noqa: RUF009 - a tuple
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
        """S of the states, [..., A]."""
        CB, p = self._optimism(rows, block)
        each = CB + self.shift + self.prior.expected  # added by every update
        if self.reward is not None:
            batch = np.asarray(states)[None] if CB.ndim == 1 else np.asarray(states)
            each = each + self.reward(batch).reshape(CB.shape)
        rewards: FloatArray | float = 0.0  # added by all updates together
        if self.rewards is not None:
            rewards = self.rewards[checks.indices(states, "state", len(self.rewards))]
        elif self.weights is not None:
            rewards = self._predict(rows, block, self.weights)
        if isinstance(self.ascension, Truncation):
            parts = (self._predict(rows, block, theta) for theta in np.atleast_2d(self.Theta))
            return np.asarray(sum(np.minimum(x + each + rewards, self.heaven) for x in parts))
        target = self._predict(rows, block, self.Theta) + self.updates * each + rewards
        beyond: FloatArray | float = self.updates * self.heaven
        if self.heaven_pays:
            beyond += self._paid(np.broadcast_to(rewards, CB.shape), rows, block, p)
        return np.asarray((1 - p) * target + p * beyond)

    def _paid(
        self, sums: FloatArray, rows: FloatArray, block: IntArray, p: FloatArray
    ) -> FloatArray:
        """What heaven pays to pairs, whose rewards have these sums over the epoch's updates.

        New pairs that may be better than all that is known of their state are paid alike.
        """
        r, new = sums / self.updates, p == 1
        known = r + self.gamma * (self.prior.v + self._predict(rows, block, self.moments[0]))
        best = np.maximum(np.where(new, 0.0, known).max(axis=-1, keepdims=True), 0.0)
        alike = new & (r + self.gamma * self.prior.hope > best * EDGE)
        return np.where(alike, sums.max(axis=-1, keepdims=True), sums)

    def _optimism(self, rows: FloatArray, block: IntArray) -> tuple[FloatArray, FloatArray]:
        """CB and p+ of the pairs."""
        u = self._uncertainty(rows, block)
        first = second = np.zeros(u.shape)
        if isinstance(self.bonus, VarianceBonus):
            first, second = (self._predict(rows, block, m) for m in self.moments)
        norm = np.broadcast_to((rows**2).sum(axis=-1), u.shape)
        given = optimism_with(self.bonus, self.ascension, self.gamma)
        with np.errstate(over="ignore"):  # a sigmoid far from 0 is 0 or 1
            return optimism(given, self.prior.ridge, self.prior.novel, u, norm, first, second)

    def _predict(self, rows: FloatArray, block: IntArray, theta: FloatArray) -> FloatArray:
        """phi . theta."""
        parts = theta.reshape(self.features.blocks, -1)[block]
        return np.asarray((rows * parts).sum(axis=-1))

    def _uncertainty(self, rows: FloatArray, block: IntArray) -> FloatArray:
        """||phi|| in the norm of Lambda^{-1}."""
        if self.Lambda.shape[1] == 1 < rows.shape[-1]:  # diagonal, whatever the features
            diagonal = self.Lambda.reshape(self.features.blocks, -1)[block]
            return np.asarray(np.sqrt((rows**2 / diagonal).sum(axis=-1)))
        return norms(self.Lambda, self._inverse, rows, block)

    @cached_property
    def _inverse(self) -> FloatArray:
        return np.asarray(np.linalg.inv(self.Lambda))

    def save(self, path: str | Path) -> None:
        """Write the policy's numbers: d + d^2 of them, or fewer where Lambda is block-diagonal."""
        header: dict[str, Any] = {
            "updates": int(self.updates),
            "eta": plain_value(self.eta, float),
            "bonus": plain_value(self.bonus, Bonus),
            "gamma": float(self.gamma),
            "heaven": float(self.heaven),
            "ascension": plain_value(self.ascension, Ascension),
            "n_actions": self.features.n_actions,
            "features": describe(self.features),
            "reward": self.reward is not None,
            "shift": float(self.shift),
            "heaven_pays": bool(self.heaven_pays),
            "prior": {name: float(value) for name, value in self.prior._asdict().items()},
        }
        arrays = {"Theta": self.Theta, "Lambda": self.Lambda}
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
        gamma = checks.discount(header["gamma"])
        eta = from_plain_value(float, header["eta"], ("eta",))
        if not eta > 0:
            raise ValueError(f"eta must be positive; got {eta}")
        ascension = from_plain_value(Ascension, header["ascension"], ("ascension",))
        bonus = from_plain_value(Bonus, header["bonus"], ("bonus",))
        prior = _read_prior(header["prior"])
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
        prior=prior,
        moments=arrays.get("moments", np.zeros((2, 0))),
    )


def _read_prior(data: dict[str, Any]) -> PolicyPrior:
    schema.fields(data, dict.fromkeys(PolicyPrior._fields, float), "prior")
    prior = PolicyPrior(**{name: float(value) for name, value in data.items()})
    for name, value in prior._asdict().items():
        least = -schema.LARGEST if name in ("v", "expected") else 0.0
        if not least <= value <= schema.LARGEST:
            raise ValueError(f"{name} must be in [{least:g}, {schema.LARGEST:g}]; got {value:g}")
    return prior


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
