"""Writes a page of the reference for every public module, from its `__all__`, so that none is forgotten."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

from docstrings import translated

# What scikit-learn and Python give to everyone is described there.
OTHERS = "BaseEstimator,ClassifierMixin,TransformerMixin,OneToOneFeatureMixin,tuple,Protocol"
MODULES = {
    "unflip": "the classifiers, and what an audit needs",
    "unflip.losses": "value, slope, even and odd part",
    "unflip.noise": "models of noise, injection, corrected scores",
    "unflip.moments": "sums by class: the one pass",
    "unflip.sources": "where rows come from",
    "unflip.features": "label-free feature maps",
    "unflip.kernels": "values and scores in tiles",
    "unflip.compress": "few weighted points in place of many",
    "unflip.estimators": "the plain classifiers",
    "unflip.robust": "choice by leave-one-out on noisy labels",
    "unflip.audit": "the noise rate, suspects, robustness",
    "unflip.models": "models of whole tables, in files",
    "unflip.export": "models for places without Python: JSON, SQL, ONNX",
    "unflip.tables": "files that people have",
    "unflip.theory": "the paper's claims, as checks",
    "unflip.experiments": "the paper's tables and figures, run again",
    "unflip.report": "a run as a page, as Markdown, as text",
}
# Names that are public but live outside any `__all__`.
MORE = {
    "unflip.sources": ["unflip.sources.sql.SqlSource"],
    "unflip.features": ["unflip.features.labelfree.LabelFree"],
    "unflip.losses": ["unflip.losses.base.MarginLoss"],
    "unflip.estimators": [
        "unflip.estimators.sql.as_sql",
        "unflip.estimators.sql.SqlModel",
        "unflip.estimators.probing.weighted_means",
    ],
}


def write_pages(folder: Path) -> None:
    """An index, and a page for each module; an object that several modules show is described once."""
    folder.mkdir(exist_ok=True)
    seen: dict[int, str] = {}
    for module in MODULES:
        (folder / f"{module}.rst").write_text(_page(module, seen))
    rows = "".join(f"   * - :doc:`{name} <{name}>`\n     - {words}\n" for name, words in MODULES.items())
    toc = "".join(f"   {name}\n" for name in MODULES)
    words = "Every public name, with its docstring. The examples in them are run as tests."
    (folder / "index.rst").write_text(
        f"{_title('Reference')}{words}\n\n.. list-table::\n\n{rows}\n.. toctree::\n   :hidden:\n\n{toc}"
    )


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds for the routing of metadata; it is described there."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def _page(module: str, seen: dict[int, str]) -> str:
    home = import_module(module)
    names = [f"{module}.{name}" for name in home.__all__] + MORE.get(module, [])
    here, elsewhere, values = [], [], []
    for path in names:
        obj = _get(path)
        if not (inspect.isclass(obj) or inspect.isroutine(obj)):
            values.append(path)
        elif id(obj) in seen:
            elsewhere.append(seen[id(obj)])
        else:
            seen[id(obj)] = path
            here.append(path)
    summary = "".join(f"   {path.removeprefix(module + '.')}\n" for path in here)
    parts = [
        _title(module),
        f".. py:module:: {module}\n\n",
        "\n".join(translated(inspect.cleandoc(home.__doc__ or "").splitlines())) + "\n",
        f".. autosummary::\n   :nosignatures:\n\n{summary}\n" if here else "",
    ]
    if elsewhere:
        links = ", ".join(f":py:obj:`{path}`" for path in elsewhere)
        parts.append(f"Also here, and described where they are met first: {links}.\n\n")
    for path in values:
        parts.append(f"``{path}`` is ``{_get(path)!r}``.\n\n")
    for path in here:
        kind = "autoclass" if inspect.isclass(_get(path)) else "autofunction"
        name = path.rpartition(".")[2]
        members = f"   :members:\n   :inherited-members: {OTHERS}\n" if kind == "autoclass" else ""
        parts.append(f"{name}\n{'-' * len(name)}\n\n.. {kind}:: {path}\n{members}\n")
    return "".join(parts)


def _get(path: str) -> Any:
    module, name = path.rsplit(".", 1)
    return getattr(import_module(module), name)


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n\n"
