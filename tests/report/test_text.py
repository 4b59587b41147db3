"""Markdown and text: what they contain, and what strange names do to them."""

import subprocess
import sys
from dataclasses import replace

import pytest
from sample import SKIPPED

from unflip.experiments.result import Finding
from unflip.report import as_markdown, as_text
from unflip.report.paper.counts import agreement, distinct, std_agrees
from unflip.report.paper.printed import printed_tables


def test_markdown_has_every_entry(result):
    lines = set(as_markdown(result).splitlines())
    for table in printed_tables(result.cells, [SKIPPED]):
        for block in table.numbers.blocks:
            for rate, pairs in block.rows:
                for name, pair in zip(block.columns, pairs, strict=True):
                    reason = f": {pair.reason}" if pair.reason else ""
                    words = f"{block.dataset} | {block.metric} | {rate} | {name}"
                    numbers = f"{pair.printed} | {pair.ours} | {pair.range}"
                    assert f"| {words} | {numbers} | {pair.verdict}{reason} |" in lines


def test_markdown_has_every_section(result):
    text = as_markdown(result)
    for title in (
        "Agreement",
        "Standard deviations",
        "Where we differ",
        "Protocols",
        "Certificates",
        "This run",
    ):
        assert f"\n## {title}\n" in text
    for group in (*result.figures, *result.findings):
        assert f"### {group.title}" in text
        assert group.found in text
    assert result.settings["command"] in text


def test_rows_of_markdown_are_as_wide_as_their_heads(result):
    odd = Finding("odd", "a | b", "<script>", "two\nlines", ("x|y", "z"), (("|", "a\nb"), ("<b>", 1)))
    text = as_markdown(replace(result, findings=(odd,)))
    width = 0
    for line in text.splitlines():
        if not line.startswith("|"):
            width = 0
            continue
        found = line.replace("\\|", "").count("|")
        assert width in (0, found)
        width = found
    assert "<script>" not in text
    assert "<b>" not in text


def test_the_text_is_a_headline(result):
    text = as_text(result)
    cells = distinct(result.cells)
    names = list(dict.fromkeys(cell.dataset for cell in cells))
    means, stds = agreement(cells, names), agreement(cells, names, std_agrees)
    for name, counts in means.rows:
        assert any(line.split() == [name, *map(str, counts)] for line in text.splitlines())
    assert any(line.split() == ["all", *map(str, stds.totals)] for line in text.splitlines())
    assert "16,400 of 16,400 fits" in text
    assert f"Skipped: {SKIPPED}" in text
    assert f"unflip datasets fetch {SKIPPED} --data-dir FOLDER" in text
    joined = " ".join(text.split())
    for finding in result.findings:
        assert finding.found in joined
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.subprocess
def test_markdown_and_text_need_no_extra_and_the_page_names_it():
    code = """
import sys
sys.modules["jinja2"] = None
from unflip.experiments.result import Result
from unflip.report import as_html, as_markdown, as_text
result = Result(settings={})
print(as_markdown(result)[:3], as_text(result)[:3])
try:
    as_html(result)
except ImportError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == [
        "# T No ",
        "this needs jinja2, which is not installed; pip install 'unflip[report]'",
    ]
