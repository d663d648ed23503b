"""How Sphinx builds the site: `make docs`."""

import shutil
import sys
import warnings
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))

import docstrings
import generate

import optimist

project = "optimist"
author = "The optimist developers"
project_copyright = author
version = release = optimist.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["build", "*.py"]

# Pages: Markdown with LaTeX; every heading is an anchor, as on GitHub.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # notebooks are shown as they were executed
nb_ipywidgets_js: dict[str, Any] = {}  # which would load them from elsewhere

# The API: types beside the parameters, defaults as they are written.
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_custom_sections = ["Attributes"]  # shown as text: the members have their own entries
python_maximum_signature_line_length = 88

# The look: furo, with light and dark modes; MathJax from a package, and nothing from elsewhere.
html_theme = "furo"
html_title = "optimist"
html_copy_source = False
html_show_sourcelink = False
mathjax_path = "tex-svg.js"
mathjax3_config = {
    "tex": {
        "macros": {"E": r"\mathbb{E}", "argmax": r"\operatorname*{argmax}", "tr": r"\mathsf{T}"}
    }
}
copybutton_exclude = ".linenos, .gp, .go"


def copy_mathjax(app: Any) -> None:
    """Put MathJax, one file that draws formulas as SVG without fonts, beside the pages."""
    files = distribution("sphinx-mathjax-offline").files or []
    (script,) = (file for file in files if file.match("static/mathjax/tex-svg.js"))
    target = Path(app.outdir) / "_static"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(str(script.locate()), target / "tex-svg.js")


def setup(app: Any) -> None:
    """Write the pages that are made of the code, and bring MathJax."""
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    docstrings.connect(app)
    app.connect("config-inited", lambda *_: generate.write_pages(DOCS))
    app.connect("builder-inited", copy_mathjax)
