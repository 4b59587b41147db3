"""`unflip reproduce`: run the paper again and put every printed number beside ours."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unflip.cli.datasets import DataDir
from unflip.cli.progress import with_progress

if TYPE_CHECKING:
    from unflip.experiments import Result


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
        raise typer.BadParameter("--resume needs --out: results are kept beside the page")
    if out is not None:
        _prepare(out)
    import json

    from joblib import cpu_count

    from unflip import experiments, report

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
                store=out and out.with_suffix(".sqlite"),
                resume=resume,
                progress=progress,
            )
        )
    except (ValueError, OSError) as error:
        raise typer.BadParameter(str(error)) from None
    except sqlite3.Error as error:
        kept = out and out.with_suffix(".sqlite")
        raise typer.BadParameter(
            f"{kept} cannot be used: {error}; without --resume it is put aside"
        ) from None
    except KeyboardInterrupt:
        if out is not None:
            print("unflip: the same command with --resume goes on from here", file=sys.stderr)
        raise
    if not (result.cells or result.figures):
        raise typer.BadParameter("; ".join(f"{s['name']} is not here, {s['reason']}" for s in result.skipped))
    content = json.dumps(result.as_plain(), indent=1, allow_nan=False)
    if out is not None:
        _write(out, result, content)
    print(content if as_json else report.as_text(result))
    if out is not None and not as_json:
        print(f"\nThe page: {out}")


def _prepare(out: Path) -> None:
    """What would go wrong at the end of a long run is said before it."""
    from unflip.report import require_page

    if out.suffix != ".html":
        raise typer.BadParameter(f"--out names a page, so it must end in .html, got {out}")
    try:
        require_page()
    except ImportError as error:
        raise typer.BadParameter(str(error)) from None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out.parent).close()
    except OSError as error:
        raise typer.BadParameter(f"{out.parent} cannot be written to: {error.strerror}") from None
    for path in _files(out):
        if path.is_dir():
            raise typer.BadParameter(f"{path} is a folder; name another page")


def _files(out: Path) -> list[Path]:
    return [out, *(out.with_suffix(ending) for ending in (".md", ".json", ".sqlite"))]


def _write(out: Path, result: Result, content: str) -> None:
    from unflip import report

    page, markdown, plain, _ = _files(out)
    _save(page, report.as_html(result))
    _save(markdown, report.as_markdown(result))
    _save(plain, content)


def _save(path: Path, text: str) -> None:
    from unflip._atomic import write_atomically

    write_atomically(path, lambda file: file.write(text.encode()))
