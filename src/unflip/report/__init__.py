"""A `Result` of the experiments as a page, as Markdown, or as text for a terminal.

Two steps: a document of plain data (`document`), then a renderer: `html`, `markdown` or `text`. An audit is
shown in the same way by `unflip.report.audit`. The page needs the extra `report`; the others need nothing.

>>> from unflip.experiments.result import Result
>>> print(as_text(Result(settings={})))
No table was run.
<BLANKLINE>
Not asked for: long, mease, iris, ionosphere, housing, car, usps_0_vs_7, splice, spambase; figure_1,
tangent_boost_surface, t_logistic_surface, corrected_hinge, counterexample.
"""

from unflip.report.html import require_page
from unflip.report.paper import as_html, as_markdown, as_text

__all__ = ["as_html", "as_markdown", "as_text", "require_page"]
