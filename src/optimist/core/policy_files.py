"""Policies in files: the declarations of their headers and arrays, and reading."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from optimist import checks
from optimist.checks import FloatArray
from optimist.core import schema, storage
from optimist.core.ascension import Ascension, Confidence, Novelty, Truncation
from optimist.core.bonus import Bonus, VarianceBonus
from optimist.core.guarantee import read_guarantee
from optimist.core.policy import PolicyPrior, SoftmaxPolicy, TablePolicy
from optimist.core.timed import TimedPolicy
from optimist.errors import FileError
from optimist.features import FeatureMap, PerAction, StateFeatures, from_description
from optimist.parameters import from_plain_value

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
    "ridge": float,
    "prior": dict,
}
"""The fields in the header of the file of a `SoftmaxPolicy`, and their types."""


def load_policy(
    path: str | Path,
    features: FeatureMap | StateFeatures | None = None,
    reward: Callable[[Any], FloatArray] | None = None,
) -> SoftmaxPolicy | TablePolicy | TimedPolicy:
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
            said = header.pop("certificate", None)
            schema.fields(header, {"kind": str, "format": int}, "the header")
            schema.check(arrays, {"table": schema.policy(_sizes(arrays, "table", 2)[:2])})
            certificate = None if said is None else read_guarantee(said)
        return TablePolicy(arrays["table"], certificate)
    if header["kind"] == "timed policy":
        with storage.reading(path):
            schema.fields(header, {"kind": str, "format": int}, "the header")
            shape = _sizes(arrays, "tables", 3)[:3]
            schema.check(arrays, {"tables": schema.policy(shape)})
            checks.count(shape[0], "the number of tables")
        return TimedPolicy(arrays["tables"])
    if header["kind"] != "softmax policy":
        raise FileError(f"{path} holds a {header['kind']}, not a policy")
    with storage.reading(path):
        schema.fields(header, HEADER, "the header")
        gamma = checks.discount(header["gamma"])
        checks.positive(header["ridge"], "ridge")
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
        required = {"moments"} if isinstance(bonus, VarianceBonus) else set()
        required |= {"concentration"} if isinstance(ascension, Novelty | Confidence) else set()
        schema.check(arrays, _layout(features, arrays, header["updates"] * each, required))
    return SoftmaxPolicy(
        eta=eta,
        bonus=bonus,
        ascension=ascension,
        features=features,
        reward=reward,
        gamma=gamma,
        prior=prior,
        **{name: header[name] for name in ("updates", "heaven", "shift", "heaven_pays", "ridge")},
        **arrays,
    )


def _read_prior(data: dict[str, Any]) -> PolicyPrior:
    schema.fields(data, dict.fromkeys(PolicyPrior._fields, float), "prior")
    prior = PolicyPrior(**{name: float(value) for name, value in data.items()})
    for name, value in prior._asdict().items():
        least = -schema.LARGEST if name == "expected" else 0.0
        if not least <= value <= schema.LARGEST:
            raise ValueError(f"{name} must be in [{least:g}, {schema.LARGEST:g}]; got {value:g}")
    return prior


def _layout(
    features: FeatureMap, arrays: dict[str, Any], thetas: int, required: set[str]
) -> dict[str, schema.Array]:
    """The declarations of the arrays of a policy; optional ones only if they are there.

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
        "concentration": schema.real((features.blocks,), 0.0),
        "rewards": schema.real((_sizes(arrays, "rewards", 1)[0], features.n_actions)),
        "weights": schema.real((d,)),
    }
    return {**wanted, **{n: a for n, a in others.items() if n in arrays or n in required}}


def _sizes(arrays: dict[str, Any], name: str, least: int) -> tuple[int, ...]:
    """The shape of an array, if it is there and has as many axes; else one that it cannot have."""
    shape: tuple[int, ...] = arrays[name].shape if name in arrays else ()
    return shape if len(shape) >= least else (0,) * least
