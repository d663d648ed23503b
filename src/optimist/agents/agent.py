"""Base class of all agents: learning, acting, saving and loading."""

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from optimist.agents import checkpoint
from optimist.agents.coming import ComingEpisode
from optimist.agents.diagnostics import Diagnostics
from optimist.agents.driver import Driver, Policy
from optimist.agents.ending import Callback, Ending, most_episodes
from optimist.agents.estimate import Estimate, estimate
from optimist.agents.history import History, check_history, joined
from optimist.agents.progress import progress
from optimist.agents.shown import Shown
from optimist.agents.snapshot import Snapshot
from optimist.agents.watching import Watcher, watched
from optimist.checks import FloatArray, IntArray
from optimist.errors import FileError
from optimist.mdp import FiniteMDP

NOT_FINITE = "this applies to finite worlds only, not to Gymnasium environments"


class Agent(Shown):
    """Base class of agents: the public side of the driver that plays and learns.

    Attributes
    ----------
    Config
        The frozen dataclass of its parameters, with a default for every field.
    presets
        Names of its class methods that take a world and ``K=`` and make the agent with parameters
        for K episodes in that world.
    can_be_saved
        Whether `save` works. If not, a run of it in a study has no checkpoint and no policy.
    """

    Config: ClassVar[type[Any]]
    presets: ClassVar[tuple[str, ...]] = ()
    can_be_saved: ClassVar[bool] = True

    _driver: Driver

    def __repr__(self) -> str:
        return f"{type(self).__name__}(episodes={self.episodes:,}, steps={self.steps:,})"

    def _start(self, driver: Driver, world: Any) -> None:
        """Set the driver and its world, before the first episode."""
        self._driver, self._world = driver, world
        self._chunks: list[dict[str, Any]] = []
        self._learning = False
        self._remembered = 0  # the first episode of the history

    @property
    def config(self) -> Any:
        """The parameters, an instance of ``Config``."""
        return self._driver.config

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self._driver.seed

    @property
    def rng(self) -> np.random.Generator:
        """The generator of the played episodes, for a simulator that shares its random numbers.

        Drawing from it elsewhere changes the run.
        """
        return self._driver.rng

    @property
    def stride(self) -> int:
        """The number of episodes from one kept policy to the next."""
        return self._driver.stride

    @property
    def world(self) -> Any:
        """The world as it was given, or the `envs.Gym` of an environment."""
        given = self._world
        return given if self._driver.mdp is not None else getattr(self._driver, "world", given)

    @property
    def mdp(self) -> FiniteMDP:
        """The finite world that is played."""
        if self._driver.mdp is None:
            raise AttributeError(NOT_FINITE)
        return self._driver.mdp

    # Learning

    @property
    def episodes(self) -> int:
        """The number of episodes played so far."""
        return self._driver.episodes

    @property
    def steps(self) -> int:
        """The number of steps taken so far."""
        return self._driver.steps

    def learn(
        self,
        episodes: int | None = None,
        *,
        steps: int | None = None,
        callback: Callback | None = None,
        until: float | None = None,
        show_progress: bool = True,
        live: bool | Watcher = False,
    ) -> History:
        """Play and learn; the history of these episodes. Calling it again continues.

        Whichever limit is reached first ends it, always with the end of an episode; at least one
        must be given.

        An interruption (Ctrl-C) takes effect between two episodes, and all that was learnt stays;
        an episode that takes more than a second then, or until the next interruption, is dropped as
        if it had not begun. If an environment fails, all that was learnt stays too, and
        `BadEnvironment` is raised after the episodes before it are kept. Progress is shown in a
        terminal only.

        Parameters
        ----------
        episodes
            The number of episodes to play.
        steps
            The number of steps to take: it ends with the episode that reaches it.
        callback
            A function of the agent, called after every episode. It ends learning by returning True,
            and otherwise returns False or None. It may read whatever the agent has learnt so far,
            and save it. If it raises an error, what was learnt stays.
        until
            The mean return to reach, over the last 100 episodes of the history: in a Gymnasium
            environment only, and not before there are 100.
        show_progress
            Whether to show a progress bar.
        live
            Whether to show the run on a page while it learns (`optimist.live`), whose address is
            printed. It changes no number. Or a watcher, such as a `live.Feed`.

        Examples
        --------
        >>> from optimist import Optimist, envs
        >>> agent = Optimist(envs.RiverSwim(6), seed=0)
        >>> agent.learn(steps=10_000)
        History(episodes=92, steps=10,067)
        >>> def at_epoch_30(agent):
        ...     if agent.diagnostics.epoch >= 30:
        ...         return True
        >>> _ = agent.learn(episodes=1000, callback=at_epoch_30)
        >>> agent.diagnostics.epoch, agent.episodes < 1092
        (30, True)
        """
        driver = self._driver
        driver.refuse_if_broken()
        self._refuse_while_learning("learn")
        if until is not None and driver.no_returns:
            raise ValueError(
                f"until= compares returns, and {driver.no_returns}: use steps= or callback= instead"
            )
        ending = Ending(self, episodes, steps, callback, until)
        return self._learn(ending, show_progress, live)

    def _learn(self, ending: Ending, show_progress: bool, live: bool | Watcher) -> History:
        """Play and learn until one of the limits is reached."""
        driver = self._driver
        self._check_history(ending.episodes, ending.steps)
        first, before = self.episodes, len(self._chunks)
        driver.begin()
        driver.step_limit, self._learning = ending.step_limit, True
        try:
            with (
                progress(ending.total, show_progress) as bar,
                watched(live, self, ending.episodes) as watcher,
            ):
                driver.bar = bar
                while not ending.reached and not bar.interrupted:
                    most = min(ending.most, watcher.ahead(self))
                    done, columns = ending.done, driver.learn_some(most)
                    self._keep(columns, before)
                    bar.advance(ending.done - done)
                    with bar.user_code():
                        ending.look(columns)
                    bar.say(ending.certified)
                    watcher.look(self, columns, bar)
        finally:
            self._learning = False
        return self._history(before, first)

    def _check_history(self, episodes: int | None, steps: int | None) -> None:
        """Refuse a history that does not fit into memory, if a limit on its length was given."""
        within = None if steps is None else most_episodes(steps, self._driver.mean_steps)
        most = min((n for n in (episodes, within) if n is not None), default=0)
        kept = most // self.stride + 1 if self.stride else 0
        check_history(most, kept, self._driver.policy_size)

    def _keep(self, columns: dict[str, Any], before: int) -> None:
        """Add episodes to the history, in parts that grow so that they are few."""
        parts = self._chunks
        parts.append(columns)
        while len(parts) > before + 1 and len(parts[-2]["steps"]) <= len(parts[-1]["steps"]):
            parts[-2:] = [joined(parts[-2:])]

    def _refuse_while_learning(self, what: str) -> None:
        if self._learning:
            raise ValueError(f"{what} was called while the agent is learning, by its callback")

    @property
    def remembers(self) -> bool:
        """Whether there is a history."""
        return bool(self._chunks)

    @property
    def history(self) -> History:
        """The history of all episodes so far, or of those since it was last forgotten."""
        if not self.remembers:
            raise ValueError("there is no history: learn first, or it was forgotten")
        return self._history(0, self._remembered)

    def forget(self) -> None:
        """Drop the history so far, to bound memory in a long run. The learner stays as it is."""
        self._refuse_while_learning("forget")
        self._chunks.clear()
        self._driver.forget()
        self._remembered = self.episodes

    def _history(self, chunk: int, first: int) -> History:
        return self._driver.history(joined(self._chunks[chunk:]), first)

    # Acting

    @property
    def coming_episode(self) -> ComingEpisode | None:
        """The data that determine the next episode's path; None if not known beforehand."""
        return self._driver.coming_episode

    @property
    def latest_path(self) -> FloatArray | None:
        """The observations of the latest episode, [steps + 1, 2], of an environment in the plane.

        None in other worlds, and of agents that do not keep them.
        """
        return self._driver.latest_path

    @property
    def env(self) -> Any:
        """The Gymnasium environment that is played, itself; None in a finite world."""
        return self._driver.env

    @property
    def diagnostics(self) -> Diagnostics:
        """The state of the learner in numbers: values, bonuses, the covariance and others."""
        return self._driver.diagnostics

    @property
    def snapshot(self) -> Snapshot:
        """What the learner believes of all states of a finite world, quickly copied."""
        if self._driver.mdp is None:
            raise AttributeError(NOT_FINITE)
        return self._driver.snapshot

    @property
    def policy(self) -> Policy:
        """The policy that the next episode would play."""
        return self._driver.policy

    @property
    def output(self) -> Policy:
        """The algorithm's output pi_I, with I drawn uniformly from the episodes so far."""
        return self._driver.output

    def predict(
        self,
        observations: ArrayLike,
        rng: np.random.Generator | None = None,
        *,
        deterministic: bool | None = None,
    ) -> int | IntArray:
        """Actions of the present policy: most likely, or drawn if a generator is given.

        An int for one observation, integers [...] for a batch; see `ActingPolicy.predict`.
        """
        return self.policy.predict(observations, rng, deterministic=deterministic)

    def estimate(
        self, episodes: int = 1000, *, level: float = 0.95, env: Any = None, seed: int = 0
    ) -> Estimate:
        """What the present policy is worth, by fresh episodes that nothing is learnt from.

        It is an estimate, for environments and features that have no certificate, and is made of
        what is played alone, never of the transition probabilities. Learning is as without it.

        Parameters
        ----------
        episodes
            How many to play, at least 2.
        level
            That of the interval.
        env
            The environment to play, as of `evaluate`; by default the agent's world or environment
            is made once more.
        seed
            With the agent's own it seeds the episodes, and never equals it: they are independent of
            those it learnt from.

        Examples
        --------
        >>> from optimist import Optimist, envs
        >>> world = envs.RiverSwim(6, gamma=0.9)
        >>> agent = Optimist(world, seed=0)
        >>> _ = agent.learn(2000)
        >>> found = agent.estimate(episodes=500)
        >>> found.low <= world.mdp.value(agent.diagnostics.pi) <= found.high
        True
        """
        self._driver.refuse_if_broken()
        self._refuse_while_learning("estimate")
        return estimate(self, episodes, level, env, seed)

    # Stopping and continuing

    def save(self, folder: str | Path) -> None:
        """Write the whole learner into a folder; the file there is replaced at once or not at all.

        A chooser of rewards is not saved, nor are the expert, the features and the class of weights
        of an imitation: give them again when loading. Nor is the state of a Gymnasium environment:
        learning continues with a new episode.
        """
        self._driver.refuse_if_broken()
        checkpoint.save(self, folder)

    @classmethod
    def load(cls, folder: str | Path, world: Any, *given: Any, **settings: Any) -> Self:
        """The learner in a folder, which continues as if it had never stopped.

        The world is given again, with all else that the learner was made with; others are refused.
        The configuration is in the file, except that of an imitation, whose class of weights may be
        user-defined. In a finite world it continues bit for bit; a Gymnasium environment begins a
        new episode.
        """
        saved, kind = checkpoint.read(folder, cls.__name__), cls  # type: checkpoint.Saved, Any
        run = {name: saved.header[name] for name in ("seed", "stride")}
        try:
            agent: Self = kind(world, *given, **{**run, **cls._saved_config(saved), **settings})
        except ValueError as error:  # its configuration does not fit this world, or no world at all
            raise FileError(f"{saved.path}: {error}") from error
        agent._restore(saved)
        return agent

    @classmethod
    def _saved_config(cls, saved: checkpoint.Saved) -> dict[str, Any]:
        return {"config": saved.config(cls.Config)}

    def restore(self, folder: str | Path) -> None:
        """Bring this learner, newly made, to the state that was saved in a folder."""
        self._restore(checkpoint.read(folder, type(self).__name__))

    def _restore(self, saved: checkpoint.Saved) -> None:
        checkpoint.restore(self, saved)
