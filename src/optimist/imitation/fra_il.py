"""FRA-IL, Algorithm 2: imitation from expert features alone, on finite worlds."""

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from optimist import checks
from optimist.agents import RmaxRaviUcb, checkpoint
from optimist.checks import FloatArray
from optimist.core import storage
from optimist.core.finite import check_features, sparse_rows
from optimist.core.state import OTHER, PLAY, UPDATE, WHOLE, Player, Record, Rule, Snapshots
from optimist.envs import World
from optimist.features import Concatenation, FeatureMap, OneHot, OneHotState, StateOnly
from optimist.imitation.configuration import FraILConfig
from optimist.imitation.dataset import FeatureDataset
from optimist.imitation.history import ImitationHistory
from optimist.mdp import FiniteMDP
from optimist.theory import imitation as theory

SPANNED = 1e-9
"""How far phi_r may be from linear in phi_P to count as linear: rounding."""


class FraIL(RmaxRaviUcb):
    """Imitation from features alone: a policy player against a player of rewards.

    The policy player is RMAX-RAVI-UCB. After each episode the reward player moves its weights
    towards what the expert shows more often than the learner (online gradient descent):

        w_k = Pi_W(w_{k-1} + eta_r (lambda(pi_E) - phi_r(X_k, A_k))),  (X_k, A_k) ~ mu(pi_k),

    and the rewards are r_k = Phi_r w_k, shifted into [0, R_max]. The world's own rewards are never
    looked at: the world is copied without them.

    Parameters
    ----------
    world
        A world, or any `FiniteMDP`. It is played, never looked into.
    expert
        What is known of the expert: rows phi_r(X_E, A_E) of its discounted occupancy.
    reward_features
        The map phi_r; by default phi_r(x, a) = e_x: imitation from states.
    features
        The map phi_P in which transitions are linear; by default one-hot. The linear MDP's features
        are (phi_r, phi_P), or phi_P alone if phi_r is linear in it, as it is if that is one-hot.
    config
        The parameters.
    K
        The number of episodes that the step eta_r = W_max / (B sqrt K) of the reward player is
        made for; by default that of the first call of `learn`.
    seed
        Seeds the run. The same seed gives the same bytes.
    stride
        Every so many episodes the policy is kept, to be evaluated exactly; 0 for none.

    Attributes
    ----------
    W_max, R_max, shift
        What follows from the class of weights: ||w|| <= W_max, and r_k = Phi_r w_k + shift lies in
        [0, R_max].

    Examples
    --------
    >>> from optimist import envs
    >>> world = envs.GridWorld()
    >>> best = world.mdp.optimal().policy
    >>> states = StateOnly(OneHotState(25), n_actions=4)
    >>> il = FraIL(world, FeatureDataset.from_policy(world, best, states), seed=0)
    >>> history = il.learn(episodes=1000)
    >>> bool(il.matching_error < 0.1), int(np.argmax(il.reward_weights))   # 24 is the goal
    (True, 24)
    """

    Config: ClassVar[type[Any]] = FraILConfig

    def __init__(
        self,
        world: World | FiniteMDP,
        expert: FeatureDataset,
        reward_features: FeatureMap | None = None,
        features: FeatureMap | None = None,
        config: FraILConfig | None = None,
        K: int | None = None,
        seed: int = 0,
        stride: int = 10,
    ) -> None:
        given = world.mdp if isinstance(world, World) else world
        n_states, n_actions = given.n_states, given.n_actions
        bare = given.with_rewards(np.zeros((n_states, n_actions)))
        if reward_features is None:
            reward_features = StateOnly(OneHotState(n_states), n_actions)
        check_features(reward_features, bare)
        expert.check_fits(reward_features)
        if expert.gamma not in (None, bare.gamma):
            raise ValueError(
                f"the expert was recorded with gamma = {expert.gamma:g}, "
                f"the world has gamma = {bare.gamma:g}: their occupancies do not compare"
            )
        self.settings = FraILConfig() if config is None else config
        self.expert, self.reward_features = expert, reward_features
        self.K = None if K is None else checks.count(K, "K")
        self._Phi = sparse_rows(reward_features, n_states)
        weights = self.settings.weights
        self.W_max = checks.positive(weights.bound(reward_features.dim), "W_max")
        low, high = weights.span(self._Phi)
        self.shift = -min(low, 0.0)
        self.R_max = checks.positive(high + self.shift, "R_max")
        self._w = weights.project(np.zeros(reward_features.dim))  # w_0
        self._sum_of_w = np.zeros(reward_features.dim)
        self._r = np.zeros((n_states, n_actions))
        phi = self._linear_features(features, bare)
        super().__init__(bare, phi, self.settings.rule(self.R_max), seed=seed, stride=stride)

    # What it has found

    @property
    def eta_r(self) -> float:
        """The step of the reward player, W_max / (B sqrt K)."""
        if self.K is None:
            raise ValueError("eta_r depends on K, which the first call of learn sets")
        return theory.step(self.K, self.W_max, self.reward_features.bound)

    @property
    def reward_weights(self) -> FloatArray:
        """The mean of the weights w_1, ..., w_k, [d_r]: what the expert seems to care for."""
        if not self.episodes:
            raise ValueError("nothing has been learnt yet: there are no reward weights")
        return self._sum_of_w / self.episodes

    @property
    def last_reward_weights(self) -> FloatArray:
        """The weights w_k of the last episode, [d_r]."""
        return self._w.copy()

    @property
    def matching_error(self) -> float:
        """||lambda(pi) - lambda(pi_E)|| of the present policy, exactly, and of the expert's data.

        It is computed from the world's kernel, for the eyes of the user alone.
        """
        pi = self.policy.probabilities(np.arange(self.mdp.n_states))
        lambda_pi = self.mdp.occupancy(pi).ravel() @ self._Phi
        return float(np.linalg.norm(lambda_pi - self.expert.mean))

    @property
    def history(self) -> ImitationHistory:  # type: ignore[override]
        """The history of all episodes so far, or of those since it was last forgotten."""
        return super().history  # type: ignore[return-value]

    def learn(self, episodes: int, show_progress: bool = True) -> ImitationHistory:  # type: ignore[override]
        """Play and learn; the history of these episodes. Calling it again goes on.

        The first call sets K, if it was not given: going on past it keeps the step that was right
        for K, which is then larger than the theory's.
        """
        if self.K is None:
            self.K = checks.count(episodes, "episodes")
        return super().learn(episodes, show_progress)  # type: ignore[return-value]

    # How it learns

    def _choose_rewards(self, most: int) -> int:
        """The reward player moves in compiled code, or after each episode if it is not known."""
        return 1 if self.settings.weights.code == OTHER else most

    def _play(self, rule: Rule, record: Record, shots: Snapshots) -> dict[str, Any]:
        n = len(record.steps)
        player = self._player(n, len(shots.policies))
        if player.kind == OTHER:
            self._run(rule, self._r, record, shots, player, PLAY)
            self._move(int(player.pairs[0]))
            player.kept[:] = self._w
            self._run(rule, self._r, record, shots, player, UPDATE)
        else:
            self._run(rule, self._r, record, shots, player, WHOLE)
        return {"pairs": player.pairs, "rollouts": player.rollouts, "weights": player.kept}

    def _player(self, episodes: int, kept: int) -> Player:
        """The reward player as the compiled loop takes it."""
        weights, Phi = self.settings.weights, self._Phi
        return Player(
            kind=weights.code,
            numbers=np.array(weights.numbers),
            step=self.eta_r,
            shift=self.shift,
            fresh=self.settings.fresh,
            expert=self.expert.mean.copy(),
            first=Phi.indptr.astype(np.int64),
            column=Phi.indices.astype(np.int64),
            value=Phi.data,
            w=self._w,
            total=self._sum_of_w,
            pairs=np.zeros(episodes, dtype=np.int64),
            rollouts=np.zeros(episodes, dtype=np.int64),
            kept=np.zeros((kept, self._w.size)),
        )

    def _move(self, pair: int) -> None:
        """The same move of the reward player in a class of somebody's own."""
        weights, d = self.settings.weights, self._w.size
        phi = self._Phi[[pair]].toarray().ravel()
        moved = weights.project(self._w + self.eta_r * (self.expert.mean - phi))
        self._w[:] = checks.real_array(moved, "the projection", shape=(d,))
        self._sum_of_w += self._w
        self._r[:] = (self._Phi @ self._w).reshape(self._r.shape) + self.shift
        checks.within(self._r, self.R_max, "r_k", "R_max")

    def _history(self, chunk: int, first: int) -> ImitationHistory:  # type: ignore[override]
        parts = self._chunks[chunk:]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        del columns["reward"]  # paid while r_k was not yet known
        return ImitationHistory(
            **columns, Phi=self._Phi, expert=self.expert.mean, first=first, mdp=self.mdp
        )

    def _linear_features(self, phi_P: FeatureMap | None, mdp: FiniteMDP) -> FeatureMap:
        """The features of the linear MDP: phi_P alone if phi_r is linear in it, else both."""
        if phi_P is None:
            return OneHot(mdp.n_states, mdp.n_actions)
        check_features(phi_P, mdp)
        if isinstance(phi_P, OneHot):
            return phi_P
        Phi_r, Phi_P = self._Phi.toarray(), sparse_rows(phi_P, mdp.n_states).toarray()
        left = Phi_r - Phi_P @ np.linalg.lstsq(Phi_P, Phi_r)[0]
        if np.abs(left).max() <= SPANNED * self.reward_features.bound:
            return phi_P
        return Concatenation(self.reward_features, phi_P)

    # Stopping and going on

    @classmethod
    def load(  # type: ignore[override]
        cls,
        folder: str | Path,
        world: World | FiniteMDP,
        expert: FeatureDataset,
        reward_features: FeatureMap | None = None,
        features: FeatureMap | None = None,
        config: FraILConfig | None = None,
    ) -> Self:
        """The learner in a folder, which goes on as if it had never stopped, bit for bit.

        What it was made of is not saved and has to be given again; anything else is refused.
        """
        header = checkpoint.read(folder, cls.__name__).header
        seed, stride = header["seed"], header["stride"]
        il = cls(world, expert, reward_features, features, config, None, seed, stride)
        il.restore(folder)
        return il

    def restore(self, folder: str | Path) -> None:
        """Bring this learner, newly made, to where the one in a folder was when it was saved."""
        saved = checkpoint.read(folder, type(self).__name__)
        before = saved.header["settings"]
        K = before["K"] if self.K is None else self.K
        if {**self._settings, "K": K} != before:
            raise storage.FileError(
                f"{saved.path} is of another run: its K or class of weights is another"
            )
        checkpoint.restore(self, saved)
        self.K = K

    @property
    def _arrays(self) -> dict[str, dict[str, Any]]:
        player = {"w": self._w, "total": self._sum_of_w, "r": self._r}
        return {**super()._arrays, "player": player}

    @property
    def _given(self) -> tuple[Any, ...]:
        Phi = self._Phi
        return self.expert.mean, Phi.indptr, Phi.indices, Phi.data

    @property
    def _settings(self) -> dict[str, Any]:
        return {
            "K": self.K,
            "weights": repr(self.settings.weights),
            "fresh": self.settings.fresh,
        }
