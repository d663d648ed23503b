"""The data of experts in a study, recorded from an optimal policy."""

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from optimist import checks
from optimist.envs import World
from optimist.features import FeatureMap, OneHot, OneHotState, StateOnly
from optimist.imitation import FeatureDataset, TrajectoryDataset

Shown = Literal["states", "pairs", "linear"]
FEATURES: tuple[str, ...] = get_args(Shown)


@dataclass(frozen=True)
class ExpertData:
    """The parameters of an imitator's data, which are recorded from an optimal policy.

    Attributes
    ----------
    samples
        tau_E, the number of samples of the expert's features; inf gives their exact expectation.
    features
        The reward features: "states" for one-hot states, "pairs" for one-hot pairs, "linear" for
        the features in which the world is linear.
    """

    samples: float = math.inf
    features: str = "states"

    def __post_init__(self) -> None:
        check_own = getattr(super(), "__post_init__", None)  # the imitator's own parameters
        if check_own is not None:
            check_own()
        if self.samples != math.inf:
            _sample_count(self.samples)
        if self.features not in FEATURES:
            raise ValueError(
                f"features must be one of {', '.join(FEATURES)}; got {self.features!r}"
            )


@dataclass(frozen=True)
class ExpertTrajectories:
    """The parameters of an imitator's data, which are trajectories of an optimal policy.

    Attributes
    ----------
    trajectories
        tau_E, the number of trajectories.
    length
        Their length T; by default ceil(log(50) / (1 - gamma)).
    """

    trajectories: int = 100
    length: int | None = None

    def __post_init__(self) -> None:
        check_own = getattr(super(), "__post_init__", None)  # the imitator's own parameters
        if check_own is not None:
            check_own()
        checks.count(self.trajectories, "trajectories")
        if self.length is not None:
            checks.count(self.length, "length")


def shown_features(world: World, features: str) -> FeatureMap:
    """The reward features phi_r of a world, by name."""
    X, A = world.mdp.n_states, world.mdp.n_actions
    if features == "linear":
        return world.features
    return OneHot(X, A) if features == "pairs" else StateOnly(OneHotState(X), A)


def expert_data(
    world: World, phi_r: FeatureMap, samples: float, seed: int, policy: Any = None
) -> FeatureDataset:
    """Expert data of a policy, by default an optimal one; exact if samples is inf."""
    expert = world.mdp.optimal().policy if policy is None else policy
    if samples == math.inf:
        return FeatureDataset.from_policy(world, expert, phi_r)
    rng = _expert_rng(seed)
    return FeatureDataset.from_rollouts(world, expert, phi_r, _sample_count(samples), rng)


def expert_trajectories(
    world: World,
    trajectories: int,
    seed: int,
    policy: Any = None,
    length: int | None = None,
    actions: bool = True,
) -> TrajectoryDataset:
    """Trajectories of a policy, by default an optimal one (see `TrajectoryDataset`)."""
    expert = world.mdp.optimal().policy if policy is None else policy
    rng = _expert_rng(seed)
    return TrajectoryDataset.from_rollouts(
        world, expert, trajectories, rng, length=length, actions=actions
    )


def _expert_rng(seed: int) -> np.random.Generator:
    # The learner's generator is seeded with the seed alone, so the two are independent.
    return np.random.default_rng([seed, 1])


def _sample_count(samples: float) -> int:
    if not float(samples).is_integer():
        raise ValueError(f"samples must be a whole number or inf; got {samples:g}")
    return checks.count(int(samples), "samples")
