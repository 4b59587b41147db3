"""An `Audit` as a page, as Markdown, as plain values for JSON, its rows as CSV, or as text for a terminal.

The page needs the extra `report`; the others need nothing.
"""

from unflip.audit.table import Audit
from unflip.report.audit.csv import as_csv
from unflip.report.audit.plain import as_plain
from unflip.report.audit.sections import document
from unflip.report.html import as_page, require_page
from unflip.report.markdown import as_markdown as document_as_markdown
from unflip.report.text import as_text as document_as_text

__all__ = ["as_csv", "as_html", "as_markdown", "as_plain", "as_text", "require_page"]


def as_html(audit: Audit) -> str:
    """The page: every answer of the audit, with its charts and numbers.

    Needs the extra `report`, or raises `ImportError`.

    >>> import polars as pl
    >>> from unflip.audit.table import audit_table
    >>> frame = pl.DataFrame({"x": [i / 7 for i in range(60)], "y": [int(i > 30) for i in range(60)]})
    >>> page = as_html(audit_table(frame, "y"))
    >>> page[:15], "60 labels of “y”" in page
    ('<!doctype html>', True)
    """
    return as_page(document(audit))


def as_markdown(audit: Audit) -> str:
    """All that the page says; of the suspects at most 100.

    >>> import polars as pl
    >>> from unflip.audit.table import audit_table
    >>> frame = pl.DataFrame({"x": [i / 7 for i in range(60)], "y": [int(i > 30) for i in range(60)]})
    >>> print(as_markdown(audit_table(frame, "y", source="some.csv")).splitlines()[0])
    # Can the labels of some.csv be trusted?
    """
    return document_as_markdown(document(audit))


def as_text(audit: Audit) -> str:
    """The verdict, the rate, the accuracies, the learners, the first suspects, and the columns left out.

    >>> import polars as pl
    >>> from unflip.audit.table import audit_table
    >>> frame = pl.DataFrame({"x": [i / 7 for i in range(60)], "y": [int(i > 30) for i in range(60)]})
    >>> print(as_text(audit_table(frame, "y")).splitlines()[0][:34])
    Between none and 4.9 % of the 60 l
    """
    return document_as_text(document(audit))
