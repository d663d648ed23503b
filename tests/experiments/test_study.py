"""A study: what its text means, what is refused and where, and what its runs depend on."""

import dataclasses
import tomllib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimist.agents import Configuration, OptimisticVI, RaviUcb, Rmax, RmaxRaviUcb
from optimist.core import Never, Sigmoid, Threshold
from optimist.envs import DeepSea, FourRooms, GridWorld, Maze, RiverSwim, SixArms
from optimist.experiments import Study, StudyError
from optimist.experiments.learners import ImitationConfig
from optimist.imitation import Box, FraIL
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


def test_what_is_not_said():
    study = small()
    assert (study.numbers, study.seed, study.title, study.description) == (
        (0, 1, 2, 3, 4), 0, "study", ""
    )  # fmt: skip


def test_a_study_is_called_as_its_file_unless_it_says_otherwise(tmp_path):
    file = tmp_path / "my rivers.toml"
    file.write_text(SMALL)
    assert Study.read(file).title == "my rivers"
    file.write_text(f'title = "Rivers"\ndescription = "of mine"\n{SMALL}')
    assert (Study.read(file).title, Study.read(file).description) == ("Rivers", "of mine")


def test_a_copy_in_a_file_of_another_name_is_the_same_study(tmp_path):
    (tmp_path / "rivers.toml").write_text(SMALL)
    study = Study.read(tmp_path / "rivers.toml")
    (tmp_path / "copy.toml").write_text(study.text)
    assert Study.read(tmp_path / "copy.toml") == study


def test_the_text_is_what_was_read_with_its_comments():
    text = f'title = "t" # mine\n{SMALL}'
    assert Study.parse(text).text == text


def test_another_study_made_from_one_that_was_read_has_another_text():
    study = dataclasses.replace(Study.parse(f'title = "t"\n{SMALL}'), seeds=[7])
    assert ids(Study.parse(study.text)) == ids(study)


def test_windows_line_ends(tmp_path):
    file = tmp_path / "s.toml"
    file.write_bytes(SMALL.replace("\n", "\r\n").encode())
    assert ids(Study.read(file)) == ids(Study.parse(SMALL))


# Grids


def test_lists_give_a_grid_whose_names_say_what_was_chosen():
    study = small('world = "DeepSea"\nslip = [0, 0.5]\nn = [3, 4]')
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
    study = small(agents=f'agent = "RmaxRaviUcb"\n{ascension}')
    assert list(study.agents) == ["a, ascension.alpha 1", "a, ascension.alpha inf"]
    assert [a.ascension for a in study.agents.values()] == [Sigmoid(1, 2), Sigmoid(np.inf, 2)]


def test_a_list_of_tables_and_names_is_a_choice_of_them():
    ascension = 'ascension = ["Never", {kind = "Threshold", level = 2}]'
    study = small(agents=f'agent = "RmaxRaviUcb"\n{ascension}')
    assert [a.ascension for a in study.agents.values()] == [Never(), Threshold(2.0)]


def test_worlds_and_agents_themselves_may_be_listed():
    study = small('world = ["SixArms", "Maze"]', 'agent = ["Rmax", "RaviUcb"]')
    assert study.worlds == {"w, world SixArms": SixArms(), "w, world Maze": Maze()}
    assert list(study.agents) == ["a, agent Rmax", "a, agent RaviUcb"]


def test_names_tell_numbers_apart_that_are_nearly_the_same():
    study = small('world = "RiverSwim"\ngamma = [0.9, 0.9999999, 0.99999999, 0]')
    assert list(study.worlds) == [
        *("w, gamma 0.9", "w, gamma 0.9999999", "w, gamma 0.99999999", "w, gamma 0"),
    ]


def test_a_grid_of_lengths():
    study = small('world = "RiverSwim"\nepisodes = [10, 2000]\nstride = 3')
    assert study.lengths == {"w, episodes 10": 10, "w, episodes 2000": 2000}
    assert set(study.strides.values()) == {3}


# Episodes and strides


