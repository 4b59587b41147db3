"""A result as one page that stands alone: no network, light and dark, screen and paper."""

from __future__ import annotations

from unflip.experiments.agreement import PRINTED_TRIALS, ROUNDING
from unflip.experiments.result import Result
from unflip.report.document import document
from unflip.report.templates import template

TEMPLATE = "page.html.jinja"


def require_page() -> None:
    """Is all there that a page needs? Otherwise `ImportError` names the extra; better before a long run.

    >>> require_page()
    """
    try:
        import altair  # noqa: F401
        import jinja2  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise ImportError(f'the page needs {error.name}: pip install "unflip[report]"') from error


def as_html(result: Result) -> str:
    """The page: every table and figure of the result, with what it needs to draw itself.

    Needs the extra `report`, or raises `ImportError`.

    >>> page = as_html(Result(settings={"seed": 0}))
    >>> page[:15], "No table was run." in page
    ('<!doctype html>', True)
    """
    require_page()
    import vl_convert

    from unflip.report import charts

    report = document(result)
    drawn = {figure.name: charts.figure_chart(figure) for figure in result.figures}
    specs = {name: spec for name, spec in drawn.items() if spec}
    curves = charts.noise_chart(report.cells)
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed") if specs or curves else ""
    page = template(TEMPLATE).render(
        report=report,
        specs=specs,
        curves=curves,
        rounding=ROUNDING,
        trials=PRINTED_TRIALS,
        draws=result.settings.get("study_trials"),
        bundle=bundle.replace("</script", "<\\/script"),
    )
    return page.lstrip()
