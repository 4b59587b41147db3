"""An audit as one page that stands alone: no network, light and dark, screen and paper."""

from __future__ import annotations

import re
from typing import Any

from unflip._extras import extra
from unflip._words import interval, share
from unflip.audit.table import Audit
from unflip.noise import words as noise_words
from unflip.report.audit import charts, tables, verdict, words
from unflip.report.audit.means import means_in_words
from unflip.report.audit.plain import as_json
from unflip.report.audit.rows import Doubtful, doubtful_rows, more_likely_wrong
from unflip.report.templates import template

TEMPLATE = "audit/page.html.jinja"
SHOWN = 500  # suspects in the table of the page; the CSV has more
ROOM = 500_000  # characters for the CSV within the page


def require_page() -> None:
    """Is all there that a page needs? Otherwise `ImportError` names the extra.

    >>> require_page()
    """
    template(TEMPLATE)


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
    doubtful = doubtful_rows(audit) if audit.informative else []
    held, data = len(doubtful), _embedded(audit, doubtful)
    while len(data) > ROOM:
        held //= 2
        data = _embedded(audit, doubtful[:held])
    page = template(TEMPLATE).render(
        audit=audit,
        title=tables.title(audit),
        tables=tables,
        charts=charts,
        verdict=[unbroken(sentence) for sentence in verdict.verdict(audit)],
        assumption=verdict.assumption(audit),
        bound=unbroken(verdict.bound(audit)),
        informative=audit.informative,
        several=audit.informative and audit.learners[0].curve.scores.shape[1] > 1,
        bound_words=unbroken(noise_words.bound(audit.noise)),
        identified=audit.noise.identified,
        by_class=noise_words.is_by_class(audit.noise),
        condition=noise_words.condition(audit.noise),
        told=noise_words.is_told(audit.noise),
        right=noise_words.RIGHT,
        wrong_words=verdict.wrong_in_words(audit) if audit.informative else "",
        unsure=verdict.is_unsure(audit),
        share=share,
        interval=interval,
        shown=words.shown,
        counted=words.counted,
        doubtful=doubtful[:SHOWN],
        wrong=more_likely_wrong(audit) if audit.informative else 0,
        means=list(zip(audit.differences, means_in_words(audit), strict=True)),
        held=held,
        data=data,
    )
    return str(page.lstrip())


def unbroken(text: str) -> str:
    """No line ends between a number and its percent sign.

    >>> unbroken("20 %") == "20\u00a0%"
    True
    """
    return re.sub(r"(?<=\d) %", "\u00a0%", text)


def _embedded(audit: Audit, doubtful: list[Doubtful]) -> Any:
    """The rows of the CSV as JSON that no text in it can leave, whatever it holds."""
    found = {"id": audit.ids is not None, "rows": list(map(_record, doubtful))}
    return extra("jinja2.utils", "report").htmlsafe_json_dumps(found)


def _record(row: Doubtful) -> list[Any]:
    """A row of the CSV, its texts no longer than the page shows them."""
    texts = map(as_json, (row.id, row.given, row.likely))
    return [
        row.row,
        *(words.shown(value) if isinstance(value, str) else value for value in texts),
        round(row.probability, 4),
        row.neighbours,
    ]