def test_a_world_may_have_its_own_length_and_stride():
    study = Study.parse(
        'stride = 5\nepisodes = 10\n[worlds.a]\nworld = "RiverSwim"\n'
        '[worlds.b]\nworld = "SixArms"\nepisodes = 4000\nstride = 7\n[agents.a]\nagent = "Rmax"'
    )
    assert study.lengths == {"a": 10, "b": 4000}
    assert study.strides == {"a": 5, "b": 7}
    assert {(run.world, run.spec.episodes, run.spec.stride) for run in study.runs} == {
        *(("a", 10, 5), ("b", 4000, 7)),
    }


def test_without_a_stride_the_length_decides():
    study = small('world = "RiverSwim"\nepisodes = [10, 4000]')
    assert list(study.strides.values()) == [1, 10]
    study = Study({"a": RiverSwim(), "b": SixArms()}, {"r": Rmax}, {"a": 10, "b": 4000})
    assert study.strides == {"a": 1, "b": 10}


# Errors, each at the line that ends in #! and what the error says


def refused(text):
    """Hold the error of a study against what its text says it should be."""
    lines = text.split("\n")
    (line,) = (i for i, content in enumerate(lines, start=1) if "#!" in content)
    message = lines[line - 1].partition("#! ")[2]
    with pytest.raises(StudyError) as caught:
        Study.parse(text, "my.toml")
    assert str(caught.value).startswith(f"my.toml, line {line}: {message}")


WORLD = '\n[worlds.w]\nworld = "RiverSwim"\nepisodes = 10\n'
AGENT = '\n[agents.a] # an agent\nagent = "Rmax"\n'


@pytest.mark.parametrize(
    "line",
    [
        "sede = 1 #! there is no key 'sede': did you mean 'seed'? It has title, description, ",
        "world.w = {} #! there is no key 'world': did you mean 'worlds'? It has title, ",
        "title = 5 #! title = 5 is not text",
        "description = ['a'] #! description = ['a'] is not text",
        "episodes = 0 #! episodes = 0 must be at least 1",
        "episodes = 0.5 #! episodes = 0.5 is not a whole number",
        "episodes = true #! episodes = True is not a whole number",
        "episodes = [1, 2] #! episodes = [1, 2] is not a whole number",
        "stride = 0 #! stride = 0 must be at least 1",
        "stride = inf #! stride = inf is not a whole number",
        "seeds = 0 #! seeds = 0 must be at least 1",
        "seeds = true #! seeds = True is not a whole number",
        "seeds = 2.5 #! seeds = 2.5 is not a whole number",
        "seeds = '12' #! seeds = '12' is not a whole number",
        "seeds = {a = 1} #! seeds = {'a': 1} is not a whole number",
        "seeds = [] #! seeds = [] has to be some numbers, each once",
        "seeds = [ #! seeds = [1, 2, 1] has to be some numbers, each once\n1,\n2,\n1]",
        "seeds = [0, -1] #! seeds = -1 must be at least 0",
        "seeds = [0.0] #! seeds = 0.0 is not a whole number",
        "seed = -1 #! seed = -1 must be at least 0",
        "seed = 1.0 #! seed = 1.0 is not a whole number",
        "seed = [1] #! seed = [1] is not a whole number",
    ],
)
def test_an_error_at_the_top(line):
    refused(f"# a study\n{line}\n{WORLD}{AGENT}")


@pytest.mark.parametrize(
    "line",
    [
        "gama = 0.9 #! RiverSwim has no parameter 'gama': did you mean 'gamma'? It has n, gamma",
        "seeds = 3 #! RiverSwim has no parameter 'seeds': it has n, gamma",
        "n = 6.0 #! n = 6.0 is not a whole number",
        "n = 1 #! RiverSwim: n = 1 must be at least 2",
        "gamma = 1.5 #! RiverSwim: gamma = 1.5 is outside [0, 1)",
        "gamma = [0.5, 1.5] #! RiverSwim: gamma = 1.5 is outside [0, 1)",
        "gamma = [] #! gamma is an empty list: there is nothing to run",
        "gamma = '0.9' #! gamma = '0.9' is not a number",
        "gamma = true #! gamma = True is not a number",
        "gamma = nan #! RiverSwim: gamma is nan; ",
        "gamma = 1979-05-27 #! gamma = datetime.date(1979, 5, 27) is not a number",
        "gamma = {} #! gamma = {} is not a number",
        "gamma = [ #! gamma = [0.5] is not a number\n\n  [0.5],\n]",
        "episodes = 0 #! episodes = 0 must be at least 1",
        "episodes = [10, 0] #! episodes = 0 must be at least 1",
        "episodes = [] #! episodes is an empty list: there is nothing to run",
        "stride = 'x' #! stride = 'x' is not a whole number",
    ],
)
def test_an_error_in_a_world(line):
    """The same key at the top or in another world is not to blame."""
    other = '[worlds.v]\nworld = "DeepSea"\nn = 3\ngamma = 0.5\nstride = 1\nepisodes = 1\n'
    refused(f'episodes = 10\nstride = 2\n{other}[worlds.w]\nworld = "RiverSwim"\n{line}\n{AGENT}')


