"""`unflip correct`: undo noise in a model, without the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unflip.cli.options import AsJson, Quiet, writable
from unflip.cli.refusal import Refusal, refusing
from unflip.cli.show import show_model


def correct(
    model: Annotated[Path, typer.Argument(help="A square, unhinged or robust model.")],
    noise: Annotated[
        Path,
        typer.Option(
            help="JSON: one rate, rates by class ({“no”: 0, “yes”: 0.3}), a table of P(given | true), or "
            "what unflip audit --json prints."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The model to write (.npz).")],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Correct a model for noise in its labels, as if it had learned from clean ones; rows are not needed.

    A model that was corrected before is corrected anew.
    """
    writable(out, (".npz",), inputs=(noise,))
    with refusing():
        import json

        from unflip.models import TableModel
        from unflip.noise.from_json import noise_from_json

        try:
            found = json.loads(noise.read_text(encoding="utf-8"))
        except ValueError as error:  # of UTF-8 and of JSON
            raise Refusal(f"{noise} is no JSON: {error}") from None
        known = TableModel.load(model)
        corrected = known.with_noise(noise_from_json(found, known.labels))
        corrected.classifier  # noqa: B018  # refuses what the noise cannot have made, before it is written
        corrected.save(out)
    show_model(corrected, out, as_json, quiet)
