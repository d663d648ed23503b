"""A study: what its text means, what is refused and where, and what its runs depend on."""

import dataclasses
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimist.agents import Optimist, OptimisticVI, RaviUcb, Rmax, RmaxRaviUcb
from optimist.core import FixedBonus, Never, Sigmoid, Threshold, Variant
from optimist.envs import (
    DeepSea,
    FourRooms,
    GridWorld,
    Maze,
    RandomMixture,
    ResetCliff,
    RiverSwim,
    SixArms,
)
from optimist.experiments import Study, StudyError, run
from optimist.experiments.curves import read_curves
from optimist.experiments.learners import ImitationConfig
from optimist.features import OneHot
from optimist.imitation import (
    Box,
    ForwardAIL,
    FraIL,
    Ilarl,
    MbTail,
    MimicMD,
    Mobile,
    Oal,
    OgaIL,
)
from optimist.text import HIDDEN

SMALL = """
seeds = 2
episodes = 10

[worlds.river]
world = "RiverSwim"

[agents.rmax]
agent = "Rmax"
"""


def small(worlds='world = "RiverSwim"', agents='agent = "Rmax"', top=""):
    """A study whose only world, only agent or top is another."""
    return Study.parse(f"episodes = 10\n{top}\n[worlds.w]\n{worlds}\n[agents.a]\n{agents}\n")


def ids(study):
    """The runs by what the study calls them."""
    found = {(run.world, run.agent, run.index): run.spec.id for run in study.runs}
    assert len(found) == len(study.runs)
    return found


# What the text means


def test_a_study_is_worlds_times_agents_times_seeds():
    study = Study.parse(SMALL + '[worlds.sea]\nworld = "DeepSea"\nn = 4\n')
    assert study.worlds == {"river": RiverSwim(), "sea": DeepSea(4)}
    assert study.agents == {"rmax": Rmax.Config()}
    assert [(run.index, run.world, run.agent) for run in study.runs] == [
        *((0, "river", "rmax"), (0, "sea", "rmax")),
        *((1, "river", "rmax"), (1, "sea", "rmax")),
    ]
    assert {(run.spec.episodes, run.spec.stride) for run in study.runs} == {(10, 1)}
    assert study.runs[1].spec.world == DeepSea(4)


def test_what_is_not_given_has_defaults(tmp_path):
    """The title is the name of the file, and a copy in another file keeps it."""
    file = tmp_path / "my rivers.toml"
    file.write_text(SMALL.replace("seeds = 2\n", ""))
    study = Study.read(file)
    assert (study.numbers, study.seed) == ((0, 1, 2, 3, 4), 0)
    assert (study.title, study.description) == ("my rivers", "")
    (tmp_path / "copy.toml").write_text(study.text)
    assert Study.read(tmp_path / "copy.toml") == study


def test_the_text_is_what_was_read_with_its_comments():
    """Another study made from it has another text."""
    text = f'title = "t" # mine\ndescription = "of mine"\n{SMALL}'
    study = Study.parse(text)
    assert (study.title, study.description, study.text) == ("t", "of mine", text)
    other = dataclasses.replace(study, seeds=[7])
    assert ids(Study.parse(other.text)) == ids(other) != ids(study)


def test_windows_line_ends(tmp_path):
    file = tmp_path / "s.toml"
    file.write_bytes(SMALL.replace("\n", "\r\n").encode())
    assert ids(Study.read(file)) == ids(Study.parse(SMALL))


# Grids


def test_lists_give_a_grid_whose_names_say_what_was_chosen():
    study = small('world = "DeepSea"\nslip = [0.0, 0.5]\nn = [3, 4]')
    assert study.worlds == {
        "w, slip 0, n 3": DeepSea(3),
        "w, slip 0, n 4": DeepSea(4),
        "w, slip 0.5, n 3": DeepSea(3, slip=0.5),
        "w, slip 0.5, n 4": DeepSea(4, slip=0.5),
    }
    assert list(study.worlds)[1] == "w, slip 0, n 4"


def test_names_may_have_slots():
    worlds = '[worlds."{n} of {n}"]\nworld = "RiverSwim"\nn = [3, 4]\ngamma = [0.5]\n'
    study = Study.parse(f'episodes = 1\n{worlds}[agents.a]\nagent = "Rmax"\n')
    assert list(study.worlds) == ["3 of 3, gamma 0.5", "4 of 4, gamma 0.5"]


