"""A `Result` of the experiments as a page, as Markdown, or as text for a terminal."""

from unflip.experiments.result import Result
from unflip.report.html import as_page
from unflip.report.markdown import as_markdown as document_as_markdown
from unflip.report.paper.sections import document
from unflip.report.text import as_text as document_as_text


def as_html(result: Result) -> str:
    """The page: every table and figure of the result, drawn.

    Needs the extra `report`, or raises `ImportError`.

    >>> page = as_html(Result(settings={"seed": 0}))
    >>> page[:15], "No table was run." in page
    ('<!doctype html>', True)
    """
    return as_page(document(result))


def as_markdown(result: Result) -> str:
    """The whole report, with a table for each of the paper's.

    >>> "No table was run." in as_markdown(Result(settings={"seed": 0}))
    True
    """
    return document_as_markdown(document(result))


def as_text(result: Result) -> str:
    """What agrees by dataset and loss, the certificates, a line for each finding, and what was skipped.

    >>> from unflip.experiments.result import Finding
    >>> finding = Finding("one", "Ties", "None.", "Two of three.", ("ties",), ((2,),))
    >>> print(as_text(Result(settings={}, findings=(finding,))).split("Not asked for")[0])
    No table was run.
    <BLANKLINE>
    Found:
      Ties: Two of three.
    """
    return document_as_text(document(result))
