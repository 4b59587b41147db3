"""What the tables rest on, beyond what the paper says: each finding is a table that anyone can run again."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable

import numpy as np
from threadpoolctl import threadpool_limits

from unflip.experiments.batch import Whitened, fit
from unflip.experiments.compare import Sizes, tallies
from unflip.experiments.early_stopped import fit_liblinear
from unflip.experiments.protocol import DECLARED, protocol, variants
from unflip.experiments.result import Comparison, Finding
from unflip.experiments.splits import draw_split
from unflip.experiments.store import Store
from unflip.experiments.trials import flipped
from unflip.losses import Hinge

COMPARED_RATE = 0.2  # of the noise under which the two hinge solvers are compared


def long_gamma(store: Store, sizes: Sizes) -> Finding:
    """Which gamma and masses of Long and Servedio's points give the printed cells?"""
    rows = _tally_rows(store, "long", sizes)
    counts = {name: agreeing for name, _, agreeing, _ in rows}
    return Finding(
        "long_gamma",
        "Long and Servedio's points: gamma and masses",
        "The text has gamma = 1/2 and masses 1/4, 1/4, 1/2.",
        f"With these, {counts['gamma-half']} of {rows[0][3]} cells of the losses other than hinge agree; "
        f"with gamma = 1/12, {counts['masses-of-the-text']}; "
        f"with gamma = 1/12 and masses 1/4, 1/2, 1/4, as used, {counts[DECLARED]}. The most, "
        f"{max(counts.values())}, have: {', '.join(n for n in counts if counts[n] == max(counts.values()))}.",
        ("protocol", "what it is", "cells that agree", "of"),
        rows,
    )


def mease_features(store: Store, sizes: Sizes) -> Finding:
    """Which features of Mease's data give the printed cells?"""
    rows = _tally_rows(store, "mease", sizes)
    counts = {name: agreeing for name, _, agreeing, _ in rows}
    return Finding(
        "mease_features",
        "Mease's data: uniform or normal",
        "The text has features uniform on [0, 1] and a scorer without a bias.",
        f"With these, {counts['text']} of {rows[0][3]} cells of the losses other than hinge agree; "
        f"with standard normal features and a bias, {counts[DECLARED]}.",
        ("protocol", "what it is", "cells that agree", "of"),
        rows,
    )


def splice_leak(store: Store, sizes: Sizes) -> Finding:
    """Did the names of splice's rows, which give the label away, get into the features?"""
    rows = []
    for name in (DECLARED, "codes", "leak"):
        study = sizes.study(store, "splice", name)
        if not study:
            continue
        counts = {tally.loss: tally.agreeing for tally in tallies(store, "splice", name, sizes)}
        for loss in ("square", "unhinged"):
            clean = [(o.error[0].mean(), o.one_less_auc[0].mean()) for o in study[loss]]
            error, area = (round(float(value), 3) for value in np.mean(clean, axis=0))
            rows.append((name, loss, error, area, counts[loss], 12))
    square = {name: (error, count) for name, loss, error, _, count, _ in rows if loss == "square"}
    said = [f"{error} with {name} ({count} of 12 cells agree)" for name, (error, count) in square.items()]
    return Finding(
        "splice_leak",
        "Splice: do the names of the rows leak?",
        "The table of datasets has 61 columns: 60 letters and, it seems, the name of the row. "
        "The square loss errs on 0.02 without noise.",
        "The error of the square loss without noise is " + ", ".join(said) + ".",
        ("protocol", "loss", "error without noise", "1 - AUC without noise", "cells that agree", "of"),
        tuple(rows),
    )


def early_hinge(
    cells: Iterable[Comparison], datasets: list[str], seed: int, data_dir: str | os.PathLike[str] | None
) -> Finding:
    """How far is liblinear, stopped after 100 sweeps, from the minimum, and which of the two is printed?"""
    kept = [c for c in cells if c.loss == "hinge" and c.table.startswith("full-")]
    rows = []
    for dataset in datasets:
        exact, early = (
            [c.agrees for c in kept if c.dataset == dataset and c.solver == solver]
            for solver in ("exact", "liblinear")
        )
        rows.append((dataset, sum(exact), sum(early), len(exact), *_hinge_risks(dataset, seed, data_dir)))
    of = sum(row[3] for row in rows)
    return Finding(
        "early_hinge",
        "The hinge: a solver stopped early",
        "The tables have the hinge loss at lambda = 1e-16.",
        f"Of {of} cells {sum(row[1] for row in rows)} agree with the exact minimiser and "
        f"{sum(row[2] for row in rows)} with liblinear after 100 sweeps (C = 1e12), whose hinge risk "
        f"at noise {COMPARED_RATE} is up to {max(row[5] - row[4] for row in rows):.2f} above the least.",
        (
            "dataset",
            "cells that agree, exact",
            "cells that agree, liblinear",
            "of",
            f"least hinge risk at noise {COMPARED_RATE}",
            "hinge risk of liblinear",
        ),
        tuple(rows),
    )


def _hinge_risks(dataset: str, seed: int, data_dir: str | os.PathLike[str] | None) -> tuple[float, float]:
    """The mean hinge risk on noisy training labels, exact and early-stopped: three draws on one split."""
    rng = np.random.default_rng([seed, zlib.crc32(dataset.encode()), 0])
    with threadpool_limits(1):
        split = draw_split(dataset, protocol(dataset), rng, data_dir)
        Y, X = flipped(split.y_train, COMPARED_RATE, 3, rng), split.X_train
        exact, _ = fit("hinge", X, Whitened.of(X), Y)
        both = exact, fit_liblinear(X, Y, seed)
        least, early = (float(Hinge().value(Y, X @ W).mean()) for W in both)
    return round(least, 4), round(early, 4)


def _tally_rows(store: Store, dataset: str, sizes: Sizes) -> tuple[tuple[str, str, int, int], ...]:
    rows = []
    for name in (DECLARED, *variants(dataset)):
        counts = [t for t in tallies(store, dataset, name, sizes) if t.loss != "hinge"]
        total = sum(t.agreeing for t in counts), sum(t.cells for t in counts)
        rows.append((name, protocol(dataset, name).summary, *total))
    return tuple(rows)


FROM_STORE: dict[str, tuple[str, Callable[[Store, Sizes], Finding]]] = {
    "long_gamma": ("long", long_gamma),
    "mease_features": ("mease", mease_features),
    "splice_leak": ("splice", splice_leak),
}
FINDING_NAMES = (*FROM_STORE, "early_hinge")
