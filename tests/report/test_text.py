"""Markdown and text: what they contain, and what strange names do to them."""

import subprocess
import sys
from dataclasses import replace

from sample import SKIPPED

from unflip.experiments.result import Finding
from unflip.report import as_markdown, as_text
from unflip.report.document import document


def test_markdown_has_every_entry(result):
    lines = set(as_markdown(result).splitlines())
    for table in document(result).tables:
        for block in table.blocks:
            for entry in block.entries:
                reason = f": {entry.ours.reason}" if entry.ours and entry.ours.reason else ""
                metric = {"error": "0-1 error", "one_minus_auc": "1 − AUC"}[block.metric]
                rate = f"{entry.printed.noise_rate:g}"
                numbers = f"{entry.printed_text} | {entry.ours_text} | {entry.range_text}"
                words = f"{block.dataset} | {metric} | {rate} | {entry.column.label}"
                assert f"| {words} | {numbers} | {entry.verdict}{reason} |" in lines


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
    report = document(result)
    for name, counts in report.means.rows:
        assert any(line.split() == [name, *map(str, counts)] for line in text.splitlines())
    assert any(line.split() == ["all", *map(str, report.stds.totals)] for line in text.splitlines())
    assert "16,400 of 16,400 fits" in text
    assert f"Skipped: {SKIPPED}" in text
    assert f"unflip datasets fetch {SKIPPED} --data-dir FOLDER" in text
    joined = " ".join(text.split())
    for finding in result.findings:
        assert finding.found in joined
    assert max(map(len, text.splitlines())) <= 100


def test_markdown_and_text_need_no_extra_and_the_page_names_it():
    code = """
import sys
for name in ("altair", "jinja2", "vl_convert"):
    sys.modules[name] = None
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
    assert run.stdout.splitlines() == ["# T No ", 'the page needs altair: pip install "unflip[report]"']
