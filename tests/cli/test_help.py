"""Help, and answers to typos."""

import subprocess
import sys
from dataclasses import fields

import pytest

from optimist.cli import COMMANDS, OF_A_WORLD
from optimist.cli.flags import FLAGS
from optimist.envs import WORLDS
from optimist.experiments.learners import CONFIGS, LEARNERS


def test_help_lists_every_command_and_exit_code(optimist):
    code, out, _ = optimist("--help")
    assert code == 0
    assert all(f"\n  {name} " in out for name in COMMANDS)
    assert all(f"\n  {number} " in out for number in (0, 1, 2, 3, 130))
    assert optimist()[1] == out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(optimist, name):
    code, out, err = optimist(name, "--help")
    assert code == 0
    assert f"    optimist {name}" in out.partition("Example:")[2]
    assert not err


def test_all_commands_but_those_of_a_world_have_flags_of_their_own():
    assert set(FLAGS) == set(COMMANDS) - set(OF_A_WORLD)


@pytest.mark.parametrize("arguments", [["--help"], ["learn", "--help"], ["sweep", "--help"]])
def test_help_needs_nothing_of_what_learning_needs(arguments):
    """It answers at once because numba, SciPy and pyarrow are not loaded for it."""
    code = (
        "import sys\n"
        "from optimist.cli import main\n"
        "try:\n"
        f"    main({arguments})\n"
        "except SystemExit:\n"
        "    pass\n"
        "print(sorted({'numba', 'scipy', 'pyarrow', 'loky', 'matplotlib'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("agent", LEARNERS)
def test_the_parameters_of_a_world_and_an_agent_are_flags(optimist, agent):
    code, out, _ = optimist("learn", "RandomLinear", "--agent", agent, "--help")
    assert code == 0
    assert "--world.n-states" in out
    if hasattr(CONFIGS[agent], "default_for"):  # the paper's bonus has a beta and a sigmoid
        arguments = ("--agent", agent, "--agent.beta", "1", "--help")
        out += optimist("learn", "RandomLinear", *arguments)[1]
    for parameter in fields(CONFIGS[agent]):
        assert f"--agent.{parameter.name.replace('_', '-')}" in out


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        (["swep", "quick"], "did you mean 'sweep'?"),
        (["learn", "riverswim"], "did you mean 'RiverSwim'?"),
        (["learn", "RiverSwim", "--agent", "RMax"], "did you mean 'Rmax'?"),
        (["learn", "RiverSwim", "--agent"], "there is no agent ''"),
        (["learn", "RiverSwim", "--epsiodes", "3"], "--episodes"),
        (["learn", "RiverSwim", "--agent.betta", "3"], "--agent.beta"),
        (["sweep", "quik"], "did you mean 'quick'?"),
        (["sweep", "quick", "--engin", "dask"], "--engine"),
        (["sweep", "quick", "--engine", "dask", "--address", "x"], "'x' is not the address of a"),
        (["sweep", "quick", "--engine", "ray", "--address", "localhost:1"], "no head of a Ray"),
        (["sweep", "quick", "--address", "localhost:1"], "'joblib' works on this machine"),
        (["sweep", "quick", "--jobs", "0"], "jobs = 0 must be at least 1"),
        (["report", "nowhere"], "nowhere is not the folder of a study"),
        (["resume", "."], ". is not the folder of a study: it has no study.toml"),
    ],
)
def test_a_mistake_is_answered_in_a_sentence(optimist, typo, meant):
    code, out, err = optimist(*typo)
    assert code == 2
    assert meant in err
    assert "Traceback" not in err
    assert not out


def test_impossible_parameters_are_refused_before_anything_runs(optimist):
    for flags in (
        ["--world.n", "1"],
        ["--agent.beta", "-1"],
        ["--episodes", "0"],
        ["--seeds", "0"],
    ):
        code, _, err = optimist("learn", "RiverSwim", *flags)
        assert code == 2, flags
        assert "Traceback" not in err


def test_the_version(optimist):
    import optimist as package

    assert optimist("--version")[1] == f"optimist {package.__version__}\n"


def test_it_is_installed_as_a_command_and_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "optimist", "envs", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert all(f'"{name}"' in done.stdout for name in WORLDS)
