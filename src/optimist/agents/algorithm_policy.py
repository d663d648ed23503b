"""The policy of an algorithm whose observations are not numbered: not a table."""

from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from optimist import checks
from optimist.agents.algorithm import Algorithm, DecisionProblem
from optimist.checks import FloatArray
from optimist.core.acting import ActingPolicy


class AlgorithmPolicy(ActingPolicy):
    """The present policy of an algorithm: a copy, which later learning does not change."""

    def __init__(self, algorithm: Algorithm, problem: DecisionProblem) -> None:
        self.problem, self.algorithm = problem, algorithm.fresh()
        self.algorithm.start(problem)
        self.algorithm.restore(algorithm.arrays)

    @property
    def facts(self) -> dict[str, object]:
        return {"algorithm": type(self.algorithm).__name__, "actions": self.problem.n_actions}

    def probabilities(self, states: ArrayLike) -> FloatArray:
        """pi(. | x) for one observation, [A], or a batch, [..., A]."""
        shape = self.problem.observation_space.shape
        if shape is None:  # not an array: there is no batch of them
            return self._of_one(states)
        batch = np.asarray(states)
        before = batch.shape[: max(batch.ndim - len(shape), 0)]
        if batch.shape != (*before, *shape):
            raise ValueError(f"observations must have the shape {shape}; got {batch.shape}")
        if not before:
            return self._of_one(batch)
        rows = [self._of_one(x) for x in batch.reshape(-1, *shape)]
        return np.array(rows).reshape(*before, self.problem.n_actions)

    def _of_one(self, observation: ArrayLike) -> FloatArray:
        pi, name = self.algorithm.probabilities(observation), type(self.algorithm).__name__
        if pi is None:
            raise ValueError(f"{name}.probabilities must return an array [A]; got None")
        return checks.distribution(pi, f"{name}.probabilities", self.problem.n_actions)

    def save(self, path: str | Path) -> None:
        """Not possible: a file would not have the code of the algorithm."""
        name = type(self.algorithm).__name__
        raise ValueError(f"the policy of {name} is not a table: save the agent instead")
