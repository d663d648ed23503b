"""Altered and re-signed files of learners, loaded and played on with: run in a process of its own.

    python attack.py [MOST [KIND]]

For each kind of learner, one number, type, shape or name in its file is changed at a time, and the
digest is made right. Each file must be refused with a `FileError` that names it, or be harmless.
The case under way is on stdout, so that a crash of the process can be blamed on it. All whole
numbers in arrays are tried; of the other cases no more than MOST for each kind, or all (some
minutes). With NUMBA_BOUNDSCHECK=1, and a NUMBA_CACHE_DIR of its own, compiled code finds reads and
writes out of bounds that happen to do no harm.
"""

import copy
import sys
import tempfile
import warnings
from pathlib import Path

import gymnasium
import numpy as np

from optimist import OptimisticQ, OptimisticVI, Psrl, QLearning, RaviUcb, Rlsvi, Ucbvi, envs
from optimist.agents import Optimist, VariantAgent
from optimist.agents.checkpoint import FILE
from optimist.core import FixedBonus, Sigmoid, Variant, storage
from optimist.errors import FileError, OptimistError
from optimist.features import OneHotState, StateOnly
from optimist.imitation import (
    BehaviouralCloning,
    FeatureDataset,
    FraIL,
    Ilarl,
    LinearCloning,
    MbTail,
    MimicMD,
    Mobile,
    OgaIL,
    TrajectoryDataset,
)

RIVER = envs.RiverSwim(5, gamma=0.8)
LINEAR = envs.RandomLinear(4, 6, 2, gamma=0.8)
ANYTIME = Variant(eta=0.5, bonus=FixedBonus(0.3), ascension=Sigmoid(4.0, 2.0), anytime=True)
STATES = StateOnly(OneHotState(5), n_actions=2)
EXPERT = FeatureDataset.from_policy(RIVER, RIVER.mdp.optimal().policy, STATES)
PATHS = TrajectoryDataset.from_rollouts(
    RIVER, RIVER.mdp.optimal().policy, 5, np.random.default_rng(0), length=4
)
TILES = StateOnly(OneHotState(16), n_actions=4)
WALKER = FeatureDataset(np.eye(16)[[0, 4, 8, 9, 13, 14]])
TERMS = {"gamma": 0.8}


def lake():
    return gymnasium.make("FrozenLake-v1", max_episode_steps=20)


def endless():
    return gymnasium.make("FrozenLake-v1", max_episode_steps=-1)


def car():
    return gymnasium.make("MountainCar-v0", max_episode_steps=20)


def finite(cls, world=RIVER, **options):
    """How a learner is made, and how it is loaded."""
    return lambda: cls(world, seed=3, stride=4, **options), lambda path: cls.load(path, world)


def stream(cls, env, features=None, config=None, **terms):
    given = {**TERMS, **terms}
    options = {} if config is None else {"config": config}
    return (
        lambda: cls(env(), features=features, seed=3, **options, **given),
        lambda path: cls.load(path, env(), features, **given),
    )


def imitator(cls, **options):
    return (
        lambda: cls(RIVER, PATHS, seed=3, stride=4, **options),
        lambda path: cls.load(path, RIVER, PATHS, **options),
    )


KINDS = {
    "finite": finite(Optimist),
    "dense": finite(Optimist, LINEAR),
    "anytime": finite(VariantAgent, LINEAR, config=ANYTIME),
    "greedy": finite(OptimisticVI),
    "rlsvi": finite(Rlsvi, LINEAR),
    "ucbvi": finite(Ucbvi),
    "psrl": finite(Psrl),
    "optimistic q": finite(OptimisticQ),
    "q": finite(QLearning),
    "stream": stream(Optimist, lake),
    "thin": stream(Optimist, car, "rbf:3", memory=4e4),
    "stream anytime": stream(VariantAgent, car, "tiles:4", ANYTIME),
    "distinct": stream(Optimist, lake, "distinct"),
    "truncated": stream(RaviUcb, lake),
    "imitation": (
        lambda: FraIL(RIVER, EXPERT, seed=3, stride=4),
        lambda path: FraIL.load(path, RIVER, EXPERT),
    ),
    "mobile": imitator(Mobile),
    "mb tail": imitator(MbTail, K=11),
    "mimic": imitator(MimicMD),
    "clone": imitator(BehaviouralCloning),
    "linear clone": imitator(LinearCloning),
    "ilarl": imitator(Ilarl, batch=4),
    "ogail": imitator(OgaIL, table=True),
    "stream imitation": (
        lambda: FraIL(endless(), WALKER, TILES, seed=3, **TERMS),
        lambda path: FraIL.load(path, endless(), WALKER, TILES, **TERMS),
    ),
}

OBSERVATIONS = {"thin": [-0.5, 0.0], "stream anytime": [-0.5, 0.0]}
"""Of kinds for which 0 is none."""

