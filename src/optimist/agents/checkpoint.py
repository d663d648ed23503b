"""A whole learner on disk: every array, the generators, the configuration and the history."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optimist.agents.configuration import Configuration
from optimist.checks import same
from optimist.core import storage
from optimist.core.ascension import ascension_name, ascension_named
from optimist.core.bonus import bonus_name, bonus_named
from optimist.errors import FileError

if TYPE_CHECKING:
    from optimist.agents.agent import Agent

FILE = "agent.safetensors"


def save(agent: "Agent", folder: str | Path) -> None:
    """Write the learner."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    driver, parts = agent._driver, agent._chunks
    arrays = dict(driver.arrays)
    if parts:
        for name in parts[0]:
            arrays[f"history.{name}"] = np.concatenate([part[name] for part in parts])
    header = {
        "agent": type(agent).__name__,
        "config": _plain(driver.config),
        "seed": driver.seed,
        "stride": driver.stride,
        "until": driver.until,
        "remembered": agent._remembered,
        "settings": driver.settings,
        "world": driver.world,
        "generators": [g.bit_generator.state for g in (driver.rng, driver.lottery)],
    }
    storage.write(Path(folder) / FILE, "learner", header, arrays)


def _plain(config: Any) -> dict[str, Any]:
    """The parameters of an algorithm as JSON holds them."""
    data = asdict(config)
    if isinstance(config, Configuration):
        bonus = None if config.bonus is None else bonus_name(config.bonus)
        ascension = ascension_name(config.ascension)
        data.update(eta=repr(config.eta), ascension=ascension, bonus=bonus)
    return data


class Saved(NamedTuple):
    """A learner that was saved."""

    path: Path
    header: dict[str, Any]
    arrays: dict[str, Any]

    def config(self, kind: type[Any]) -> Any:
        """Its parameters, which are of this class."""
        data = dict(self.header["config"])
        if kind is Configuration:
            data.update(eta=float(data["eta"]), ascension=ascension_named(*data["ascension"]))
            if data.get("bonus") is not None:
                data["bonus"] = bonus_named(*data["bonus"])
        return kind(**data)


def read(folder: str | Path, agent: str) -> Saved:
    """The learner in a folder, which has to be of this class."""
    path = Path(folder) / FILE
    header, arrays = storage.read(path)
    if header["kind"] != "learner" or header["agent"] != agent:
        found = header.get("agent", header["kind"])
        raise FileError(f"{path} holds a {found}, not a {agent}")
    return Saved(path, header, arrays)


def restore(agent: "Agent", saved: Saved) -> None:
    """Put a new learner into the state that was read."""
    header, arrays, driver = saved.header, saved.arrays, agent._driver
    if not same(header["world"], driver.world):
        raise FileError(
            "the learner was saved in another world, or with other features, than those given"
        )
    mine = (driver.config, driver.seed, driver.stride)
    if not same((saved.config(type(driver.config)), header["seed"], header["stride"]), mine):
        raise FileError(f"{saved.path} is of another run: its parameters are others")
    driver.restore(header, arrays)
    for generator, state in zip((driver.rng, driver.lottery), header["generators"], strict=True):
        generator.bit_generator.state = state
    agent._remembered = header["remembered"]
    history = {n.removeprefix("history."): a for n, a in arrays.items() if n.startswith("history.")}
    if history:
        agent._chunks = [history]
