"""The commands and their flags: frozen dataclasses, whose docstrings are the help.

They are in a module apart from the commands, so that help imports nothing that learning needs. The
flags of a world, an agent or an imitator are added when the command line names a world
(`optimist.cli.parts`).
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from tyro.conf import Positional, UseAppendAction, arg


def shown(metavar: str, default: str, text: str | None = None) -> Any:
    """An optional flag as the help shows it: the name of its value, and its default."""
    return arg(metavar=metavar, help=text, help_behavior_hint=f"(default: {default})")


WORLDS = "its name (`optimist envs` lists them), module:Class, or a .npz or .json file with an MDP"
World = Annotated[str, Positional, arg(metavar="WORLD", help=f"a finite world: {WORLDS}")]
OptionalWorld = Annotated[
    str | None, Positional, arg(metavar="[WORLD]", help=f"a finite world: {WORLDS}")
]
Folder = Annotated[
    Path, Positional, arg(metavar="FOLDER", help="the folder of a study, as --out of sweep")
]
Imports = Annotated[
    UseAppendAction[tuple[str, ...]],
    arg(
        name="import",
        metavar="MODULE",
        help="import a module that you trust, for the worlds, agents and environments in it; it "
        "may be given several times",
        help_behavior_hint="(default: none)",
    ),
]
STEPS = (
    "number of steps in a Gymnasium environment, instead of --episodes: a run ends with the "
    "episode that reaches it"
)
UNTIL = (
    "end when a policy is certified within this share of the optimum, such as 5%, in a finite "
    "world; --agent Prover explores for it"
)
EPISODES = 2000
"""The default number of episodes."""

FRA_IL = "FraIL"
"""The imitator by default."""

Json = Annotated[bool, arg(help="print the results as JSON")]
OutputFile = Annotated[Path | None, shown("FILE", "not written")]
OutputFolder = Annotated[Path | None, shown("FOLDER", "not written")]
Shown = Literal["states", "pairs", "linear"]
"""The features of an expert (`optimist.experiments.learners.Shown`)."""


@dataclass(frozen=True)
class Workers:
    """Where runs are executed."""

    jobs: Annotated[int | None, shown("N", "number of cores")] = None
    """number of runs at a time"""
    executor: Literal["joblib", "serial", "dask", "ray"] = "joblib"
    """joblib: processes on this machine; dask, ray: a cluster that shares the output folder"""
    address: Annotated[str | None, shown("HOST:PORT", "a new one on this machine")] = None
    """address of the cluster"""
    tensorboard: OutputFolder = None
    """also write the curves to a folder for TensorBoard, while the runs go on"""


LOOPBACK = "127.0.0.1"
"""The address of pages that only this machine can reach."""


@dataclass(frozen=True)
class Live:
    """Whether runs are shown while they learn."""

    live: bool = False
    """show the runs on a page while they learn; its address is printed"""
    host: Annotated[str, arg(metavar="HOST")] = LOOPBACK
    """where the page listens; with 0.0.0.0 anyone who has its address and reaches this machine sees
    the runs and can pause them, without encryption"""


LiveFlags = Annotated[Live, arg(name="")]
"""Likewise."""

WorkersFlags = Annotated[Workers, arg(name="")]
"""Workers as the flags of a command, without a prefix."""


@dataclass(frozen=True)
class Demo:
    """Run a small study and write its report: start here.

    Example:
        optimist demo --out first-look
    """

    out: Path = Path("optimist-demo")
    """output directory; created, or resumed if it exists"""
    workers: WorkersFlags = field(default_factory=Workers)


@dataclass(frozen=True)
class Warmup:
    """Compile all compiled code now, and keep it on disk.

    Without it, the first run in a finite world, in an environment, by a tabular peer or by
    imitation compiles its part when it starts.

    Example:
        optimist warmup
    """


@dataclass(frozen=True)
class Learn:
    """Learn one world with one agent, with several seeds.

    The parameters of both are flags: `optimist learn WORLD --agent AGENT --help` lists them.

    Example:
        optimist learn RiverSwim --world.n 20 --agent RaviUcb --agent.beta 2
        optimist learn RiverSwim --world.gamma 0.9 --agent Prover --until 5%
        optimist learn gym:MountainCar-v0 --features tiles:20 --episodes 300
        optimist learn gym:CartPole-v1 --steps 20000 --seeds 1
        optimist learn my_worlds:Ring --agent my_agents:Mine
        optimist learn FourRooms --live
    """

    world_name: Annotated[
        str,
        Positional,
        arg(metavar="WORLD", help=f"a world: {WORLDS}; or a Gymnasium environment, as gym:ID"),
    ]

    agent_name: Annotated[str, arg(name="agent", metavar="AGENT")] = "Optimist"
    """the agent: its name (`optimist agents` lists them), or module:Class"""
    episodes: Annotated[int | None, shown("N", f"{EPISODES} without --steps")] = None
    """number of episodes"""
    steps: Annotated[int | None, shown("N", "none", STEPS)] = None
    until: Annotated[str | None, shown("SHARE", "none", UNTIL)] = None
    delta: float = 0.05
    """the probability that the certificate of --until is wrong"""
    seeds: int = 5
    """number of seeds"""
    seed: int = 0
    """base seed; the seed of each run is derived from it"""
    out: OutputFolder = None
    """output directory, a study with one world and one agent"""
    policy: OutputFile = None
    """the last policy of the first seed"""
    record: OutputFile = None
    """a moving picture of the first seed: .gif or .mp4"""
    imports: Imports = ()
    json: Json = False
    live: LiveFlags = field(default_factory=Live)
    workers: WorkersFlags = field(default_factory=Workers)


@dataclass(frozen=True)
class Expert:
    """Record an expert in a world: its features without actions or rewards, or its trajectories.

    The expert is an optimal policy, or a saved one. Features are drawn from its discounted
    occupancy; trajectories have one length and hold states and actions. The parameters of the
    world are flags: `optimist expert WORLD --help` lists them.

    Example:
        optimist expert FourRooms --samples 1000 --out expert.parquet
        optimist expert FourRooms --trajectories 100 --out expert.parquet
    """

    world_name: World
    out: Annotated[Path, arg(metavar="FILE")] = field(kw_only=True)
    """output file: .parquet, .npz or .csv"""
    policy: Annotated[Path | None, shown("FILE", "an optimal one")] = None
    """the expert's policy"""
    samples: Annotated[float | None, shown("N", "1000 without --trajectories")] = None
    """number of samples of features; inf for their exact mean (not in .csv)"""
    features: Shown = "states"
    """features of a sampled pair: its state, both, or those in which the world is linear"""
    trajectories: Annotated[int | None, shown("N", "none")] = None
    """number of trajectories, instead of --samples"""
    length: Annotated[int | None, shown("T", "about 4 horizons")] = None
    """number of steps of each trajectory; by default log(50) times the horizon 1 / (1 - gamma)"""
    states_only: bool = False
    """leave out the actions of the trajectories"""
    seed: int = 0
    """seed of the samples"""
    json: Json = False


