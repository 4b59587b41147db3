"""`unflip datasets`: what data of the paper is here, and how to get the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unflip.cli.refusal import Refusal, refusing

datasets = typer.Typer(
    help="The data of the paper: list what is here, write it as a table, fetch what may not be shipped.",
    no_args_is_help=True,
)

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", envvar="UNFLIP_DATA", help="Folder with data that is not shipped."),
]


@datasets.command("list")
def list_datasets(
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")] = False,
) -> None:
    """List the datasets with their sizes, and whether they can be loaded."""
    import json

    from unflip.experiments.catalogue import CATALOGUE
    from unflip.experiments.datasets import is_available

    found = [
        {
            "name": name,
            "rows": entry.n_rows,
            "columns": entry.n_columns,
            "positives": entry.n_positives,
            "origin": entry.origin,
            "available": is_available(name, data_dir),
        }
        for name, entry in CATALOGUE.items()
    ]
    if as_json:
        print(json.dumps({"datasets": found}, indent=2))
        return
    print(f"{'name':18} {'rows':>6} {'columns':>8} {'positives':>10}  from")
    for row in found:
        origin = row["origin"] if row["available"] else "missing: unflip datasets fetch, or --data-dir"
        print(f"{row['name']:18} {row['rows']:6} {row['columns']:8} {row['positives']:10}  {origin}")


@datasets.command("write")
def write_dataset(
    name: Annotated[str, typer.Argument(help="A dataset that is here.")],
    out: Annotated[Path, typer.Option(help="The table to write (.csv or .parquet).")],
    data_dir: DataDir = None,
) -> None:
    """Write a dataset as a table to try the other commands on: rows shuffled, the last column `label`."""
    from unflip.cli.options import save, writable

    writable(out, (".csv", ".parquet"))
    with refusing():
        import numpy as np
        import polars as pl

        from unflip.experiments.datasets import load

        data = load(name, data_dir)
        order = np.random.default_rng(0).permutation(len(data.y))  # some files are sorted by class
        columns = dict(zip(data.columns, data.X[order].T.tolist(), strict=True))
        save(out, pl.DataFrame(columns | {"label": data.target[order].tolist()}))
    print(f"{out}: {len(data.y)} rows, {len(data.columns)} columns and the label")


@datasets.command("fetch")
def fetch_dataset(
    names: Annotated[list[str], typer.Argument(help="Datasets to download.")],
    data_dir: DataDir = None,
) -> None:
    """Download datasets that may not be shipped, check them, and keep them in the folder."""
    from unflip.experiments.fetch import fetch

    if data_dir is None:
        raise Refusal("name a folder to keep the data in, with --data-dir or UNFLIP_DATA")
    for name in names:
        try:
            print(fetch(name, data_dir))
        except (OSError, ValueError) as error:
            raise Refusal(f"{name} could not be fetched: {error}") from None
