"""The site of the Python package: its names from their docstrings, and a gallery of examples that run while it is built.

`make docs-python` builds it; a warning is an error, and so is a public name that has no page.
"""

import importlib
import inspect

import matplotlib
from sphinx.util import logging

import lehr

matplotlib.use("Agg")

project = "lehr"
author = "The Lehr developers"
version = release = lehr.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
templates_path = ["templates"]
exclude_patterns = ["examples", "gallery/*.md5"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_toc_level": 2, "show_prev_next": False}
html_show_sourcelink = False
autosummary_generate = True
autodoc_typehints = "none"
# A class's methods stand on its page, with all that is said of them.
numpydoc_show_class_members = False
sphinx_gallery_conf = {
    "examples_dirs": "examples",
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
    app.connect("autodoc-skip-member", _is_of_others)
    app.connect("env-check-consistency", _all_have_pages)
