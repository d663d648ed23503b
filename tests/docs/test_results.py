"""Every result has a command that exists, and every figure and table a result."""

import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from reference.commands import check_command

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"


@pytest.fixture(scope="module")
def results():
    spec = spec_from_file_location("results_of_docs", ROOT / "benchmarks" / "results.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_command_of_every_result_exists(results):
    found = results.commands()
    assert len(found) > 15
    for words in found.values():
        check_command(words)


def test_every_benchmark_that_a_page_names_is_a_result(results):
    known = {words[2] for words in results.commands().values() if words[1] == "-m"}
    text = "".join(page.read_text(encoding="utf-8") for page in RESULTS.glob("*.md"))
    named = set(re.findall(r"python -m (benchmarks\.\w+)", text))
    assert len(named) > 10
    assert named <= known


def test_every_page_of_results_is_in_the_table():
    index = (RESULTS / "index.md").read_text(encoding="utf-8")
    for page in RESULTS.glob("*.md"):
        assert page.name == "index.md" or f"]({page.name}" in index, page.name


def test_results_are_listed_and_a_wrong_name_is_refused():
    command = [sys.executable, "-m", "benchmarks.results"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "python -m benchmarks.rates" in listed.stdout
    wrong = subprocess.run(
        [*command, "rate"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "there is no result 'rate': there are exploration, " in wrong.stderr


def test_every_picture_of_the_gallery_is_drawn_by_its_page():
    gallery = ROOT / "docs" / "gallery"
    text = (gallery / "index.md").read_text(encoding="utf-8")
    drawn = re.findall(r'savefig\("([\w-]+\.png)"', text)
    shown = re.findall(r"\]\(([\w-]+\.png)\)", text)
    assert drawn == shown
    assert len(shown) == 12
    assert {path.name for path in gallery.glob("*.png")} == set(shown)
    assert sum(path.stat().st_size for path in gallery.glob("*.png")) < 300_000


@pytest.mark.parametrize("name", ["stock-keeping", "call-centre", "drivers"])
def test_the_picture_of_a_case_study_is_drawn_by_its_page(name):
    page = ROOT / "docs" / "case-studies" / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    assert f'savefig("{name}.png"' in text
    assert f"]({name}.png)" in text
    assert page.with_suffix(".png").stat().st_size < 100_000


def test_the_log_of_a_case_study_is_what_its_script_writes():
    folder = ROOT / "docs" / "case-studies"
    spec = spec_from_file_location("record_trips", folder / "record_trips.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (folder / "trips.csv").read_text(encoding="utf-8").splitlines() == module.rows()