@dataclass(frozen=True)
class Imitate:
    """Imitate an expert from its data, without rewards.

    FRA-IL learns from features, and takes the discounted mean of those of trajectories; other
    imitators learn from trajectories. The parameters of the imitator and those of the world are
    flags: `optimist imitate WORLD --learner NAME --help` lists them.

    Example:
        optimist imitate FourRooms --expert expert.parquet --player RmaxRaviUcb
        optimist imitate FourRooms --expert expert.parquet --learner MimicMD
        optimist imitate FourRooms --expert log.csv --states row,column
    """

    world_name: World
    expert: Annotated[Path, arg(metavar="FILE")] = field(kw_only=True)
    """the expert's features or trajectories: .parquet, .npz or .csv"""
    states: Annotated[str | None, shown("COLUMNS", "state")] = None
    """the columns of the state in a table of trajectories, such as row,column"""
    learner: str = FRA_IL
    """the imitator, such as MimicMD, Mobile or BehaviouralCloning"""
    episodes: int = 2000
    """number of episodes, for imitators that play"""
    seed: int = 0
    """seed of the run"""
    features: Shown = "states"
    """features in the data: of states, of pairs, or those of a linear world"""
    policy: OutputFile = None
    """the last policy"""
    output: OutputFile = None
    """the output policy of the algorithm's theorem; that of FRA-IL is drawn uniformly"""
    json: Json = False


