"""TOML: the line on which a key is defined, and data written so that they are read back."""

import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optimist.experiments.toml import line_of, write_toml

# Lines


def test_a_value_and_a_table_and_a_value_in_it():
    text = "a = 1\n\n[b]\nc = 2\n"
    assert [line_of(text, path) for path in [("a",), ("b",), ("b", "c")]] == [1, 3, 4]


def test_what_is_not_there_has_no_line():
    text = "a = 1\n[b]\nc = [{d = 1}]\n"
    for path in [(), ("d",), ("a", "b"), ("b", "a"), ("b", "c", "d"), ("b", "c", "0")]:
        assert line_of(text, path) is None
    assert line_of("", ("a",)) is None


def test_comments_and_blank_lines_count():
    assert line_of("# x = 1\n\n   \n\t# x\nx = 1 # x\n", ("x",)) == 5


def test_the_last_line_need_not_end():
    assert line_of("a = 1\nb = 2", ("b",)) == 2


def test_a_statement_over_several_lines_is_where_it_begins():
    text = 'a = [\n  1, # one\n\n  2,\n]\nb = """\nc = 1\n[d]\n"""\nc = 3\n'
    assert [line_of(text, (key,)) for key in "abc"] == [1, 6, 10]
    assert line_of(text, ("d",)) is None


def test_text_that_looks_like_toml_is_text():
    for quotes in ('"""', "'''"):
        text = f"a = {quotes}\n[t]\nx = 1\n# {quotes}\n[t]\nx = 2\n"
        assert line_of(text, ("t", "x")) == 6


def test_a_key_of_the_same_name_in_another_table_is_another_key():
    text = "n = 1\n[worlds.a]\nn = 2\n[worlds.b]\nm = 0\nn = 3\n[agents.a]\nn = 4\n"
    assert line_of(text, ("n",)) == 1
    assert line_of(text, ("worlds", "a", "n")) == 3
    assert line_of(text, ("worlds", "b", "n")) == 6
    assert line_of(text, ("agents", "a", "n")) == 8


def test_dotted_keys():
    text = "a.b = 1\na.c.d = 2\n[e]\nf . g = 3\n"
    assert line_of(text, ("a",)) == 1
    assert line_of(text, ("a", "c")) == 2
    assert line_of(text, ("a", "c", "d")) == 2
    assert line_of(text, ("e", "f", "g")) == 4


def test_inline_tables():
    text = "[agents]\na = {x = 1, y = {z = 2}}\nb = {z = 3}\n"
    assert line_of(text, ("agents", "a", "y", "z")) == 2
    assert line_of(text, ("agents", "b", "z")) == 3


def test_quoted_keys_with_dots_and_brackets():
    text = '[worlds."a.b"]\nx = 1\n[worlds.a]\nb = 2\n[worlds."[c] # ="]\n\'y z\' = 3\n'
    assert line_of(text, ("worlds", "a.b")) == 1
    assert line_of(text, ("worlds", "a", "b")) == 4
    assert line_of(text, ("worlds", "[c] # =", "y z")) == 6


def test_escaped_keys_are_known_by_what_they_mean():
    assert line_of('a = 1\n"\\u0062\\"" = 2\n', ("b", '"')) is None
    assert line_of('a = 1\n"\\u0062\\"" = 2\n', ('b"',)) == 2


def test_tables_out_of_order():
    text = "[a.b.c]\nx = 1\n[d]\n[a]\ny = 2\n[a.b]\nz = 3\n"
    assert line_of(text, ("a",)) == line_of(text, ("a", "b")) == 1
    assert line_of(text, ("a", "y")) == 5
    assert line_of(text, ("a", "b", "z")) == 7


def test_an_array_of_tables_is_one_thing():
    text = "x = 1\n[[worlds]]\nn = 1\n[[worlds]]\nm = 1\n"
    assert line_of(text, ("worlds",)) == 2
    assert line_of(text, ("worlds", "n")) is None


def test_lines_may_end_as_on_windows():
    text = 'a = [\r\n1,\r\n]\r\n# b\r\nb = """\r\nc = 1\r\n"""\r\nc = 2'
    assert [line_of(text, (key,)) for key in "abc"] == [1, 5, 8]


@pytest.mark.parametrize("character", ["\x85", "\u2028", "\u2029"])
def test_other_separators_do_not_end_a_line_of_toml(character):
    text = f'# a{character}b\na = "{character}"\nb = 1\n'
    assert [line_of(text, (key,)) for key in "ab"] == [2, 3]


def test_a_long_file():
    text = "".join(f"[worlds.w{i}]\nworld = 'RiverSwim'\n" for i in range(100)) + "bad = 1\n"
    assert line_of(text, ("worlds", "w99", "bad")) == 201


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


@pytest.mark.parametrize("data", [{}, {"a": {}}, {"a": {"b": {}, "c": {"d": {}}}}, {"": {"": {}}}])
def test_empty_tables_stay(data):
    assert tomllib.loads(write_toml(data)) == data


def test_values_come_before_tables_so_that_they_are_not_taken_into_them():
    text = write_toml({"a": {"b": {"c": 1}, "d": 2}, "e": 3})
    assert text == "e = 3\n\n[a]\nd = 2\n\n[a.b]\nc = 1\n"


def test_infinity_is_written_as_a_number():
    assert write_toml({"a": float("inf"), "b": [-float("inf")]}) == "a = inf\nb = [-inf]\n"


def test_keys_are_quoted_only_where_they_have_to_be():
    keys = ["a-b_1", "1", "a b", "a.b", "", "\u00e9", "\u00b2"]
    lines = write_toml(dict.fromkeys(keys, 0)).splitlines()
    quoted = [line.startswith('"') for line in lines]
    assert quoted == [False, False, True, True, True, True, True]
