"""A document as one page that stands alone: no network, light and dark, screen and paper."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from unflip._extras import extra
from unflip.report.document import Document
from unflip.report.svg import legend, svg
from unflip.report.words import unbroken


def require_page() -> None:
    """Is all there that a page needs? Otherwise `ImportError` names the extra; better before a long run.

    >>> require_page()
    """
    extra("jinja2", "report")


def as_page(document: Document) -> str:
    """The page; every text in it is escaped. Needs the extra `report`, or raises `ImportError`.

    >>> as_page(Document("A <title>", "", (), ()))[:15]
    '<!doctype html>'
    """
    return str(_template().render(document=document)).lstrip()


@cache
def _template() -> Any:
    jinja2, markup = extra("jinja2", "report"), extra("markupsafe", "report").Markup
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda part: files("unflip.report").joinpath(part).read_text("utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "kind": lambda block: type(block).__name__,
        "drawn": lambda chart: markup(svg(chart)),
        "legend": lambda chart: markup(legend(chart)),
        "unbroken": unbroken,
    }
    return environment.get_template("page.html.jinja")