@pytest.mark.parametrize(
    "line",
    [
        "gamma = 0.5 #! RmaxRaviUcb has no parameter 'gamma': ",
        "updates = 0 #! RmaxRaviUcb: updates = 0 must be at least 1",
        "updates = 2.0 #! updates = 2.0 is not a whole number",
        "observe_last = 1 #! observe_last = 1 is not true or false",
        "beta = [1, -1] #! RmaxRaviUcb: beta = -1.0 must not be negative",
        "ascension = 'Sigmod' #! ascension: 'Sigmod' is none of its kinds: did you mean 'Sigmoid'?",
        "ascension = {kind = 'Sigmoid', alfa = 1} #! Sigmoid has no parameter 'alfa': did you mean",
        "ascension.kind = 'Threshold'\nascension.level = -1 #! Threshold: level = -1.0 must not be",
        "[agents.b.ascension]\nkind = 'Threshold'\nlevel = '1' #! level = '1' is not a number",
        "[agents.b.ascension]\nkind = 'Threshold'\nlevel = [] #! level is an empty list: ",
        "[agents.b.ascension]\nkind = 'Sigmoid'\nalpha = 2\nbeta = 1 #! Sigmoid has no parameter",
        "[agents.b.ascension] #! ascension: it needs a kind, of Sigmoid, Truncation, Threshold",
        "ascension = {kind = {a = 1}} #! ascension: {'a': 1} is none of its kinds: it has Sigmoid",
    ],
)
def test_an_error_in_an_agent(line):
    refused(f'{WORLD}{AGENT}\n[agents.b]\nagent = "RmaxRaviUcb"\nr_max = 1\n{line}\n')


@pytest.mark.parametrize(
    "text",
    [
        "[worlds.w] #! world is missing: one of RiverSwim, DeepSea, \nepisodes = 1",
        "[worlds.w]\nepisodes = 1\nworld = 'Riverswin' #! there is no world 'Riverswin': did you",
        "[worlds.w]\nepisodes = 1\nworld = {a = 1} #! there is no world {'a': 1}: there are ",
        "[worlds.w] #! world 'w' needs a number of episodes, here or at the top\nworld = 'Maze'\n",
        f"{WORLD}[worlds.v] #! world 'v' needs a number of episodes\nworld = 'Maze'\n",
        "seed = 1\nworlds = 5 #! the study has no worlds: give each a table [worlds.NAME]",
        "seed = 1\n[worlds] #! the study has no worlds: give each a table [worlds.NAME]",
        "seed = 1\n[[worlds]] #! the study has no worlds: give each a table [worlds.NAME]\nn = 1",
        "seed = 1\n[[worlds.w]] #! w = [{'world': 'Maze'}] is not a table: \nworld = 'Maze'",
        "seed = 1\nworlds.w = 'Maze' #! w = 'Maze' is not a table: write [worlds.w]",
        f"{WORLD}[agents] #! the study has no agents: give each a table [agents.NAME]",
        f"{WORLD}[agents]\na = 'Rmax' #! a = 'Rmax' is not a table: write [agents.a]",
        f"{WORLD}[agents.a] #! agent is missing: one of RmaxRaviUcb, \nbeta = 1",
        f"{WORLD}[agents.a]\nagent = 'Rmx' #! there is no agent 'Rmx': did you mean 'Rmax'? There",
        f"{WORLD}[agents.a]\nagent = 1 #! there is no agent 1: there are RmaxRaviUcb, ",
    ],
)
def test_an_error_in_what_there_is(text):
    refused(text)


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ('[worlds."v, n 3"]\nworld = "Maze"', ["v, n 3"]),
        ('[worlds."v, n {n}"]\nworld = "DeepSea"\nn = [4, 3]', ["v, n 3"]),
        ('[worlds.x]\nworld = "RiverSwim"\nn = [5, 5]', ["x, n 5"]),
        ('[worlds.x]\nworld = "RiverSwim"\nn = 3', ["v, n 3", "x"]),
        ('[agents."b, beta 1"]\nagent = "Rmax"', ["b, beta 1"]),
        ('[agents.c]\nagent = "Rmax"\nvisits = [1, 1]', ["c, visits 1"]),
        ('[agents.c]\nagent = "RaviUcb"\nbeta = 1.0', ["b, beta 1", "c"]),
        ('[agents.c]\nagent = "RaviUcb"\nbeta = 1\neta = [5, 10]', ["b, beta 1", "c, eta 10"]),
    ],
)
def test_two_that_are_the_same_or_named_the_same_are_refused(more, names):
    worlds = '[worlds.v]\nworld = "RiverSwim"\nn = [2, 3]\n'
    agents = '[agents.b]\nagent = "RaviUcb"\nbeta = [1, 2]\n'
    with pytest.raises(StudyError) as caught:
        Study.parse(f"episodes = 10\n{worlds}{agents}{more}", "my.toml")
    where, _, message = str(caught.value).partition(": ")
    assert where == "my.toml, line 8"
    assert all(repr(name) in message for name in names)


