"""The page as text: it stands alone, holds every number, and no name can break out of its place."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from unflip.experiments.published import published
from unflip.experiments.result import Figure, Finding, Result
from unflip.report import as_html
from unflip.report.paper.counts import distinct, shares
from unflip.report.paper.summary import summary

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">"\'&{{ 7 * 7 }}'
EMPTY = {"meta", "link", "input", "br", "img", "path"}


class Outline(HTMLParser):
    """Tags, their attributes, headings, the text of cells; raises where tags do not match."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    return Outline(page)


def test_the_page_stands_alone(page, outline):
    assert len(page.encode()) <= 1_000_000
    assert not re.search(r"""(?:src|href|action)\s*=\s*["']?(?:https?:)?//""", page)
    assert not re.search(r"""(?:@import|url\()\s*["']?(?:https?:)?//""", page)
    for tag, attributes in outline.tags:
        assert "src" not in attributes
        if "href" in attributes:
            assert attributes["href"].startswith(("#", "data:")), tag
    policy = next(a["content"] for tag, a in outline.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")


def test_links_lead_somewhere_and_names_are_unique(outline):
    names = [attributes["id"] for _, attributes in outline.tags if "id" in attributes]
    assert len(names) == len(set(names))
    for _, attributes in outline.tags:
        if attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in names
        for name in attributes.get("aria-labelledby", "").split():
            assert name in names


def test_every_published_number_is_on_the_page(page):
    shown = re.findall(r'<span class="hidden">printed </span>([^<]*)<', page)
    for cell in published():
        assert f"{cell.mean:.2f} ± {cell.std:.2f}" in shown
    assert len(shown) == len(published()) + sum(cell.loss == "hinge" for cell in published())


def test_every_verdict_is_in_words(result, page):
    for verdict, agrees in (("agrees", True), ("differs", False)):
        marks = len(re.findall(rf'role="img" aria-label="{verdict}"', page))
        assert marks == 1 + sum(cell.agrees == agrees for cell in result.cells)  # one more in the key


def test_every_section_has_a_heading_and_headings_skip_no_level(outline):
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))


def test_cells_that_head_a_row_or_column_say_so(outline):
    heads = [attributes for tag, attributes in outline.tags if tag == "th"]
    assert heads
    assert all(attributes.get("scope") in ("col", "row") for attributes in heads)
    assert sum(tag == "table" for tag, _ in outline.tags) == sum(tag == "caption" for tag, _ in outline.tags)


def test_every_figure_is_drawn_and_told(result, page, outline):
    for figure in result.figures:
        drawing = re.search(rf'id="chart-{figure.name}">(.*?)</div>', page, re.DOTALL).group(1)
        assert len(re.findall(r"<svg class", drawing)) == 2  # wide and narrow
        assert drawing.count("<text") >= 20  # the ticks of both
        assert "nan" not in drawing.lower()
    text = " ".join(outline.text)
    for figure in result.figures:
        assert figure.printed in text
        assert figure.found in text


def test_every_printed_mean_is_a_point_of_the_curves(result, page):
    panels = page[page.index('id="chart-curves"') : page.index('id="curves-caption"')]
    cells = distinct(result.cells)
    assert panels.count('<div class="panels"') == len({(cell.dataset, cell.metric) for cell in cells})
    told = re.findall(r"<title>rate ([\d.]+): printed ([\d.]+), ours ([\d.]+)", panels)
    expected = [(f"{c.noise_rate:g}", f"{c.published_mean:.3f}", f"{c.center:.3f}") for c in cells]
    assert sorted(told) == sorted(expected)


def test_what_was_not_run_is_left_out_and_named():
    page = as_html(Result(settings={"seed": 0}))
    assert "<svg" not in page
    assert 'id="figures"' not in page
    assert "Figures not asked for: figure_1" in page
    Outline(page)


@pytest.mark.slow
def test_numbers_that_are_not_finite_do_not_break_the_charts(result):
    cells = tuple(replace(cell, center=float("nan"), high=float("inf")) for cell in result.cells[:20])
    page = as_html(replace(result, cells=cells))
    drawn = re.findall(r' (?:d|x|y|cx|cy|width|height)="([^"]*)"', page)
    assert drawn
    assert not [place for place in drawn if re.search("nan|inf", place)]


def test_an_unknown_figure_is_shown_by_its_numbers(result):
    odd = Figure("odd", "Odd", "Nothing.", "Something.", {"rows": [{"x": 1.5}]})
    page = as_html(replace(result, figures=(odd,)))
    assert 'id="chart-odd"' not in page
    assert '<th scope="row" class="num">1.5</th>' in page


def test_hostile_names_stay_text(result):
    finding = Finding("bad", HOSTILE, HOSTILE, HOSTILE, (HOSTILE,), ((HOSTILE,),))
    figure = replace(result.figures[0], title=HOSTILE, found=HOSTILE)
    cell = replace(result.cells[0], agrees=False, reason=HOSTILE, protocol=HOSTILE)
    page = as_html(
        replace(
            result,
            settings={HOSTILE: HOSTILE, "command": HOSTILE},
            protocols={HOSTILE: {HOSTILE: HOSTILE}},
            cells=(cell, *result.cells[1:]),
            tallies=(replace(result.tallies[0], protocol=HOSTILE),),
            datasets=({HOSTILE: HOSTILE},),
            findings=(finding,),
            figures=(figure,),
            skipped=({"name": HOSTILE, "reason": HOSTILE},),
        )
    )
    outline = Outline(page)
    assert all(tag != "img" and "onerror" not in attributes for tag, attributes in outline.tags)
    assert "<script>alert" not in page
    assert HOSTILE in " ".join(outline.text)


def test_the_page_has_the_counts_of_the_result(result, outline):
    text = " ".join(outline.text).replace("\u00a0", " ")
    cells = distinct(result.cells)
    assert " ".join(summary(result, cells)) in text
    for share in shares(cells):
        assert share.title in text
        assert str(share.means) in text
