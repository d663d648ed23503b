"""A study: worlds x agents x seeds, as a TOML file or in Python."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from optimist import checks, limits
from optimist.errors import DataError, StudyError
from optimist.experiments.grid import without_choices
from optimist.experiments.learners import study_config
from optimist.experiments.measures import track_of
from optimist.experiments.specification import (
    Specification,
    Unit,
    agent_table,
    certify_table,
    check_unit,
    default_stride,
    derived_seed,
    length_table,
    read_certify,
)
from optimist.experiments.study_checks import (
    NO_STRIDE,
    check_agent,
    check_description,
    check_length,
    check_name,
    check_runs,
    check_title,
    refuse_duplicates,
)
from optimist.experiments.study_toml import located, study_fields
from optimist.experiments.subject import (
    check_held_out,
    check_subject,
    families_of,
)
from optimist.experiments.toml import line_of, write_toml
from optimist.experiments.track import Track
from optimist.experiments.worlds import study_world, world_table
from optimist.parameters import Plain, did_you_mean
from optimist.text import printable


@dataclass(frozen=True)
class Run:
    """One run of a study: its specification, and its names in the study."""

    world: str
    agent: str
    index: int
    spec: Specification


def named(run: Run) -> str:
    """The name of a run in messages."""
    return f"{run.agent} in {run.world}, seed {run.index}"


@dataclass(frozen=True)
class Study:
    """Worlds, agents and seeds: every combination is a run.

    Parameters
    ----------
    worlds
        Worlds by name, as shown in figures: a `World`, any `FiniteMDP`, a Gymnasium environment
        that ``gymnasium.make`` has made, a function that makes one, or `envs.Gym`, which says how
        it is played.
    agents
        Agents by name: a configuration, or a class for its default configuration; or an
        `Algorithm` in plain Python.
    episodes
        The number of episodes, for all worlds or for each world by name.
    steps
        The number of steps, instead of episodes: for Gymnasium environments. A run ends with the
        episode that reaches it, and its curves have their points at up to 100 numbers of steps.
    seeds
        The number of seeds, or a list of their indices.
    seed
        Base seed; the seed of each run is derived from it.
    stride
        The policy is evaluated exactly every ``stride`` episodes, by default about 400 times a run.
        In a Gymnasium environment, returns are averaged over ``stride`` episodes.
    title, description
        The head of the report.
    subject
        The family that the study is about, if any. It has one setting; the report compares it with
        the best setting of every other family in each world.
    held_out
        Names of the worlds that were not used to choose the constants of the subject.
    families
        The family of each agent by name, by default the agent itself. The settings of a grid in a
        TOML file are one family, with the name of the grid.
    certify
        The delta of certificates, which are asked for before each policy that is evaluated
        (docs/certificates.md), in finite worlds. By default there are none.

    Examples
    --------
    >>> import optimist as opt
    >>> study = Study(
    ...     worlds={"river": opt.envs.RiverSwim(6)},
    ...     agents={"Optimist": opt.Optimist, "RAVI-UCB": opt.RaviUcb.Config(beta=0.5)},
    ...     episodes=500,
    ...     seeds=3,
    ... )
    >>> len(study.runs)
    6
    >>> Study.parse(study.text).runs == study.runs
    True
    """

    worlds: Mapping[str, Any]
    agents: Mapping[str, Any]
    episodes: int | Mapping[str, int] | None = None
    seeds: int | Iterable[int] = 5
    seed: int = 0
    stride: int | Mapping[str, int] | None = None
    title: str = "Study"
    description: str = ""
    subject: str | None = None
    held_out: Sequence[str] = ()
    families: Mapping[str, str] = field(default_factory=dict)
    steps: int | Mapping[str, int] | None = field(default=None, kw_only=True)
    certify: float | None = field(default=None, kw_only=True)
    source: str = field(default="", init=False, compare=False, repr=False)
    """The TOML text that the study was read from, if any."""

    def __post_init__(self) -> None:
        for name in ("worlds", "agents"):
            if not getattr(self, name):
                raise ValueError(f"{name} must not be empty")
        for name in ("title", "description"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be text; got {getattr(self, name)!r}")
        check_title(self.title)
        check_description(self.description)
        for name in (*self.worlds, *self.agents):
            if not isinstance(name, str):
                raise TypeError(f"names of worlds and agents must be text; got {name!r}")
            check_name(name)
        checks.count(self.seed, "seed", least=0)
        check_unit(self.episodes, self.steps)
        worlds = {name: study_world(given) for name, given in self.worlds.items()}
        object.__setattr__(self, "worlds", worlds)
        _ = self.configurations, self.numbers  # refuse errors at once
        for name, world in self.worlds.items():
            check_length(world, self.unit, self.lengths[name], self.strides[name])
        for config in self.configurations.values():
            check_agent(self.worlds, config, self.unit)
        object.__setattr__(self, "certify", read_certify(self.certify, *worlds.values()))
        refuse_duplicates("worlds", self.played)
        check_subject(self.subject, self.family)
        check_held_out(self.held_out, self.worlds, self.subject)

    def __repr__(self) -> str:
        return (
            f"Study({self.title!r}, worlds={[*self.worlds]}, agents={[*self.agents]}, "
            f"{self.unit}={self.episodes or self.steps}, seeds={len(self.numbers)})"
        )

    @cached_property
    def family(self) -> dict[str, str]:
        """The family of each agent."""
        return families_of(self.agents, self.families)

    @cached_property
    def configurations(self) -> dict[str, Any]:
        """The configuration of each agent."""
        made = {name: study_config(given) for name, given in self.agents.items()}
        refuse_duplicates("agents", {name: agent_table(config) for name, config in made.items()})
        return made

    @cached_property
    def played(self) -> dict[str, Plain]:
        """Each world as a table, with the length of its runs."""
        return {
            name: {
                **world_table(world),
                **length_table(self.unit, self.lengths[name], self.strides[name]),
            }
            for name, world in self.worlds.items()
        }

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The indices of the seeds."""
        given = self.seeds
        check_runs(given, len(self.worlds), len(self.agents))
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            return tuple(range(checks.count(given, "seeds")))
        seeds = tuple(checks.count(s, "seeds", least=0) for s in given)
        if not seeds or len(set(seeds)) < len(seeds):
            raise ValueError(f"seeds must be distinct numbers, at least one; got {list(seeds)}")
        return seeds

    @property
    def unit(self) -> Unit:
        """The unit of the lengths of runs: episodes or steps."""
        return "episodes" if self.steps is None else "steps"

    @cached_property
    def lengths(self) -> dict[str, int]:
        """The number of episodes, or of steps, in each world."""
        return self._per_world(getattr(self, self.unit), self.unit)

    @cached_property
    def strides(self) -> dict[str, int]:
        """The stride of each world."""
        if self.unit == "steps":
            if self.stride is not None:
                raise ValueError(NO_STRIDE)
            return dict.fromkeys(self.worlds, 1)
        if self.stride is None:
            return {name: default_stride(n) for name, n in self.lengths.items()}
        return self._per_world(self.stride, "stride")

    def _per_world(self, given: int | Mapping[str, int], name: str) -> dict[str, int]:
        if not isinstance(given, Mapping):
            return dict.fromkeys(self.worlds, checks.count(given, name))
        if set(given) != set(self.worlds):
            raise ValueError(f"{name} must have a number for each world: {', '.join(self.worlds)}")
        return {world: checks.count(given[world], name) for world in self.worlds}

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """All runs. Seeds are the outer loop, so that early results cover all worlds and agents."""
        return tuple(
            Run(w, a, i, self._specification(w, a, i))
            for i in self.numbers
            for w in self.worlds
            for a in self.agents
        )

    def _specification(self, w: str, a: str, index: int) -> Specification:
        world, agent = self.worlds[w], self.configurations[a]
        seed = derived_seed(self.seed, index, world, agent)
        length = {"episodes": None, self.unit: self.lengths[w]}
        stride, certify = self.strides[w], self.certify
        return Specification(world, agent, stride=stride, seed=seed, certify=certify, **length)

    def track(self, world: str) -> Track:
        """The measurements in a world."""
        steps = self.lengths[world] if self.unit == "steps" else None
        return track_of(self.worlds[world], steps)

    @property
    def text(self) -> str:
        """The study as TOML: as it was read, or with every parameter.

        With user-defined worlds or agents it always has every parameter, and their digests.
        """
        agents = {name: agent_table(config) for name, config in self.configurations.items()}
        tables = (*self.played.values(), *agents.values())
        if self.source and not any("arrays" in t or "source" in t for t in tables):
            return self.source
        for name, family in self.family.items():
            if family != name:
                agents[name]["family"] = family
        top: Plain = {"title": self.title, "description": self.description}
        seeds: Plain = {"seeds": list(self.numbers), "seed": self.seed}
        seeds |= certify_table(self.certify)
        about: Plain = {}
        if self.subject is not None:
            about = {"subject": self.subject, "held_out": list(self.held_out)}
        return write_toml(
            {**top, **seeds, **about, "worlds": self.played, "agents": without_choices(agents)}
        )

    # Reading

    @classmethod
    def read(cls, path: str | Path, load: bool = True) -> "Study":
        """Read a study from a TOML file, or a shipped one by name (see `shipped_studies`).

        Worlds and agents may be named as ``module:Class``, if the module is imported, and worlds by
        an MDP's file, beside that of the study. Entry points are loaded only if ``load`` says so.
        """
        shipped = shipped_studies()
        file = Path(path)
        if str(path) in shipped and not file.is_file():
            return cls.parse(shipped[str(path)], f"{path}.toml")
        try:
            limits.need_to_read(file, times=limits.TEXT)
            text = file.read_text(encoding="utf-8-sig")  # some editors write a byte-order mark
        except FileNotFoundError:
            hint = did_you_mean(file.stem, shipped, "shipped are")
            raise StudyError(
                f"there is no file {path}, and no study of that name: {hint}"
            ) from None
        except OSError as error:
            raise StudyError(f"{path} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise StudyError(f"{path} must be a text file in UTF-8") from None
        return cls.parse(text, str(path), file.parent, load)

    @classmethod
    def parse(
        cls, text: str, name: str = "study", folder: Path | None = None, load: bool = True
    ) -> "Study":
        """Read a study from TOML text; errors name the line.

        Examples
        --------
        >>> Study.parse("episodes = 10")
        Traceback (most recent call last):
        ...
        optimist.errors.StudyError: study: the study has no worlds: add a table
        [worlds.NAME]
        """
        try:
            data = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise StudyError(f"{name}: {error}") from None
        title = printable(Path(name).stem, keep="")
        try:
            fields = study_fields(data, title, folder, load)
            study: Study = located(("seeds",) if "seeds" in data else (), lambda: cls(**fields))
        except DataError as error:
            line = line_of(text, error.path)
            where = f"{name}, line {line}" if line else name
            raise StudyError(f"{where}: {error}") from error
        # The default title is the name of the file; a copy under another name keeps it.
        source = text if "title" in data else write_toml({"title": title}) + text
        object.__setattr__(study, "source", source)
        return study


def shipped_studies() -> dict[str, str]:
    """The TOML texts of the shipped studies by name."""
    folder = files("optimist.experiments") / "studies"
    return {
        file.name.removesuffix(".toml"): file.read_text(encoding="utf-8")
        for file in sorted(folder.iterdir(), key=lambda f: f.name)
        if file.name.endswith(".toml")
    }