@pytest.mark.parametrize("text", ["", "# nothing", "episodes = 10", WORLD])
def test_what_is_missing_has_no_line(text):
    missing = "agents" if text == WORLD else "worlds"
    with pytest.raises(
        StudyError, match=rf"^my.toml: the study has no {missing}: give each a table"
    ):
        Study.parse(text, "my.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = \n", r"^my.toml: Invalid value \(at line 2, column 5\)"),
        ("a = 1\na = 2\n", r"^my.toml: Cannot overwrite a value \(at line 2, "),
        ("a = 1\n[b\n", r"^my.toml: .*\(at line 2, "),
        (f"a = {'1' * 5000}", r"^my.toml: Exceeds the limit"),
    ],
)
def test_broken_toml(text, message):
    with pytest.raises(StudyError, match=message):
        Study.parse(text, "my.toml")


# Files


def test_an_error_names_the_file(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text("\n\nseed = -1\n")
    with pytest.raises(StudyError, match="line 3: seed = -1") as caught:
        Study.read(file)
    assert str(caught.value).startswith(f"{file}, line 3: ")


def test_an_imitators_own_configuration_will_do():
    config = FraIL.Config.practical(Box(0.0, 2.0), beta=0.3)
    study = Study({"river": RiverSwim(4)}, {"a": FraIL, "b": config}, episodes=10)
    assert study.configurations == {
        "a": ImitationConfig(),
        "b": ImitationConfig.practical(Box(0.0, 2.0), beta=0.3),
    }


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("quik", "did you mean 'quick'? Shipped are exploration, imitation, "),
        ("studies/quick.toml", "did you mean 'quick'? Shipped are exploration, imitation, "),
        ("zzzzzz", "shipped are exploration, imitation, "),
    ],
)
def test_a_file_that_is_not_there(path, hint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StudyError) as caught:
        Study.read(path)
    begin = f"there is no file {path}, and no study of that name: {hint}"
    assert str(caught.value).startswith(begin)


def test_a_file_that_is_not_text(tmp_path):
    (tmp_path / "s.toml").write_bytes(SMALL.encode("utf-16"))
    with pytest.raises(StudyError, match=r"s\.toml is not a text in UTF-8"):
        Study.read(tmp_path / "s.toml")


def test_a_folder_is_not_a_study(tmp_path):
    with pytest.raises(StudyError, match="cannot be read"):
        Study.read(tmp_path)


# Studies in Python


def test_agents_are_classes_or_configurations():
    study = Study(
        worlds={"river": RiverSwim(6)},
        agents={"default": RmaxRaviUcb, "mine": RaviUcb.Config(beta=3), "rmax": Rmax},
        episodes=10,
    )
    assert [run.spec.agent for run in study.runs][:3] == [
        *(Configuration.adaptive(), RaviUcb.Config(beta=3), Rmax.Config()),
    ]


