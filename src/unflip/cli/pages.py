"""The page that a command writes, with its twins in Markdown and JSON beside it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from unflip.cli.options import writable

if TYPE_CHECKING:
    from unflip.report.document import Document

TWINS = (".md", ".json")


def page_writable(
    out: Path,
    inputs: Iterable[str | Path | None] = (),
    beside: Iterable[str] = (),
    make_folder: bool = False,
) -> None:
    """Refuse, before the work, a page that could not be written after it.

    beside: endings of further files that are written beside the page and its twins.
    """
    if make_folder and out.suffix == ".html":
        with suppress(OSError):  # what is in the way is said below
            out.parent.mkdir(parents=True, exist_ok=True)
    for ending in (".html", *TWINS, *beside):
        writable(out if ending == ".html" else out.with_suffix(ending), (ending,), inputs=inputs)


def write_page(out: Path, report: Document, content: str) -> None:
    """Write a report as a page and as Markdown, and `content`, its JSON; each whole or not at all."""
    from unflip.report.html import as_page
    from unflip.report.markdown import as_markdown

    for path, text in zip(
        (out, *map(out.with_suffix, TWINS)), (as_page(report), as_markdown(report), content), strict=True
    ):
        save_text(path, text)


def save_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    from unflip._atomic import write_atomically

    write_atomically(path, lambda file: file.write(text.encode()))
