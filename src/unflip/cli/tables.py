"""What commands on tables share: their options, and how they read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unflip.cli.refusal import Refusal

if TYPE_CHECKING:
    from unflip.models.reading import ReadsTables

File = Annotated[str, typer.Argument(help="CSV, TSV, Parquet or Arrow, compressed or not; - for stdin.")]
Target = Annotated[str | None, typer.Option("--target", "-t", help="The column of labels.")]
Weight = Annotated[str | None, typer.Option(help="A column that counts rows.")]
Positive = Annotated[str | None, typer.Option(help="A label; all others become one class.")]
Drop = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")]
Text = Annotated[list[str] | None, typer.Option(help="A column that is text even if it looks like numbers.")]
Delimiter = Annotated[str | None, typer.Option(help="Of CSV; seen from the header if not given.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def labelled_table(
    path: str,
    target: str | None,
    drop: list[str] | None = None,
    text: list[str] | None = None,
    delimiter: str | None = None,
    dates: dict[str, str] | None = None,
) -> tuple[Any, str]:
    """The frame, and its column of labels; in CSV labels are what is written, as whole numbers if all are.

    dates: is filled with the formats of dates whose days look like months, by column.
    """
    from unflip.tables import read_table

    if target is None:
        columns = read_table(path, delimiter, drop=drop or ()).columns
        raise Refusal(f"name the column of labels with --target; there are {', '.join(map(repr, columns))}")
    if target in (drop or ()):
        raise Refusal(f"the target {target!r} cannot be dropped")
    frame = read_table(path, delimiter, text or (), drop or (), target, dates=dates)
    return frame.with_columns(as_labels(frame[target])), target


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


def table_like(path: str, model: ReadsTables, labels: bool, delimiter: str | None = None) -> Any:
    """A frame read as a model wants it: its categories are text, its dates as they were."""
    from unflip.features.table_columns import Categories
    from unflip.tables import read_table

    weight = getattr(model, "weight", None)
    text = [
        name
        for name, column in zip(model.columns, model.table.columns_, strict=True)
        if isinstance(column, Categories) and name not in model.table.left_out_
    ]
    wanted = [*(name for name in model.columns if name not in model.table.left_out_), model.target]
    only = [*wanted, *([weight] if weight else [])]
    frame = read_table(path, delimiter, text, (), model.target if labels else None, only, dict(model.dates))
    words = any(isinstance(label, str) for label in model.labels)
    return frame.with_columns(as_labels(frame[model.target])) if labels and not words else frame


def save(path: Path, frame: Any, separator: str = ",") -> None:
    """Write a frame as its name asks, whole or not at all."""
    import polars as pl

    from unflip._files import write_atomically

    def write(file: Any) -> None:
        if path.suffix == ".parquet":
            frame.write_parquet(file)
        else:
            frame.write_csv(file, separator=separator)

    try:
        write_atomically(path, write)
    except pl.exceptions.PolarsError as error:  # lists have no CSV
        raise ValueError(f"{path} cannot be written: {str(error).splitlines()[0]}") from None


def writable(path: Path, endings: tuple[str, ...], option: str = "--out") -> Path:
    """A path that can be written to; what would go wrong at the end of a long run is said before it."""
    import tempfile

    if not path.name.endswith(endings):
        raise Refusal(f"{option} must end in {' or '.join(endings)}, got {path}")
    if path.is_dir():
        raise Refusal(f"{path} is a folder; name a file")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise Refusal(f"{path.parent} cannot be written to: {error.strerror}") from None
    return path
