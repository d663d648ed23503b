"""Worlds: MDPs with known arrays that are Gymnasium environments too.

=================  ==============================================================================
World              What is hard about it
=================  ==============================================================================
`RiverSwim`        a current against the large reward, a small one close by
`DeepSea`          n right moves in a row, and nothing on the way says so
`GridWorld`        any map of walls, pits and goals; `FourRooms` and `Maze` are two
`CombinationLock`  one right action a state, every mistake starts over
`SixArms`          the better an arm, the harder to reach
`RandomLinear`     many states, few features
`RandomTabular`    a random table: few states pay, and only what was tried is known
`ToyText`          FrozenLake, CliffWalking and Taxi, of Gymnasium
`LowerK`           one action a little better: the family of the paper's bound on interactions
`LowerTauE`        two experts hard to tell apart: the pair of its bound on expert samples
=================  ==============================================================================

Each is also registered with Gymnasium, as ``optimist/RiverSwim-v0`` and so on.
"""

from optimist.envs.combination_lock import CombinationLock
from optimist.envs.deep_sea import DeepSea
from optimist.envs.environment import FiniteEnv
from optimist.envs.grid import FourRooms, GridWorld, Maze
from optimist.envs.gym_world import Gym
from optimist.envs.lower_bounds import LowerK, LowerTauE
from optimist.envs.random_linear import RandomLinear
from optimist.envs.random_tabular import RandomTabular
from optimist.envs.registration import WORLDS
from optimist.envs.repeat import ActionRepeat
from optimist.envs.resets import GeometricReset
from optimist.envs.reward_scale import known_range
from optimist.envs.river_swim import RiverSwim
from optimist.envs.six_arms import SixArms
from optimist.envs.toy_text import ToyText
from optimist.envs.world import World
from optimist.errors import BadEnvironment
from optimist.ids import environment_id

__all__ = [
    "WORLDS",
    "ActionRepeat",
    "BadEnvironment",
    "CombinationLock",
    "DeepSea",
    "FiniteEnv",
    "FourRooms",
    "GeometricReset",
    "GridWorld",
    "Gym",
    "LowerK",
    "LowerTauE",
    "Maze",
    "RandomLinear",
    "RandomTabular",
    "RiverSwim",
    "SixArms",
    "ToyText",
    "World",
    "environment_id",
    "known_range",
]
