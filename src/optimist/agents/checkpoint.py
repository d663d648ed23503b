"""A whole learner on disk: every array, the generators, the configuration and the history."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optimist import checks
from optimist.agents.history import joined
from optimist.checks import same
from optimist.core import schema, storage
from optimist.errors import FileError
from optimist.parameters import from_plain

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
    "stride": range(checks.MOST),
    "until": range(2**63),
    "remembered": range(checks.MOST),
    "settings": dict,
    "world": dict,
    "generators": list,
}
"""The fields of the header and their types."""

HISTORY = "history."
"""The prefix of the names of the columns of the history."""


def save(agent: "Agent", folder: str | Path) -> None:
    """Write the learner."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    driver, parts = agent._driver, agent._chunks
    columns = joined(parts) if parts else {}
    arrays = {**driver.arrays, **{f"{HISTORY}{name}": a for name, a in columns.items()}}
    header = {
        "agent": type(agent).__name__,
        "config": driver.saved_config,
        "seed": driver.seed,
        "stride": driver.stride,
        "until": driver.until,
        "remembered": agent._remembered,
        "settings": driver.settings,
        "world": driver.fingerprint,
        "generators": [g.bit_generator.state for g in (driver.rng, driver.output_rng)],
    }
    storage.write(Path(folder) / FILE, "learner", header, arrays)


class Saved(NamedTuple):
    """A learner that was saved."""

    path: Path
    header: dict[str, Any]
    arrays: dict[str, Any]

    def config(self, kind: type[Any]) -> Any:
        """Its parameters, which are of this class."""
        with storage.reading(self.path):
            return from_plain(kind, self.header["config"])


def read(folder: str | Path, agent: str) -> Saved:
    """The learner in a folder, which must be of this class."""
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
    """Restore a new learner to the state that was read; a refused state changes nothing."""
    header, driver = saved.header, agent._driver
    if not same(header["world"], driver.fingerprint):
        raise FileError(
            f"{saved.path}: the learner was saved in another world, or with other features, than "
            "those given"
        )
    _refuse_other_run(saved, driver)
    arrays = {n: a for n, a in saved.arrays.items() if not n.startswith(HISTORY)}
    history = {n.removeprefix(HISTORY): a for n, a in saved.arrays.items() if n.startswith(HISTORY)}
    with storage.reading(saved.path):
        generators = [_generator(state) for state in header["generators"]]
        if len(generators) != 2:
            raise ValueError(f"generators must be two; got {len(generators)}")
        schema.check(arrays, driver.layout(arrays))
        _check_history(driver, history, header["remembered"], arrays)
        driver.restore(header, arrays)
    for generator, bits in zip((driver.rng, driver.output_rng), generators, strict=True):
        generator.bit_generator.state = bits.state
    agent._remembered = header["remembered"]
    agent._chunks = [history] if history else []


def _refuse_other_run(saved: Saved, driver: "Driver") -> None:
    """Refuse a learner with another configuration, seed or stride."""
    header = saved.header
    before = {**header["config"], "seed": header["seed"], "stride": header["stride"]}
    now = {**driver.saved_config, "seed": driver.seed, "stride": driver.stride}
    bound = "v_max or value_bound"  # a bound in force, whichever parameter gave it
    before[bound], now[bound] = (x.get("v_max") for x in (header["settings"], driver.settings))
    for name in {**now, **before}:
        was, value = before.get(name), now.get(name)
        if not same(was, value):
            raise FileError(
                f"{saved.path} belongs to another configuration: {name} was "
                f"{checks.short(was)}, is {checks.short(value)}"
            )


def _check_history(
    driver: "Driver", history: dict[str, Any], first: int, arrays: dict[str, Any]
) -> None:
    """Refuse columns that are not a history of such a learner from this episode on."""
    rows = history["steps"].size if "steps" in history else 0
    played = int(arrays[f"{driver.CLOCK}.episodes"][0])
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
    """Bit generators with the states that were read."""
    bits = np.random.PCG64()
    with suppress(LookupError, TypeError, ValueError, OverflowError):
        bits.state = state
    if bits.state != state:
        raise ValueError(f"generators must be states of PCG64; got {checks.short(state)}")
    return bits
