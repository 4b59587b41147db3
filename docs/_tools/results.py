"""Fills the numbers of the pages from benchmarks/results.json, so that two pages cannot print two numbers.

In a page a comment behind a number says what it is: `0.037<!--=fit_float64-->`. It may be computed from
several, and has a format where that of the file will not do: `21<!--=nearest_centroid / fit_float64:.0f-->`.
A table that stands in several pages lies between `<!-- table: accuracy -->` and `<!-- end of table -->`.
After a measurement change the file, with its date, and run `make pages`.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "benchmarks/results.json"
ENTRY = {"value", "unit", "program", "machine", "date"}
_NUMBER = re.compile(r"[\w.,+-]+<!--=([^:>]+)(?::([^>]+))?-->")
_TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


@cache
def values() -> dict[str, Any]:
    """What was measured, by name.

    >>> values()["fit_float64"] > 0
    True
    """
    return {name: entry["value"] for name, entry in json.loads(FILE.read_text(encoding="utf-8")).items()}


def filled(text: str) -> str:
    """A page with the numbers of the file.

    >>> filled("7<!--=square_fit / square_fit--> and 7<!--=nearest_centroid / nearest_centroid:.2f-->")
    '1.0<!--=square_fit / square_fit--> and 1.00<!--=nearest_centroid / nearest_centroid:.2f-->'
    """
    text = _NUMBER.sub(lambda match: _shown(match[1], match[2] or "") + match[0][match[0].index("<") :], text)
    return _TABLE.sub(lambda match: match[1] + _table(values()[match[2]]) + match[3], text)


def _shown(formula: str, style: str) -> str:
    return format(eval(formula, {"__builtins__": {}}, values()), style)


def _table(rows: dict[str, list[Any]]) -> str:
    """Rows with their names; the largest of each column is bold, but for the last, which is a cost."""
    head, *body = rows.items()
    best = [max(column) for column in zip(*(numbers[:-1] for _, numbers in body), strict=True)]
    lines = [[head[0], *head[1]], ["---"] * (1 + len(head[1]))]
    for name, (*numbers, cost) in body:
        shown = [f"**{x}**" if x == top else f"{x}" for x, top in zip(numbers, best, strict=True)]
        lines.append([name, *shown, str(cost)])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
