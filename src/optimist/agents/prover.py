"""Exploration for the certificate: greedy for the certificate's upper bound."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from optimist.agents.certificate import Certifier
from optimist.agents.tabular_agent import TabularAgent, TabularConfig, TabularDriver
from optimist.core.guarantee import failure_probability
from optimist.core.tabular import Peer

SHARE = 20
"""A plan is made anew when the number of episodes has grown by this fraction of it."""


@dataclass(frozen=True)
class ProverConfig(TabularConfig):
    """The parameter of Prover.

    Attributes
    ----------
    delta
        That of the certificate whose bounds it follows.
    """

    delta: float = 0.05
    kind = Peer.PLANNED

    CHECKS: ClassVar[dict[str, Callable[[Any, str], Any]]] = {"delta": failure_probability}


class ProverDriver(TabularDriver):
    """Plays by a plan that is computed between two calls of the compiled loop."""

    def learn_some(self, most: int) -> dict[str, Any]:
        clock = self.clock
        if clock["episodes"] >= clock["stage"]:
            self._plan()
            clock["epochs"] += 1
            clock["stage"] = clock["episodes"] + 1 + clock["episodes"] // SHARE
        return super().learn_some(min(most, int(clock["stage"] - clock["episodes"])))

    def _plan(self) -> None:
        """Play the actions of the largest upper bound, all with equal probability.

        The search for the bounds begins anew, so that a saved learner goes on as if never stopped.
        """
        t, seen = self.tables, self.evidence
        certifier = Certifier(self.simulator, seen.r, self.config.delta, None)
        certifier.certificate(seen, self.episodes, self.steps)
        t.Q[:] = certifier.upper_Q
        t.V[:] = t.Q.max(axis=1)
        best = t.V[:, None] == t.Q
        t.pi[:] = best / best.sum(axis=1, keepdims=True)
        np.cumsum(t.pi, axis=1, out=t.cumulative)


class Prover(TabularAgent):
    """Plays so that its certificate becomes narrow: greedily for the upper bounds on all pairs.

    A pair that is seldom tried has a high upper bound, so it is tried where it could matter. That
    is optimism with bonuses that are valid, as in KL-UCRL (Filippi, Cappe and Garivier, 2010); its
    constants are those of `certificate`, and there is nothing to tune. Other agents earn more while
    they learn, and stop trying actions that seem worse long before that is proved.

    Examples
    --------
    >>> from optimist import envs
    >>> agent = Prover(envs.RiverSwim(4, gamma=0.8), seed=0)
    >>> _ = agent.learn(until=0.2, delta=0.05)
    >>> agent.certificate(delta=0.05).share <= 0.2
    True
    """

    Config = ProverConfig
    Driver = ProverDriver
