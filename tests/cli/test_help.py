"""Help, and answers to typos."""

import subprocess
import sys
from dataclasses import fields
from typing import get_args

import pytest

import optimist as package
from optimist.cli.flags import COMMANDS
from optimist.cli.parse import parse
from optimist.core.ascension import Ascension
from optimist.core.bonus import Bonus
from optimist.envs import WORLDS
from optimist.experiments.learners import CONFIGS
from optimist.imitation.configuration import PlayerConfig
from optimist.parameters import kind_of

OF_A_WORLD = {
    "learn": (),
    "expert": ("--out", "e.npz"),
    "imitate": ("--expert", "e.npz"),
    "theory": (),
    "verify": (),
}
"""The commands about a world, and the flags that they need."""

VARIANT = ("learn", "RiverSwim", "--agent", "VariantAgent")
FRAIL = ("learn", "RiverSwim", "--agent", "FraIL")
PLAYERS = [kind_of(kind) for kind in get_args(PlayerConfig)]

LINES = [
    *((command,) for command in OF_A_WORLD),
    *((command, world, *needed) for command, needed in OF_A_WORLD.items() for world in WORLDS),
    *(("learn", "RiverSwim", "--agent", agent) for agent in CONFIGS),
    *((*VARIANT, "--agent.bonus", kind_of(kind)) for kind in get_args(Bonus)),
    *((*VARIANT, "--agent.ascension", kind_of(kind)) for kind in get_args(Ascension)),
    *((*FRAIL, "--agent.weights", kind) for kind in ("Ball", "Box", "Simplex")),
    *((*FRAIL, "--agent.player", player) for player in PLAYERS),
    *(("imitate", "GridWorld", "--expert", "e.npz", "--player", player) for player in PLAYERS),
    ("learn", "gym:MountainCar-v0"),
    *((command,) for command in COMMANDS if command not in OF_A_WORLD),
]
POSITIONAL = {"sweep": ["quick"], **{c: ["here"] for c in ("resume", "watch", "report", "compare")}}
NOT_VALUES = (
    *("number of cores", "a new one on this machine", "not written", "none", "an optimal one"),
    *("runs/STUDY", "FOLDER/report.html", "as in the study", "2000 without --steps"),
    *("1000 without --trajectories", "about 4 horizons", "state"),
)


def test_help_lists_every_command_and_exit_code(optimist):
    code, out, _ = optimist("--help")
    assert code == 0
    assert all(f" {name} " in out for name in COMMANDS)
    assert all(f"\n  {number} " in out for number in (0, 1, 2, 3, 130))
    assert optimist() == (0, out, "")


def test_every_command_has_help_with_an_example(optimist):
    for name in COMMANDS:
        code, out, err = optimist(name, "--help")
        assert (code, err) == (0, ""), name
        assert f"    optimist {name}" in out.partition("Example:")[2], name


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_every_listed_flag_is_explained_and_works(words, optimist, monkeypatch):
    """It takes the default that the help shows, which is what it has without the flag."""
    monkeypatch.setenv("COLUMNS", "100")  # wide help has two columns
    code, out, err = optimist(*words, "--help")
    assert (code, err) == (0, "")
    listed = {}
    for line in (line.strip("│ ") for line in out.splitlines() if line.startswith("│")):
        if line.startswith("--"):
            flag = line.split(" ")[0]
            listed[flag] = line.removeprefix(flag)
        elif listed:
            listed[flag] += f" {line}"
    spelt, needed, booleans = [], [], []
    for flag, text in listed.items():
        said, _, default = text.partition(" (default: ")
        default = default.partition(")")[0]
        assert len(said.split()) > 2, (flag, text)
        if default == "False":
            booleans += [flag]
        elif "(required)" in text:
            needed += [] if flag in words else [flag, "0.5"]
        elif default and default not in NOT_VALUES and flag not in (*words, "--world.layout"):
            spelt += [flag, default.strip("'")]
        elif default == "none" and flag != "--import":
            spelt += [flag, default]
    if len(words) > 1 or words[0] not in OF_A_WORLD:
        line = [words[0], *POSITIONAL.get(words[0], ()), *words[1:], *needed]
        assert vars(parse([*line, *spelt])) == vars(parse(line))
        for flag in booleans:
            if flag != "--agent.anytime" or "--agent.ascension" not in words:  # of a sigmoid only
                assert vars(parse([*line, flag])) != vars(parse(line))


