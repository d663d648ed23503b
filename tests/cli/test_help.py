"""Help, and answers to typos."""

import subprocess
import sys
from dataclasses import fields

import optimist as package
from optimist.cli import COMMANDS, OF_A_WORLD
from optimist.cli.flags import FLAGS
from optimist.envs import WORLDS
from optimist.experiments.learners import CONFIGS


def test_help_lists_every_command_and_exit_code(optimist):
    code, out, _ = optimist("--help")
    assert code == 0
    assert all(f"\n  {name} " in out for name in COMMANDS)
    assert all(f"\n  {number} " in out for number in (0, 1, 2, 3, 130))
    assert optimist()[1] == out


def test_every_command_has_help_with_an_example(optimist):
    assert set(FLAGS) == set(COMMANDS) - set(OF_A_WORLD)
    for name in COMMANDS:
        code, out, err = optimist(name, "--help")
        assert (code, err) == (0, ""), name
        assert f"    optimist {name}" in out.partition("Example:")[2], name


def test_help_needs_nothing_of_what_learning_needs():
    """It answers at once because numba, SciPy and pyarrow are not loaded for it."""
    code = (
        "import sys\n"
        "from optimist.cli import main\n"
        "for arguments in (['--help'], ['learn', '--help'], ['sweep', '--help']):\n"
        "    try:\n"
        "        main(arguments)\n"
        "    except SystemExit:\n"
        "        pass\n"
        "print(sorted({'numba', 'scipy', 'pyarrow', 'loky', 'matplotlib'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("usage: optimist") == 3
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_parameters_of_a_world_and_an_agent_are_flags(optimist):
    for agent, config in CONFIGS.items():
        code, out, _ = optimist("learn", "RandomLinear", "--agent", agent, "--help")
        assert code == 0
        assert "--world.n-states" in out
        for parameter in fields(config):
            assert f"--agent.{parameter.name.replace('_', '-')}" in out, agent


def test_a_mistake_is_answered_in_a_sentence(refused):
    typos = [
        (["swep", "quick"], "did you mean 'sweep'?"),
        (["learn", "riverswim"], "did you mean 'RiverSwim'?"),
        (["learn", "RiverSwim", "--agent", "RMax"], "did you mean 'Rmax'?"),
        (["learn", "RiverSwim", "--agent"], "there is no agent ''"),
        (["learn", "RiverSwim", "--epsiodes", "3"], "--episodes"),
        (["learn", "RiverSwim", "--agent.r-mx", "3"], "--agent.r-max"),
        (["sweep", "quik"], "did you mean 'quick'?"),
        (["sweep", "quick", "--executr", "dask"], "--executor"),
        (["sweep", "quick", "--executor", "dask", "--address", "x"], "'x' is not the address of a"),
        (["sweep", "quick", "--executor", "ray", "--address", "localhost:1"], "no head of a Ray"),
        (["sweep", "quick", "--address", "localhost:1"], "'joblib' works on this machine"),
        (["sweep", "quick", "--jobs", "0"], "jobs = 0 must be at least 1"),
        (["report", "nowhere"], "nowhere is not the folder of a study"),
        (["resume", "."], ". is not the folder of a study: it has no study.toml"),
    ]
    impossible = [
        (["learn", "RiverSwim", "--world.n", "1"], "n = 1 must be at least 2"),
        (["learn", "RiverSwim", "--agent.r-max", "-1"], "r_max = -1 must be positive"),
        (["learn", "RiverSwim", "--episodes", "0"], "episodes = 0 must be at least 1"),
        (["learn", "RiverSwim", "--seeds", "0"], "seeds = 0 must be at least 1"),
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
