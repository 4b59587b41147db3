"""A `Result` of the experiments as a page, as Markdown, or as text for a terminal.

Two steps: `document` turns the result into plain values, counts and tables; `html`, `markdown` and `text`
draw them. The page needs the extra `report`; the other two need nothing.

>>> from unflip.experiments.result import Result
>>> print(as_text(Result(settings={})))
No table was run.
<BLANKLINE>
Not asked for: long, mease, iris, ionosphere, housing, car, usps_0_vs_7, splice, spambase; figure_1,
tangent_boost_surface, t_logistic_surface, corrected_hinge, counterexample.
"""

from unflip.report.html import as_html, require_page
from unflip.report.markdown import as_markdown
from unflip.report.text import as_text

__all__ = ["as_html", "as_markdown", "as_text", "require_page"]
