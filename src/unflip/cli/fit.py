"""`unflip fit`: a table in, a model out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unflip.cli.options import (
    AsJson,
    Category,
    Decimal,
    Delimiter,
    Drop,
    File,
    Positive,
    Quiet,
    Target,
    Text,
    Weight,
    as_labels,
    labelled_table,
    model_of_sums,
    table_like,
    writable,
)
from unflip.cli.refusal import Refusal, refusing
from unflip.cli.say import tell
from unflip.cli.show import show_model

if TYPE_CHECKING:
    from unflip.models import TableModel

LARGE_FILE = 1 << 28  # bytes, from which on a Parquet file of numbers is read in passes
TEXT_IS_SLOWER = 4  # to read again and again: CSV is read in passes from so many times the size on


def fit(
    file: File,
    out: Annotated[Path, typer.Option(help="The model to write (.npz).")],
    target: Target = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="square (the default), unhinged (these merge and forget), robust, kernel or logistic."
        ),
    ] = None,
    like: Annotated[
        Path | None, typer.Option(help="Read columns as this model does, so that both can be merged.")
    ] = None,
    weight: Weight = None,
    positive: Positive = None,
    drop: Drop = None,
    text: Text = None,
    category: Category = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fit a classifier to a table whose labels may be wrong.

    Files of numbers from 256 MB on (CSV: 1 GB) are read in eight passes, in constant memory, if the learner
    is square or unhinged; all others are read whole.
    """
    writable(out, (".npz",), inputs=(file, like))
    with refusing():
        from dataclasses import replace

        from unflip.models import TableModel
        from unflip.models.learners import TABLE_LEARNERS
        from unflip.moments import Moments

        if learner not in (*TABLE_LEARNERS, None):
            raise Refusal(f"--learner is one of {', '.join(TABLE_LEARNERS)}, got {learner}")
        if like is not None:
            first = model_of_sums(like)
            asked = {"target": target, "positive": positive, "weight": weight, "learner": learner}
            known = [str(label) for label in first.labels]
            if first.positive is None and positive in known:
                del asked["positive"]  # there were no others to make one class of
            for name, given in asked.items():
                if given not in (None, getattr(first, name)):
                    raise Refusal(f"--{name} is that of {like}, {getattr(first, name)!r}, not {given!r}")
            if drop or text or category or decimal:
                raise Refusal(
                    f"with --like, columns are read as in {like}, without --drop, --text, --decimal "
                    "and --category"
                )
            frame = table_like(file, first, labels=True, delimiter=delimiter)
            new = [str(label) for label in frame[first.target].unique() if label is not None]
            if positive is not None and first.positive is None and set(new) - set(known):
                raise Refusal(
                    f"{like} tells {' from '.join(known)} and has no class for all others, and {file} has "
                    f"the label {min(set(new) - set(known))!r}; fit first the file that has them all"
                )
            # Not its sums less themselves: private and robust ones cannot be taken away.
            nothing = Moments.zero(first.table.width, first.moments.key, first.moments.degree)
            nothing = nothing.with_classes(first.moments.classes)
            model = replace(first, history=()).with_moments(nothing).more(frame, file)
        else:
            learner, found = learner or "square", None
            if target is not None and not (text or category or decimal):
                found = _fit_in_passes(file, target, learner, weight, positive, drop, delimiter, quiet)
            if found is None:
                frame, target, habits = labelled_table(
                    file, target, drop, text, delimiter, decimal, category, positive
                )
                found = TableModel.fit(frame, target, learner, weight, positive, file, habits)
            model = found
            model.classifier  # noqa: B018  # refuses what cannot classify, before it is written
        model.save(out)
    show_model(model, out, as_json, quiet)


def _fit_in_passes(
    file: str,
    target: str,
    learner: str,
    weight: str | None,
    positive: str | None,
    drop: list[str] | None,
    delimiter: str | None,
    quiet: bool,
) -> TableModel | None:
    """The model of a large file of numbers; None if the file is to be read whole, and on stderr why."""
    import polars as pl

    from unflip.models.passes_over_file import PARQUET, fit_in_passes
    from unflip.models.sums import LEARNERS

    path = Path(file)
    large = LARGE_FILE * (1 if path.suffix.lower() in PARQUET else TEXT_IS_SLOWER)
    if learner not in LEARNERS or not path.is_file() or path.stat().st_size < large:
        return None

    def meant(labels: list[object]) -> list[object]:
        return list(as_labels(pl.Series(labels)).to_list())

    try:
        return fit_in_passes(path, target, learner, weight, positive, drop or (), delimiter, meant)
    except (ValueError, TypeError) as why:
        if not quiet:
            tell(f"{file} is read whole, and not in passes: {why}", err=True)
        return None