def test_lists_in_tables_are_part_of_the_grid():
    ascension = 'ascension = {kind = "Sigmoid", alpha = [1, inf], omega = 2}'
    study = small(agents=f'agent = "VariantAgent"\n{ascension}')
    assert list(study.agents) == ["a, ascension.alpha 1", "a, ascension.alpha inf"]
    assert [a.ascension for a in study.agents.values()] == [Sigmoid(1, 2), Sigmoid(np.inf, 2)]


def test_names_and_tables_may_be_listed():
    study = small('world = ["SixArms", "Maze"]', 'agent = ["Rmax", "RaviUcb"]')
    assert study.worlds == {"w, world SixArms": SixArms(), "w, world Maze": Maze()}
    assert list(study.agents) == ["a, agent Rmax", "a, agent RaviUcb"]
    ascension = 'ascension = ["Never", {kind = "Threshold", level = 2}]'
    study = small(agents=f'agent = "VariantAgent"\n{ascension}')
    assert list(study.agents) == ["a, ascension Never", "a, ascension Threshold"]
    assert [a.ascension for a in study.agents.values()] == [Never(), Threshold(2.0)]


def test_names_tell_numbers_apart_that_are_nearly_the_same():
    study = small('world = "RiverSwim"\ngamma = [0.9, 0.9999999, 0.99999999, 0]')
    assert list(study.worlds) == [
        *("w, gamma 0.9", "w, gamma 0.9999999", "w, gamma 0.99999999", "w, gamma 0"),
    ]


# Episodes and strides


def test_a_world_may_have_its_own_length_and_stride():
    """Without a stride the length decides."""
    study = Study.parse(
        'episodes = 10\n[worlds.a]\nworld = "RiverSwim"\n[worlds.b]\nworld = "SixArms"\n'
        'episodes = [4000, 800]\n[worlds.c]\nworld = "Maze"\nstride = 7\n[agents.a]\nagent = "Rmax"'
    )
    assert study.lengths == {"a": 10, "b, episodes 4000": 4000, "b, episodes 800": 800, "c": 10}
    assert study.strides == {"a": 1, "b, episodes 4000": 10, "b, episodes 800": 2, "c": 7}
    found = {run.world: (run.spec.episodes, run.spec.stride) for run in study.runs}
    assert found == {name: (study.lengths[name], study.strides[name]) for name in study.worlds}
    study = small(top="stride = 3")
    assert study.strides == {"w": 3}


# Errors: each line that ends in #! is refused, with the message that follows

WORLD = '\n[worlds.w]\nworld = "RiverSwim"\nepisodes = 10\n'
AGENT = '\n[agents.a] # an agent\nagent = "Rmax"\n'


def refused(text):
    """Hold the error of a study against what its text says it should be."""
    lines = text.split("\n")
    (line,) = (i for i, content in enumerate(lines, start=1) if "#!" in content)
    message = lines[line - 1].partition("#! ")[2]
    with pytest.raises(StudyError) as caught:
        Study.parse(text, "my.toml")
    assert str(caught.value).startswith(f"my.toml, line {line}: {message}")


def test_errors_at_the_top():
    for line in (
        "sede = 1 #! there is no key 'sede': did you mean 'seed'? It has title, description, ",
        "world.w = {} #! there is no key 'world': did you mean 'worlds'? It has title, ",
        "title = 5 #! title must be text; got 5",
        "description = ['a'] #! description must be text; got ['a']",
        "episodes = 0 #! episodes must be at least 1; got 0",
        "episodes = true #! episodes must be a whole number; got True",
        "stride = inf #! stride must be a whole number; got inf",
        "seeds = 0 #! seeds must be at least 1; got 0",
        "seeds = '12' #! seeds must be a whole number; got '12'",
        "seeds = {a = 1} #! seeds must be a whole number; got {'a': 1}",
        "seeds = [] #! seeds must be distinct numbers, at least one; got []",
        "seeds = [ #! seeds must be distinct numbers, at least one; got [1, 2, 1]\n1,\n2,\n1]",
        "seeds = [0, -1] #! seeds must be at least 0; got -1",
        "seeds = [0.0] #! seeds must be a whole number; got 0.0",
        "seed = -1 #! seed must be at least 0; got -1",
        "seed = [1] #! seed must be a whole number; got [1]",
    ):
        refused(f"# a study\n{line}\n{WORLD}{AGENT}")


