"""`unflip predict`: classes and scores for the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unflip.cli.options import AsJson, Delimiter, File, save, table_like, writable
from unflip.cli.refusal import refusing
from unflip.cli.say import give


def predict(
    model: Annotated[Path, typer.Argument(help="A model that `unflip fit` wrote.")],
    file: File,
    out: Annotated[
        Path | None, typer.Option(help="Write here (.csv or .parquet) instead of on stdout.")
    ] = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
) -> None:
    """Predict the class of each row; rows are numbered from zero, without the header."""
    if out is not None:
        writable(out, (".csv", ".parquet"), inputs=(model, file))
    with refusing():
        import json

        import polars as pl

        from unflip.models import load_model

        known = load_model(model)
        frame = table_like(file, known, labels=False, delimiter=delimiter)
        classes = [str(label) for label in known.classifier.classes_.tolist()]
        scores = known.scores(frame).reshape(frame.height, -1)
        names = [f"score of {label}" for label in (classes[1:] if len(classes) == 2 else classes)]
        columns = {"row": range(frame.height), "prediction": known.predict(frame).tolist()}
        columns |= dict(zip(names, scores.T, strict=True))
        if known.tells_probabilities:
            chances = known.probabilities(frame)
            columns |= {f"P({label})": chances[:, k] for k, label in enumerate(classes)}
        found = pl.DataFrame(columns)
        if out is not None:
            save(out, found)
        if as_json:
            print(json.dumps({"target": known.target, "predictions": found.to_dicts()}))
        elif out is None:
            give(found.write_csv().encode())
