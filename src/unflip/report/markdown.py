"""A document as Markdown, for a file that is read, searched and compared with the last one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from unflip.report.document import (
    Beside,
    Cell,
    Command,
    Compared,
    Document,
    Facts,
    FigureBlock,
    Folded,
    Heading,
    Listed,
    Paragraph,
    Table,
    Tiles,
    Words,
)

ROWS_OF_PAGE = 100  # of a table that the page can sort
SPECIAL = re.compile(r"([\\`*\[\]<>|!#~&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
MARKS = {"strong": "**", "em": "*", "code": "`"}


def as_markdown(document: Document) -> str:
    """All that the page says, but for what only a page can do; of a table that it can sort 100 rows.

    >>> print(as_markdown(Document("Title", "A line.", (), ())))
    # Title
    <BLANKLINE>
    A line.
    <BLANKLINE>
    """
    parts = [f"# {escaped(document.title)}", escaped(document.lede)]
    for section in document.sections:
        body = _blocks(section.blocks)
        parts += [f"## {escaped(section.title)}", body] if body else []
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: no link, no tag, no emphasis, no end of a cell.

    >>> escaped("a|b <i> snake_case _x_")
    'a\\\\|b \\\\<i\\\\> snake_case \\\\_x\\\\_'
    """
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _blocks(blocks: Iterable[Any]) -> str:
    return "\n\n".join(
        filter(
            None, (WRITE_MARKDOWN[type(block)](block) for block in blocks if type(block) in WRITE_MARKDOWN)
        )
    )


def _words(words: Words) -> str:
    parts = []
    for piece in words:
        if isinstance(piece, str):  # whose ends may be spaces
            parts.append(SPECIAL.sub(r"\\\1", " ".join(re.split(r"\s+", piece))))
        else:
            mark = MARKS.get(piece.kind, "")
            text = piece.text if piece.kind == "code" else escaped(piece.text)
            parts.append(f"{mark}{text}{mark}")
    return "".join(parts)


def _listed(block: Listed) -> str:
    lines = [_words(item.words) for item in block.items]
    return "\n\n".join(lines) if block.kind == "headline" else "\n".join(f"- {line}" for line in lines)


def _facts(block: Facts) -> str:
    return "\n\n".join(f"*{escaped(name)}:* {escaped(text)}" for name, text in block.pairs)


def _tiles(block: Tiles) -> str:
    return "\n".join(f"- {escaped(t.name)}: **{escaped(t.value)}** {escaped(t.note)}" for t in block.tiles)


def _table(block: Table) -> str:
    rows = block.rows[:ROWS_OF_PAGE] if block.sortable else block.rows
    few = f"The first {len(rows)} of the list follow.\n\n" if len(rows) < len(block.rows) else ""
    lines = [block.columns, *rows, *([block.foot] if block.foot else [])]
    return few + _grid([list(map(_cell, line)) for line in lines])


def _cell(cell: str | Cell) -> str:
    if isinstance(cell, str):
        return escaped(cell)
    text = f"**{escaped(cell.text)}**" if "best" in cell.kind else escaped(cell.text)
    return f"{text} ({escaped(cell.tag)})" if cell.tag else text


def _compared(block: Compared) -> str:
    """One table of all blocks, a row for each printed number."""
    columns = ["dataset", "metric", "noise rate", "loss", "printed", "ours", "range of ours", "verdict"]
    rows = [
        [each.dataset, each.metric, rate, name, pair.printed, pair.ours, pair.range, verdict]
        for each in block.blocks
        for rate, pairs in each.rows
        for name, pair in zip(each.columns, pairs, strict=True)
        for verdict in [f"{pair.verdict}: {pair.reason}" if pair.reason else pair.verdict]
    ]
    return _grid([columns, *(list(map(escaped, row)) for row in rows)])


def _figure(block: FigureBlock) -> str:
    """What is said beside the charts where that can stand without them."""
    return _blocks(part for part in block.caption if isinstance(part, Facts))


def _folded(block: Folded) -> str:
    if block.tally is None:
        return _blocks(block.blocks)
    return f"### {escaped(block.title)} ({escaped(block.tally.text)})\n\n{_blocks(block.blocks)}"


def _beside(block: Beside) -> str:
    return "\n\n".join(map(_blocks, block.groups))


def _grid(lines: Sequence[Sequence[str]]) -> str:
    drawn = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([drawn[0], "|" + " --- |" * len(lines[0]), *drawn[1:]])


WRITE_MARKDOWN: dict[type, Callable[[Any], str]] = {
    Paragraph: lambda block: _words(block.words),
    Heading: lambda block: f"### {escaped(block.text)}",
    Command: lambda block: f"    {' '.join(block.text.split())}",
    Listed: _listed,
    Facts: _facts,
    Tiles: _tiles,
    Table: _table,
    Compared: _compared,
    FigureBlock: _figure,
    Folded: _folded,
    Beside: _beside,
}
