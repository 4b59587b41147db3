"""The headline of a document for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any

from unflip.report.document import Cell, Command, Document, Listed, Paragraph, Table, Tiles, Words

WIDTH_OF_TEXT = 100
ROWS_OF_TEXT = 10  # of a table that the page can sort


def as_text(document: Document) -> str:
    """Its blocks with a line between them, none wider than 100 letters.

    >>> table = Table("Sums", ("how many", "of them"), (("all", "12"), ("few", "3")))
    >>> print(as_text(Document("", "", (), (table,))))
    Sums:
      how many  of them
      all            12
      few             3
    """
    return "\n\n".join(filter(None, (WRITE_TEXT[type(block)](block) for block in document.headline)))


def _plain(words: Words) -> str:
    return "".join(piece if isinstance(piece, str) else piece.text for piece in words)


def _filled(words: str, first: str = "", later: str = "") -> str:
    """Lines of limited width; a number and its percent sign stay together."""
    words = words.replace(" %", "\u00a0%")
    filled = textwrap.fill(
        words, WIDTH_OF_TEXT, initial_indent=first, subsequent_indent=later, break_on_hyphens=False
    )
    return filled.replace("\u00a0", " ")


def _listed(block: Listed) -> str:
    indents = ("", "") if block.kind == "headline" else ("  ", "    ")
    lines = [_filled(_plain(item.words), *indents) for item in block.items]
    return "\n".join([block.title, *lines] if block.title else lines)


def _table(block: Table) -> str:
    """Rows in columns; what is too wide ends in an ellipsis."""
    rows = [
        *(block.rows[:ROWS_OF_TEXT] if block.sortable else block.rows),
        *([block.foot] if block.foot else []),
    ]
    texts = [list(map(_text, row)) for row in rows]
    tags = {row[0].tag: None for row in rows if isinstance(row[0], Cell) and row[0].tag}
    names = [name.replace(" %", "\u00a0%") for name in block.columns]
    widths = [max(map(len, column)) for column in zip(names, *texts, strict=True)]
    if sum(widths) + 2 * len(widths) > WIDTH_OF_TEXT:  # heads are broken between words
        heads = [max(name.split(" "), key=len) for name in names]
        widths = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
    while sum(widths) + 2 * len(widths) > WIDTH_OF_TEXT:
        widths[widths.index(max(widths))] -= 1
    ways = ["<", *(">" if numeric else "<" for numeric in block.numeric[1:])]
    broken = [textwrap.wrap(name, width)[::-1] for name, width in zip(names, widths, strict=True)]
    lines = [*zip_longest(*broken, fillvalue="")][::-1]
    lines += [tuple(map(_cut, row, widths)) for row in texts]
    drawn = "\n".join(_aligned(lines, widths, ways)).replace("\u00a0", " ")
    marked = f" (* {', '.join(tags)})" if tags else ""
    return f"{_filled(f'{block.caption}{marked}:')}\n{drawn}"


def _tiles(block: Tiles) -> str:
    rows = [(tile.name, tile.value, tile.note) for tile in block.tiles]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_aligned(rows, widths, "<>>"))


def _aligned(lines: Iterable[tuple[str, ...]], widths: list[int], ways: Iterable[str]) -> list[str]:
    places = [f"{way}{width}" for way, width in zip(ways, widths, strict=True)]
    return [
        "  " + "  ".join(f"{cell:{place}}" for cell, place in zip(line, places, strict=True)).rstrip()
        for line in lines
    ]


def _text(cell: str | Cell) -> str:
    """The text of a cell; a tag is a star, explained beside the caption."""
    if isinstance(cell, str):
        return cell
    return f"{cell.text} *" if cell.tag else cell.text


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


WRITE_TEXT: dict[type, Callable[[Any], str]] = {
    Paragraph: lambda block: _filled(_plain(block.words)),
    Command: lambda block: f"  {block.text}",
    Listed: _listed,
    Table: _table,
    Tiles: _tiles,
}
