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
