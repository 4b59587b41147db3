"""`unflip reproduce`: run the paper again and put every printed number beside ours."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Annotated

import typer

from unflip.cli.datasets import DataDir
from unflip.cli.pages import page_writable, write_page
from unflip.cli.progress import with_progress
from unflip.cli.refusal import Refusal, refusing
from unflip.cli.say import tell


def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(help="Datasets, figures or findings; all when none is given.")
    ] = None,
    trials: Annotated[
        int, typer.Option(min=2, help="Noise draws on the full split; the paper has 125.")
    ] = 125,
    splits: Annotated[int, typer.Option(min=1, help="Further splits by which agreement is judged.")] = 50,
    full: Annotated[bool, typer.Option("--full", help="All trials on each split, instead of 8.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; one a core when not given.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Write this page; beside it .md, .json and, as they come, the results (.sqlite)."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the results beside the page.")] = False,
    data_dir: DataDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")] = False,
) -> None:
    """Re-run the paper's tables and figures and put every printed number beside ours.

    Disagreement with the paper is a finding, not a failure. Data that cannot be had is named and skipped.
    """
    if resume and out is None:
        raise Refusal("--resume needs --out: results are kept beside the page")
    if out is not None:
        page_writable(out, beside=(".sqlite",), make_folder=True)
    with refusing():
        import json

        from joblib import cpu_count

        from unflip import experiments
        from unflip.report import require_page
        from unflip.report.paper.sections import document
        from unflip.report.text import as_text

        if out is not None:
            require_page()
        kept = out and out.with_suffix(".sqlite")
        try:
            result = with_progress(
                lambda progress: experiments.run(
                    names or (),
                    trials=trials,
                    splits=splits,
                    full=full,
                    seed=seed,
                    jobs=jobs or cpu_count(),
                    data_dir=data_dir,
                    store=kept,
                    resume=resume,
                    progress=progress,
                )
            )
        except sqlite3.Error as error:
            raise Refusal(f"{kept} cannot be used: {error}; without --resume it is put aside") from None
        except KeyboardInterrupt:
            if out is not None:
                tell("unflip: the same command with --resume goes on from here", err=True)
            raise
        if not (result.cells or result.figures):
            raise Refusal("; ".join(f"{s['name']} is not here, {s['reason']}" for s in result.skipped))
        content = json.dumps(result.as_plain(), indent=1, allow_nan=False)
        report = document(result)
        if out is not None:
            write_page(out, report, content)
    print(content if as_json else as_text(report))
    if out is not None and not as_json:
        tell(f"written: {out}")
