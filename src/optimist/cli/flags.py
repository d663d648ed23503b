"""The flags of commands: frozen dataclasses, whose fields are flags with their docstrings as help.

They are apart from the commands themselves, so that help imports nothing that learning needs.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro


def optional(name: str, default: str) -> Any:
    """How the help shows an optional flag: the name of its value, and its default."""
    return tyro.conf.arg(metavar=name, help_behavior_hint=f"(default: {default})")


Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
"""The folder of a study."""


Imports = Annotated[
    tyro.conf.UseAppendAction[tuple[str, ...]],
    tyro.conf.arg(name="import", metavar="MODULE", help_behavior_hint="(default: none)"),
]
"""Modules to import."""


@dataclass(frozen=True)
class Workers:
    """Where runs are carried out."""

    jobs: Annotated[int | None, optional("N", "number of cores")] = None
    """number of runs at a time"""

    executor: Literal["joblib", "serial", "dask", "ray"] = "joblib"
    """joblib: processes on this machine; dask, ray: a cluster that shares the output folder"""

    address: Annotated[str | None, optional("HOST:PORT", "a new one on this machine")] = None
    """address of the cluster"""

    tensorboard: Annotated[Path | None, optional("FOLDER", "not written")] = None
    """also write the curves to a folder for TensorBoard"""


WorkersFlags = Annotated[Workers, tyro.conf.arg(name="")]
"""Workers as the flags of a command, without a prefix."""


@dataclass(frozen=True)
class Demo:
    """Learn several worlds with several agents and seeds, show a table, and write a report.

    Example:
        optimist demo --out first-look
    """

    out: Path = Path("optimist-demo")
    """output directory; created, or resumed if it exists"""

    workers: WorkersFlags = field(default_factory=Workers)


@dataclass(frozen=True)
class Sweep:
    """Run a study: worlds x agents x parameters x seeds. Finished runs are not run again.

    Example:
        optimist sweep quick --out runs/quick
    """

    study: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="STUDY")]
    """a TOML file, or a shipped study: quick, exploration, sensitivity"""

    out: Annotated[Path | None, optional("FOLDER", "runs/STUDY")] = None
    """output directory; created, or resumed if it exists"""

    imports: Imports = ()
    """import a module that registers environments; an id such as "module:Name-v0" needs it"""

    workers: WorkersFlags = field(default_factory=Workers)

    json: bool = False
    """print the table as JSON"""


@dataclass(frozen=True)
class Resume:
    """Resume a study that was stopped, killed or interrupted; the results are the same.

    Example:
        optimist resume runs/quick
    """

    folder: Folder
    """the folder of the study"""

    imports: Imports = ()
    """import a module that registers environments; an id such as "module:Name-v0" needs it"""

    workers: WorkersFlags = field(default_factory=Workers)

    json: bool = False
    """print the table as JSON"""


@dataclass(frozen=True)
class Report:
    """Write the report of a study: one HTML page, which works offline.

    Example:
        optimist report runs/quick --pdf
    """

    folder: Folder
    """the folder of the study"""

    out: Annotated[Path | None, optional("FILE", "FOLDER/report.html")] = None
    """output file"""

    pdf: bool = False
    """also write figures to FOLDER/figures, as PDF"""

    png: bool = False
    """also write figures to FOLDER/figures, as PNG"""

    imports: Imports = ()
    """import a module that registers environments; only worlds of ToyText need it here"""

    json: bool = False
    """print what was written as JSON"""


@dataclass(frozen=True)
class Compare:
    """Compare the agents of one or several studies, world by world.

    The table shows the probability that a run of the agent in the row has a lower average
    suboptimality than a run of the agent in the column, with an interval over the seeds; for a
    Gymnasium environment, the probability that its return is higher.

    Example:
        optimist compare runs/before runs/after
    """

    folder: Folder
    """the folder of a study"""

    more: Annotated[
        tuple[Path, ...],
        tyro.conf.Positional,
        tyro.conf.arg(metavar="[FOLDER ...]", help_behavior_hint=""),
    ] = ()
    """folders of other studies"""

    imports: Imports = ()
    """import a module that registers environments; only worlds of ToyText need it here"""

    json: bool = False
    """print the numbers as JSON"""


@dataclass(frozen=True)
class Envs:
    """List the worlds in their default sizes, with their optimal values.

    Example:
        optimist envs --json
    """

    json: bool = False
    """print them as JSON, with their parameters"""


@dataclass(frozen=True)
class Agents:
    """List the agents, with their parameters and default values.

    Example:
        optimist agents --json
    """

    json: bool = False
    """print them as JSON"""


FLAGS: dict[str, type[Any]] = {
    kind.__name__.lower(): kind for kind in (Demo, Sweep, Resume, Report, Compare, Envs, Agents)
}
"""The flags of each command by its name."""
