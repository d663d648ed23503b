"""A whole learner on disk: every array, the generators, the configuration and the history."""

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

import numpy as np

from optimist import checks
from optimist.agents.configuration import Configuration
from optimist.checks import same
from optimist.core import schema, storage
from optimist.core.ascension import ascension_name, ascension_named
from optimist.core.bonus import bonus_name, bonus_named
from optimist.core.state import EPISODES
from optimist.errors import FileError

if TYPE_CHECKING:
    from optimist.agents.agent import Agent
    from optimist.agents.driver import Driver

FILE = "agent.safetensors"

HEADER = {
    "kind": str,
    "format": int,
    "agent": str,
    "config": dict,
    "seed": object,
    "stride": range(schema.MOST),
    "until": range(2**63),
    "remembered": range(schema.MOST),
    "settings": dict,
    "world": dict,
    "generators": list,
}
"""What the header says, and of which type."""

HISTORY = "history."
"""What the names of the columns of the history begin with."""


def save(agent: "Agent", folder: str | Path) -> None:
    """Write the learner."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    driver, parts = agent._driver, agent._chunks
    arrays = dict(driver.arrays)
    if parts:
        for name in parts[0]:
            arrays[f"{HISTORY}{name}"] = np.concatenate([part[name] for part in parts])
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
        data, hints = dict(self.header["config"]), get_type_hints(kind)
        with storage.reading(self.path):
            if kind is Configuration:
                text = {**hints, "eta": str, "ascension": list, "bonus": list | None}
                schema.fields(data, text, "config")
                data.update(eta=float(data["eta"]), ascension=ascension_named(*data["ascension"]))
                if data["bonus"] is not None:
                    data["bonus"] = bonus_named(*data["bonus"])
            else:
                schema.fields(data, hints, "config")
            return kind(**data)


def read(folder: str | Path, agent: str) -> Saved:
    """The learner in a folder, which has to be of this class."""
    path = Path(folder) / FILE
    header, arrays = storage.read(path)
    if header["kind"] != "learner" or header.get("agent") != agent:
        found = header.get("agent", header["kind"])
        raise FileError(f"{path} holds a {found}, not a {agent}")
    with storage.reading(path):
        schema.fields(header, HEADER, "the header")
        checks.count(header["seed"], "seed", least=0)
    return Saved(path, header, arrays)


def restore(agent: "Agent", saved: Saved) -> None:
    """Put a new learner into the state that was read; one that is refused changes nothing."""
    header, driver = saved.header, agent._driver
    if not same(header["world"], driver.world):
        raise FileError(
            f"{saved.path}: the learner was saved in another world, or with other features, than "
            "those given"
        )
    mine = (driver.config, driver.seed, driver.stride)
    if not same((saved.config(type(driver.config)), header["seed"], header["stride"]), mine):
        raise FileError(f"{saved.path} is of another run: its parameters are others")
    arrays = {n: a for n, a in saved.arrays.items() if not n.startswith(HISTORY)}
    history = {n.removeprefix(HISTORY): a for n, a in saved.arrays.items() if n.startswith(HISTORY)}
    with storage.reading(saved.path):
        generators = [_generator(state) for state in header["generators"]]
        if len(generators) != 2:
            raise ValueError(f"generators must be two; got {len(generators)}")
        schema.check(arrays, driver.layout(arrays))
        _check_history(driver, history, header["remembered"], arrays)
        driver.restore(header, arrays)
    for generator, bits in zip((driver.rng, driver.lottery), generators, strict=True):
        generator.bit_generator.state = bits.state
    agent._remembered = header["remembered"]
    agent._chunks = [history] if history else []


def _check_history(
    driver: "Driver", history: dict[str, Any], first: int, arrays: dict[str, Any]
) -> None:
    """Refuse columns that are no history of such a learner, from this episode on."""
    rows = history["steps"].size if "steps" in history else 0
    played = int(arrays[driver.clock][EPISODES])
    if first + rows > played:
        raise ValueError(f"its history is of {first + rows} episodes, and {played} were played")
    if history:
        kept = history["evaluated"].size if "evaluated" in history else 0
        wanted = driver.columns(rows, kept, first, arrays)
        schema.check(
            {f"{HISTORY}{name}": column for name, column in history.items()},
            {f"{HISTORY}{name}": column for name, column in wanted.items()},
        )


def _generator(state: Any) -> np.random.PCG64:
    """Random bits in a state that was read."""
    bits = np.random.PCG64()
    with suppress(LookupError, TypeError, ValueError, OverflowError):
        bits.state = state
    if bits.state != state:
        raise ValueError(f"generators must be states of PCG64; got {checks.short(state)}")
    return bits
