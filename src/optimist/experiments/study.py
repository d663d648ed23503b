"""A study: worlds x agents x parameters x seeds, as a TOML file or as a few lines of Python."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from optimist import checks, limits
from optimist.errors import DataError, StudyError
from optimist.experiments.learners import study_config
from optimist.experiments.parameters import Plain, did_you_mean
from optimist.experiments.specification import (
    AnyWorld,
    Specification,
    agent_name,
    agent_table,
    default_stride,
    derived_seed,
    world_name,
    world_table,
)
from optimist.experiments.study_checks import (
    check_description,
    check_everywhere,
    check_length,
    check_name,
    check_runs,
    check_title,
    refuse_twice,
)
from optimist.experiments.study_toml import checked, study_fields
from optimist.experiments.subject import (
    check_held_out,
    check_subject,
    families_of,
)
from optimist.experiments.toml import line_of, write_toml
from optimist.text import printable


@dataclass(frozen=True)
class Run:
    """One run of a study: its specification, and what the study calls it."""

    world: str
    agent: str
    index: int
    spec: Specification


def named(run: Run) -> str:
    """A run as messages call it."""
    return f"{run.agent} in {run.world}, seed {run.index}"


@dataclass(frozen=True)
class Study:
    """What is to be run.

    Parameters
    ----------
    worlds
        Worlds by the names that figures show; `envs.Gym` is any Gymnasium environment.
    agents
        Agents by name: the configuration of one, or its class for the default configuration.
    episodes
        How many episodes are played: one number, or one for each world by name.
    seeds
        How many seeds, or their numbers.
    seed
        Another number gives other seeds, all of them independent of these.
    stride
        Every so many episodes the policy is evaluated exactly; by default some 400 times a run. In
        a Gymnasium environment, over so many episodes a return is averaged.
    title, description
        What the report says at its top.
    subject
        The family that the study is about, if it is about one: the report compares it, in its one
        setting, with the best setting of every other family in each world.
    held_out
        The worlds by name on which the constants of the subject were not chosen.
    families
        The family of each agent by name; of those left out, the agent itself. The settings of a
        grid in a TOML file are one, called as the grid is.

    Examples
    --------
    >>> import optimist as opt
    >>> study = Study(
    ...     worlds={"river": opt.envs.RiverSwim(6)},
    ...     agents={"twice": opt.RmaxRaviUcb, "once": opt.RaviUcb.Config(beta=0.5)},
    ...     episodes=500,
    ...     seeds=3,
    ... )
    >>> len(study.runs)
    6
    >>> Study.parse(study.text).runs == study.runs
    True
    """

    worlds: Mapping[str, AnyWorld]
    agents: Mapping[str, Any]
    episodes: int | Mapping[str, int]
    seeds: int | Iterable[int] = 5
    seed: int = 0
    stride: int | Mapping[str, int] | None = None
    title: str = "Study"
    description: str = ""
    subject: str | None = None
    held_out: Sequence[str] = ()
    families: Mapping[str, str] = field(default_factory=dict)
    source: str = field(default="", init=False, compare=False, repr=False)
    """The TOML text that it was read from, if it was."""

    def __post_init__(self) -> None:
        for name in ("worlds", "agents"):
            if not getattr(self, name):
                raise ValueError(f"a study needs {name}: there are none")
        for name in ("title", "description"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} = {getattr(self, name)!r} is not text")
        check_title(self.title)
        check_description(self.description)
        for name in (*self.worlds, *self.agents):
            if not isinstance(name, str):
                raise TypeError(f"{name!r} is not text, as the name of a world or an agent is")
            check_name(name)
        checks.count(self.seed, "seed", least=0)
        for world in self.worlds.values():
            world_name(world)  # is one
        _ = self.configurations, self.numbers  # refuse what is wrong at once
        for name, world in self.worlds.items():
            check_length(world, self.lengths[name], self.strides[name])
        for config in self.configurations.values():
            check_everywhere(self.worlds, config)
        refuse_twice("worlds", _played(self.worlds, self.lengths, self.strides))
        check_subject(self.subject, self.family)
        check_held_out(self.held_out, self.worlds, self.subject)

    @cached_property
    def family(self) -> dict[str, str]:
        """The family of each agent."""
        return families_of(self.agents, self.families)

    @cached_property
    def configurations(self) -> dict[str, Any]:
        """The configuration of each agent."""
        made = {name: study_config(given) for name, given in self.agents.items()}
        for config in made.values():
            agent_name(config)  # is one
        refuse_twice("agents", made)
        return made

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the seeds."""
        given = self.seeds
        check_runs(given, len(self.worlds), len(self.agents))
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            return tuple(range(checks.count(given, "seeds")))
        seeds = tuple(checks.count(s, "seeds", least=0) for s in given)
        if not seeds or len(set(seeds)) < len(seeds):
            raise ValueError(f"seeds = {list(seeds)} has to be some numbers, each once")
        return seeds

    @cached_property
    def lengths(self) -> dict[str, int]:
        """The number of episodes in each world."""
        return self._per_world(self.episodes, "episodes")

    @cached_property
    def strides(self) -> dict[str, int]:
        """Every how many episodes policies are evaluated in each world."""
        if self.stride is None:
            return {name: default_stride(n) for name, n in self.lengths.items()}
        return self._per_world(self.stride, "stride")

    def _per_world(self, given: int | Mapping[str, int], name: str) -> dict[str, int]:
        if not isinstance(given, Mapping):
            return dict.fromkeys(self.worlds, checks.count(given, name))
        if set(given) != set(self.worlds):
            raise ValueError(f"{name} has to name each of the worlds {', '.join(self.worlds)}")
        return {world: checks.count(given[world], name) for world in self.worlds}

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """All runs, the seeds outermost, so that early results cover everything."""
        return tuple(
            Run(w, a, i, self._specification(w, a, i))
            for i in self.numbers
            for w in self.worlds
            for a in self.agents
        )

    def _specification(self, w: str, a: str, index: int) -> Specification:
        world, agent = self.worlds[w], self.configurations[a]
        seed = derived_seed(self.seed, index, world, agent)
        return Specification(world, agent, self.lengths[w], self.strides[w], seed)

    @property
    def text(self) -> str:
        """The study as TOML: as it was read, or with every parameter spelt out."""
        if self.source:
            return self.source
        worlds = {
            name: {
                **world_table(world),
                "episodes": self.lengths[name],
                "stride": self.strides[name],
            }
            for name, world in self.worlds.items()
        }
        agents = {name: agent_table(config) for name, config in self.configurations.items()}
        for name, family in self.family.items():
            if family != name:
                agents[name]["family"] = family
        top: Plain = {"title": self.title, "description": self.description}
        seeds = {"seeds": list(self.numbers), "seed": self.seed}
        about: Plain = {}
        if self.subject is not None:
            about = {"subject": self.subject, "held_out": list(self.held_out)}
        return write_toml({**top, **seeds, **about, "worlds": worlds, "agents": agents})

    # Reading

    @classmethod
    def read(cls, path: str | Path) -> "Study":
        """The study in a TOML file, or a shipped one by its name: see `shipped_studies`."""
        shipped = shipped_studies()
        file = Path(path)
        if str(path) in shipped and not file.is_file():
            return cls.parse(shipped[str(path)], f"{path}.toml")
        try:
            limits.need_to_read(file, times=limits.TEXT)
            text = file.read_text(encoding="utf-8-sig")  # some editors begin a file with a mark
        except FileNotFoundError:
            hint = did_you_mean(file.stem, shipped, "shipped are")
            raise StudyError(
                f"there is no file {path}, and no study of that name: {hint}"
            ) from None
        except OSError as error:
            raise StudyError(f"{path} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise StudyError(f"{path} is not a text in UTF-8") from None
        return cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, name: str = "study") -> "Study":
        """The study of a TOML text; errors point at the line.

        Examples
        --------
        >>> Study.parse("episodes = 10 # too few?")
        Traceback (most recent call last):
        ...
        optimist.errors.StudyError: study: the study has no worlds: give each a table
        [worlds.NAME]
        """
        try:
            data = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise StudyError(f"{name}: {error}") from None
        title = printable(Path(name).stem, keep="")
        try:
            fields = study_fields(data, title)
            study: Study = checked(("seeds",) if "seeds" in data else (), lambda: cls(**fields))
        except DataError as error:
            line = line_of(text, error.path)
            where = f"{name}, line {line}" if line else name
            raise StudyError(f"{where}: {error}") from error
        # A copy in another file keeps the title.
        source = text if "title" in data else write_toml({"title": title}) + text
        object.__setattr__(study, "source", source)
        return study


def _played(
    worlds: Mapping[str, AnyWorld], episodes: Mapping[str, int], stride: Mapping[str, int]
) -> dict[str, tuple[AnyWorld, int, int]]:
    return {name: (worlds[name], episodes[name], stride[name]) for name in worlds}


def shipped_studies() -> dict[str, str]:
    """The TOML texts of the shipped studies by name."""
    folder = files("optimist.experiments") / "studies"
    return {
        file.name.removesuffix(".toml"): file.read_text(encoding="utf-8")
        for file in sorted(folder.iterdir(), key=lambda f: f.name)
        if file.name.endswith(".toml")
    }
