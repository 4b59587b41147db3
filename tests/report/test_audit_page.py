"""The page of an audit in a browser, as a reader has it."""

import csv
import shutil
from dataclasses import replace

import numpy as np
import pytest
from audit_sample import FORMULA, HOSTILE, crowded, friendly, hostile

from unflip.noise.words import is_told
from unflip.report.audit import as_html, as_plain

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine"),
]

OPENED = "document.querySelectorAll('details').forEach(each => (each.open = true))"


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open the page of an audit with some options; afterwards nothing may have gone wrong."""
    troubles, opened = [], []

    def open_page(audit=None, **options):
        path = tmp_path / f"audit{len(opened)}.html"
        path.write_text(as_html(friendly()[1] if audit is None else audit), encoding="utf-8")
        address = path.as_uri()
        tab = browser.new_page(**options)
        opened.append(tab)
        tab.on("console", lambda m: troubles.append(m.text) if m.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on("dialog", lambda dialog: troubles.append(dialog.message))
        tab.on(
            "request",
            lambda r: troubles.append(r.url) if not r.url.startswith((address, "data:", "blob:")) else None,
        )
        tab.goto(address)
        return tab

    yield open_page
    for tab in opened:
        tab.close()
    assert troubles == []


def column(tab, k):
    return tab.locator(f"#suspects-table tbody tr > :nth-child({k})").all_text_contents()


def test_title_headings_tables_and_charts_have_text(visit):
    tab, audit = visit(), friendly()[1]
    assert tab.title() == "Can the labels of some.csv be trusted?"
    assert tab.locator("h1").inner_text() == tab.title()
    assert len(tab.locator("h2").all()) == 9
    found = as_plain(audit)
    lines = [*found["verdict"], *found["further"]]
    assert " ".join(lines) == " ".join(tab.locator(".headline").inner_text().split())
    charts = tab.locator(".chart svg:visible")
    assert charts.count() == 3
    for chart in charts.all():
        assert chart.locator("text").count() >= 4
        assert "NaN" not in chart.inner_html()
    names = tab.locator("#learners .chart svg:visible .end").all_text_contents()
    assert sorted(names) == sorted(learner.name for learner in audit.learners)
    tab.evaluate(OPENED)
    for figure in tab.locator("section:has(figure)").all():
        assert figure.locator("table").count() >= 1
    assert tab.locator("table").count() == tab.locator("caption").count()


def test_marks_of_the_noise_chart_stand_where_their_numbers_are(visit):
    audit = replace(friendly()[1], noise=replace(friendly()[1].noise, low=0.1, high=0.2, rate=0.15))
    place = """() => {
        const svg = document.querySelector("#noise .wide");
        const ticks = [...svg.querySelectorAll(".tick")];
        const tick = words => +ticks.find(each => each.textContent === words).getAttribute("x");
        const span = svg.querySelector(".span").getAttribute("d").match(/[\\d.]+/g).map(Number);
        return [tick("0 %"), tick("20 %"), span[0], span[2], +svg.querySelector(".dot").getAttribute("cx")];
    }"""
    zero, twenty, low, high, middle = visit(audit).evaluate(place)
    unit = (twenty - zero) / 0.2
    assert np.allclose([low, high, middle], [zero + unit * value for value in (0.1, 0.2, 0.15)], atol=0.2)


def test_everything_has_a_name(visit):
    unnamed = """kinds => [...document.querySelectorAll(kinds)].filter(
        each => !(each.getAttribute("aria-label")
            || document.getElementById(each.getAttribute("aria-labelledby"))?.textContent.trim())
    ).map(each => each.outerHTML.slice(0, 80))"""
    tab = visit()
    assert tab.evaluate(unnamed, "[role=region], [role=img], figure, section, nav") == []
    assert tab.get_by_role("img", name="Accuracy on held-out labels").count() == 1
    assert tab.get_by_role("region", name="Suspicious rows").count() == 1


def test_a_short_page_begins_with_its_first_section(visit):
    tab = visit(viewport={"width": 1280, "height": 9000})
    assert tab.locator("nav [aria-current]").all_text_contents() == ["In short"]


def test_the_keyboard_sorts_the_suspects(visit):
    tab = visit()
    before = column(tab, 1)
    assert (
        tab.get_by_role("columnheader", name="probability wrong").get_attribute("aria-sort") == "descending"
    )
    head = tab.get_by_role("columnheader", name="row", exact=True)
    head.get_by_role("button").focus()
    tab.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(tab, 1) == sorted(before, key=int)
    tab.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(tab, 1) == sorted(before, key=int, reverse=True)
    assert tab.locator("th[aria-sort]").count() == 1
    assert tab.get_by_role("status").inner_text() == "Sorted by row, descending."
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    given = column(tab, 3)
    assert given == sorted(given)


def test_the_mouse_sorts_too_and_the_first_order_comes_back(visit):
    tab = visit()
    before = column(tab, 1)
    tab.get_by_role("button", name="likely label").click()
    assert column(tab, 4) == sorted(column(tab, 4))
    tab.get_by_role("button", name="probability wrong").click()
    assert column(tab, 1) == before


@pytest.mark.parametrize("sample", [friendly, hostile])
def test_the_csv_holds_all_suspects(visit, sample):
    audit = sample()[1]
    tab = visit(audit)
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="as CSV").click()
    assert waiting.value.suggested_filename == "suspects.csv"
    with open(waiting.value.path(), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    wanted = as_plain(audit)["suspects"]
    assert [int(row["row"]) for row in rows] == [suspect["row"] for suspect in wanted]
    for row, suspect in zip(rows, wanted, strict=True):
        tame = {FORMULA: "'" + FORMULA}
        assert row["given"] == tame.get(suspect["given"], suspect["given"])
        assert row["likely"] == tame.get(suspect["likely"], suspect["likely"])
        assert abs(float(row["probability"]) - suspect["probability"]) < 1e-4
        assert [int(near) for near in row["neighbours"].split()] == suspect["neighbours"]
        assert row["id"].removeprefix("'")[:70] == suspect["id"][:70]
        assert not row["id"].startswith(tuple("=+-@"))


def test_a_table_without_names_has_no_column_for_them(visit):
    tab = visit(replace(friendly()[1], ids=None))
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="as CSV").click()
    assert waiting.value.path().read_text().splitlines()[0] == "row,given,likely,probability,neighbours"
    assert tab.locator("#suspects-table thead th").count() == 5


def test_hostile_texts_are_shown_and_do_nothing(visit):
    tab = visit(hostile()[1])
    assert HOSTILE[:60] in tab.locator(".lede").inner_text()
    assert tab.locator("img").count() == 0
    assert set(column(tab, 3)) <= {FORMULA, HOSTILE}


def test_the_keyboard_reaches_the_skip_link_first(visit):
    tab = visit()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "content"
    tab.get_by_role("button", name="as CSV").focus()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.getAttribute('role')") == "region"
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_light_and_dark_differ_and_both_can_be_read(visit):
    inks = """() => ["body", ".headline", ".chart text"].map((each, k) =>
        getComputedStyle(document.querySelector(each))[["backgroundColor", "color", "fill"][k]])"""
    for scheme in ("light", "dark"):
        background, *others = map(brightness, visit(color_scheme=scheme).evaluate(inks))
        assert (background < 0.2) == (scheme == "dark")
        assert all(abs(ink - background) > 0.4 for ink in others)


def brightness(colour):
    return sum(int(part) for part in colour.strip("rgb()").split(",")) / (3 * 255)


@pytest.mark.parametrize("sample", [friendly, hostile])
@pytest.mark.parametrize("width", [320, 360, 768, 1280])
def test_only_tables_scroll_sideways(visit, width, sample):
    tab = visit(sample()[1], viewport={"width": width, "height": 700})
    tab.evaluate(OPENED)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    counted = is_told(sample()[1].noise)  # else no wrong labels are expected among the first rows
    assert tab.locator(".chart svg:visible").count() == 2 + counted
    cut = """() => [...document.querySelectorAll(".chart svg")].filter(s => s.clientWidth).flatMap(svg => {
        const room = svg.getBoundingClientRect();
        return [...svg.querySelectorAll("text")].filter(each => {
            const box = each.getBoundingClientRect();
            return box.left < room.left - 1 || box.right > room.right + 1 || box.bottom > room.bottom + 1;
        }).map(each => each.textContent);
    })"""
    assert tab.evaluate(cut) == []


def test_paper_shows_what_was_folded(visit):
    tab = visit(color_scheme="dark")
    assert tab.locator("details:not([open])").count()
    tab.emulate_media(media="print")
    tab.wait_for_function("() => !document.querySelector('details:not([open])')")
    assert brightness(tab.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.9
    assert not tab.get_by_role("button", name="as CSV").is_visible()


@pytest.mark.parametrize(
    "options", [{}, {"color_scheme": "dark"}, {"viewport": {"width": 360, "height": 740}}], ids=str
)
@pytest.mark.parametrize("sample", [friendly, hostile])
def test_axe_finds_nothing_serious(visit, sample, options):
    tab = visit(sample()[1], **options)
    tab.evaluate(OPENED)
    found = axe.Axe().run(tab).response
    assert found["passes"]
    bad = [rule for rule in found["violations"] if rule["impact"] in ("serious", "critical")]
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in bad] == []


def test_a_table_that_is_cut_says_how_much_is_not_seen(visit):
    tab = visit(crowded(), viewport={"width": 390, "height": 800})
    region = tab.locator("#suspects .region").first
    said = "region => getComputedStyle(region, '::after').content"
    hidden = """region => [...region.querySelectorAll("tbody tr")].filter(
        row => row.getBoundingClientRect().bottom > region.getBoundingClientRect().bottom + 1).length"""
    assert f"{region.evaluate(hidden)} more rows" in region.evaluate(said)
    assert "more columns" in region.evaluate(said)
    region.evaluate("region => region.scrollTo(region.scrollWidth, region.scrollHeight)")
    tab.wait_for_function("document.querySelector('#suspects .region').dataset.more === ''")
    assert "more" not in region.evaluate(said)
