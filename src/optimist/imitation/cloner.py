"""Base class of cloners, which fit a policy to pairs of states and actions and play no episode."""

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from optimist.agents import checkpoint
from optimist.agents.arguments import refuse_environment, resolve
from optimist.agents.driver import RunSettings
from optimist.agents.ending import Callback
from optimist.agents.watching import Watcher
from optimist.core import SoftmaxPolicy, TablePolicy
from optimist.core.arrays import check_features
from optimist.display.card import card
from optimist.envs import World
from optimist.features import FeatureMap, OneHot
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.imitator import Place
from optimist.imitation.imitator_history import ImitatorHistory
from optimist.imitation.offline import OfflineDriver, OfflineImitator
from optimist.imitation.trajectories import TrajectoryDataset
from optimist.mdp import FiniteMDP

WITHOUT_WORLD = "it was made from pairs, without a world"


@dataclass(frozen=True)
class ClonerConfig:
    """The parameters of a cloner in a world.

    Attributes
    ----------
    view
        Which pairs of the trajectories are cloned: "whole" for all, each once, or "last" for one
        pair of each trajectory at a geometric time, a draw of mu(pi_E).
    """

    view: Literal["whole", "last"] = "whole"

    def __post_init__(self) -> None:
        if self.view not in ("whole", "last"):
            raise ValueError(f"view must be 'whole' or 'last'; got {self.view!r}")


class ClonerDriver(OfflineDriver):
    """The data of a cloner in a world. The policy is fitted by the cloner."""

    features: FeatureMap

    def solve(self) -> None:
        raise NotImplementedError("Cloner.learn fits the policy")

    def set_policy(self, policy: TablePolicy | SoftmaxPolicy) -> None:
        """Set the table of a policy that was fitted."""
        self.playing.pi[:] = policy.probabilities(np.arange(self.mdp.n_states))

    @property
    def given(self) -> tuple[Any, ...]:
        return (self.features.all_actions(np.arange(self.mdp.n_states)),)


class Cloner(OfflineImitator):
    """An imitator that fits a policy to the expert's actions, without a world or in one.

    ``Cloner(states, actions, features)`` fits plain pairs at once, and has a policy and no more.
    ``Cloner(world, expert, features=None, seed=0, view="whole")`` is an `Imitator`: `learn` fits
    the pairs of the trajectories, by default with `OneHot` features. P is ignored.

    A cloner implements `_fit`.
    """

    Config: ClassVar[type[Any]] = ClonerConfig
    Driver = ClonerDriver
    sees = "pairs"
    needs_actions = True

    _driver: ClonerDriver
    _in_world = False
    _policy: TablePolicy | SoftmaxPolicy | None = None
    features: FeatureMap
    size: int

    def __init__(
        self,
        states: ArrayLike | FeatureDataset | World | FiniteMDP,
        actions: ArrayLike | TrajectoryDataset | None = None,
        features: FeatureMap | None = None,
        *,
        K: int | None = None,
        seed: int = 0,
        stride: int = 10,
        config: Any = None,
        **parameters: Any,
    ) -> None:
        if isinstance(states, World | FiniteMDP) and not isinstance(actions, FeatureDataset):
            self._in_world = True
            config, settings = resolve(type(self).__name__, self.Config, config, parameters)
            mdp = self._read_world(states)
            refuse_environment(states, settings)
            self.expert = self._read_expert(actions, states)
            self._check_deterministic(self.expert, mdp.n_states, config)
            self.features = OneHot(mdp.n_states, mdp.n_actions) if features is None else features
            check_features(self.features, mdp)
            run = RunSettings(config, seed, stride)
            self._start(ClonerDriver(mdp, self.expert, self._read_K(K), run), Place.of(states))
            self._driver.features = self.features
            self.size = len(self.expert.states if config.view == "whole" else self.expert)
        else:
            self._fit(states, actions, features)
            if (K, seed, stride, config, parameters) != (None, 0, 10, None, {}):
                raise TypeError(
                    "K=, seed=, stride= and parameters apply to a cloner in a world only"
                )

    @abstractmethod
    def _fit(self, states: Any, actions: Any, features: Any) -> None:
        """Set ``_policy``, ``features`` and ``size`` from pairs that are not checked yet."""

    def __repr__(self) -> str:
        kind = type(self._policy).__name__ if self._policy is not None else None
        return f"{type(self).__name__}(size={self.size}, policy={kind})"

    def _repr_html_(self) -> str:
        if self._in_world:
            return super()._repr_html_()
        return card(type(self).__name__, {"pairs": f"{self.size:,}"})

    # In a world

    def learn(
        self,
        episodes: int | None = None,
        *,
        steps: int | None = None,
        callback: Callback | None = None,
        until: float | None = None,
        show_progress: bool = True,
        live: bool | Watcher = False,
    ) -> ImitatorHistory:
        """Fit the expert's pairs: no limits are given, and a second call is refused."""
        self._refuse_without_world("learn")
        limits: dict[str, Any] = {"steps": steps, "callback": callback, "until": until}
        return super().learn(episodes, **limits, show_progress=show_progress, live=live)

    def _solve(self) -> None:
        data: Any = self.expert
        if self.config.view == "last":
            data = data.last(self._driver.rng)
        self._fit(data.states, data.actions, self.features)
        self._driver.set_policy(self.policy)

    @property
    def policy(self) -> TablePolicy | SoftmaxPolicy:
        """The policy that was fitted."""
        if self._policy is None:
            raise ValueError("there is no policy yet: call learn() first")
        return self._policy

    @property
    def output(self) -> TablePolicy | SoftmaxPolicy:
        """The policy that was fitted."""
        return self.policy

    @property
    def history(self) -> ImitatorHistory:
        """A history of no episodes, with the policy that was fitted, if there is a world."""
        self._refuse_without_world("history")
        return super().history

    def save(self, folder: str | Path) -> None:
        """Write the cloner into a folder. `load` fits the pairs again."""
        self._refuse_without_world("save")
        super().save(folder)

    def _restore(self, saved: checkpoint.Saved) -> None:
        fresh = self._driver.rng.bit_generator.state
        super()._restore(saved)
        if self._driver.solved:
            after, pi = self._driver.rng.bit_generator.state, self._driver.playing.pi.copy()
            self._driver.rng.bit_generator.state = fresh
            self._solve()
            self._driver.rng.bit_generator.state = after
            self._driver.playing.pi[:] = pi  # another processor may round differently

    def _refuse_without_world(self, what: str) -> None:
        if not self._in_world:
            raise ValueError(f"{type(self).__name__} has no {what}: {WITHOUT_WORLD}; use policy")
