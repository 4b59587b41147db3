"""An `Audit` as a page, as Markdown, as plain values for JSON, its rows as CSV, or as text for a terminal.

The page needs the extra `report`; the others need nothing.

>>> as_html.__module__, as_text.__module__
('unflip.report.audit.html', 'unflip.report.audit.text')
"""

from unflip.report.audit.csv import as_csv
from unflip.report.audit.html import as_html, require_page
from unflip.report.audit.markdown import as_markdown
from unflip.report.audit.plain import as_plain
from unflip.report.audit.text import as_text

__all__ = ["as_csv", "as_html", "as_markdown", "as_plain", "as_text", "require_page"]