def test_errors_in_a_world():
    """The same key at the top or in another world is not to blame."""
    other = '[worlds.v]\nworld = "DeepSea"\nn = 3\ngamma = 0.5\nstride = 1\nepisodes = 1\n'
    before = f'episodes = 10\nstride = 2\n{other}[worlds.w]\nworld = "RiverSwim"\n'
    for line in (
        "gama = 0.9 #! RiverSwim has no parameter 'gama': did you mean 'gamma'? It has n, gamma",
        "seeds = 3 #! RiverSwim has no parameter 'seeds': it has n, gamma",
        "n = 1 #! RiverSwim: n must be at least 2; got 1",
        "gamma = [0.5, 1.5] #! RiverSwim: gamma must be in [0, 1); got 1.5",
        "gamma = [] #! gamma must not be an empty list",
        "gamma = nan #! RiverSwim: gamma must be a finite number; got nan",
        "gamma = 1979-05-27 #! gamma must be a number; got datetime.date(1979, 5, 27)",
        "gamma = [ #! gamma must be a number; got [0.5]\n\n  [0.5],\n]",
        "episodes = [10, 0] #! episodes must be at least 1; got 0",
        "episodes = [] #! episodes must not be an empty list",
        "stride = 'x' #! stride must be a whole number; got 'x'",
    ):
        refused(f"{before}{line}\n{AGENT}")


def test_errors_in_an_agent():
    """Also in a table inside its table, however that is written."""
    for line in (
        "gamma = 0.5 #! VariantAgent has no parameter 'gamma': ",
        "updates = [1, 0] #! VariantAgent: updates must be at least 1; got 0",
        "observe_last = 1 #! observe_last must be true or false; got 1",
        "ascension = 'Sigmod' #! ascension must be one of its kinds; got 'Sigmod': did you mean",
        "ascension = {kind = 'Sigmoid', alfa = 1} #! Sigmoid has no parameter 'alfa': did you mean",
        "ascension.kind = 'Threshold'\nascension.level = -1 #! Threshold: level must not be",
        "[agents.b.ascension]\nkind = 'Threshold'\nlevel = '1' #! level must be a number; got '1'",
        "[agents.b.ascension]\nkind = 'Threshold'\nlevel = [] #! level must not be an empty list",
        "[agents.b.ascension] #! ascension needs a kind: one of Sigmoid, Contraction, ",
    ):
        refused(f'{WORLD}{AGENT}\n[agents.b]\nagent = "VariantAgent"\nr_max = 1\n{line}\n')


def test_errors_in_the_tables_of_worlds_and_agents():
    for text in (
        "[worlds.w] #! world is missing: give one of RiverSwim, DeepSea, \nepisodes = 1",
        "[worlds.w]\nepisodes = 1\nworld = 'Riverswin' #! there is no world 'Riverswin': did you",
        "[worlds.w]\nepisodes = 1\nworld = {a = 1} #! there is no world {'a': 1}: there are ",
        "[worlds.w] #! world 'w' needs episodes, in its table or at the top\nworld = 'Maze'\n",
        f"{WORLD}[worlds.v] #! world 'v' needs episodes\nworld = 'Maze'\n",
        "seed = 1\nworlds = 5 #! the study has no worlds: add a table [worlds.NAME]",
        "seed = 1\n[worlds] #! the study has no worlds: add a table [worlds.NAME]",
        "seed = 1\n[[worlds]] #! the study has no worlds: add a table [worlds.NAME]\nn = 1",
        "seed = 1\n[[worlds.w]] #! w must be a table [worlds.w]; got [{'world': \nworld = 'Maze'",
        f"{WORLD}[agents]\na = 'Rmax' #! a must be a table [agents.a]; got 'Rmax'",
        f"{WORLD}[agents.a] #! agent is missing: give one of Optimist, RmaxRaviUcb, \nbeta = 1",
        f"{WORLD}[agents.a]\nagent = 'Rmx' #! there is no agent 'Rmx': did you mean 'Rmax'? There",
    ):
        refused(text)


