"""How the columns of an audited table were read, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unflip.audit.table import Audit
from unflip.report.words import counted
from unflip.tables.column_kinds import Categories, Numbers


@dataclass(frozen=True)
class ReadColumn:
    """A column of the file: its name, its kind, and what was made of it."""

    name: str
    kind: str
    words: str


def read_columns(audit: Audit) -> list[ReadColumn]:
    """Every column beside the target and the weight, in the order of the file."""
    table = audit.table
    names = map(str, getattr(table, "feature_names_in_", range(len(table.columns_))))
    return [_read(name, column, table.left_out_) for name, column in zip(names, table.columns_, strict=True)]


def kinds(columns: list[ReadColumn]) -> dict[str, int]:
    """How many columns there are of each kind.

    >>> kinds([ReadColumn("a", "numbers", ""), ReadColumn("b", "numbers", "")])
    {'numbers': 2}
    """
    found: dict[str, int] = {}
    for column in columns:
        found[column.kind] = found.get(column.kind, 0) + 1
    return found


def _read(name: str, column: Any, left_out: dict[str, str]) -> ReadColumn:
    if name in left_out:
        return ReadColumn(name, "left out", left_out[name])
    if isinstance(column, Numbers):
        gaps = "; gaps hold the median, and a column more marks them" if column.marks else ""
        as_they_are = "as days since 1970" if column.dates else "as they are"
        return ReadColumn(name, "dates" if column.dates else "numbers", as_they_are + gaps)
    assert isinstance(column, Categories)
    levels = counted(len(column.levels), "level")
    if column.buckets:
        words = f"the {levels} met most often have a column each; all others share {column.buckets}"
        return ReadColumn(name, "categories", words)
    return ReadColumn(name, "categories", f"{levels}, a column each")
