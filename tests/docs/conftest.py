"""Pages of the documentation, and the blocks of code in them."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
MADE = re.findall(r"^(docs/\S+)$", (ROOT / ".gitignore").read_text(encoding="utf-8"), re.M)
"""What `make docs` writes below docs/."""


def all_pages():
    """The pages that are written by hand."""
    pages = sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
    return [page for page in pages if not is_made(page)]


def is_made(page):
    """Whether `make docs` writes it."""
    return page.relative_to(ROOT).as_posix().startswith(tuple(MADE))


class Block(NamedTuple):
    """A fenced block: its language and its lines."""

    page: Path
    line: int
    language: str
    text: str


def blocks_of(page):
    """The fenced blocks of a page, those inside lists too; a fence that never ends is an error."""
    found, fence, start, inside = [], None, 0, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if fence is None and (opened := re.match(r"( *)```(\S.*)?$", line)):
            fence, start, inside = opened, number, []
        elif fence is not None and line == f"{fence[1]}```":
            found.append(Block(page, start, fence[2] or "", "\n".join(inside)))
            fence = None
        elif fence is not None:
            assert not line.strip().startswith("```"), f"{page}:{number} opens a block in a block"
            inside.append(line.removeprefix(fence[1]))
    assert fence is None, f"{page}:{start} is not closed"
    return found


@pytest.fixture(scope="session")
def pages():
    """All pages that are written by hand."""
    return all_pages()


@pytest.fixture(scope="session")
def blocks(pages):
    """All blocks of all pages."""
    return [block for page in pages for block in blocks_of(page)]
