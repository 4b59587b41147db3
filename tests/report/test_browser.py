"""The page in a browser, as a reader has it."""

import shutil

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine"),
]


@pytest.fixture(scope="module")
def address(page, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, address):
    """Open the page with some options, wait for its charts; afterwards nothing may have gone wrong."""
    troubles, opened = [], []

    def open_page(**options):
        tab = browser.new_page(**options)
        opened.append(tab)
        tab.on("console", lambda m: troubles.append(m.text) if m.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: troubles.append(str(error)))
        tab.on(
            "request", lambda r: troubles.append(r.url) if not r.url.startswith((address, "data:")) else None
        )
        tab.goto(address)
        return tab

    yield open_page
    for tab in opened:
        tab.close()
    assert troubles == []


def test_tables_are_there_and_everything_has_a_name(visit, result):
    tab = visit()
    assert tab.title()
    captions = tab.locator("caption").all_text_contents()
    for cell in result.cells:
        metric = {"error": "0-1 error", "one_minus_auc": "1 − AUC"}[cell.metric]
        assert f"{cell.dataset}, {metric}" in captions
    kinds = "[role=region], [role=img], figure, section, nav"
    unnamed = """kinds => [...document.querySelectorAll(kinds)].filter(
        each => !(each.getAttribute("aria-label")
            || document.getElementById(each.getAttribute("aria-labelledby"))?.textContent.trim())
    ).map(each => each.outerHTML.slice(0, 80))"""
    assert tab.evaluate(unnamed, kinds) == []
    assert tab.evaluate("[...document.querySelectorAll('select, input')].every(each => each.labels.length)")


def test_the_reader_chooses_a_dataset(visit):
    tab = visit()
    shown = tab.locator("#chart-curves .panels:visible")
    assert shown.get_attribute("data-choice") == "long, 0-1 error"
    tab.get_by_role("combobox", name="dataset and metric").select_option("iris, 0-1 error")
    assert shown.get_attribute("data-choice") == "iris, 0-1 error"
    assert shown.locator("svg:visible").count() == 7


def test_the_contents_mark_the_section_that_is_read(visit):
    tab = visit(viewport={"width": 1280, "height": 800})
    current = tab.locator("nav [aria-current]")
    assert current.all_text_contents() == ["In short"]
    for place, name in (("differ", "Where we differ"), ("run", "This run"), ("tables", "The printed tables")):
        tab.evaluate(f"document.getElementById('{place}').scrollIntoView()")
        tab.wait_for_function(f"() => document.querySelector('nav [aria-current]').textContent === '{name}'")
        assert current.count() == 1


def test_the_keyboard_reaches_the_skip_link_first_and_every_open_region(visit):
    tab = visit()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    assert tab.evaluate("document.activeElement.getBoundingClientRect().left >= 0")
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "content"
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.hash") == "#missing"
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.getAttribute('role')") == "region"
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_light_and_dark_differ_and_both_can_be_read(visit):
    colours = [
        visit(color_scheme=scheme).evaluate(
            """() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color,
                getComputedStyle(document.querySelector(".chart svg .strong")).fill]"""
        )
        for scheme in ("light", "dark")
    ]
    for (background, *inks), dark in zip(colours, (False, True), strict=True):
        assert (brightness(background) < 0.2) == dark
        assert all(abs(brightness(ink) - brightness(background)) > 0.6 for ink in inks)


def brightness(colour):
    return sum(int(part) for part in colour.strip("rgb()").split(",")) / (3 * 255)


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_only_tables_scroll_sideways(visit, width):
    tab = visit(viewport={"width": width, "height": 700})
    tab.evaluate("document.querySelectorAll('details').forEach(each => (each.open = true))")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    left = """() => {
        const regions = [...document.querySelectorAll(".region")];
        const region = regions.find(each => each.scrollWidth > each.clientWidth);
        if (!region) return 0;
        region.scrollLeft = 200;
        const left = each => each.getBoundingClientRect().left;
        return left(region.querySelector("tbody th")) - left(region);
    }"""
    assert abs(tab.evaluate(left)) < 1  # the first column stays


def test_paper_shows_what_was_folded(visit):
    tab = visit(color_scheme="dark")
    closed = tab.locator("details:not([open])").count()
    assert closed
    tab.emulate_media(media="print")
    tab.wait_for_function("() => !document.querySelector('details:not([open])')")
    assert all(table.is_visible() for table in tab.locator("details table").all())
    assert brightness(tab.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.9
    assert tab.evaluate("getComputedStyle(document.querySelector('thead th')).position") == "static"
    tab.emulate_media(media="screen")
    tab.wait_for_function(
        "count => document.querySelectorAll('details:not([open])').length === count", arg=closed
    )


def test_ranges_show_on_demand(visit):
    tab = visit()
    place = tab.locator("details[open] .range").first
    assert not place.is_visible()
    tab.get_by_label("show the range").check()
    assert place.is_visible()


@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark"}], ids=str)
def test_axe_finds_nothing_serious(visit, options):
    tab = visit(**options)
    tab.evaluate("document.querySelectorAll('details').forEach(each => (each.open = true))")
    found = axe.Axe().run(tab).response
    assert found["passes"]
    bad = [rule for rule in found["violations"] if rule["impact"] in ("serious", "critical")]
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in bad] == []
