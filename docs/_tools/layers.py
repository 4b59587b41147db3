"""The packages of unflip and what they import, read from the source and the contract in pyproject.toml."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from fnmatch import fnmatch
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/unflip"


@cache
def contract() -> dict[str, Any]:
    """The rule of lint-imports that lists the layers."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    return next(rule for rule in settings["contracts"] if rule["type"] == "layers")


def packages() -> list[str]:
    """The packages of the contract, from the top, and those that it forgets.

    >>> packages()[0]
    'cli'
    """
    there = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
    named = (name for layer in contract()["layers"] for name in re.findall(r"unflip\.(\w+)", layer))
    layered = [name for name in named if name in there]
    return layered + [name for name in there if name not in layered]


@cache
def imports() -> dict[str, set[str]]:
    """For each file of the library, the modules of the library that it imports, also inside functions."""
    return {
        path.relative_to(SOURCE).as_posix(): {
            name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for name in _named(node)
        }
        for path in sorted(SOURCE.rglob("*.py"))
    }


def _named(node: ast.AST) -> list[str]:
    """The modules of unflip that an import statement names, without the leading unflip."""
    if isinstance(node, ast.Import):
        return [a.name.removeprefix("unflip.") for a in node.names if a.name.startswith("unflip.")]
    if not (isinstance(node, ast.ImportFrom) and node.module and not node.level):
        return []
    home, *rest = node.module.split(".")
    if home != "unflip":
        return []
    inside = [".".join([*rest, alias.name]) for alias in node.names]
    found = [name for name in inside if _is_module(name)]
    return found + ([".".join(rest)] if rest and len(found) < len(inside) else [])


def _is_module(name: str) -> bool:
    path = SOURCE.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@cache
def arrows() -> frozenset[tuple[str, str]]:
    """Which package imports which, but for what the contract excuses: (importing, imported)."""
    names, excused = set(packages()), [rule.split(" -> ") for rule in contract().get("ignore_imports", [])]
    pairs = {
        (path.partition("/")[0], module.partition(".")[0])
        for path, modules in imports().items()
        for module in modules
        if not any(fnmatch(_module(path), a) and fnmatch(f"unflip.{module}", b) for a, b in excused)
    }
    return frozenset((a, b) for a, b in pairs if a in names and b in names and a != b)


def _module(path: str) -> str:
    return f"unflip.{path.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"


def below() -> dict[str, set[str]]:
    """What each package imports, the lowest packages first. A circle of packages is refused by name."""
    found = {name: {b for a, b in arrows() if a == name} for name in packages()}
    return {name: found[name] for name in TopologicalSorter(found).static_order()}


def needed_arrows() -> set[tuple[str, str]]:
    """The arrows that do not follow from others: the rest is reached through packages in between."""
    reached: dict[str, set[str]] = {}
    for name, imported in below().items():
        reached[name] = imported.union(*(reached[other] for other in imported))
    return {(a, b) for a, b in arrows() if not any(b in reached[c] for c in below()[a])}


# Where to start reading; a package that is not here, or whose file has moved, shows its most imported one.
START = {
    "cli": "app.py",
    "report": "document.py",
    "experiments": "study.py",
    "theory": "claims/__init__.py",
    "export": "__init__.py",
    "models": "table_model.py",
    "audit": "rate.py",
    "robust": "robust_cv.py",
    "estimators": "centroid.py",
    "private": "sums.py",
    "moments": "moments.py",
    "passes": "one_pass.py",
    "solvers": "ridge.py",
    "sources": "batch.py",
    "tables": "read.py",
    "features": "base.py",
    "kernels": "base.py",
    "noise": "models.py",
    "losses": "base.py",
    "border": "rows.py",
}


def table() -> str:
    """The packages in the order of the contract: the first sentence of each, and where to start reading."""
    rows = ["| package | what it is | start reading at |", "| --- | --- | --- |"]
    for name in packages():
        start = _start(name)
        home, file = f"../src/unflip/{name}/__init__.py", f"../src/unflip/{name}/{start}"
        rows.append(f"| [`{name}`]({home}) | {_says(name)} | [`{name}/{start}`]({file}) |")
    return "\n".join(rows)


def _says(package: str) -> str:
    text = ast.get_docstring(ast.parse((SOURCE / package / "__init__.py").read_text(encoding="utf-8"))) or ""
    return text.partition("\n\n")[0].replace("\n", " ").partition(". ")[0].rstrip(".")


def _start(package: str) -> str:
    if (SOURCE / package / START.get(package, "?")).is_file():
        return START[package]
    used = Counter(name for names in imports().values() for name in names if name.startswith(f"{package}."))
    best = min(used, key=lambda name: (-used[name], name), default=package)
    path = best.replace(".", "/") + ".py"
    return path.removeprefix(f"{package}/") if (SOURCE / path).is_file() else "__init__.py"


# What readers look for, and the name that is the answer; the file is found.
PLACES = {
    "the formula of the paper's classifier": "UnhingedClassifier._mean_map",
    "what noise does to a class probability": "Noise.corrupt",
    "a loss, its even and its odd part": "Unhinged",
    "sums by class: add, subtract, save": "Moments",
    "the one pass over rows": "accumulate",
    "the classifier to start with": "RobustClassifierCV",
    "how many labels are wrong": "estimate_noise",
    "which labels are wrong": "find_suspects",
    "how a file becomes a table": "read_table",
    "how columns become numbers": "Tabular",
    "a model of a table, as it is saved": "TableModel",
    "how far a fit may be from its optimum": "Certificate",
    "the checks of the paper's claims": "propositions",
}


def places() -> str:
    """A table of where to look for what."""
    rows = [f"| {what} | `{name}` in {_home(name)} |" for what, name in PLACES.items()]
    return "\n".join(["| you look for | it is |", "| --- | --- |", *rows])


def _home(name: str) -> str:
    """The file that defines a name, as a link."""
    top, *rest = name.split(".")
    start = re.compile(rf"^(?:def|class) {top}\b", re.MULTILINE)
    homes = [
        path
        for path in sorted(SOURCE.rglob("*.py"))
        if start.search(text := path.read_text(encoding="utf-8"))
        and all(f"def {part}(" in text for part in rest)
    ]
    if len(homes) != 1:
        raise LookupError(f"{name} is to have one home, found {[str(path) for path in homes]}; see PLACES")
    file = homes[0].relative_to(SOURCE).as_posix()
    return f"[`{file}`](../src/unflip/{file})"
