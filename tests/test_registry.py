"""Names of classes, where classes came from, and digests of what they were."""

import sys
from textwrap import dedent

import pytest
from reference import own

from optimist import registry
from optimist.errors import DataError, StudyError
from optimist.registry import Registry

WORLDS = Registry("world", {"River": own.EpsilonGreedy}, ("optimist.worlds",))


def test_names_and_references():
    assert WORLDS.find("River") is own.EpsilonGreedy
    assert WORLDS.find("reference.own:Ring") is own.Ring
    assert WORLDS.name_of(own.EpsilonGreedy) == "River"
    assert WORLDS.name_of(own.Ring) == "reference.own:Ring"
    assert registry.origin(own.lake) == "reference.own:lake"
    assert [WORLDS.knows(n) for n in ("River", "reference.own:Ring", "x:Y", 3)] == [1, 1, 0, 0]


def test_what_is_not_there_is_a_sentence():
    for name, message in (
        ("Rivr", "there is no world 'Rivr': did you mean 'River'"),
        ({"a": 1}, "there is no world {'a': 1}"),
        ("no_such.module:Ring", "--import no_such.module on the command line, or trust="),
        ("reference.own:Rong", "the module reference.own has no 'Rong'"),
        ("__main__:Mine", "was defined in a script or notebook: run that again"),
        ("reference.own:", "there is no world 'reference.own:'"),
    ):
        with pytest.raises(DataError, match=message) as found:
            WORLDS.find(name, ("worlds", "mine"))
        assert found.value.path == ("worlds", "mine")
    with pytest.raises(StudyError, match="'no_such_module' cannot be imported: ModuleNotFound"):
        registry.import_trusted("no_such_module")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package with entry points; it leaves a mark when it is imported."""
    info = tmp_path / "their_rings-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-rings\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[optimist.worlds]\nTheirRing = their_rings:Ring\nBroken = their_rings:Gone\n"
    )
    (tmp_path / "their_rings.py").write_text("from reference.own import Ring\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("their_rings", None)


@pytest.mark.usefixtures("package")
def test_entry_points_are_imported_when_they_are_asked_for():
    assert WORLDS.names == ["River", "TheirRing", "Broken"]
    assert not WORLDS.knows("TheirRing")
    assert WORLDS.declared("their_rings:Ring").name == "TheirRing"
    assert "their_rings" not in sys.modules
    assert WORLDS.find("TheirRing") is own.Ring
    with pytest.raises(DataError, match="their_rings:Gone cannot be loaded: AttributeError"):
        WORLDS.find("Broken")


CLASS = """
class Above:
    def help(self):
        return 1

class Mine(Above):
    rate = 0.5
    def act(self):
        return lambda x: x + 1
"""


def test_a_digest_changes_with_the_source(tmp_path, monkeypatch):
    def digest(text, file=True):
        if file:
            name = f"module_{len(list(tmp_path.iterdir()))}"
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.syspath_prepend(tmp_path)
            registry.import_trusted(name)
            return registry.source_digest(sys.modules[name].Mine)
        there = {"__name__": "nowhere"}
        exec(dedent(text), there)  # as at a prompt: there is no source
        return registry.source_digest(there["Mine"])

    changes = [("x + 1", "x + 2"), ("rate = 0.5", "rate = 0.6"), ("return 1", "return 2")]
    for file in (True, False):
        digests = {digest(CLASS, file), digest(CLASS + "\nunrelated = 1\n", file)}
        assert len(digests) == 1
        digests.update(digest(CLASS.replace(*change), file) for change in changes)
        assert len(digests) == 1 + len(changes)