def test_any_study_comes_back_from_its_text():
    study = Study(
        worlds={
            "river": RiverSwim(6, gamma=0),
            "map": GridWorld("S.\n#G", slip=0),
            "rooms": FourRooms(),
        },
        agents={
            "greedy": Configuration(np.inf, 1, Sigmoid(4, 2), ridge=None, anytime=True),
            "level": Configuration(1, 1, Threshold(1), observe_last=True),
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
def test_names_and_titles_may_be_any_text_that_is_seen(names):
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"worlds": {}}, "a study needs worlds: there are none"),
        ({"agents": {}}, "a study needs agents: there are none"),
        ({"worlds": {"w": RiverSwim}}, "is not a shipped world"),
        ({"worlds": {"w": "RiverSwim"}}, "is not a shipped world"),
        ({"worlds": {1: RiverSwim()}}, "1 is not text"),
        ({"agents": {"a": "Rmax"}}, "'Rmax' is not the configuration of an agent"),
        ({"agents": {None: Rmax}}, "None is not text"),
        ({"agents": {"a": Rmax, "b": Rmax.Config()}}, "the agents 'a' and 'b' are the same"),
        ({"worlds": {"a": Maze(), "b": Maze()}}, "the worlds 'a' and 'b' are the same"),
        ({"episodes": 0}, "episodes = 0 must be at least 1"),
        ({"episodes": 10.0}, "episodes = 10.0 is not a whole number"),
        ({"episodes": True}, "episodes = True is not a whole number"),
        ({"episodes": None}, "episodes = None is not a whole number"),
        ({"episodes": {"v": 10}}, "episodes has to name each of the worlds w"),
        ({"episodes": {"w": 10, "v": 10}}, "episodes has to name each of the worlds w"),
        ({"episodes": {"w": 0}}, "episodes = 0 must be at least 1"),
        ({"stride": 0}, "stride = 0 must be at least 1"),
        ({"stride": {}}, "stride has to name each of the worlds w"),
        ({"seeds": 0}, "seeds = 0 must be at least 1"),
        ({"seeds": 2.0}, "seeds = 2.0 is not a whole number"),
        ({"seeds": "12"}, "seeds = '12' is not a whole number"),
        ({"seeds": []}, r"seeds = \[\] has to be some numbers"),
        ({"seeds": [1, 1]}, r"seeds = \[1, 1\] has to be some numbers, each once"),
        ({"seeds": [-1]}, "seeds = -1 must be at least 0"),
        ({"seed": -1}, "seed = -1 must be at least 0"),
        ({"seed": 0.5}, "seed = 0.5 is not a whole number"),
        ({"title": 5}, "title = 5 is not text"),
        ({"description": None}, "description = None is not text"),
    ],
)
def test_a_study_that_cannot_be_run_is_refused_at_once(change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Study(**{**GIVEN, **change})


# What a run depends on

BASE = Study(
    worlds={"river": RiverSwim(6), "rooms": FourRooms(gamma=0.9)},
    agents={"rmax": Rmax, "ravi": RaviUcb},
    episodes=10,
    seeds=2,
)


@pytest.mark.parametrize(
    "change",
    [
        {"agents": {"new": RmaxRaviUcb, **BASE.agents, "newer": OptimisticVI}},
        {"worlds": {"new": Maze(), **BASE.worlds, "newer": SixArms()}},
        {"seeds": 5},
        {"seeds": [7, 1, 0]},
        {"agents": dict(reversed(BASE.agents.items()))},
        {"worlds": dict(reversed(BASE.worlds.items()))},
        {"title": "Another", "description": "one"},
        {"episodes": {"river": 10, "rooms": 10}},
        {"stride": 1},
    ],
)
def test_what_is_changed_beside_a_run_does_not_change_it(change):
    assert ids(BASE).items() <= ids(dataclasses.replace(BASE, **change)).items()


def test_what_is_left_out_does_not_change_the_rest():
    left = dataclasses.replace(BASE, agents={"ravi": RaviUcb}, worlds={"river": RiverSwim(6)})
    assert ids(left).items() <= ids(BASE).items()


def test_names_are_not_what_a_run_is():
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


def test_the_first_run_of_a_study_stays_what_it_is():
    assert BASE.runs[0].spec.id == "17294b4383f238c6"
