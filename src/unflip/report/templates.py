"""The templates of pages that stand alone: what they share, and how they are filled."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from unflip._extras import extra
from unflip.report.words import plain


def template(name: str) -> Any:
    """A template of this package; every text that is put into it is escaped. Needs the extra `report`.

    >>> template("tables.html.jinja").module.region.name
    'region'
    """
    jinja2 = extra("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda part: files("unflip.report").joinpath(part).read_text("utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["plain"] = plain
    return environment.get_template(name)
