"""Giving a parameter its default value changes no byte: in Python, in TOML, on the command line."""

from dataclasses import fields, is_dataclass
from itertools import chain

import pytest

from optimist import envs
from optimist.agents import AGENTS
from optimist.cli import main
from optimist.cli.parse import parse
from optimist.errors import StudyError
from optimist.experiments import Study, run
from optimist.experiments.learners import CONFIGS as EVERY
from optimist.experiments.toml import write_toml
from optimist.parameters import to_plain

CONFIGS = {name: kind for name, kind in EVERY.items() if name != "StableBaselines"}  # by steps only
# A mixture of known kernels, in which every learner can learn
WORLD = envs.RandomMixture(d=2, n_states=3, n_actions=2, successors=2, paying=0.4, gamma=0.9)
TABLE = {"world": "RandomMixture", **to_plain(WORLD)}
STUDY = {"episodes": 20, "seeds": 1, "worlds": {"mixture": TABLE}}
WORDS = chain(*((f"--world.{k.replace('_', '-')}", str(v)) for k, v in to_plain(WORLD).items()))
LEARN = ("learn", "RandomMixture", *WORDS, "--jobs", "1")


def defaults(config):
    """Every parameter with its default as plain data; 10 for 10.0, which is the same number."""
    return {name: _whole(value) for name, value in to_plain(config).items()}


def _whole(value):
    if isinstance(value, dict):
        return {name: _whole(inner) for name, inner in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def flags(config, prefix="--agent"):
    """The flags of every parameter with its default; a boolean is false without its flag."""
    plain = defaults(config)
    for f in fields(config):
        flag = f"{prefix}.{f.name.replace('_', '-')}"
        if is_dataclass(getattr(config, f.name)):
            yield from flags(getattr(config, f.name), flag)
        elif plain[f.name] is not False:
            yield [flag, str(plain[f.name])]


def files(folder):
    """The bytes of the curves, policies and other results of runs, by the runs' ids and names."""
    found = {
        (path.parent.name, path.name): path.read_bytes()
        for path in folder.glob("runs/*/*")
        if path.name not in ("lock", "environment.json")
    }
    assert {"specification.json", "policy.safetensors"} < {name for _, name in found}
    return found


@pytest.mark.parametrize("name", AGENTS)
def test_keywords(name, state_of):
    kind = AGENTS[name]
    default = kind.Config()
    values = {f.name: getattr(default, f.name) for f in fields(default)}
    for parameter, value in values.items():
        assert kind(WORLD, **{parameter: _whole(value)}).config == default
    bare, spelt = kind(WORLD, seed=3), kind(WORLD, seed=3, **values)
    assert {k: v.tobytes() for k, v in bare.learn(20).table().items()} == {
        k: v.tobytes() for k, v in spelt.learn(20).table().items()
    }
    assert state_of(bare) == state_of(spelt)


def study_of(tables):
    """A study of some agents, from its text."""
    return Study.parse(write_toml({**STUDY, "agents": tables}))


def test_toml(tmp_path):
    bare = {name: {"agent": name} for name in CONFIGS}
    ids = {r.agent: r.spec.id for r in study_of(bare).runs}
    spelt = {name: {"agent": name, **defaults(kind())} for name, kind in CONFIGS.items()}
    for name, table in spelt.items():
        for parameter in table.keys() - {"agent"}:
            [alone] = study_of({name: {"agent": name, parameter: table[parameter]}}).runs
            assert alone.spec.id == ids[name], (name, parameter)
    for folder, tables in (("bare", bare), ("spelt", spelt)):
        run(study_of(tables), tmp_path / folder, jobs=1)
    assert files(tmp_path / "bare") == files(tmp_path / "spelt")
    assert {id for id, _ in files(tmp_path / "bare")} == set(ids.values())


@pytest.mark.parametrize("name", CONFIGS)
def test_command_line(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    default = CONFIGS[name]()
    given = list(flags(default))
    for words in given:
        assert parse([*LEARN, "--agent", name, *words]).agent == default, words
    short = (*LEARN, "--agent", name, "--episodes", "20", "--seeds", "1")
    assert main([*short, "--out", "bare"]) == 0
    assert main([*short, "--out", "spelt", *chain(*given)]) == 0
    assert files(tmp_path / "bare") == files(tmp_path / "spelt")
    # The defaults that the help shows are these.
    with pytest.raises(SystemExit):
        main([*short, "--help"])
    options = capsys.readouterr().out.partition("show this help")[2]
    shown = "".join(line.strip("│ ") + " " for line in options.splitlines())
    for flag, value in given:
        _, _, after = shown.partition(f"{flag} ")
        text = after.partition("(default: ")[2].partition(")")[0]
        assert text in (value, f"{value}.0"), flag


def test_a_wrong_name_gives_the_nearest_right_one(capsys):
    for name, kind in AGENTS.items():
        right = fields(kind.Config)[0].name
        wrong = f"{right}x"
        sentence = f"{name} has no parameter '{wrong}': did you mean '{right}'?"
        with pytest.raises(TypeError) as error:
            kind(WORLD, **{wrong: 1})
        assert sentence in str(error.value)
        with pytest.raises(StudyError) as error:
            study_of({"it": {"agent": name, wrong: 1}})
        assert sentence in str(error.value)
        flag = f"--agent.{right.replace('_', '-')}"
        with pytest.raises(SystemExit) as end:
            main([*LEARN, "--agent", name, f"{flag}x", "1"])
        assert end.value.code == 2
        assert flag in capsys.readouterr().err.replace(f"{flag}x", "")
