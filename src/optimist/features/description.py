"""Feature maps as JSON data, and back."""

from typing import Any

import numpy as np

from optimist import limits
from optimist.checks import frozen, match_shape, real_array, short
from optimist.errors import TooLarge
from optimist.features.base import FeatureMap, Features
from optimist.features.box import UnitBox
from optimist.features.concatenation import Concatenation
from optimist.features.distinct import Distinct
from optimist.features.fourier import Fourier
from optimist.features.one_hot import OneHot, OneHotState
from optimist.features.per_action import PerAction
from optimist.features.product import OneHotProduct
from optimist.features.rbf import RBF
from optimist.features.state_only import StateOnly
from optimist.features.tiles import Tiles
from optimist.parameters import from_plain_value, plain_value

PARTS: dict[type[Features], tuple[str, ...]] = {
    OneHot: ("n_states", "n_actions"),
    OneHotState: ("n_states",),
    OneHotProduct: ("starts", "sizes", "axes"),
    Distinct: ("n_actions", "axes", "digests"),
    PerAction: ("psi", "n_actions"),
    StateOnly: ("psi", "n_actions"),
    Concatenation: ("phi_r", "phi_P"),
    Tiles: ("box", "bins", "tilings"),
    RBF: ("box", "centres", "width"),
    Fourier: ("box", "frequencies", "lengthscale"),
}
"""The attributes that determine a map; all but ``frequencies`` are constructor arguments."""

KINDS = {kind.__name__: kind for kind in PARTS}


def describe(features: FeatureMap) -> dict[str, Any] | None:
    """The features as JSON data for `from_description`; None for user-defined features.

    Also None for a `Table`, whose array is better kept in a file of arrays.

    Examples
    --------
    >>> describe(OneHot(n_states=5, n_actions=2))
    {'kind': 'OneHot', 'n_states': 5, 'n_actions': 2}
    """
    return _describe(features) if isinstance(features, FeatureMap) else None


def from_description(data: object) -> FeatureMap:
    """The features of a description, equal to the described ones to the last bit.

    Examples
    --------
    >>> from_description({"kind": "OneHot", "n_states": 2, "n_actions": 2})(1, 0)
    array([0., 0., 1., 0.])
    >>> from_description({"kind": "OneHot", "n_states": 2})
    Traceback (most recent call last):
    ...
    ValueError: not a description of features: OneHot must have the keys
    ('kind', 'n_states', 'n_actions'); got ('kind', 'n_states')
    """
    try:
        features = _features_from(data)
    except TooLarge:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"not a description of features: {error}") from None
    if not isinstance(features, FeatureMap):
        raise ValueError(
            f"not a description of features: {type(features).__name__} is a map of states; "
            "wrap it in PerAction or StateOnly"
        )
    d, A = features.dim, features.n_actions
    at_one_state = 8 * d * (1 if features.shared else A) + 80 * A
    limits.need(at_one_state, f"features with d = {d:,} and {A:,} actions")
    return features


def _describe(features: Features) -> dict[str, Any] | None:
    parts = {name: _to_json(getattr(features, name)) for name in PARTS.get(type(features), ())}
    if not parts or None in parts.values():
        return None
    return {"kind": type(features).__name__, **parts}


def _to_json(part: Any) -> Any:
    if isinstance(part, Features):
        return _describe(part)
    if isinstance(part, UnitBox):
        low, high = ([plain_value(x, Any) for x in bound] for bound in (part.low, part.high))
        return {"low": low, "high": high, "outside": part.outside}
    if isinstance(part, np.ndarray):
        return part.tolist()
    return list(part) if isinstance(part, tuple) else part


def _features_from(data: object) -> Features:
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
        raise ValueError(f"it must be an object with a kind; got {short(data)}")
    name = data["kind"]
    if name not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {name!r}")
    kind = KINDS[name]
    _check_keys(data, name, ("kind", *PARTS[kind]))
    parts: dict[str, Any] = {part: data[part] for part in PARTS[kind]}
    for part in parts.keys() & {"psi", "phi_r", "phi_P"}:
        parts[part] = _features_from(parts[part])
    if "box" in parts:
        parts.update(_read_box(parts["box"]))
    return _build_fourier(**parts) if kind is Fourier else kind(**parts)


def _read_box(data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"box must be an object; got {short(data)}")
    _check_keys(data, "box", ("low", "high", "outside"))
    low, high = _read_bounds(data, "low"), _read_bounds(data, "high")
    return {"box": (low, high), "outside": data["outside"]}


def _read_bounds(box: dict[str, Any], name: str) -> list[float]:
    if not isinstance(box[name], list):
        raise ValueError(f"{name} must be a list of numbers; got {short(box[name])}")
    return [from_plain_value(float, x, (f"{name}[{i}]",)) for i, x in enumerate(box[name])]


def _build_fourier(frequencies: Any, **parts: Any) -> Fourier:
    """Fourier features with the frequencies of the description instead of random ones."""
    array = real_array(frequencies, "frequencies", shape=(None, None))
    psi = Fourier(pairs=array.shape[1], rng=np.random.default_rng(0), **parts)
    match_shape(array.shape, "frequencies", psi.frequencies.shape)
    psi.frequencies = frozen(array)
    return psi


def _check_keys(data: dict[Any, Any], name: str, wanted: tuple[str, ...]) -> None:
    if set(data) != set(wanted):
        raise ValueError(f"{name} must have the keys {wanted}; got {short(tuple(data))}")
