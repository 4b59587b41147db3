"""`unflip flip`: spoil labels on purpose, to see what a method makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unflip.cli.refusal import refusing
from unflip.cli.tables import Delimiter, File, Quiet, Seed, Target, labelled_table, writable


def flip(
    file: File,
    rate: Annotated[float, typer.Option(min=0.0, max=1.0, help="The share of labels to flip.")],
    out: Annotated[Path, typer.Option(help="The table to write (.csv or .parquet).")],
    target: Target = None,
    seed: Seed = 0,
    delimiter: Delimiter = None,
    quiet: Quiet = False,
) -> None:
    """Flip each label with this probability, to any other class alike, and write the table."""
    writable(out, (".csv", ".parquet"))
    with refusing():
        import polars as pl

        from unflip._files import write_atomically
        from unflip.noise import flip_labels

        frame, target = labelled_table(file, target, delimiter=delimiter)
        labels = frame[target]
        known = labels.is_not_null()
        given = labels.filter(known).to_numpy()
        noisy = flip_labels(given, rate, seed)
        column = labels.to_list()
        for row, label in zip(known.arg_true().to_list(), noisy.tolist(), strict=True):
            column[row] = label
        spoiled = frame.with_columns(pl.Series(target, column, dtype=labels.dtype))
        write = spoiled.write_parquet if out.suffix == ".parquet" else spoiled.write_csv
        write_atomically(out, write)
    if not quiet:
        changed = int((noisy != given).sum())
        print(f"{out}: {changed} of {len(given)} labels flipped ({changed / max(1, len(given)):.1%})")