def test_two_that_are_the_same_or_have_the_same_name_are_refused():
    worlds = '[worlds.v]\nworld = "RiverSwim"\nn = [2, 3]\n'
    agents = '[agents.b]\nagent = "RaviUcb"\nbeta = [1, 2]\n'
    for more, names in (
        ('[worlds."v, n 3"]\nworld = "Maze"', ["v, n 3"]),
        ('[worlds."v, n {n}"]\nworld = "DeepSea"\nn = [4, 3]', ["v, n 3"]),
        ('[worlds.x]\nworld = "RiverSwim"\nn = [5, 5]', ["x, n 5"]),
        ('[worlds.x]\nworld = "RiverSwim"\nn = 3', ["v, n 3", "x"]),
        ('[agents."b, beta 1"]\nagent = "Rmax"', ["b, beta 1"]),
        ('[agents.c]\nagent = "Rmax"\nvisits = [1, 1]', ["c, visits 1"]),
        ('[agents.c]\nagent = "RaviUcb"\nbeta = 1.0', ["b, beta 1", "c"]),
        ('[agents.c]\nagent = "RaviUcb"\nbeta = 1\neta = [5, 10]', ["b, beta 1", "c, eta 10"]),
    ):
        with pytest.raises(StudyError) as caught:
            Study.parse(f"episodes = 10\n{worlds}{agents}{more}", "my.toml")
        where, _, message = str(caught.value).partition(": ")
        assert where == "my.toml, line 8"
        assert all(repr(name) in message for name in names)


def test_errors_that_have_no_line_and_those_of_the_parser():
    for text, message in (
        ("", "the study has no worlds: add a table"),
        ("episodes = 10", "the study has no worlds: add a table"),
        (WORLD, "the study has no agents: add a table"),
        ("a = 1\nb = \n", r"Invalid value \(at line 2, column 5\)"),
        ("a = 1\na = 2\n", r"Cannot overwrite a value \(at line 2, "),
        (f"a = {'1' * 5000}", "Exceeds the limit"),
    ):
        with pytest.raises(StudyError, match=f"^my.toml: {message}"):
            Study.parse(text, "my.toml")


# Files


