"""Links lead somewhere: files of the project and anchors in them; and nothing else is loaded."""

import html
import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "build" / "html"


def without_code(text):
    """A page without its fenced blocks and code spans."""
    text = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda span: "`" + re.sub(r"[\[\]()]", "", span[0]) + "`", text)


def anchors(text):
    """The anchors of the headings of a page, as GitHub and the site make them."""
    text = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.M | re.S)
    for title in re.findall(r"^#{1,4} (.+)$", text, re.M):
        yield re.sub(r"[^\w\- ]", "", title.lower().replace("`", "")).replace(" ", "-")


def broken(page, is_made=lambda path: False):
    """The links of a page that lead nowhere."""
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        if urlsplit(target).scheme:
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if is_made(file):
            continue
        if not file.is_file() or (anchor and anchor not in anchors(file.read_text("utf-8"))):
            yield target


def test_links_of_pages_lead_somewhere(pages):
    from_made = [f"docs/reference/{name}" for name in ("api", "changes.md", "commands.md")]
    from_made += [f"docs/reference/{name}.md" for name in ("contributing", "paper")]

    def is_made(path):
        return path.relative_to(ROOT).as_posix().startswith(tuple(from_made))

    assert len(pages) > 35
    assert {str(page): links for page in pages if (links := list(broken(page, is_made)))} == {}


def test_a_broken_link_is_noticed(tmp_path):
    (tmp_path / "a.md").write_text(
        "# The `one` and only\n\n[x](b.md) [y](#the-one-and-only) [z](#no)"
    )
    (tmp_path / "b.md").write_text("# B\n\n[a](a.md#the-one-and-only) [a](a.md#two) [c](c.md)\n")
    assert list(broken(tmp_path / "a.md")) == ["#no"]
    assert list(broken(tmp_path / "b.md")) == ["a.md#two", "c.md"]


def test_prose_is_at_most_100_columns_wide(pages):
    wide = []
    for page in pages:
        lines = page.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if len(line) > 100 and not line.startswith(("|", "![")) and page.name != "PAPER.md":
                wide.append(f"{page.relative_to(ROOT)}:{number}")
    assert wide == []


TAGS = "script|img|iframe|source|video|audio|embed|object"
LOADS = rf"<(?:{TAGS})\b[^>]*?\s(?:src|data)=[\"']?([^\"'\s>]+)"
LOADS_TOO = r"<link\b(?=[^>]*rel=[\"']?(?:stylesheet|preload|icon))[^>]*?href=[\"']?([^\"'\s>]+)"
IN_STYLES = r"(?:@import\s+|url\()[\"']?([^\"')\s]+)"


def from_elsewhere(text):
    """What is loaded from another place, by tags and by style sheets."""
    found = [x for pattern in (LOADS, LOADS_TOO, IN_STYLES) for x in re.findall(pattern, text)]
    return [x for x in found if re.match(r"(https?:)?//", x)]


def test_what_is_loaded_from_elsewhere_is_noticed():
    text = '<script async src="https://cdn.example/x.js"></script><img src="//a.example/b.png">'
    text += '<link rel="stylesheet" href="https://e.example/f.css">'
    style = '<style>@import "https://fonts.example/c.css"; p {background: url(https://d.example)}</style>'
    here = '<script src="_static/a.js"></script><a href="https://arxiv.org">x</a>'
    assert len(from_elsewhere(text + style + here)) == 5
    assert from_elsewhere(here) == []


@pytest.fixture(scope="module")
def site():
    """The built pages. CI builds them, and sets the variable so that their tests must run."""
    if not (SITE / "index.html").is_file():
        wanted = os.environ.get("OPTIMIST_SITE_TESTS")
        (pytest.fail if wanted else pytest.skip)("`make docs` builds the site first")
    return {path.resolve(): path.read_text(encoding="utf-8") for path in SITE.rglob("*.html")}


def test_the_site_loads_nothing_from_elsewhere(site):
    assert len(site) > 45
    assert {
        path.name: found for path, text in site.items() if (found := from_elsewhere(text))
    } == {}
    for style in SITE.rglob("*.css"):
        assert from_elsewhere(f"<style>{style.read_text('utf-8')}</style>") == [], style


def test_links_of_the_site_lead_somewhere(site):
    ids = {path: set(re.findall(r'\sid="([^"]+)"', text)) for path, text in site.items()}
    wrong = []
    for path, text in site.items():
        for link in set(re.findall(r'<a\b[^>]*?\shref="([^"]+)"', text)):
            parts = urlsplit(html.unescape(link))
            if parts.scheme or parts.netloc:
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not file.is_file() or (anchor and anchor not in ids.get(file, {anchor})):
                wrong.append(f"{path.name}: {link}")
    assert wrong == []


def test_formulas_are_drawn_by_a_script_of_the_site(site):
    page = site[(SITE / "explanation" / "algorithm.html").resolve()]
    assert "tex-svg.js" in page
    assert (SITE / "_static" / "tex-svg.js").stat().st_size > 1_000_000
    assert r"\lVert" in page
