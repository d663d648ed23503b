"""TOML: the line on which a key is defined, and data written so that they are read back."""

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from optimist.experiments.toml import line_of, write_toml

# Lines

LINES = [
    ("", {"a": None}),
    ("a = 1\n\n[b]\nc = 2\n", {"a": 1, "b": 3, "b c": 4}),
    (
        "a = 1\n[b]\nc = [{d = 1}]\n",
        {"": None, "d": None, "a b": None, "b a": None, "b c d": None, "b c 0": None},
    ),
    ("# x = 1\n\n   \n\t# x\nx = 1 # x\n", {"x": 5}),
    ("a = 1\nb = 2", {"b": 2}),
    # A statement over several lines is where it begins; text that looks like TOML is text.
    (
        'a = [\n  1, # one\n\n  2,\n]\nb = """\nc = 1\n[d]\n"""\nc = 3\n',
        {"a": 1, "b": 6, "c": 10, "d": None},
    ),
    ('a = """\n[t]\nx = 1\n# """\n[t]\nx = 2\n', {"t x": 6}),
    ("a = '''\n[t]\nx = 1\n# '''\n[t]\nx = 2\n", {"t x": 6}),
    # The same name in another table is another key.
    (
        "n = 1\n[worlds.a]\nn = 2\n[worlds.b]\nm = 0\nn = 3\n[agents.a]\nn = 4\n",
        {"n": 1, "worlds a n": 3, "worlds b n": 6, "agents a n": 8},
    ),
    ("a.b = 1\na.c.d = 2\n[e]\nf . g = 3\n", {"a": 1, "a c": 2, "a c d": 2, "e f g": 4}),
    ("[agents]\na = {x = 1, y = {z = 2}}\nb = {z = 3}\n", {"agents a y z": 2, "agents b z": 3}),
    # Quoted and escaped keys are known by what they mean.
    (
        '[worlds."a.b"]\nx = 1\n[worlds.a]\nb = 2\n[worlds."[c]#="]\n\'y.z\' = 3\n',
        {"worlds a.b": 1, "worlds a b": 4, "worlds [c]#= y.z": 6},
    ),
    ('a = 1\n"\\u0062\\"" = 2\n', {'b "': None, 'b"': 2}),
    (
        "[a.b.c]\nx = 1\n[d]\n[a]\ny = 2\n[a.b]\nz = 3\n",
        {"a": 1, "a b": 1, "a y": 5, "a b z": 7},
    ),
    ("x = 1\n[[worlds]]\nn = 1\n[[worlds]]\nm = 1\n", {"worlds": 2, "worlds n": None}),
    # Lines may end as on Windows; other separators do not end a line of TOML.
    (
        'a = [\r\n1,\r\n]\r\n# b\r\nb = """\r\nc = 1\r\n"""\r\nc = 2',
        {"a": 1, "b": 5, "c": 8},
    ),
    *((f'# a{c}b\na = "{c}"\nb = 1\n', {"a": 2, "b": 3}) for c in "\x85\u2028\u2029"),
    ("".join(f"[w.w{i}]\nn = 1\n" for i in range(100)) + "bad = 1\n", {"w w99 bad": 201}),
]
"""TOML texts, and the lines of their keys, whose paths are written with spaces."""


def test_the_line_of_a_key():
    for text, lines in LINES:
        assert {path: line_of(text, tuple(path.split())) for path in lines} == lines, text


FILLERS = ["", "  ", "# k0 = 1", "#", "\t"]
VALUES = [
    "1",
    '"k0 = 1"',
    "[\n1,\n\n# k1 = 2\n2]",
    '"""\nk1 = 2\n[k0]\n"""',
    "'''\n#'''",
    "{k0 = 1}",
]


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.lists(st.sampled_from(FILLERS)), st.sampled_from(VALUES), st.booleans()))
)
def test_every_statement_of_any_file_is_found(parts):
    text, lines = "", {}
    table = ()
    for i, (fillers, value, opens) in enumerate(parts):
        text += "".join(f"{filler}\n" for filler in fillers)
        if opens:
            table = (f"t{i}",)
            text += f"[t{i}]\n"
            lines[table] = text.count("\n")
        lines[(*table, f"k{i}")] = text.count("\n") + 1
        text += f"k{i} = {value}\n"
    for path, line in lines.items():
        assert line_of(text, path) == line


# Writing

TEXTS = st.text(max_size=6) | st.text("'\"\\\n\r\t\b\f\0\x1b\x7f\x85\u2028#=[]{}.", max_size=6)
PLAIN = st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
DATA = st.dictionaries(
    TEXTS,
    st.recursive(
        PLAIN | st.lists(PLAIN | st.just([]), max_size=3),
        lambda inner: st.dictionaries(TEXTS, inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)


def typed(data):
    """Data in which 1, 1.0 and true are not the same."""
    if isinstance(data, dict):
        return {key: typed(value) for key, value in data.items()}
    if isinstance(data, list):
        return [typed(value) for value in data]
    return type(data), repr(data)


@settings(max_examples=100)
@given(DATA)
def test_whatever_is_written_is_read_back(data):
    assert typed(tomllib.loads(write_toml(data))) == typed(data)


@settings(max_examples=50)
@given(st.dictionaries(TEXTS, PLAIN, min_size=1, max_size=5))
def test_keys_are_found_in_what_is_written(data):
    text = write_toml({"": 0, "t": data})
    for line, key in enumerate(data, start=4):
        assert line_of(text, ("t", key)) == line


def test_how_it_is_written():
    """Values come before tables, keys are quoted where they have to be, empty tables stay."""
    for data, text in [
        ({"a": {"b": {"c": 1}, "d": 2}, "e": 3}, "e = 3\n\n[a]\nd = 2\n\n[a.b]\nc = 1\n"),
        ({"a": float("inf"), "b": [-float("inf")]}, "a = inf\nb = [-inf]\n"),
        (dict.fromkeys(["a-b_1", "1"], 0), "a-b_1 = 0\n1 = 0\n"),
        (dict.fromkeys(["a b", "a.b", ""], 0), '"a b" = 0\n"a.b" = 0\n"" = 0\n'),
        (dict.fromkeys(["\u00e9", "\u00b2"], 0), '"\u00e9" = 0\n"\u00b2" = 0\n'),
    ]:
        assert write_toml(data) == text
    for data in ({}, {"a": {}}, {"a": {"b": {}, "c": {"d": {}}}}, {"": {"": {}}}):
        assert tomllib.loads(write_toml(data)) == data