def test_an_error_names_the_file(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text("\n\nseed = -1\n")
    with pytest.raises(StudyError, match="line 3: seed must be at least 0; got -1") as caught:
        Study.read(file)
    assert str(caught.value).startswith(f"{file}, line 3: ")


def test_a_file_that_does_not_exist(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path, hint in (
        ("quik", "did you mean 'quick'? Shipped are certificates, exploration, "),
        ("studies/quick.toml", "did you mean 'quick'? Shipped are certificates, exploration, "),
        ("zzzzzz", "shipped are certificates, exploration, "),
    ):
        with pytest.raises(StudyError) as caught:
            Study.read(path)
        begin = f"there is no file {path}, and no study of that name: {hint}"
        assert str(caught.value).startswith(begin)


def test_a_file_that_is_not_text_and_a_folder(tmp_path):
    (tmp_path / "s.toml").write_bytes(SMALL.encode("utf-16"))
    with pytest.raises(StudyError, match=r"s\.toml must be a text file in UTF-8"):
        Study.read(tmp_path / "s.toml")
    with pytest.raises(StudyError, match="cannot be read"):
        Study.read(tmp_path)


# Studies in Python


def test_agents_are_classes_or_configurations():
    """Those of an imitator in Python will do, with the default expert data."""
    given = {
        "default": Optimist,
        "mine": RaviUcb.Config(beta=3),
        "imitator": FraIL,
        "box": FraIL.Config(Box(0.0, 2.0), RmaxRaviUcb.Config(ridge=0.01)),
    }
    study = Study(worlds={"river": RiverSwim(6)}, agents=given, episodes=10, seeds=1)
    assert [run.spec.agent for run in study.runs] == [
        Optimist.Config(),
        RaviUcb.Config(beta=3),
        ImitationConfig(),
        ImitationConfig(Box(0.0, 2.0), RmaxRaviUcb.Config(ridge=0.01)),
    ]


def test_any_study_comes_back_from_its_text():
    study = Study(
        worlds={
            "river": RiverSwim(6, gamma=0),
            "map": GridWorld("S.\n#G", slip=0),
            "rooms": FourRooms(),
        },
        agents={
            "greedy": Variant(
                eta=np.inf, bonus=FixedBonus(1), ascension=Sigmoid(4, 2), ridge=None, anytime=True
            ),
            "level": Variant(eta=1, bonus=FixedBonus(1), ascension=Threshold(1), observe_last=True),
            "once": RaviUcb.Config(beta=1),
            "vi": OptimisticVI.Config(beta=np.float64(2), updates=np.int64(3)),
            "rmax": Rmax,
        },
        episodes={"river": 10, "map": 2000, "rooms": 30},
        stride={"map": 1, "river": 2, "rooms": np.int64(3)},
        seeds=range(3, 6),
        seed=8,
        title='A "title"',
        description="of\nlines",
    )
    back = Study.parse(study.text)
    assert back.runs == study.runs
    assert ids(back) == ids(study)
    assert (back.title, back.description) == (study.title, study.description)
    assert tomllib.loads(study.text)["seeds"] == [3, 4, 5]


SEEN = st.characters(exclude_categories=HIDDEN)


@settings(max_examples=40)
@given(
    st.lists(
        st.text(SEEN, max_size=5) | st.text(".[]\"'\\{n}=# ", max_size=5),
        min_size=4,
        max_size=4,
        unique=True,
    )
)
def test_names_and_titles_may_be_any_visible_text(names):
    first, second, title, description = names
    study = Study(
        worlds={first: RiverSwim(6), second: SixArms()},
        agents={second: Rmax, first: RaviUcb},
        episodes=10,
        seeds=1,
        title=title,
        description=description,
    )
    back = Study.parse(study.text)
    assert ids(back) == ids(study)
    assert (back.title, back.description) == (title, description)


GIVEN = {"worlds": {"w": RiverSwim()}, "agents": {"a": Rmax}, "episodes": 10}


def test_a_study_that_cannot_be_run_is_refused_at_once():
    for change, message in (
        ({"worlds": {}}, "worlds must not be empty"),
        ({"agents": {}}, "agents must not be empty"),
        ({"worlds": {"w": "RiverSwim"}}, "world must be a World, a FiniteMDP, .*; got 'River"),
        ({"worlds": {1: RiverSwim()}}, "names of worlds and agents must be text; got 1"),
        ({"agents": {"a": "Rmax"}}, "agent must be an agent, .*; got 'Rmax'"),
        ({"agents": {None: Rmax}}, "names of worlds and agents must be text; got None"),
        ({"agents": {"a": Rmax, "b": Rmax.Config()}}, "the agents 'a' and 'b' are the same"),
        ({"worlds": {"a": Maze(), "b": Maze()}}, "the worlds 'a' and 'b' are the same"),
        ({"episodes": 0}, "episodes must be at least 1; got 0"),
        ({"episodes": None}, "exactly one of episodes and steps must be given; got none"),
        ({"episodes": {"v": 10}}, "episodes must have a number for each world: w"),
        ({"episodes": {"w": 10, "v": 10}}, "episodes must have a number for each world: w"),
        ({"episodes": {"w": 0}}, "episodes must be at least 1; got 0"),
        ({"stride": 0}, "stride must be at least 1; got 0"),
        ({"stride": {}}, "stride must have a number for each world: w"),
        ({"seeds": 2.0}, "seeds must be a whole number; got 2.0"),
        ({"seeds": "12"}, "seeds must be a whole number; got '12'"),
        ({"seeds": []}, r"seeds must be distinct numbers, at least one; got \[\]"),
        ({"seeds": [1, 1]}, r"seeds must be distinct numbers, at least one; got \[1, 1\]"),
        ({"seeds": [-1]}, "seeds must be at least 0; got -1"),
        ({"seed": -1}, "seed must be at least 0; got -1"),
        ({"title": 5}, "title must be text; got 5"),
        ({"description": None}, "description must be text; got None"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            Study(**{**GIVEN, **change})


# What a run depends on

BASE = Study(
    worlds={"river": RiverSwim(6), "rooms": FourRooms(gamma=0.9)},
    agents={"rmax": Rmax, "ravi": RaviUcb},
    episodes=10,
    seeds=2,
)


def test_changes_beside_a_run_do_not_change_it():
    for change in (
        {"agents": {"new": RmaxRaviUcb, **BASE.agents, "newer": OptimisticVI}},
        {"worlds": {"new": Maze(), **BASE.worlds, "newer": SixArms()}},
        {"seeds": [7, 1, 0]},
        {"agents": dict(reversed(BASE.agents.items()))},
        {"worlds": dict(reversed(BASE.worlds.items()))},
        {"title": "Another", "description": "one"},
        {"episodes": {"river": 10, "rooms": 10}, "stride": 1},
    ):
        assert ids(BASE).items() <= ids(dataclasses.replace(BASE, **change)).items()


def test_a_run_does_not_depend_on_its_names():
    renamed = dataclasses.replace(
        BASE,
        worlds={f"a {name}": world for name, world in BASE.worlds.items()},
        agents={f"my {name}": agent for name, agent in BASE.agents.items()},
    )
    assert [run.spec for run in renamed.runs] == [run.spec for run in BASE.runs]


def test_changing_one_world_leaves_the_runs_of_the_others():
    other = dataclasses.replace(BASE, episodes={"river": 20, "rooms": 10})
    same = {run for run, name in ids(BASE).items() if ids(other)[run] == name}
    assert same == {run for run in ids(BASE) if run[0] == "rooms"}


def test_no_two_runs_have_the_same_seed():
    worlds = {**BASE.worlds, "maze": Maze(gamma=0.9), "river 7": RiverSwim(7)}
    runs = dataclasses.replace(BASE, worlds=worlds, seeds=20).runs
    assert len({run.spec.seed for run in runs}) == len(runs) == 160


def test_another_seed_of_the_study_gives_other_seeds_to_all_runs():
    before = {run.spec.seed for run in BASE.runs}
    after = {run.spec.seed for run in dataclasses.replace(BASE, seed=1).runs}
    assert not before & after


def test_the_first_run_of_a_study_keeps_its_identity():
    assert BASE.runs[0].spec.id == "ebc9001557730259"


# Imitators of trajectories


def test_imitators_of_trajectories_have_their_data_among_their_parameters():
    study = small(agents='agent = "Mobile"\nc = 0.5\ntrajectories = 7')
    [one] = study.agents.values()
    assert (one.c, one.trajectories, one.length) == (0.5, 7, None)
    il = study.runs[0].spec.learner()
    assert isinstance(il, Mobile)
    assert (len(il.expert), il.K, il.config.c) == (7, 10, 0.5)
    with pytest.raises(StudyError, match="trajectories must be at least 1; got 0"):
        small(agents='agent = "Mobile"\ntrajectories = 0')
    with pytest.raises(ValueError, match="MimicMD plays no episodes, as a study needs"):
        Study({"river": RiverSwim()}, {"mimic": MimicMD}, episodes=10)


def test_imitators_of_features_have_the_data_of_fra_il():
    study = small(agents='agent = "Ilarl"\nbatch = 5\nsamples = 9\nfeatures = "pairs"')
    il = study.runs[0].spec.learner()
    assert isinstance(il, Ilarl)
    assert (il.expert.features.shape[0], il.K, il.config.batch) == (9, 10, 5)
    assert isinstance(il.reward_features, OneHot)
    table = small(agents='agent = "OgaIL"\ntable = true').runs[0].spec.learner()
    assert table.theta.ndim == 3
    with pytest.raises(StudyError, match="OgaIL needs known kernels P_i"):
        small(agents='agent = "OgaIL"')


@pytest.mark.parametrize("kind", [Mobile, MbTail, Oal, ForwardAIL, Ilarl, OgaIL])
def test_a_run_of_an_imitator_has_exact_losses(kind, tmp_path):
    world = RandomMixture(d=2, n_states=5, n_actions=2) if kind is OgaIL else ResetCliff(5)
    study = Study({"cliff": world}, {"il": kind}, episodes=40, seeds=1)
    results = run(study, tmp_path, jobs=1)
    [one] = results.finished
    curves = read_curves(results.folder.of(one).path / "curves.parquet", one.spec.id)
    il = one.spec.learner()
    history = il.learn(40)
    lost = history.gaps(world.mdp.optimal().policy, world.mdp.r)
    np.testing.assert_allclose(curves["suboptimality"], lost, rtol=0, atol=1e-12)
