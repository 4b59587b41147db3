"""What a report holds, in the order in which it is shown: plain data, of which nothing draws.

The paper's report (`report.paper`) and an audit's (`report.audit`) are built of the same blocks. Three
renderers show any document: `html` as a page, `markdown` as a file, `text` in a terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unflip.report.chart import Chart
from unflip.report.words import plain, words


@dataclass(frozen=True)
class Span:
    """A piece of a sentence: "strong", "em" or "code", or a link to a place of the page ("#place")."""

    text: str
    kind: str


Words = tuple[str | Span, ...]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; kind: "" or "caution"."""

    words: Words
    kind: str = ""


@dataclass(frozen=True)
class Item:
    """One of a list; share: how long its bar is, where it has one."""

    words: Words
    share: float | None = None
    kind: str = ""


@dataclass(frozen=True)
class Listed:
    """A list; kind: "bullets", "bars", "findings", or "headline", whose first item says the most."""

    items: tuple[Item, ...]
    kind: str = "bullets"
    title: str = ""


@dataclass(frozen=True)
class Facts:
    """Names, and what is to be said of each."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Tile:
    """A number that is to be seen at once; share: of the line above it, how much is filled."""

    name: str
    value: str
    note: str
    share: float
    kind: str = ""


@dataclass(frozen=True)
class Tiles:
    """Numbers side by side."""

    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class Heading:
    """A heading within a section; place: what links to it call it."""

    text: str
    place: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell that is more than its text: with a share to draw, a value to sort by, or a word beside it.

    kind: words of "num", "short", "chance", "count", "best" and "none".
    """

    text: str
    kind: str = ""
    share: float | None = None
    value: float | None = None
    tag: str = ""
    spoken: str = ""  # for readers who hear the page, instead of the text


Line = tuple[str | Cell, ...]


@dataclass(frozen=True)
class Table:
    """A caption, the names of the columns, and rows.

    kind: "", "counts", "unwrapped", or "sorted", which its first columns, `sortable` many, sort on the page;
    it comes sorted by the last of them, downwards. code: the column whose texts are code. name: its place.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[Line, ...]
    kind: str = ""
    foot: Line = ()
    code: str = ""
    name: str = ""
    sortable: int = 0

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers only, and so belong at the right.

        >>> Table("", ("name", "rows"), (("iris", "150"), ("car", "–"))).numeric
        (False, True)
        """
        return tuple(all(_is_number(row[k]) for row in self.rows) for k in range(len(self.columns)))


@dataclass(frozen=True)
class Pair:
    """A printed number and ours; verdict: "agrees", "differs" or "not run"."""

    printed: str
    best: bool
    ours: str
    range: str
    verdict: str
    reason: str = ""


@dataclass(frozen=True)
class Block:
    """Printed numbers beside ours: a dataset and a metric, a row for each noise rate."""

    dataset: str
    metric: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Pair, ...]], ...]


@dataclass(frozen=True)
class Compared:
    """The blocks of one printed table."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Key:
    """How a cell of `Compared` is read."""

    examples: tuple[Pair, ...]
    items: tuple[str, ...]


@dataclass(frozen=True)
class FigureBlock:
    """Charts and what is said of them; choices: what a reader chooses one of several panels of charts by."""

    name: str
    charts: tuple[Chart, ...]
    caption: tuple[Paragraph | Facts, ...]
    title: str = ""
    told: str = ""
    choices: tuple[tuple[str, tuple[Chart, ...]], ...] = ()
    choice: str = ""


@dataclass(frozen=True)
class Folded:
    """Blocks under a line that opens; tally: a count beside the title, as a disc too."""

    title: str
    blocks: tuple[Any, ...]
    tally: Cell | None = None
    place: str = ""
    open: bool = False


@dataclass(frozen=True)
class Beside:
    """Groups of blocks, side by side where there is room."""

    groups: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Command:
    """What to type."""

    text: str


@dataclass(frozen=True)
class Download:
    """A file within the page, what its button says, and a note beside it."""

    label: str
    file: str
    content: str
    done: str
    note: str = ""


@dataclass(frozen=True)
class Switch:
    """A box to tick, by which the page shows more."""

    name: str
    label: str


@dataclass(frozen=True)
class Page:
    """Blocks of which only the page is in need."""

    blocks: tuple[Any, ...]


@dataclass(frozen=True)
class Section:
    """A heading, its short form for the contents, and blocks; a section without any is not shown."""

    place: str
    title: str
    blocks: tuple[Any, ...]
    short: str = ""


@dataclass(frozen=True)
class Document:
    """A report; headline: what a terminal shows of it."""

    title: str
    lede: str
    sections: tuple[Section, ...]
    headline: tuple[Any, ...]


def said(*pieces: str | Span, kind: str = "") -> Paragraph:
    """A paragraph.

    >>> said("Use ", Span("robust", "strong"), ".").words[0]
    'Use '
    """
    return Paragraph(pieces, kind)


def listed(texts: Sequence[str], kind: str = "bullets", title: str = "") -> Listed:
    """A list of plain sentences.

    >>> len(listed(["One.", "Two."]).items)
    2
    """
    return Listed(tuple(Item((text,)) for text in texts), kind, title)


def given(*blocks: Any) -> tuple[Any, ...]:
    """The blocks that there are: not those that are None or tables without rows.

    >>> given(None, Table("", (), ()), Heading("Left"))
    (Heading(text='Left', place=''),)
    """
    return tuple(block for block in blocks if block is not None and getattr(block, "rows", True))


def behind(*tables: Table) -> Folded | None:
    """The numbers that a chart was drawn from; None where there are none.

    >>> behind(Table("", (), ())) is None
    True
    """
    filled = given(*tables)
    return Folded("The numbers behind the chart", filled) if filled else None


def settings_table(caption: str, settings: dict[str, Any]) -> Table:
    """The settings of a run, one a row; those inside others under both names.

    >>> settings_table("", {"seed": 0, "versions": {"numpy": "2.4"}}).rows
    (('seed', '0'), ('versions: numpy', '2.4'))
    """
    rows: list[tuple[str, str]] = []
    for name, value in settings.items():
        if name == "command":
            continue
        if isinstance(value, dict):
            rows += [(f"{words(name)}: {inner}", plain(one)) for inner, one in value.items()]
        else:
            rows.append((words(name), plain(value)))
    return Table(caption, ("setting", "value"), tuple(rows))


def _is_number(cell: str | Cell) -> bool:
    if isinstance(cell, Cell):
        return "num" in cell.kind.split()
    try:
        float(cell.replace(",", "").removesuffix(" %"))
    except ValueError:
        return cell == "–"
    return True
