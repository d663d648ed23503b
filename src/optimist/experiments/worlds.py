"""The worlds of a study: shipped and user-defined ones, finite MDPs and environments.

A world of one's own is kept as its arrays beside the study, so that results are shown, and runs
continued, without its class. Its digest is part of the identity of its runs.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
from gymnasium.vector import VectorEnv

from optimist.core import storage
from optimist.envs import WORLDS, ArrayWorld, Gym, World
from optimist.envs.gym_world import read_options
from optimist.envs.mdp_files import SUFFIXES
from optimist.errors import DataError, FileError
from optimist.mdp import FiniteMDP
from optimist.parameters import Plain, from_plain, to_plain
from optimist.registry import Registry, is_reference

StudyWorld = World | Gym
"""A world of a study: a known MDP, or a Gymnasium environment."""

KINDS = Registry("world", {**WORLDS, Gym.__name__: Gym}, ("optimist.worlds",))
"""The class of each world by name, those of other people too."""

MDP = "mdp"
"""The name of a world that is nothing but its arrays."""


def study_world(given: Any) -> StudyWorld:
    """A world of a study, from any form in which it may be given."""
    if isinstance(given, type) and issubclass(given, World):
        return given()
    if isinstance(given, FiniteMDP):
        return ArrayWorld(given)
    if isinstance(given, gymnasium.Env | VectorEnv):
        given = Gym(given)
    if isinstance(given, Gym):
        return _made_anew(given) if isinstance(given.id, gymnasium.Env | VectorEnv) else given
    if isinstance(given, World):
        return given
    if callable(given) and hasattr(given, "__qualname__"):
        return Gym(given)
    raise TypeError(
        "world must be a World, a FiniteMDP, a Gymnasium environment, Gym or a function that makes "
        f"an environment; got {given!r}"
    )


def _made_anew(world: Gym) -> Gym:
    """An environment by its id, as every run must make its own."""
    env: Any = world.id
    spec, kwargs = env.spec, {}
    if spec is not None and isinstance(env, gymnasium.Env):
        kwargs = {name: value for name, value in spec.kwargs.items() if name != "render_mode"}
        usual = gymnasium.spec(spec.id).max_episode_steps
        if spec.max_episode_steps != usual:
            kwargs["max_episode_steps"] = spec.max_episode_steps
    options = ",".join(f"{name}={_json(value)}" for name, value in kwargs.items())
    if spec is None or spec.additional_wrappers or read_options(options) != kwargs:
        raise TypeError(
            f"every run makes its own environment: give a function that makes {world.name}, as in "
            "worlds={'mine': lambda: MyEnv(8)}"
        )
    parameters = {**vars(world), "id": spec.id, "options": options}
    return Gym(**{name: parameters[name] for name in vars(world) if not name.startswith("_")})


def _json(value: Any) -> str:
    try:
        return json.dumps(value)
    except TypeError:
        return ""  # it then reads as something else


def world_table(world: StudyWorld) -> Plain:
    """A world as a table: its name and its parameters, and a digest if it is not shipped."""
    if isinstance(world, ArrayWorld):
        named = is_reference(world.origin)
        table = {"world": world.origin if named else MDP, **(world.parameters if named else {})}
        return {**table, "arrays": world.digest}
    kind = type(world)
    name = KINDS.name_of(kind)
    if isinstance(world, Gym):
        parameters = {f: v for f, v in to_plain(world).items() if f != "id"}
        source = {"source": world.source} if world.source else {}
        return {"world": name, "id": world.name, **parameters, **source}
    if name in KINDS.shipped:
        return {"world": name, **to_plain(world)}
    return {"world": name, **to_plain(world), "arrays": ArrayWorld.of(world).digest}


def read_world(
    data: Mapping[str, Any],
    path: tuple[str, ...] = (),
    folder: Path | None = None,
    load: bool = True,
) -> StudyWorld:
    """Read a world from the table of its name and parameters.

    Parameters
    ----------
    data, path
        The table, and where it is, for errors.
    folder
        The folder of the files that it names, and of the arrays of user-defined worlds.
    load
        Whether entry points may be loaded. If not, worlds whose classes are not imported are read
        from their arrays.
    """
    table = dict(data)
    if "world" not in table:
        raise DataError(path, f"world is missing: give one of {', '.join(KINDS.names)}")
    name, arrays = table.pop("world"), table.pop("arrays", None)
    at, folder = (*path, "world"), folder or Path()
    if isinstance(name, str) and name.endswith(SUFFIXES):
        _refuse_parameters(name, table, path)
        loaded: ArrayWorld = _read(lambda: ArrayWorld.load(folder / name), at)
        return loaded
    if arrays is not None and not (KINDS.knows(name) or (load and KINDS.declared(name))):
        kept: ArrayWorld = _read(lambda: read_kept(folder, str(arrays)), (*path, "arrays"))
        return kept
    kind = KINDS.find(name, at)
    source = table.pop("source", "") if kind is Gym else ""
    if not isinstance(kind, type) or not issubclass(kind, World | Gym):  # a user-defined function
        table, kind = {"id": name, **table}, Gym
    world: StudyWorld = from_plain(kind, table, path)
    if isinstance(world, Gym) and source and not world.source:
        object.__setattr__(world, "source", source)  # its function is not imported
    return world


def keep(world: StudyWorld, folder: Path) -> None:
    """Write the arrays of a world that is not shipped into the folder of a study."""
    if isinstance(world, Gym) or type(world) in KINDS.shipped.values():
        return
    table = world_table(world)
    parameters = {k: v for k, v in table.items() if k not in ("world", "arrays")}
    kept = ArrayWorld.of(world, parameters)
    file = kept_file(folder, kept.digest)
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        storage.write(file, "world", kept.header, kept.arrays)


def kept_file(folder: Path, digest: str) -> Path:
    """The file with the arrays of a world."""
    if not digest.isalnum():
        raise FileError(f"arrays must be a digest; got {digest!r}")
    storage.refuse_links(folder / "worlds", folder=True)
    return storage.refuse_links(folder / "worlds" / f"{digest}.safetensors")


def read_kept(folder: Path, digest: str) -> ArrayWorld:
    """The world whose arrays have this digest."""
    file = kept_file(folder, digest)
    try:
        header, arrays = storage.read(file)
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror or error}") from None
    if header["kind"] != "world":
        raise FileError(f"{file} holds a {header['kind']}, not a world")
    with storage.reading(file):
        world = ArrayWorld.from_arrays(header, arrays, file)
        if world.digest != digest:
            raise FileError(f"{file} is of the world {world.digest}, not of {digest}")
    return world


def _refuse_parameters(name: str, table: Mapping[str, Any], path: tuple[str, ...]) -> None:
    for key in table:
        raise DataError((*path, key), f"{name} is a file of arrays and has no parameter {key!r}")


def _read(read: Any, path: tuple[str, ...]) -> Any:
    try:
        return read()
    except (FileError, ValueError) as error:
        raise DataError(path, str(error)) from error
