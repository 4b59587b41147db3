"""What commands on tables share: their options, and how they read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unflip.cli.refusal import Refusal

if TYPE_CHECKING:
    from unflip.models import TableModel
    from unflip.tables import Habits


def _one_character(given: str | None) -> str | None:
    delimiter = "\t" if given == "\\t" else given
    if delimiter is not None and len(delimiter.encode()) != 1:
        raise Refusal(f"--delimiter is one character, got {delimiter!r}")
    return delimiter


def _comma_or_point(given: str | None) -> str | None:
    if given not in (",", ".", None):
        raise Refusal(f"--decimal is a comma or a point, got {given!r}")
    return given


File = Annotated[str, typer.Argument(help="CSV, TSV, Parquet or Arrow, compressed or not; - for stdin.")]
Target = Annotated[str | None, typer.Option("--target", "-t", help="The column of labels.")]
Weight = Annotated[str | None, typer.Option(help="A column that counts rows.")]
Positive = Annotated[str | None, typer.Option(help="A label; all others become one class.")]
Drop = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")]
Text = Annotated[list[str] | None, typer.Option(help="A column that is text even if it looks like numbers.")]
Category = Annotated[
    list[str] | None, typer.Option(help="A column of categories even if it looks like numbers.")
]
Delimiter = Annotated[
    str | None,
    typer.Option(callback=_one_character, help="Of CSV (\\t for tabs); seen from the header if not given."),
]
Decimal = Annotated[
    str | None,
    typer.Option(callback=_comma_or_point, help="In numbers of CSV without commas between fields: , or ."),
]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def labelled_table(
    path: str,
    target: str | None,
    drop: list[str] | None = None,
    text: list[str] | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    category: list[str] | None = None,
    positive: str | None = None,
) -> tuple[Any, str, Habits]:
    """The frame, its column of labels, and how it is written.

    In CSV labels are what is written, as whole numbers if all are. Labels that may not be meant as classes
    are refused, unless `category` has their column.
    """
    from unflip.tables import Habits, Wanted, read_table

    category = category or []
    wanted = Wanted([*(text or ()), *category], drop or (), target, habits=Habits(decimal=decimal))
    if target is None:
        columns = read_table(path, wanted, delimiter).columns
        raise Refusal(f"name the column of labels with --target; there are {', '.join(map(repr, columns))}")
    if target in (drop or ()):
        raise Refusal(f"the target {target!r} cannot be dropped")
    frame = read_table(path, wanted, delimiter)
    labels = as_labels(frame[target])
    if target not in category:
        from unflip.tables.labels import refuse_doubtful_labels

        refuse_doubtful_labels(_counts(labels), target, positive)
    levels = [
        _chosen(as_levels(frame[name])) for name in category if name in frame.columns and name != target
    ]
    return frame.with_columns(labels, *levels), target, wanted.habits


def as_labels(column: Any) -> Any:
    """Labels that are written as whole numbers usually are, as such; any others as they are.

    >>> import polars as pl
    >>> as_labels(pl.Series(["1", "0"])).to_list(), as_labels(pl.Series(["007", "7"])).to_list()
    ([1, 0], ['007', '7'])
    """
    import polars as pl

    if column.dtype != pl.String:
        return column
    whole = column.cast(pl.Int64, strict=False)
    if (whole.cast(pl.String) == column).fill_null(column.is_null()).all():
        return whole
    numbers = column.cast(pl.Float64, strict=False)
    fractions = numbers.null_count() == column.null_count() and column.str.contains(".", literal=True).any()
    return numbers if fractions else column  # fractions are refused as labels


def as_levels(column: Any) -> Any:
    """Numbers as the text that CSV has for them; what is no number as it is.

    >>> import polars as pl
    >>> as_levels(pl.Series([53.0, None])).to_list(), as_levels(pl.Series([1.5, 2.0])).to_list()
    (['53', None], ['1.5', '2.0'])
    """
    import polars as pl

    if not column.dtype.is_numeric():
        return column
    if column.dtype.is_float():
        column = column.fill_nan(None)
        whole = column.cast(pl.Int64, strict=False)
        column = whole if whole.cast(column.dtype).eq_missing(column).all() else column
    return column.cast(pl.String)


def _chosen(levels: Any) -> Any:
    """Text that somebody calls categories is not asked again whether it is sentences."""
    import polars as pl

    return levels.cast(pl.Categorical) if levels.dtype == pl.String else levels


def _counts(labels: Any) -> dict[Any, int]:
    """How many rows have each label; nothing of what cannot be one."""
    import polars as pl

    kind = labels.dtype
    if not (kind.is_integer() or kind.is_float() or kind in (pl.String, pl.Categorical, pl.Enum)):
        return {}
    if kind.is_float():
        labels = labels.fill_nan(None)
    return dict(labels.drop_nulls().value_counts().iter_rows())


def table_like(path: str, model: TableModel, labels: bool, delimiter: str | None = None) -> Any:
    """A frame read as a model wants it: its categories are text, its dates and numbers written as before."""
    from dataclasses import replace

    from unflip.tables import Wanted, read_table
    from unflip.tables.column_kinds import Categories

    needed = [name for name in model.columns if name not in model.table.left_out_]
    levels = {
        name: [level for level in column.levels.values if isinstance(level, str)]
        for name, column in zip(model.columns, model.table.columns_, strict=True)
        if isinstance(column, Categories) and name in needed
    }
    needed += [name for name in (model.target, model.weight) if labels and name]
    habits = replace(model.habits, dates=dict(model.habits.dates))
    wanted = Wanted(list(levels), (), model.target if labels else None, needed, levels, habits)
    frame = read_table(path, wanted, delimiter)
    frame = frame.with_columns(as_levels(frame[name]) for name in levels if name in frame.columns)
    if not labels:
        return frame
    if any(isinstance(label, str) for label in model.labels):
        if model.positive is None:
            from unflip.tables.labels import refuse_other_spellings

            refuse_other_spellings(_counts(frame[model.target]), model.target, model.labels)
        return frame
    return frame.with_columns(_as_truth(frame[model.target], model.labels))


def _as_truth(column: Any, labels: list[Any]) -> Any:
    """Labels as whole numbers, or as truth if those that are known are."""
    import polars as pl

    from unflip.tables.types import TRUTH

    if column.dtype != pl.String or not all(isinstance(label, bool) for label in labels):
        return as_labels(column)
    found = column.str.to_lowercase().replace_strict(TRUTH, default=None, return_dtype=pl.Boolean)
    return found if found.null_count() == column.null_count() else column


def model_of_sums(path: Path) -> TableModel:
    """A model that merges, forgets and exports, from its file."""
    from unflip.border.words import in_place
    from unflip.models import TableModel

    model = TableModel.load(path)
    with in_place(str(path)):
        model.sums  # noqa: B018  # refuses other learners
    return model


def save(path: Path, frame: Any, separator: str = ",") -> None:
    """Write a frame as its name asks, whole or not at all."""
    import polars as pl

    from unflip._atomic import write_atomically

    def write(file: Any) -> None:
        if path.suffix == ".parquet":
            frame.write_parquet(file)
        else:
            frame.write_csv(file, separator=separator)

    try:
        write_atomically(path, write)
    except pl.exceptions.PolarsError as error:  # lists have no CSV
        raise ValueError(f"{path} cannot be written: {str(error).splitlines()[0]}") from None


def writable(
    path: Path,
    endings: tuple[str, ...],
    option: str = "--out",
    inputs: Iterable[str | Path | None] = (),
) -> Path:
    """A path that can be written to; what would go wrong at the end of a long run is said before it.

    inputs: files that are read and may not be written over. (A model that grows or forgets may.)
    """
    import tempfile

    if not path.name.endswith(endings):
        raise Refusal(f"{option} must end in {' or '.join(endings)}, got {path}")
    if path.is_dir():
        raise Refusal(f"{path} is a folder; name a file")
    for given in inputs:
        with suppress(OSError):  # one of them is not there
            if given is not None and os.path.samefile(given, path):
                raise Refusal(f"{option} would write over {given}, which is read; name another file")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise Refusal(f"{path.parent} cannot be written to: {error.strerror}") from None
    return path
