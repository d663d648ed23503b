"""The wheel holds the whole package, and works where the checkout is not.

`make dist` tries it for real, with its dependencies and the compiler (tests/try_wheel.py).
"""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

USE = """
import optimist as opt
from optimist.features import OneHot

assert "there" in opt.__file__, opt.__file__
study = opt.Study({"room": opt.envs.GridWorld()}, {"counts": opt.CountBonus}, episodes=5, seeds=2)
results = opt.run(study, "runs", executor="serial")
assert len(results.finished) == 2
results.report("page.html")
results.figures("figures", ["png"])
assert sorted(opt.experiments.shipped_studies()) == STUDIES
assert opt.envs.RiverSwim(6).mdp.optimal().value > 0
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def there(wheel, tmp_path_factory):
    """An environment with the wheel and what is installed here, but not this checkout."""
    folder = tmp_path_factory.mktemp("there")
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv" / "bin" / "python"
    (packages,) = (folder / "venv").glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)
    # Installed packages are found as on a path: the .pth file of this checkout is not read there.
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


def source_files():
    package = ROOT / "src" / "optimist"
    files = (path.relative_to(ROOT / "src") for path in package.rglob("*") if path.is_file())
    return {path.as_posix() for path in files if "__pycache__" not in path.parts}


def test_no_file_of_the_package_is_missing_and_none_is_added(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == source_files()
    assert any(name.endswith("page.css") for name in names)


def test_the_metadata_are_whole(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
    text = archive.read(name).decode()
    assert "License-Expression: MIT" in text
    assert "Description-Content-Type: text/markdown" in text
    assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())


def test_it_works_where_the_checkout_is_not(there, tmp_path):
    studies = sorted(path.stem for path in (ROOT / "src/optimist/experiments/studies").iterdir())
    code = USE.replace("STUDIES", repr(studies))
    done = subprocess.run(
        [there, "-W", "error::ResourceWarning", "-c", code],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").stat().st_size > 1_000_000
    assert list((tmp_path / "figures").glob("*.png"))


def test_its_command_is_there(there, tmp_path):
    run = "import sys; from optimist.__main__ import command; sys.argv[1:] = ['envs']; command()"
    done = subprocess.run(
        [there, "-c", run], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "RiverSwim" in done.stdout
