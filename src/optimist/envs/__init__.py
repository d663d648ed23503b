"""Worlds: MDPs with known arrays that are also Gymnasium environments.

===================  ============================================================================
World                Its difficulty
===================  ============================================================================
`RiverSwim`          a current away from the large reward, and a small reward at the start
`DeepSea`            n right moves in a row, without a reward on the way
`GridWorld`          any map of walls, pits and goals; `FourRooms` and `Maze` are two
`CombinationLock`    one right action per state; every mistake leads back to the start
`SixArms`            better arms are harder to reach
`RandomLinear`       many states, few features
`RandomTabular`      a random table without structure, in which few states pay
`RandomMixture`      a mixture of few known kernels, for any number of states
`ToyText`            FrozenLake, CliffWalking and Taxi of Gymnasium
`LowerK`             one action is slightly better: the paper's lower bound on interactions
`LowerTauE`          two similar experts: the paper's lower bound on expert samples
`ResetCliff`         one mistake is for ever: the hard instance of behavioural cloning
`StandardImitation`  states that are never left: matching may err where cloning does not
`Inventory`          when to order, and how much, if the demand is unknown
`Queue`              whom to accept, and when to work fast
`Warehouse`          from the gate to the dock, around racks and around people
===================  ============================================================================

Each is registered with Gymnasium, as ``optimist/RiverSwim-v0`` and so on; there geometric resets
with the world's gamma end the episodes, unless it is made with ``endless=True``.
"""

from optimist.envs.array_world import ArrayWorld
from optimist.envs.combination_lock import CombinationLock
from optimist.envs.deep_sea import DeepSea
from optimist.envs.environment import FiniteEnv
from optimist.envs.grid import FourRooms, GridWorld, Maze
from optimist.envs.gym_world import Gym
from optimist.envs.inventory import Inventory
from optimist.envs.lower_bounds import LowerK, LowerTauE
from optimist.envs.mdp_files import load_mdp
from optimist.envs.queue import Queue
from optimist.envs.random_linear import RandomLinear
from optimist.envs.random_mixture import RandomMixture
from optimist.envs.random_tabular import RandomTabular
from optimist.envs.registration import WORLDS
from optimist.envs.repeat import ActionRepeat
from optimist.envs.reset_cliff import ResetCliff
from optimist.envs.resets import GeometricReset
from optimist.envs.reward_scale import known_range
from optimist.envs.river_swim import RiverSwim
from optimist.envs.six_arms import SixArms
from optimist.envs.standard_imitation import StandardImitation
from optimist.envs.toy_text import ToyText
from optimist.envs.warehouse import Warehouse
from optimist.envs.world import World
from optimist.errors import BadEnvironment
from optimist.ids import environment_id

__all__ = [
    "WORLDS",
    "ActionRepeat",
    "ArrayWorld",
    "BadEnvironment",
    "CombinationLock",
    "DeepSea",
    "FiniteEnv",
    "FourRooms",
    "GeometricReset",
    "GridWorld",
    "Gym",
    "Inventory",
    "LowerK",
    "LowerTauE",
    "Maze",
    "Queue",
    "RandomLinear",
    "RandomMixture",
    "RandomTabular",
    "ResetCliff",
    "RiverSwim",
    "SixArms",
    "StandardImitation",
    "ToyText",
    "Warehouse",
    "World",
    "environment_id",
    "known_range",
    "load_mdp",
]
