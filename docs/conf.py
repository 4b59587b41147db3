"""How Sphinx builds the site: `make docs`. Pages are Markdown, the reference comes out of docstrings."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_tools"))

import docstrings
import reference

import unflip

project = "unflip"
author = "The unflip developers"
copyright = f"2026, {author}"
version = release = unflip.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["examples", "_tools"]
nitpicky = True

myst_heading_anchors = 3

# Types in signatures would be references to other sites, which cannot be checked without a network.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False  # `reference` writes the pages

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "within_subsection_order": "FileNameSortKey",
    "gallery_dirs": ["gallery"],
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "capture_repr": (),
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"unflip {release}"
html_static_path = ["_static"]
html_css_files = ["unflip.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "unflip"},
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
}
html_context = {"default_mode": "auto"}  # light or dark, as the reader has set it
html_sidebars = {"index": [], "tour": [], "whole_library": [], "errata": [], "comparison": []}


def without_last_blank_lines(app: Any, name: str, source: list[str]) -> None:
    """Doctest wants a blank line after the last output of a block; a page does not."""
    source[0] = source[0].replace("\n\n```\n", "\n```\n")


def setup(app: Any) -> None:
    """Write the reference before pages are read, and read our docstrings in our own way."""
    app.connect("source-read", without_last_blank_lines)
    app.connect("builder-inited", lambda app: reference.write_pages(Path(app.srcdir) / "api"))
    app.connect("autodoc-process-docstring", docstrings.process)
    app.connect("autodoc-skip-member", reference.skip)
