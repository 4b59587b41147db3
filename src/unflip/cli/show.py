"""A model in a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from unflip.cli.say import tell

if TYPE_CHECKING:
    from unflip.models import TableModel
    from unflip.private import Budget


def show_model(model: TableModel, out: Path, as_json: bool, quiet: bool) -> None:
    """Print what a model has learned from, and where it is."""
    counts = model.counts
    if as_json:
        facts = {
            "model": str(out),
            "target": model.target,
            "learner": model.learner,
            "counts": counts,
            "features": model.table.width,
            "left_out": model.table.left_out_,
            "history": list(model.history),
        }
        if model.privacy is not None:
            facts["privacy"] = model.privacy.as_facts()
        print(json.dumps(facts, indent=2))
    elif not quiet:
        told = ", ".join(f"{label} {count:g}" for label, count in counts.items())
        tell(f"{out}: {model.learner} classifier of {model.target!r} ({told})")
        tell(f"{len(model.columns)} columns became {model.table.width} numbers")
        for name, reason in model.table.left_out_.items():
            tell(f"left out {name!r}: {reason}")
        for line in model.history:
            tell(line)
        if model.privacy is not None:
            tell(privacy_in_words(model.privacy))


def privacy_in_words(spent: Budget) -> str:
    """What a model has cost the rows behind it.

    >>> from unflip.private import Budget
    >>> privacy_in_words(Budget(1.0, 1e-5, rho=0.02, bound=4.0))
    'private: epsilon 1, delta 1e-05, 1 release'
    """
    releases = "1 release" if spent.releases == 1 else f"{spent.releases} releases"
    return f"private: epsilon {spent.epsilon:g}, delta {spent.delta:g}, {releases}"
