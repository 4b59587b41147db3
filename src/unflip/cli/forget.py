"""`unflip forget`: take rows back out of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unflip.cli.options import AsJson, Delimiter, File, Quiet, model_of_sums, table_like, writable
from unflip.cli.refusal import refusing
from unflip.cli.show import show_model


def forget(
    model: Annotated[Path, typer.Argument(help="A model that was fitted to these rows among others.")],
    file: File,
    out: Annotated[Path, typer.Option(help="The model to write (.npz).")],
    delimiter: Delimiter = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Take rows away, with their labels, as if the sums had never seen them.

    How columns are read (medians, levels, scales) stays as it was fitted; for that to forget too, fit again.
    """
    writable(out, (".npz",), inputs=(file,))
    with refusing():
        known = model_of_sums(model)
        left = known.forget(table_like(str(file), known, labels=True, delimiter=delimiter), str(file))
        left.classifier  # noqa: B018  # refuses what cannot classify, before it is written
        left.save(out)
    show_model(left, out, as_json, quiet)
