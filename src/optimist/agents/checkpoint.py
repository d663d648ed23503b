"""A whole learner on disk: every array, the generators, the configuration and the history."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optimist import checks
from optimist.agents.configuration import Configuration
from optimist.core import storage
from optimist.core.ascension import ascension_name, ascension_named
from optimist.core.state import Record

if TYPE_CHECKING:
    from optimist.agents.rmax_ravi_ucb import RmaxRaviUcb

FILE = "agent.safetensors"
COLUMNS = ("steps", "reward", "epoch", "optimistic_value", "sup_q", "bonus", "ascension")
"""The columns of a history, in the order of the engine's record."""


def columns_of(record: Record) -> dict[str, Any]:
    """What the engine has noted of each episode, by the names of the columns."""
    return dict(zip(COLUMNS, record, strict=True))


def save(agent: "RmaxRaviUcb", folder: str | Path) -> None:
    """Write the learner."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    arrays = {f"{group}.{name}": array for group, name, array in _state(agent)}
    parts = agent._chunks
    if parts:
        for name in parts[0]:
            arrays[f"history.{name}"] = np.concatenate([part[name] for part in parts])
    if agent._chosen:
        arrays["chosen"] = np.array(agent._chosen)
    config = asdict(agent.config)
    config.update(eta=repr(agent.config.eta), ascension=ascension_name(agent.config.ascension))
    header = {
        "agent": type(agent).__name__,
        "config": config,
        "seed": agent.seed,
        "stride": agent.stride,
        "until": agent._until,
        "remembered": agent._remembered,
        "settings": agent._settings,
        "world": _fingerprint(agent),
        "generators": [g.bit_generator.state for g in (agent._rng, agent._lottery)],
    }
    storage.write(Path(folder) / FILE, "learner", header, arrays)


class Saved(NamedTuple):
    """A learner that was saved."""

    path: Path
    config: Configuration
    header: dict[str, Any]
    arrays: dict[str, Any]


def read(folder: str | Path, agent: str) -> Saved:
    """The learner in a folder, which has to be of this class."""
    path = Path(folder) / FILE
    header, arrays = storage.read(path)
    if header["kind"] != "learner" or header["agent"] != agent:
        found = header.get("agent", header["kind"])
        raise storage.FileError(f"{path} holds a {found}, not a {agent}")
    config = header["config"]
    config.update(eta=float(config["eta"]), ascension=ascension_named(*config["ascension"]))
    return Saved(path, Configuration(**config), header, arrays)


def restore(agent: "RmaxRaviUcb", saved: Saved) -> None:
    """Put a new learner into the state that was read."""
    header, arrays = saved.header, saved.arrays
    if header["world"] != _fingerprint(agent):
        raise storage.FileError(
            "the learner was saved in another world, or with other features, than those given"
        )
    if (agent.config, agent.seed, agent.stride) != (saved.config, header["seed"], header["stride"]):
        raise storage.FileError(f"{saved.path} is of another run: its parameters are others")
    for group, name, array in _state(agent):
        array[...] = arrays[f"{group}.{name}"]
    for generator, state in zip((agent._rng, agent._lottery), header["generators"], strict=True):
        generator.bit_generator.state = state
    agent._until, agent._remembered = header["until"], header["remembered"]
    history = {n.removeprefix("history."): a for n, a in arrays.items() if n.startswith("history.")}
    agent._chosen = [checks.frozen(r) for r in arrays.get("chosen", ())]
    if history:
        agent._chunks = [history]


def _state(agent: "RmaxRaviUcb") -> list[tuple[str, str, Any]]:
    """Every array that changes while learning."""
    return [
        (group, name, array)
        for group, values in agent._arrays.items()
        for name, array in values.items()
        if isinstance(array, np.ndarray) and name not in ("phi", "block", "work", "MV", "PV")
    ]


def _fingerprint(agent: "RmaxRaviUcb") -> str:
    """A digest of the world and the features, by which a wrong one is noticed."""
    sha = hashlib.sha256(json.dumps([agent.mdp.gamma, list(agent.mdp.r.shape)]).encode())
    world = (*agent._simulator[:4], agent.mdp.r, agent.mdp.nu0)
    for array in (*world, agent._stats.phi, agent._stats.block, *agent._given):
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()
