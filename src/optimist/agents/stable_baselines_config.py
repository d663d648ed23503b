"""The parameters of an agent of Stable-Baselines3, which is imported only to run or check one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from types import MappingProxyType
from typing import Any

from optimist.parameters import did_you_mean

OURS = ("env", "gamma", "seed", "total_timesteps")
"""Arguments that are no hyperparameters, as the world or the run has them."""


@dataclass(frozen=True, init=False)
class StableBaselinesConfig:
    """The parameters of an agent of Stable-Baselines3.

    Attributes
    ----------
    algorithm
        "DQN", "PPO" or "A2C".
    hyperparameters
        Those of the algorithm, by the names of Stable-Baselines3; given as keywords. The discount
        factor is the world's, the seed and the number of steps are those of the run.

    Examples
    --------
    >>> StableBaselinesConfig("PPO", n_steps=256)
    StableBaselinesConfig(algorithm='PPO', hyperparameters={'n_steps': 256})
    """

    algorithm: str = "DQN"
    hyperparameters: Mapping[str, Any] = field(
        default_factory=dict, hash=False, metadata={"plain": False, "others": True}
    )

    def __init__(
        self,
        algorithm: str = "DQN",
        hyperparameters: Mapping[str, Any] = MappingProxyType({}),
        **more: Any,
    ) -> None:
        if not isinstance(algorithm, str):
            raise TypeError(f"algorithm must be its name; got {algorithm!r}")
        if not isinstance(hyperparameters, Mapping):
            raise TypeError(f"hyperparameters must be a dict; got {hyperparameters!r}")
        given = {**hyperparameters, **more}
        for name in OURS:
            if name in given:
                raise ValueError(f"{name} must be left out: it is that of the world or the run")
        object.__setattr__(self, "algorithm", algorithm)
        object.__setattr__(self, "hyperparameters", given)

    def check(self) -> None:
        """Refuse parameters that Stable-Baselines3 does not have; it must be installed."""
        kind = algorithm_class(self.algorithm)
        known = signature(kind).parameters
        for name in self.hyperparameters:
            if name not in known:
                raise ValueError(
                    f"{kind.__name__} has no parameter {name!r}: {did_you_mean(name, known)}"
                )


def algorithm_class(algorithm: str | type[Any]) -> type[Any]:
    """The class of an algorithm."""
    try:
        import stable_baselines3
    except ImportError as error:
        raise ImportError(
            "StableBaselines needs Stable-Baselines3: pip install 'optimist[sb3]'"
        ) from error
    if isinstance(algorithm, type):
        return algorithm
    found = getattr(stable_baselines3, str(algorithm), None)
    if not isinstance(found, type):
        raise ValueError(f"algorithm must be 'DQN', 'PPO' or 'A2C', or a class; got {algorithm!r}")
    return found
