"""Agents that keep counts in a finite world, and so can say how good what they learnt is."""

from typing import TYPE_CHECKING, Any

from optimist.agents.agent import Agent
from optimist.agents.certificate import Certificate, Certifier, Support
from optimist.agents.ending import Callback, Ending, Goal
from optimist.agents.history import History
from optimist.agents.watching import Watcher
from optimist.core.guarantee import failure_probability

if TYPE_CHECKING:
    from optimist.agents.checkpoint import Saved


class CertifiedAgent(Agent):
    """An agent with certificates in finite worlds (docs/certificates.md)."""

    _certifier: Certifier | None = None

    def learn(
        self,
        episodes: int | None = None,
        *,
        steps: int | None = None,
        callback: Callback | None = None,
        until: float | None = None,
        delta: float | None = None,
        show_progress: bool = True,
        live: bool | Watcher = False,
    ) -> History:
        """Play and learn; the history of these episodes. Calling it again continues.

        As `Agent.learn`, and in a finite world with ``delta`` also until enough is certified.

        Parameters
        ----------
        episodes, steps, callback, show_progress, live
            As of `Agent.learn`.
        until
            Without ``delta`` the mean return to reach in a Gymnasium environment, as of
            `Agent.learn`. With it, how far from the optimum the policy of `certificate` may be, as
            a share of the optimum.
        delta
            The probability that any certificate of ``until`` fails. The progress bar shows the
            present certificate and an estimate of the time left.

        Examples
        --------
        >>> from optimist import Prover, envs
        >>> agent = Prover(envs.RiverSwim(4, gamma=0.8), seed=0)
        >>> _ = agent.learn(until=0.5, delta=0.05)
        >>> agent.certificate(delta=0.05).share <= 0.5
        True
        """
        if delta is None:
            limits: dict[str, Any] = {"steps": steps, "callback": callback, "until": until}
            return super().learn(episodes, **limits, show_progress=show_progress, live=live)
        self._driver.refuse_if_broken()
        self._refuse_while_learning("learn")
        ending = Ending(self, episodes, steps, callback, None, Goal(self, until, delta))
        return self._learn(ending, show_progress, live)

    def certificate(self, delta: float = 0.05, support: Support | None = None) -> Certificate:
        """How far from the optimum a policy may be, by what was seen in a finite world alone.

        With probability 1 - delta all certificates of a run hold, at whatever times they are
        computed (docs/certificates.md). They are made of counts of transitions and of first states,
        and of rewards, which are known; asking again at the same delta can only improve them.

        Parameters
        ----------
        delta
            The probability that any of them fails.
        support
            Which next states are possible, if it is known: an MDP (its first states count too), an
            array of booleans [X, A, X], or a function of a state and an action that returns states.
            By default all states are possible everywhere.

        Examples
        --------
        >>> from optimist import Optimist, envs
        >>> world = envs.RiverSwim(6, gamma=0.9)
        >>> agent = Optimist(world, seed=0)
        >>> _ = agent.learn(20_000)
        >>> found = agent.certificate(delta=0.05)
        >>> found.lower <= world.mdp.value(found.policy.table) <= found.upper
        True
        >>> agent.certificate(support=world).gap < found.gap
        True
        """
        seen, delta = self._driver.evidence, failure_probability(delta)
        before = self._certifier
        if before is None or not before.serves(seen.r, delta, support):
            self._certifier = before = Certifier(self._driver.simulator, seen.r, delta, support)
        return before.certificate(seen, self.episodes, self.steps)

    def forget(self) -> None:
        """As `Agent.forget`, and the bounds of earlier certificates, as a saved learner does."""
        super().forget()
        self._certifier = None

    def _restore(self, saved: "Saved") -> None:
        super()._restore(saved)
        self._certifier = None
