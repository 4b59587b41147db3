"""`unflip flip`: spoil labels on purpose, to see what a method makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unflip.cli.options import Delimiter, File, Quiet, Seed, Target, save, writable
from unflip.cli.refusal import Refusal, refusing
from unflip.cli.say import tell


def flip(
    file: File,
    rate: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="The share of labels to flip; below one half for two classes."),
    ],
    out: Annotated[Path, typer.Option(help="The table to write (.csv or .parquet).")],
    target: Target = None,
    seed: Seed = 0,
    delimiter: Delimiter = None,
    quiet: Quiet = False,
) -> None:
    """Flip each label with this probability, to any other class alike; nothing else of the table changes."""
    writable(out, (".csv", ".parquet"), inputs=(file,))
    with refusing():
        import numpy as np
        import polars as pl

        from unflip.noise import flip_labels
        from unflip.tables import read_as_written
        from unflip.tables.labels import TableLabels, refuse_odd_targets
        from unflip.tables.types import without_gaps

        frame, separator = read_as_written(file, delimiter, [target] if target else [])
        if (out.suffix == ".csv") != (separator is not None):
            kind = ".parquet" if separator is None else ".csv"
            raise Refusal(f"{file} is written as it was: --out must end in {kind}, got {out}")
        if target is None:
            raise Refusal(f"name the column of labels with --target; there are {', '.join(frame.columns)}")
        labels = TableLabels.of(without_gaps(frame, target), target)
        refuse_odd_targets(labels.by_class, target)
        noisy = flip_labels(labels.y, rate, seed)
        column = frame[target].to_list()
        found = noisy.tolist()
        for place in np.flatnonzero(noisy != labels.y).tolist():
            column[labels.rows[place]] = found[place]
        spoiled = frame.with_columns(pl.Series(target, column, dtype=frame[target].dtype))
        if separator is not None:
            spoiled = spoiled.with_columns(pl.col(pl.String).replace("", None))  # no quotes
        save(out, spoiled, separator or ",")
    if not quiet:
        changed, n = int((noisy != labels.y).sum()), len(labels.y)
        tell(f"{out}: {changed} of {n} labels flipped ({100 * changed / n:.1f} %)")
