"""A result of the shape of a real run, made from the printed numbers: the same at every call."""

import zlib
from functools import cache

import numpy as np

from unflip.experiments.catalogue import CATALOGUE
from unflip.experiments.figures import FIGURES, figure
from unflip.experiments.published import PublishedCell, published
from unflip.experiments.result import Certified, Comparison, Finding, Result, Tally

SKIPPED = "housing"
PROTOCOLS = {
    "declared": {
        "summary": "one-hot, min-max to [0, 1], a bias, 80 % to train on",
        "scaling": "min-max",
        "long": {"summary": "no bias, threshold zero", "bias": False},
    },
    "raw": {"summary": "features as they are", "scaling": "raw"},
    "codes": {"encoding": "codes", "bias": True},
}
REASONS = {
    "hinge": "The printed hinge comes from a solver that stopped early; ours is the exact minimiser.",
    "unhinged": "Ours trains on 80 % of the rows; the paper's share is not known.",
    "t_logistic": "",
}


def comparison(cell: PublishedCell, solver: str) -> Comparison:
    """Ours is the printed number moved a little, or now and then, and for the exact hinge often, a lot."""
    place = f"{cell.dataset} {cell.metric} {cell.noise_rate} {cell.loss} {solver}"  # the same in both tables
    rng = np.random.default_rng(zlib.crc32(place.encode()))
    exact_hinge = cell.loss == "hinge" and solver == "exact"
    far = rng.random() < (0.6 if exact_hinge and cell.noise_rate else 0.08)
    center = max(cell.mean + (0.07 if far else 0.004) * rng.normal(), 0.0)
    low, high = max(center - 0.015, 0.0), center + 0.015
    std = max(cell.std + 0.005 * rng.normal(), 0.0)
    agrees = bool(low - 0.005 <= cell.mean <= high + 0.005)
    return Comparison(
        table=cell.table,
        dataset=cell.dataset,
        metric=cell.metric,
        noise_rate=cell.noise_rate,
        loss=cell.loss,
        solver=solver,
        protocol="declared",
        mean=center + 0.002,
        std=std,
        published_mean=cell.mean,
        published_std=cell.std,
        center=center,
        low=low,
        high=high,
        agrees=agrees,
        std_low=0.6 * std,
        std_high=1.4 * std,
        std_agrees=bool(0.6 * std - 0.005 <= cell.std <= 1.4 * std + 0.005),
        reason="" if agrees else REASONS.get(cell.loss, "Our test part has other rows than the paper's."),
    )


@cache
def sample() -> Result:
    """Everything but housing, which is not shipped."""
    printed = [cell for cell in published() if cell.dataset != SKIPPED]
    cells = [comparison(cell, "exact") for cell in printed]
    cells += [comparison(cell, "liblinear") for cell in printed if cell.loss == "hinge"]
    names = list(dict.fromkeys(cell.dataset for cell in printed))
    losses = list(dict.fromkeys(cell.loss for cell in printed))
    rng = np.random.default_rng(0)
    return Result(
        settings={
            "datasets": names,
            "splits": 50,
            "trials": 8,
            "seed": 0,
            "versions": {"unflip": "0.1.0", "numpy": "2.4.6", "scipy": "1.17", "scikit-learn": "1.8.0"},
            "digest": "9b74c9897bac770ffc029102a200c5de",
            "command": "unflip reproduce --splits 50 --trials 8 --seed 0 --out report.html",
        },
        protocols=PROTOCOLS,
        cells=tuple(cells),
        tallies=tuple(
            Tally(protocol, name, loss, int(rng.integers(3, 13)), 12)
            for protocol in PROTOCOLS
            for name in names
            for loss in losses
            if tallied(protocol, name, loss)
        ),
        certificates=tuple(certified(name, loss) for name in names for loss in losses),
        datasets=tuple(dataset(name) for name in CATALOGUE if name != "splice_with_names"),
        figures=tuple(figure(name) for name in FIGURES),
        findings=FINDINGS,
        skipped=({"name": SKIPPED, "reason": "It is not shipped, for want of a licence."},),
    )


def tallied(protocol: str, name: str, loss: str) -> bool:
    """As in a real run: variants on the closed forms, on the drawn datasets on all losses but the hinge."""
    if protocol == "declared":
        return True
    if name in ("long", "mease"):
        return loss != "hinge" and protocol != "codes"
    return loss in ("square", "unhinged") and (protocol != "codes" or name in ("car", "splice"))


def certified(name: str, loss: str) -> Certified:
    if loss in ("square", "unhinged"):
        return Certified(name, loss, "exact", "closed form", 2050, 2050, 0, 0.0, 0.0)
    if loss == "hinge":
        return Certified(name, loss, "exact", "duality gap", 2050, 2050, 41, 7.3e-9, 1e-6)
    if loss == "logistic":
        return Certified(name, loss, "exact", "gradient norm", 2050, 2049, 50, 3.1e-5, 1e-6)
    return Certified(name, loss, "exact", "gradient norm", 2050, 2050, 0, 8.8e-7, 1e-6, 1.3e-4, 2050)


def dataset(name: str) -> dict[str, object]:
    entry = CATALOGUE[name]
    return {
        "name": name,
        "expected_rows": entry.n_rows,
        "expected_columns": entry.n_columns,
        "expected_positives": entry.n_positives,
        "printed_rows": entry.n_rows,
        "printed_columns": entry.n_columns + (2 if name == "car" else 0),
        "printed_positive_share": round(entry.n_positives / entry.n_rows, 4),
        "origin": entry.origin,
        "available": name != SKIPPED,
    }


FINDINGS = (
    Finding(
        name="long_masses",
        title="Long's table needs other masses than its text",
        printed="Masses 1/4, 1/4, 1/2 and gamma = 1/2.",
        found="With those no loss errs; an error of 0.25 needs a point of mass 1/4 that is missed.",
        columns=("masses", "gamma", "square", "unhinged"),
        rows=(("1/4, 1/4, 1/2", 0.5, 0.0, 0.0), ("1/4, 1/2, 1/4", 1 / 12, 0.25, 0.0)),
    ),
    Finding(
        name="mease_share",
        title="Mease's data has 13 % positives",
        printed="Uniform on the unit cube in 20 dimensions.",
        found="Of 72 printed numbers 62 agree with normal features, 18 with uniform ones.",
        columns=("features", "agreeing", "cells"),
        rows=(("uniform", 18, 72), ("normal", 62, 72)),
    ),
)