@dataclass(frozen=True)
class Sweep:
    """Run a study: worlds x agents x parameters x seeds; finished runs are kept.

    Example:
        optimist sweep quick --out runs/quick
        optimist sweep exploration --seeds 2 --episodes 100 --out runs/look
        optimist sweep quick --live
    """

    study: Annotated[str, Positional, arg(metavar="STUDY")]
    """a TOML file, or a shipped study: quick, exploration, sensitivity, imitation, rivals,
    certificates"""
    out: Annotated[Path | None, shown("FOLDER", "runs/STUDY")] = None
    """output directory; created, or resumed if it exists"""
    seeds: Annotated[int | None, shown("N", "as in the study")] = None
    """number of seeds instead of the study's, for a quick look; kept in the output directory"""
    episodes: Annotated[int | None, shown("N", "as in the study")] = None
    """number of episodes in every world instead of the study's; kept in the output directory"""
    steps: Annotated[int | None, shown("N", "as in the study")] = None
    """number of steps in every environment instead of the length in the study; also kept"""
    imports: Imports = ()
    json: Json = False
    live: LiveFlags = field(default_factory=Live)
    workers: WorkersFlags = field(default_factory=Workers)


@dataclass(frozen=True)
class Resume:
    """Resume a study that was stopped or killed; the results are the same.

    Example:
        optimist resume runs/quick
    """

    folder: Folder
    imports: Imports = ()
    json: Json = False
    workers: WorkersFlags = field(default_factory=Workers)


@dataclass(frozen=True)
class Watch:
    """Show a study on a page while it is run, also by another process, until Ctrl-C.

    The page reads the study's files and changes nothing.

    Example:
        optimist watch runs/quick
    """

    folder: Folder
    host: Annotated[str, arg(metavar="HOST")] = LOOPBACK
    """where the page listens; with 0.0.0.0 anyone who has its address and reaches this machine sees
    the study, without encryption"""
    imports: Imports = ()


@dataclass(frozen=True)
class Report:
    """Write the report of a study as one page, and figures for a paper.

    Example:
        optimist report runs/quick --pdf
    """

    folder: Folder
    out: Annotated[Path | None, shown("FILE", "FOLDER/report.html")] = None
    """output file"""
    pdf: bool = False
    """also write figures to FOLDER/figures, as PDF"""
    png: bool = False
    """also write figures to FOLDER/figures, as PNG"""
    imports: Imports = ()
    json: Json = False


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
    more: Annotated[
        tuple[Path, ...], Positional, arg(metavar="[FOLDER ...]", help_behavior_hint="")
    ] = ()
    """folders of other studies"""
    imports: Imports = ()
    json: Json = False


@dataclass(frozen=True)
class Envs:
    """List the worlds in their default sizes, with their exact optimal values.

    Example:
        optimist envs --json
    """

    json: Json = False


@dataclass(frozen=True)
class Agents:
    """List the agents, with their parameters and default values.

    Example:
        optimist agents --json
    """

    json: Json = False


@dataclass(frozen=True)
class Theory:
    """Show the paper's guarantees for a world, with every constant.

    These are the theorem's parameters, its regret bound term by term, and the number of episodes
    from which the bound is not trivial. The parameters of the world are flags: `optimist theory
    WORLD --help` lists them.

    Example:
        optimist theory RiverSwim --world.n 20 --K 10000
        optimist theory --rates
    """

    world: ClassVar[Any] = None  # unless one is named
    world_name: OptionalWorld = None
    K: int = 1000
    """the number of episodes"""
    delta: float = 0.1
    """the failure probability of each event"""
    rates: bool = False
    """also show the rates of the paper and the costs of imitation; without a world, as formulas"""
    json: Json = False


@dataclass(frozen=True)
class Verify:
    """Check every statement of the paper's analysis on runs in known worlds.

    The algorithm runs with the theorem's parameters, with the smallest valid bonuses, with changing
    rewards, and with the practical parameters, where statements that need valid bonuses are
    reported but do not fail. Without a world, five small ones are checked, and two more for long
    enough that bounds which are vacuous elsewhere could fail. The parameters of the world are
    flags: `optimist verify WORLD --help` lists them.

    Example:
        optimist verify RiverSwim --world.n 8 --K 500
    """

    world: ClassVar[Any] = None  # unless one is named
    world_name: OptionalWorld = None
    K: int = 1000
    """the number of episodes of each run"""
    delta: float = 0.01
    """the failure probability of statements that hold with high probability"""
    seed: int = 0
    """base seed of the runs"""
    json: Json = False


COMMANDS: dict[str, type[Any]] = {
    kind.__name__.lower(): kind
    for kind in (
        *(Demo, Warmup, Learn, Expert, Imitate, Sweep, Resume, Watch, Report, Compare),
        *(Envs, Agents, Theory, Verify),
    )
}
"""The flags of each command by its name; ``optimist.cli.NAME.main`` runs it."""
