"""The documentation site: pages of `docs/`, the Python package from its docstrings, the command and the services from what they say of themselves.

`make docs` builds it. Examples on the pages run meanwhile, and pictures are drawn. Warnings are errors; so is a public name without a page.
"""

import importlib
import inspect
import os
import sys
from pathlib import Path

import matplotlib
from sphinx.util import logging

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import lehr

matplotlib.use("Agg")

project = "Lehr"
author = "The Lehr developers"
copyright = author
version = release = lehr.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "examples",
    "declarations",
    "outside",
]
templates_path = ["templates"]
exclude_patterns = ["site/**", "gallery/*.md5"]
root_doc = "index"
html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_css_files = ["lehr.css"]
html_theme_options = {
    "show_toc_level": 2,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": [], "choose": [], "faq": [], "glossary": [], "changelog": []}
smartquotes = False
html_show_sourcelink = False
html_title = f"Lehr {version}"
# A page opened from disk may not load others, which summaries of found pages are made from.
html_show_search_summary = False
autosummary_generate = True
autodoc_typehints = "none"
# A class's methods stand on its page, with all that is said of them.
numpydoc_show_class_members = False
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
# Snippets of guides are Rust with lines that rustdoc hides, and console sessions with all kinds of output.
suppress_warnings = ["misc.highlighting_failure"]
sphinx_gallery_conf = {
    "examples_dirs": str(HERE / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    # What an example prints, and not how the last thing on a line calls itself.
    "capture_repr": ("_repr_html_",),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    # Its page of times would load what stands on other sites.
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
}
# The page to try Lehr in a browser, if `make try` has built it; `make site` copies it.
if (HERE.parent.parent / "target/try/index.html").exists():
    tags.add("try")
#: The command that examples run and the reference describes.
lehr_command = os.environ.get("LEHR_COMMAND", str(HERE.parent.parent / "target/release/lehr"))

#: The modules whose names are public. Those of the estimators are found in `lehr`.
MODULES = ["lehr", "lehr.datasets", "lehr.plot", "lehr.ranks", "lehr.report", "lehr.runtime", "lehr.services"]
#: Texts, not things with a page.
WITHOUT_PAGES = {"lehr.__version__"}


def _public():
    for module in MODULES:
        names = importlib.import_module(module)
        for name in names.__all__:
            if not inspect.ismodule(getattr(names, name)):
                yield f"{module}.{name}"


def _all_have_pages(app, environment):
    described = set(environment.domaindata["py"]["objects"])
    names = set(_public())
    for name in sorted(names - described - WITHOUT_PAGES):
        # What `lehr` has from a module may be described there.
        if not any(other in described and _thing(other) is _thing(name) for other in names):
            logging.getLogger(__name__).warning("%s has no page", name)


def _thing(name):
    module, attribute = name.rsplit(".", 1)
    return getattr(importlib.import_module(module), attribute)


def _is_of_others(app, what, name, thing, skip, options):
    # scikit-learn adds these to every estimator (metadata routing), and they refer to pages of its site.
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app):
    app.add_config_value("lehr_command", "", "env", str)
    app.connect("autodoc-skip-member", _is_of_others)
    app.connect("env-check-consistency", _all_have_pages)