def test_help_needs_nothing_of_what_learning_needs():
    """It answers at once because numba, SciPy and pyarrow are not loaded for it."""
    code = (
        "import sys\n"
        "from optimist.cli import main\n"
        "from optimist.cli.flags import COMMANDS\n"
        "for arguments in (['--help'], *([name, '--help'] for name in COMMANDS)):\n"
        "    try:\n"
        "        main(arguments)\n"
        "    except SystemExit:\n"
        "        pass\n"
        "print(sorted({'numba', 'scipy', 'pyarrow', 'loky', 'matplotlib'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("usage: optimist") == 1 + len(COMMANDS)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_parameters_of_a_world_and_an_agent_are_flags(optimist):
    for agent, config in CONFIGS.items():
        code, out, _ = optimist("learn", "RandomLinear", "--agent", agent, "--help")
        assert code == 0
        assert "--world.n-states" in out
        for parameter in (f for f in fields(config) if f.metadata.get("plain", True)):
            assert f"--agent.{parameter.name.replace('_', '-')}" in out, agent


@pytest.mark.usefixtures("ray_environment")  # one of them asks Ray
def test_a_mistake_gives_a_one_line_error(refused):
    typos = [
        (["swep", "quick"], "did you mean 'sweep'?"),
        (["learn", "riverswim"], "did you mean 'RiverSwim'?"),
        (["learn", "RiverSwim", "--agent", "RMax"], "did you mean 'Rmax'?"),
        (["learn", "RiverSwim", "--agent"], "there is no agent ''"),
        (["learn", "RiverSwim", "--epsiodes", "3"], "--episodes"),
        (["learn", "RiverSwim", "--agent.r-mx", "3"], "--agent.r-max"),
        ([*VARIANT, "--agent.bonus", "Fixed"], "did you mean 'FixedBonus'?"),
        ([*VARIANT, "--agent.ascension", "Threshold"], "--agent.ascension.level"),
        (["learn"], "WORLD"),
        (["learn", "--episodes", "3"], "the world comes first, before --episodes"),
        (["learn", "nowhere:Ring"], "'nowhere' cannot be imported: ModuleNotFoundError"),
        (["learn", "optimist.envs:Rivr"], "the module optimist.envs has no 'Rivr'"),
        (["learn", "nowhere.npz"], "nowhere.npz cannot be read as an MDP"),
        (["learn", "RiverSwim", "--preset", "theory"], "--preset"),
        (["learn", "RiverSwim", "--import", "nowhere"], "'nowhere' cannot be imported"),
        (["sweep", "quik"], "did you mean 'quick'?"),
        (["sweep", "quick", "--executr", "dask"], "--executor"),
        (["sweep", "quick", "--executor", "dask", "--address", "x"], "'x' is not the address of a"),
        (["sweep", "quick", "--executor", "ray", "--address", "localhost:1"], "no head of a Ray"),
        (["sweep", "quick", "--address", "localhost:1"], "'joblib' works on this machine"),
        (["sweep", "quick", "--jobs", "0"], "jobs must be at least 1; got 0"),
        (["sweep", "quick", "--seeds", "0"], "seeds must be at least 1; got 0"),
        (["report", "nowhere"], "nowhere is not the folder of a study"),
        (["resume", "."], ". is not the folder of a study: it has no study.toml"),
    ]
    impossible = [
        (["learn", "RiverSwim", "--world.n", "1"], "optimist: n must be at least 2; got 1\n"),
        (
            ["learn", "RiverSwim", "--agent.r-max", "-1"],
            "optimist: r_max must be positive; got -1\n",
        ),
        (["learn", "RiverSwim", "--episodes", "0"], "episodes must be at least 1; got 0"),
        (["learn", "RiverSwim", "--seeds", "0"], "seeds must be at least 1; got 0"),
    ]
    refused(typos + impossible)


def test_the_version(optimist):
    assert optimist("--version")[1] == f"optimist {package.__version__}\n"


def test_it_is_installed_as_a_command_and_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "optimist", "envs", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert all(f'"{name}"' in done.stdout for name in WORLDS)
