"""Audits to show: one of friendly names with three classes, and one whose every text is hostile."""

from dataclasses import replace
from datetime import date, timedelta
from functools import cache

import numpy as np
import polars as pl

from unflip.audit.table import Audit, audit_table

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">"\'&{{ 7 * 7 }}'
FORMULA = '=HYPERLINK("http://evil","x")'
SETTINGS = {"command": "unflip audit some.csv --target tier", "seed": 0, "versions": {"unflip": "0.1.0"}}


@cache
def friendly() -> tuple[pl.DataFrame, Audit]:
    """Numbers with gaps, categories, dates, a name for each row, a constant; three classes, 10 % flipped."""
    rng, n = np.random.default_rng(0), 300
    k = rng.integers(0, 3, n)
    shown = np.where(rng.random(n) < 0.1, (k + rng.integers(1, 3, n)) % 3, k)
    frame = pl.DataFrame(
        {
            "customer_id": [f"C-{i:03}" for i in range(n)],
            "age": [None if i % 19 == 0 else 40 + 15 * k[i] + 4 * rng.normal() for i in range(n)],
            "region": [("north", "south", "west")[(c + (rng.random() < 0.2)) % 3] for c in k],
            "joined": [date(2020, 1, 1) + timedelta(days=int(300 * c + rng.integers(0, 200))) for c in k],
            "country": ["NL"] * n,
            "tier": [("bronze", "gold", "silver")[c] for c in shown],
        }
    )
    return frame, audit_table(frame, "tier", source="some.csv", settings=SETTINGS)


@cache
def hostile() -> tuple[pl.DataFrame, Audit]:
    """Two classes, rows without a label, and texts that try to leave their place."""
    rng, n = np.random.default_rng(1), 200
    k = rng.integers(0, 2, n)
    wrong = rng.random(n) < 0.1
    labels = [(FORMULA, HOSTILE)[c] for c in k ^ wrong]
    for row in (0, 5, 17, 60):
        labels[row] = None
    frame = pl.DataFrame(
        {
            f"{HOSTILE} id": [f"@{i} {HOSTILE}" for i in range(n)],
            HOSTILE: (3 * k + rng.normal(size=n)).tolist(),
            "\x1b[31mred\nline": (2 * k + rng.normal(size=n)).tolist(),
            f"{HOSTILE} one": [HOSTILE] * n,
            "`|_*[x](http://evil)": rng.normal(size=n).tolist(),
            f"target {HOSTILE}": labels,
        }
    )
    settings = {"command": HOSTILE, HOSTILE: {HOSTILE: HOSTILE}}
    return frame, audit_table(frame, f"target {HOSTILE}", source=HOSTILE, settings=settings)


def crowded() -> Audit:
    """An audit of many suspects, all with long names."""
    audit, n = friendly()[1], 20_000
    labels = replace(
        audit.labels,
        y=np.resize(audit.labels.y, n),
        rows=np.arange(n),
        counts=tuple(n // 3 for _ in audit.labels.counts),
    )
    suspects = replace(
        audit.suspects,
        rows=np.arange(n)[::-1],
        given=np.resize(audit.suspects.given, n),
        likely=np.resize(audit.suspects.likely, n),
        probability=np.linspace(1, 0.4, n),
    )
    return replace(audit, labels=labels, suspects=suspects, ids=("name", ("<é>" * 200,) * n))
