"""An audit as plain values that JSON can hold, every string and number as it is."""

from __future__ import annotations

from math import isfinite
from typing import Any

from unflip.audit.compare import Learner
from unflip.audit.table import Audit
from unflip.noise.words import is_by_class, is_told
from unflip.report.audit.columns import read_columns
from unflip.report.audit.means import means_in_words
from unflip.report.audit.rows import doubtful_rows, more_likely_wrong
from unflip.report.audit.verdict import further, noise_in_words, verdict


def as_plain(audit: Audit) -> dict[str, Any]:
    """All that an audit found, for `json.dumps`.

    Rows count those of the file from 0, the header not among them. What the labels do not tell is None:
    `clean_accuracy`, how many rows are probably wrong and, where the columns predict no better than guessing,
    the rate and its interval.

    >>> import polars as pl
    >>> from unflip.audit.table import audit_table
    >>> labels = [None] + [int(i > 30) for i in range(59)]
    >>> frame = pl.DataFrame({"x": [i / 7 for i in range(60)], "y": labels})
    >>> found = as_plain(audit_table(frame, "y"))
    >>> found["rows"], found["missing"], found["classes"][0]
    (59, 1, {'label': 0, 'count': 31})
    """
    labels, noise, clean = audit.labels, audit.noise, audit.clean_accuracy
    found = {
        "source": audit.source,
        "target": labels.target,
        "rows": audit.rows,
        "missing": labels.missing,
        "trusted": audit.trusted,
        "classes": [
            {"label": label, "count": count}
            for label, count in zip(labels.classes, labels.counts, strict=True)
        ],
        "verdict": verdict(audit),
        "further": further(audit),
        "noise": {
            **{name: getattr(noise, name) if audit.informative else None for name in ("rate", "low", "high")},
            "outer": noise.outer,
            "level": noise.level,
            "words": noise_in_words(audit) if audit.informative else verdict(audit)[0],
            "identified": noise.identified,
            "table": noise.noise.transition.tolist() if noise.identified else None,
            "warnings": noise.warnings,
            "caveats": [{"name": caveat.name, "words": caveat.words} for caveat in noise.caveats],
            "outer_by_class": noise.outer_by_class,
            "by_class": {
                label: dict(zip(("rate", "low", "high"), known, strict=True))
                for label, known in (noise.by_class if is_by_class(noise) else {}).items()
            },
        },
        "noisy_accuracy": audit.noisy_accuracy,
        "clean_accuracy": None
        if clean is None
        else {name: getattr(clean, name) for name in ("estimate", "low", "high")},
        "clean_bounds": audit.clean_bounds if audit.informative else None,
        "guess": audit.guess,
        "learners": list(map(_learner, audit.learners)),
        "recommended": None
        if audit.recommended is None
        else {"name": audit.recommended.name, "why": audit.recommended.why},
        "more_likely_wrong": more_likely_wrong(audit) if is_told(noise) else None,
        "suspects": _suspects(audit) if audit.informative else [],
        "differences": [
            {**vars(found), "words": words}
            for found, words in zip(audit.differences, means_in_words(audit), strict=True)
        ],
        "guarantee": {
            name: getattr(audit.guarantee, name) for name in ("exact", "growing", "heuristic", "limits")
        },
        "columns": [vars(column) for column in read_columns(audit)],
        "left_out": audit.table.left_out_,
        "settings": audit.settings,
    }
    return {name: as_json(value) for name, value in found.items()}


def _learner(learner: Learner) -> dict[str, Any]:
    curve = learner.curve
    return {
        **{
            name: getattr(learner, name)
            for name in ("name", "words", "accuracy", "error", "clean", "corrected")
        },
        "curve": [
            {"rate": rate, "mean": mean, "std": std}
            for rate, mean, std in zip(curve.rates, curve.mean, curve.std, strict=True)
        ],
    }


def _suspects(audit: Audit) -> list[dict[str, Any]]:
    found = [dict(vars(row)) for row in doubtful_rows(audit)]
    for row in found:
        if audit.ids is None:
            del row["id"]
    return found


def as_json(value: Any) -> Any:
    """The same with nothing but what JSON knows; numbers that are not finite become None.

    >>> as_json({1: (float("nan"), b"x")})
    {'1': [None, "b'x'"]}
    """
    if isinstance(value, dict):
        return {str(name): as_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return list(map(as_json, value))
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