REAL = (np.nan, np.inf, -1.0, 1e300, 1e99)

JSON = (None, -1, 2**70, 1.5, float("nan"), True, "x", [], {}, [1, 2], {"x": 1})


def with_number(arrays, name, place, number):
    changed = arrays[name].copy()
    changed.flat[place] = number
    return f"{name}.flat[{place}] = {number}", {**arrays, name: changed}


def indices(arrays, rng):
    """Each array of whole numbers in turn, with an extreme one in some place."""
    for name, array in arrays.items():
        if array.dtype.kind == "i" and array.size:
            place = int(rng.integers(array.size))
            for number in (-1, 2**40, array.size, np.iinfo(np.int64).min):
                yield with_number(arrays, name, place, number)


def altered_arrays(arrays, rng):
    """Each array in turn, altered in other ways; the name of what was done, and all arrays."""
    for name, array in arrays.items():
        others = {n: a for n, a in arrays.items() if n != name}
        yield f"{name} removed", others
        yield f"{name} renamed", {**others, f"{name}s": array}
        kind = np.int32 if array.dtype.kind == "i" else np.float32
        yield f"{name} as {kind.__name__}", {**arrays, name: array.astype(kind)}
        yield f"{name} with an axis", {**arrays, name: array[None]}
        yield f"{name} longer", {**arrays, name: np.concatenate([array, array[-1:]])}
        yield f"{name} shorter", {**arrays, name: array[:-1]}
        for number in REAL if array.dtype.kind == "f" and array.size else ():
            yield with_number(arrays, name, int(rng.integers(array.size)), number)
    yield "another array", {**arrays, "more": np.zeros(3)}


def altered(data, path=()):
    """JSON data with each part in turn altered in each way."""
    parts = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in parts:
        for other in JSON:
            changed = copy.deepcopy(data)
            changed[key] = other
            yield f"{[*path, key]} = {other!r}", changed
        if isinstance(data, dict):
            yield f"{[*path, key]} removed", {k: v for k, v in data.items() if k != key}
        if isinstance(value, dict | list) and value:
            for name, inner in altered(value, (*path, key)):
                changed = copy.deepcopy(data)
                changed[key] = inner
                yield name, changed
    if isinstance(data, dict):
        yield f"{list(path)} with more", {**data, "more": 1}


def learn(agent, episodes):
    """Learn; those who play no episodes learn unless they have learnt."""
    if getattr(agent, "plays", True):
        agent.learn(episodes, show_progress=False)
    elif not agent.remembers:
        agent.learn()


def use(agent, sight, folder):
    """Whatever one does with a learner that was loaded."""
    learn(agent, 2)
    learn(agent, 3)
    repr(agent.history.table())
    for policy in (agent.policy, agent.output):
        policy.predict(sight)
    agent.save(folder)


def tried(load, sight, folder):
    """What comes of loading a learner and going on with it, in a word or a complaint."""
    try:
        agent = load(folder)
    except FileError as error:
        named = str(folder / FILE) in str(error) and "\n" not in str(error)
        return "refused" if named else f"refused with {error}"
    except Exception as error:
        return f"at loading {error!r}"
    try:
        use(agent, sight, folder / "again")
    except OptimistError:
        return "harmless"
    except Exception as error:
        return f"at playing {error!r}"
    return "harmless"


def attack(kind, most, folder):
    """How many files there were, how many were refused, and those that were not harmless."""
    make, load = KINDS[kind]
    agent = make()
    learn(agent, 6)
    agent.save(folder)
    path, rng = folder / FILE, np.random.default_rng(0)
    header, arrays = storage.read(path)
    del header["kind"]
    cases = [(name, header, a) for name, a in indices(arrays, rng)]
    others = [(name, header, a) for name, a in altered_arrays(arrays, rng)]
    others += [(name, h, arrays) for name, h in altered(header)]
    some = range(len(others)) if most is None else rng.choice(len(others), most, replace=False)
    cases += [others[i] for i in some]
    refused, bad = 0, []
    for name, h, a in cases:
        print(kind, name, flush=True)
        storage.write(path, "learner", h, a)
        outcome = tried(load, OBSERVATIONS.get(kind, 0), folder)
        refused += outcome == "refused"
        if outcome not in ("refused", "harmless"):
            bad.append(f"{kind}: {name}: {outcome}")
    return len(cases), refused, bad


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    most = int(sys.argv[1]) if sys.argv[1:] else None
    failures = []
    for kind in sys.argv[2:] or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            n, refused, bad = attack(kind, most, Path(folder))
        print(f"{kind}: {n} files, {refused} refused, {len(bad)} bad", file=sys.stderr)
        failures += bad
    print("\n".join(failures), file=sys.stderr)
    sys.exit(bool(failures))
