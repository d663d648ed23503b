"""Execute the notebooks of this folder from clean kernels, and write them with their outputs.

``make notebooks`` does so. Names of notebooks may be given: ``python docs/notebooks/execute.py
your-own-mdp.ipynb``.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""All that a notebook says of itself: the same on every machine."""


def execute(path: Path, folder: str | Path) -> Any:
    """The notebook with its outputs; the files that it writes are left in a folder.

    It is an error if a cell raises one.
    """
    book: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(folder)}}
    no_history = ["--HistoryManager.enabled=False"]  # a file that kernels would share
    client = NotebookClient(
        book, resources=resources, record_timing=False, extra_arguments=no_history
    )
    client.execute()
    book.metadata = METADATA
    for cell in book.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    return book


def _joined(outputs: list[Any]) -> list[Any]:
    """The outputs with texts in one piece, and without what is not of the notebook.

    These are empty ones, as progress bars leave them, and what is said of code that is compiled.
    """
    kept: list[Any] = []
    for one in outputs:
        if one.get("text", "").startswith("Compiling, once"):
            continue
        stream = kept and "text" in one and one.get("name") == kept[-1].get("name")
        if stream:
            kept[-1].text += one.text
        elif "data" not in one or any(one.data.values()):
            kept.append(one)
    return kept


def main() -> None:
    """Execute the notebooks that are named, or all."""
    for path in [HERE / name for name in sys.argv[1:]] or sorted(HERE.glob("*.ipynb")):
        with tempfile.TemporaryDirectory() as folder:
            book = execute(path, folder)
        nbformat.write(book, path)  # type: ignore[no-untyped-call]
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
