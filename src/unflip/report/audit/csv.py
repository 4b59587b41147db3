"""All rows of an audit as CSV, the most suspicious first."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from unflip.audit.table import Audit
from unflip.report.audit.plain import as_json
from unflip.report.audit.rows import Doubtful, doubtful_rows
from unflip.report.words import shown

FORMULA = tuple("=+-@\t\r＝＋－＠")


def as_csv(audit: Audit, rows: Sequence[Doubtful] | None = None) -> str:
    """Row, identifier if there is one, given and likely label, P(wrong), and near rows.

    rows: those to write, with long texts cut; all of them, with all of their texts, if not given.

    A text that a spreadsheet would take for a formula gets an apostrophe in front.

    >>> import polars as pl
    >>> from unflip.audit.table import audit_table
    >>> frame = pl.DataFrame({"x": [i / 7 for i in range(60)], "y": [int(i > 30) for i in range(60)]})
    >>> lines = as_csv(audit_table(frame, "y")).splitlines()
    >>> lines[0], len(lines)
    ('row,given,likely,probability,neighbours', 61)
    """
    file = io.StringIO()
    writer = csv.writer(file)
    named = audit.ids is not None
    writer.writerow(["row", *(["id"] if named else []), "given", "likely", "probability", "neighbours"])
    for row in doubtful_rows(audit, len(audit.suspects), len(audit.suspects)) if rows is None else rows:
        texts = [*([row.id] if named else []), row.given, row.likely]
        if rows is not None:
            texts = [shown(text) if isinstance(text, str) else text for text in texts]
        near = " ".join(map(str, row.neighbours))
        writer.writerow([row.row, *map(tame, texts), round(row.probability, 6), near])
    return file.getvalue()


def tame(value: Any) -> Any:
    """A value that no spreadsheet runs.

    >>> tame("=1+1"), tame(-1), tame("a=b")
    ("'=1+1", -1, 'a=b')
    """
    plain = as_json(value)
    return "'" + plain if isinstance(plain, str) and plain.startswith(FORMULA) else plain
