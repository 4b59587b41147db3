"""The whole paper as one value: what to run, and what came out."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from unflip import __version__
from unflip.experiments.catalogue import CATALOGUE
from unflip.experiments.compare import Key, Sizes, agreeing, certified, comparisons, tallies, with_reasons
from unflip.experiments.datasets import is_available, load
from unflip.experiments.figures import FIGURES, figure
from unflip.experiments.findings import FINDING_NAMES, FROM_STORE, early_hinge
from unflip.experiments.protocol import (
    DECLARED,
    described,
    differs_in_threshold,
    losses_of,
    protocol,
    variants,
)
from unflip.experiments.published import SUMMARY
from unflip.experiments.result import Result, Tally
from unflip.experiments.runner import Task, run_tasks
from unflip.experiments.splits import DRAWN
from unflip.experiments.store import Place, Store
from unflip.experiments.trials import PAPER_LEARNERS, PAPER_LOSSES, PAPER_RATES, early_trials

DATASETS = (*DRAWN, *SUMMARY)
Progress = Callable[[float, float], None]


def names() -> list[str]:
    """What can be run: the datasets of the tables, the figures, and the findings.

    >>> names()[:3], names()[-1]
    (['long', 'mease', 'iris'], 'early_hinge')
    """
    return [*DATASETS, *FIGURES, *FINDING_NAMES]


def run(
    wanted: Sequence[str] = (),
    *,
    trials: int = 125,
    splits: int = 50,
    full: bool = False,
    seed: int = 0,
    jobs: int = 1,
    data_dir: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress = lambda done, total: None,
) -> Result:
    """Run the experiments of some names, or all of them, and put every printed number beside ours.

    trials: noise draws on the full split; the paper has 125. splits: how many further splits the agreement is
        judged by, with 8 draws on each, or with `trials` if `full`.
    store: a file that keeps results as they come; with `resume`, what it holds is not run again; without, it
        is put aside under the ending .old.
    progress: called with the work done so far and all of it, in seconds or thereabouts.

    >>> result = run(["iris", "corrected_hinge"], trials=3, splits=3)
    >>> len(result.cells), result.figures[0].name, result.complete
    (108, 'corrected_hinge', True)
    """
    sizes = _sizes(trials, splits, full)
    chosen = list(dict.fromkeys(wanted)) or names()
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        raise ValueError(f"no experiment is called {unknown[0]!r}; choose among {', '.join(names())}")
    asked = [name for name in DATASETS if name in _datasets_of(chosen)]
    here = [name for name in asked if name in DRAWN or is_available(name, data_dir)]
    for name in here:
        if name not in DRAWN:
            load(name, data_dir)  # a damaged file is named now, not in the middle of the work
    tasks = [task for name in here for task in _tasks(name, sizes, data_dir)]
    with TemporaryDirectory() as folder:
        path = Path(store or Path(folder, "results.sqlite"))
        if path.exists() and not resume:
            path.replace(f"{path}.old")  # nothing is lost by a forgotten `resume`
        results = Store(path, {"seed": str(seed), "code": _fingerprint()})
        _run_with_progress(tasks, results, seed, jobs, data_dir, progress)
        digest = results.digest({place for task in tasks for place in task.places})
        return _result(chosen, asked, here, results, digest, sizes, seed, data_dir)


def _sizes(trials: int, splits: int, full: bool) -> Sizes:
    if trials < 2:
        raise ValueError(f"trials must be at least 2, or there is no standard deviation; got {trials}")
    if splits < 1:
        raise ValueError(f"splits must be at least 1, got {splits}")
    return Sizes(trials, splits, trials if full else min(8, trials))


def _datasets_of(chosen: Sequence[str]) -> set[str]:
    needed = {name for name in chosen if name in DATASETS}
    needed |= {FROM_STORE[name][0] for name in chosen if name in FROM_STORE}
    return needed | (set(DATASETS) if "early_hinge" in chosen else set())


def _tasks(dataset: str, sizes: Sizes, data_dir: str | os.PathLike[str] | None) -> list[Task]:
    """The full split, one task a learner; the study; and the variants, on fewer losses."""
    tasks = [Task(Place(dataset, DECLARED, sizes.trials, 0), (learner,)) for learner in PAPER_LEARNERS]
    study = range(1, sizes.splits + 1)
    others = _variants(dataset, data_dir)
    also = tuple(name for name in others if differs_in_threshold(dataset, name))
    tasks += [Task(Place(dataset, DECLARED, sizes.study_trials, k), PAPER_LEARNERS, also) for k in study]
    for name in others:
        if name not in also:
            tasks += [Task(Place(dataset, name, sizes.study_trials, k), losses_of(name)) for k in study]
    return tasks


def _variants(dataset: str, data_dir: str | os.PathLike[str] | None) -> list[str]:
    """The variants that can be run with the data at hand."""
    sources = {name: protocol(dataset, name).source for name in variants(dataset)}
    return [name for name, source in sources.items() if not source or is_available(source, data_dir)]


def _run_with_progress(
    tasks: list[Task],
    store: Store,
    seed: int,
    jobs: int,
    data_dir: str | os.PathLike[str] | None,
    progress: Progress,
) -> None:
    total, done = sum(task.cost for task in tasks), 0.0

    def advance(task: Task) -> None:
        nonlocal done
        done += task.cost
        progress(done, total)

    run_tasks(tasks, store, seed, jobs, data_dir, advance)


def _result(
    chosen: Sequence[str],
    asked: list[str],
    here: list[str],
    store: Store,
    digest: str,
    sizes: Sizes,
    seed: int,
    data_dir: str | os.PathLike[str] | None,
) -> Result:
    protocols = {name: [DECLARED, *_variants(name, data_dir)] for name in here}
    elsewhere: dict[Key, list[str]] = {}
    counted: list[Tally] = []
    for dataset, listed in protocols.items():
        for name in listed:
            counted += tallies(store, dataset, name, sizes)
            if name != DECLARED:
                for key, agrees in agreeing(store, dataset, name, sizes).items():
                    elsewhere.setdefault(key, []).extend([name] * agrees)
    cells = with_reasons(comparisons(store, here, sizes), elsewhere)
    findings = [build(store, sizes) for dataset, build in FROM_STORE.values() if dataset in here]
    if here:
        findings.append(early_hinge(cells, here, seed, data_dir))
    return Result(
        settings=_settings(chosen, sizes, seed, digest),
        protocols={name: described(name) for listed in protocols.values() for name in listed},
        cells=cells,
        tallies=tuple(counted),
        certificates=certified(store, here, sizes),
        datasets=_summary(data_dir),
        figures=tuple(figure(name) for name in FIGURES if name in chosen),
        findings=tuple(findings),
        skipped=_skipped(asked, here, data_dir),
    )


def _settings(chosen: Sequence[str], sizes: Sizes, seed: int, digest: str) -> dict[str, Any]:
    packages = ("numpy", "scipy", "scikit-learn")
    return {
        "command": _command(chosen, sizes, seed),
        "names": list(chosen),
        "losses": list(PAPER_LOSSES),
        "noise_rates": list(PAPER_RATES),
        "trials": sizes.trials,
        "splits": sizes.splits,
        "study_trials": sizes.study_trials,
        "early_stopped_trials": [early_trials(sizes.trials), early_trials(sizes.study_trials)],
        "seed": seed,
        "versions": {
            "unflip": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
        },
        "digest": digest,
    }


def _command(chosen: Sequence[str], sizes: Sizes, seed: int) -> str:
    wanted = "" if set(chosen) == set(names()) else " " + " ".join(chosen)
    size = f" --trials {sizes.trials} --splits {sizes.splits}" + " --full" * (
        sizes.study_trials == sizes.trials > 8
    )
    return f"unflip reproduce{wanted}{size} --seed {seed}"


def _summary(data_dir: str | os.PathLike[str] | None) -> tuple[dict[str, Any], ...]:
    """The paper's table of datasets beside what every copy is checked for when it is loaded."""
    return tuple(
        {
            "name": name,
            "expected_rows": CATALOGUE[name].n_rows,
            "expected_columns": CATALOGUE[name].n_columns,
            "expected_positives": CATALOGUE[name].n_positives,
            "printed_rows": rows,
            "printed_columns": columns,
            "printed_positive_share": share,
            "origin": CATALOGUE[name].origin,
            "available": is_available(name, data_dir),
        }
        for name, (rows, columns, share) in SUMMARY.items()
    )


def _skipped(
    asked: list[str], here: list[str], data_dir: str | os.PathLike[str] | None
) -> tuple[dict[str, str], ...]:
    way = "it may not be shipped: unflip datasets fetch {0}, or name a folder that has it with --data-dir"
    left = [{"name": name, "reason": way.format(name)} for name in asked if name not in here]
    if "splice" in here and not is_available("splice_with_names", data_dir):
        reason = way.format("splice_with_names")
        left.append({"name": "splice_with_names", "reason": f"{reason}; needed for the variant 'leak' alone"})
    return tuple(left)


def _fingerprint() -> str:
    """What the numbers depend on besides the seed: our code and the releases of the libraries."""
    total = hashlib.sha256()
    root = Path(str(files("unflip.experiments")))
    for path in sorted([*root.rglob("*.py"), root / "data" / "protocols.toml"]):
        total.update(path.read_bytes())
    for name in ("numpy", "scipy", "scikit-learn"):
        total.update(f"{name} {version(name)}".encode())
    return total.hexdigest()[:16]
