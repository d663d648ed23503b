"""Models trained elsewhere, played without learning."""

from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np

from optimist.agents.algorithm import Algorithm, DecisionProblem
from optimist.checks import FloatArray


@dataclass
class TrainedModel(Algorithm):
    """Plays a model that has ``predict`` without learning; it has a history and returns.

    Attributes
    ----------
    model
        An object whose ``predict(observation)`` returns an action, or an action and a state that is
        None: a model of Stable-Baselines3, or a policy of ours. If it takes ``deterministic``, True
        is given.
    name
        Identifies the model in a study, whose files do not contain it; a study requires it.

    Examples
    --------
    >>> import gymnasium
    >>> from optimist import PythonAgent
    >>> class Right:
    ...     def predict(self, observation):
    ...         return 2
    >>> agent = PythonAgent(gymnasium.make("MountainCar-v0"), TrainedModel(Right()), seed=0)
    >>> agent.learn(3).reward
    array([-200., -200., -200.])
    """

    model: Any = field(default=None, metadata={"plain": False})
    name: str = ""

    def start(self, problem: DecisionProblem) -> None:
        predict = getattr(self.model, "predict", None)
        if not callable(predict):
            raise TypeError(
                f"model must have a method predict(observation); got {self.model!r}: give it as "
                "TrainedModel(model)"
            )
        takes = "deterministic" in signature(predict).parameters
        self._problem, self._options = problem, {"deterministic": True} if takes else {}

    def act(self, state: Any, rng: np.random.Generator) -> int:
        return self._action(state)

    def _action(self, state: Any) -> int:
        answer = self.model.predict(state, **self._options)
        actions, memory = answer if isinstance(answer, tuple) else (answer, None)
        if memory is not None:
            raise ValueError("model must not be recurrent; its predict returned a state")
        action, n = np.asarray(actions), self._problem.n_actions
        if action.size != 1 or action.dtype.kind not in "iu" or not 0 <= action.item() < n:
            raise ValueError(f"model must predict an action in 0, ..., {n - 1}; got {actions!r}")
        return int(action.item())

    def observe(
        self, state: Any, action: int, reward: float, next_state: Any, terminated: bool
    ) -> None:
        """Nothing is learnt."""

    def policy(self) -> FloatArray | None:
        n = self._problem.n_states
        return None if n is None else np.array([self.probabilities(x) for x in range(n)])

    def probabilities(self, observation: Any) -> FloatArray:
        return np.asarray(np.eye(self._problem.n_actions)[self._action(observation)])

    @property
    def arrays(self) -> dict[str, Any]:
        return {}
