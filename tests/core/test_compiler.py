"""The folder of the compiler's cache depends on the content of every file of core."""

import shutil

from optimist.core.compiler import CORE, cache_folder


def test_any_change_of_core_is_another_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    copy = tmp_path / "core"
    shutil.copytree(CORE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert cache_folder(copy) == copy / "__pycache__" / cache_folder().name
    names = {cache_folder(copy).name}
    files = sorted(copy.glob("*.py"))
    for file in files:
        file.write_text(file.read_text() + "#")
        names.add(cache_folder(copy).name)
    assert len(names) == len(files) + 1
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "elsewhere"))
    assert cache_folder(copy).parent == tmp_path / "elsewhere"


def test_a_package_that_uses_core_has_a_folder_of_its_own(tmp_path):
    """Its kernels depend on its own files, among them enums that they compare with, and on core."""
    package, core = tmp_path / "package", tmp_path / "core"
    for folder in (package, core):
        folder.mkdir()
        (folder / "kernels.py").write_text("x = 1\n")
    names = {cache_folder(package, core).name}
    for folder in (package, core):
        (folder / "kernels.py").write_text("x = 2\n")
        names.add(cache_folder(package, core).name)
    assert len(names) == 3


def test_kernels_outside_core_are_kept_by_the_digest_of_their_own_package():
    from optimist.imitation.loop import project

    package = CORE.parent / "imitation"
    assert project.stats.cache_path.startswith(str(cache_folder(package, CORE)))
