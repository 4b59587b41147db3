"""`unflip merge`: models of rows in several places become the model of all rows."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Annotated

import typer

from unflip.cli.options import AsJson, Quiet, model_of_sums, writable
from unflip.cli.refusal import refusing
from unflip.cli.show import show_model


def merge(
    models: Annotated[list[Path], typer.Argument(help="Models that read columns alike (fit --like).")],
    out: Annotated[Path, typer.Option(help="The model to write (.npz).")],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Add up models, as if one had seen the rows of all."""
    writable(out, (".npz",))
    with refusing():
        merged = reduce(lambda one, other: one.merge(other), map(model_of_sums, models))
        merged.classifier  # noqa: B018  # refuses what cannot classify, before it is written
        merged.save(out)
    show_model(merged, out, as_json, quiet)
