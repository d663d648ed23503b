"""A whole learner on disk: every array, the generators, the configuration and the history."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optimist.agents.configuration import Configuration
from optimist.core import storage
from optimist.core.ascension import ascension_name, ascension_named

if TYPE_CHECKING:
    from optimist.agents.rmax_ravi_ucb import RmaxRaviUcb

FILE = "agent.safetensors"


def save(agent: "RmaxRaviUcb", folder: str | Path) -> None:
    """Write the learner."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    driver, parts = agent._driver, agent._chunks
    arrays = dict(driver.arrays)
    if parts:
        for name in parts[0]:
            arrays[f"history.{name}"] = np.concatenate([part[name] for part in parts])
    config = asdict(driver.config)
    config.update(eta=repr(driver.config.eta), ascension=ascension_name(driver.config.ascension))
    header = {
        "agent": type(agent).__name__,
        "config": config,
        "seed": driver.seed,
        "stride": driver.stride,
        "until": driver.until,
        "remembered": agent._remembered,
        "settings": driver.settings,
        "world": driver.world,
        "generators": [g.bit_generator.state for g in (driver.rng, driver.lottery)],
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
    header, arrays, driver = saved.header, saved.arrays, agent._driver
    if header["world"] != driver.world:
        raise storage.FileError(
            "the learner was saved in another world, or with other features, than those given"
        )
    mine = (driver.config, driver.seed, driver.stride)
    if mine != (saved.config, header["seed"], header["stride"]):
        raise storage.FileError(f"{saved.path} is of another run: its parameters are others")
    driver.restore(header, arrays)
    for generator, state in zip((driver.rng, driver.lottery), header["generators"], strict=True):
        generator.bit_generator.state = state
    agent._remembered = header["remembered"]
    history = {n.removeprefix("history."): a for n, a in arrays.items() if n.startswith("history.")}
    if history:
        agent._chunks = [history]
