"""Classes as a user would write them: a world, an environment and agents, in one file."""

from dataclasses import dataclass

import gymnasium
import numpy as np

import optimist as opt
from optimist.core import Threshold, VarianceBonus, Variant


@dataclass(frozen=True)
class Ring(opt.envs.World):
    n: int = 5
    gamma: float = 0.9

    def build(self):
        here = np.arange(self.n)
        moves = [(0, here, 1.0), (1, (here + 1) % self.n, 0.8), (1, here, 0.2)]
        r = np.repeat(here[:, None] == self.n - 1, 2, axis=1)
        return opt.FiniteMDP(opt.mdp.build_kernel(2, moves), r, np.eye(self.n)[0], self.gamma)

    @property
    def board(self):
        return ("." * self.n,)

    def position(self, state):
        return 0, state


@dataclass
class EpsilonGreedy(opt.Algorithm):
    epsilon: float = 0.1
    rate: float = 0.2

    def start(self, problem):
        self.gamma, shape = problem.gamma, (problem.n_states, problem.n_actions)
        self.Q = np.full(shape, 1 / (1 - self.gamma))

    def act(self, state, rng):
        return rng.choice(self.Q.shape[1], p=self.policy()[state])

    def observe(self, state, action, reward, next_state, terminated):
        target = reward + self.gamma * (not terminated) * self.Q[next_state].max()
        self.Q[state, action] += self.rate * (target - self.Q[state, action])

    def policy(self):
        best = np.eye(self.Q.shape[1])[self.Q.argmax(axis=1)]
        return self.epsilon / self.Q.shape[1] + (1 - self.epsilon) * best


@dataclass(frozen=True)
class CautiousConfig:
    visits: int = 2
    c: float = 0.5

    def variant(self):
        known = Threshold.after(self.visits)
        return Variant(bonus=VarianceBonus(self.c), ascension=known, updates=30)


class Cautious(opt.agents.VariantAgent):
    Config = CautiousConfig


@dataclass(frozen=True)
class ShyConfig(opt.FraIL.Config):
    """FRA-IL with a parameter more."""

    shyness: float = 0.5


class Shy(opt.FraIL):
    Config = ShyConfig


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)
