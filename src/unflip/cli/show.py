"""A model in a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unflip.models import KernelModel, TableModel


def show_model(model: TableModel | KernelModel, out: Path, as_json: bool, quiet: bool) -> None:
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
        print(json.dumps(facts, indent=2))
    elif not quiet:
        told = ", ".join(f"{label} {count:g}" for label, count in counts.items())
        print(f"{out}: {model.learner} classifier of {model.target!r} ({told})")
        print(f"{len(model.columns)} columns became {model.table.width} numbers")
        for name, reason in model.table.left_out_.items():
            print(f"left out {name!r}: {reason}")
        for line in model.history:
            print(line)
