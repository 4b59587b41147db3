"""An audit as Markdown: the twin of the page, for a file that is read, searched and compared."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unflip._words import share
from unflip.audit.table import Audit
from unflip.noise.words import is_told
from unflip.report.audit import tables
from unflip.report.audit.means import means_in_words
from unflip.report.audit.rows import doubtful_rows
from unflip.report.audit.verdict import assumption, bound, verdict, wrong_in_words
from unflip.report.audit.words import shown
from unflip.report.tables import Plain

SUSPECTS = 100
SPECIAL = re.compile(r"([\\`*\[\]<>|!#~&$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")


def as_markdown(audit: Audit) -> str:
    """All that the page says; of the suspects at most 100.

    >>> import polars as pl
    >>> from unflip.audit.table import audit_table
    >>> frame = pl.DataFrame({"x": [i / 7 for i in range(60)], "y": [int(i > 30) for i in range(60)]})
    >>> print(as_markdown(audit_table(frame, "y", source="some.csv")).splitlines()[0])
    # Can the labels of some.csv be trusted?
    """
    told = (
        [
            ("How noisy the labels are", _noise(audit)),
            ("What clean labels would show", _table(tables.accuracy_table(audit))),
            ("Which learner to use", _learners(audit)),
            ("Which rows are probably wrong", _suspects(audit)),
            ("What tells the classes apart", _differences(audit)),
            ("What is guaranteed, and what is not", _guarantee(audit)),
        ]
        if audit.informative
        else []
    )
    sections = [
        ("", "\n\n".join(map(escaped, [" ".join(verdict(audit)), tables.about(audit)]))),
        *told,
        ("How columns were read", _columns(audit)),
        ("How to repeat it", _run(audit)),
    ]
    parts = [f"# {escaped(tables.title(audit))}"]
    parts += [f"## {title}\n\n{body}" if title else body for title, body in sections if body]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: no link, no tag, no emphasis, no end of a cell.

    >>> escaped("a|b <i> snake_case _x_")
    'a\\\\|b \\\\<i\\\\> snake_case \\\\_x\\\\_'
    """
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _noise(audit: Audit) -> str:
    said = [assumption(audit), bound(audit), *(f"Caution: {warning}." for warning in audit.noise.warnings)]
    chances = tables.chance_table(audit)
    return "\n\n".join([*map(escaped, said), _table(tables.class_table(audit)), _table(chances)])


def _learners(audit: Audit) -> str:
    found = audit.recommended
    assert found is not None
    words = f"Recommended: {shown(found.name)}, because {found.why}. {tables.sample_words(audit)}"
    return f"{escaped(words)}\n\n{_table(tables.learner_table(audit))}"


def _suspects(audit: Audit) -> str:
    named = [] if audit.ids is None else [shown(audit.ids[0])]
    rows = [
        (
            str(row.row),
            *([] if audit.ids is None else [shown(row.id)]),
            shown(row.given),
            shown(row.likely),
            share(row.probability),
            ", ".join(map(str, row.neighbours)) or "–",
        )
        for row in doubtful_rows(audit)[:SUSPECTS]
    ]
    words = (
        f"{wrong_in_words(audit)} The first {len(rows)} of the list follow. Rows count from 0, the header "
        "not among them."
    )
    columns = ("row", *named, "given label", "likely label", "probability wrong", "nearest rows with it")
    parts = [escaped(words), _grid(columns, rows)]
    return "\n\n".join([*parts, _table(tables.checking_table(audit))] if is_told(audit.noise) else parts)


def _differences(audit: Audit) -> str:
    said = "\n".join(f"- {escaped(words)}" for words in means_in_words(audit))
    return f"{said}\n\n{_table(tables.difference_table(audit))}" if said else ""


def _guarantee(audit: Audit) -> str:
    parts = []
    for name, title in tables.GUARANTEES.items():
        said = "\n".join(f"- {escaped(words)}" for words in getattr(audit.guarantee, name))
        parts += [f"### {title}", said]
    return "\n\n".join(parts)


def _columns(audit: Audit) -> str:
    parts = [escaped(tables.column_words(audit)), _table(tables.left_out_table(audit))]
    return "\n\n".join(part for part in (*parts, _table(tables.column_table(audit))) if part)


def _run(audit: Audit) -> str:
    command = tables.command(audit)
    parts = [f"    {command}" if command else "", _table(tables.run_table(audit))]
    return "\n\n".join(part for part in parts if part)


def _table(table: Plain) -> str:
    return _grid(table.columns, table.rows) if table.rows else ""


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(map(escaped, line)) + " |" for line in (columns, *rows)]
    return "\n".join([lines[0], "|" + " --- |" * len(columns), *lines[1:]])
