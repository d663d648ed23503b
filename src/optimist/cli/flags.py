"""What commands can be told: frozen dataclasses; their fields are flags, their docstrings the help.

They stand apart from what the commands do, so that help needs none of what learning needs.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro


def optional(name: str, default: str) -> Any:
    """How the help shows a flag that need not be given: ``name`` is what is given."""
    return tyro.conf.arg(metavar=name, help_behavior_hint=f"(default: {default})")


Folder = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
"""The folder of a study."""


Imports = Annotated[
    tyro.conf.UseAppendAction[tuple[str, ...]],
    tyro.conf.arg(name="import", metavar="MODULE", help_behavior_hint="(default: none)"),
]
"""Modules whose code is trusted."""


@dataclass(frozen=True)
class Workers:
    """On what runs are carried out."""

    jobs: Annotated[int | None, optional("N", "one for each core")] = None
    """how many runs go side by side"""

    engine: Literal["joblib", "serial", "dask", "ray"] = "joblib"
    """joblib: processes of this machine; dask, ray: a cluster that sees the same folder"""

    address: Annotated[str | None, optional("HOST:PORT", "one on this machine")] = None
    """the address of the cluster"""

    tensorboard: Annotated[Path | None, optional("FOLDER", "not written")] = None
    """also write the curves there, for TensorBoard"""


WorkersFlags = Annotated[Workers, tyro.conf.arg(name="")]
"""Workers as the flags of a command, without a prefix."""


@dataclass(frozen=True)
class Demo:
    """Learn several worlds with several agents and seeds, show a table, and write a report.

    Example:
        optimist demo --out first-look
    """

    out: Path = Path("optimist-demo")
    """the folder that everything is kept in"""

    workers: WorkersFlags = field(default_factory=Workers)


@dataclass(frozen=True)
class Sweep:
    """Run a study: worlds x agents x parameters x seeds. What is finished is never run again.

    Example:
        optimist sweep quick --out runs/quick
    """

    study: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="STUDY")]
    """a TOML file, or a shipped study: quick, exploration, sensitivity"""

    out: Annotated[Path | None, optional("FOLDER", "runs/STUDY")] = None
    """the folder of the study, made or gone on with"""

    imports: Imports = ()
    """import a module that registers environments, as the id "module:Name-v0" asks for"""

    workers: WorkersFlags = field(default_factory=Workers)

    json: bool = False
    """print the table as JSON"""


@dataclass(frozen=True)
class Resume:
    """Go on with a study that was stopped, killed or interrupted, as if it never had been.

    Example:
        optimist resume runs/quick
    """

    folder: Folder
    """the folder of the study"""

    imports: Imports = ()
    """import a module that registers environments, as the id "module:Name-v0" asks for"""

    workers: WorkersFlags = field(default_factory=Workers)

    json: bool = False
    """print the table as JSON"""


@dataclass(frozen=True)
class Report:
    """Write the report of a study: one page that works offline and can be sent to anybody.

    Example:
        optimist report runs/quick --pdf
    """

    folder: Folder
    """the folder of the study"""

    out: Annotated[Path | None, optional("FILE", "FOLDER/report.html")] = None
    """the page"""

    pdf: bool = False
    """also write figures for a paper to FOLDER/figures, as vectors"""

    png: bool = False
    """also write them as pixels"""

    imports: Imports = ()
    """import a module that a world of ToyText asks for; nothing else needs one to be shown"""

    json: bool = False
    """print what was written as JSON"""


@dataclass(frozen=True)
class Compare:
    """Compare the agents of one or several studies, world by world.

    Shown is the probability that a run of the agent in the row loses less, on average over its
    episodes, than a run of the agent in the column, with its interval over the seeds; in a
    Gymnasium environment, that its return is higher.

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
    """the folders of others"""

    imports: Imports = ()
    """import a module that a world of ToyText asks for; nothing else needs one to be shown"""

    json: bool = False
    """print the numbers as JSON"""


@dataclass(frozen=True)
class Envs:
    """List the worlds in their default sizes, with their exact solutions.

    Example:
        optimist envs --json
    """

    json: bool = False
    """print them as JSON, with their parameters"""


@dataclass(frozen=True)
class Agents:
    """List the agents, what they do, and their parameters with their default values.

    Example:
        optimist agents --json
    """

    json: bool = False
    """print them as JSON"""


FLAGS: dict[str, type[Any]] = {
    kind.__name__.lower(): kind for kind in (Demo, Sweep, Resume, Report, Compare, Envs, Agents)
}
"""The flags of each command by its name."""
