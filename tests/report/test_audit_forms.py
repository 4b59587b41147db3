"""An audit as plain values, as text, as Markdown, and as the text of a page."""

import csv
import io
import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from audit_sample import FORMULA, HOSTILE, crowded, friendly, hostile
from test_html import Outline

from unflip._words import share
from unflip.audit.robustness import RobustnessCurve
from unflip.audit.table import audit_table
from unflip.noise import ClassConditionalNoise, NoiseEstimate
from unflip.noise.words import RIGHT
from unflip.report.audit import as_csv, as_html, as_markdown, as_plain, as_text

FORMS = (as_html, as_markdown, as_text, lambda audit: json.dumps(as_plain(audit), allow_nan=False))


@pytest.mark.slow
def test_plain_has_the_promised_shape():
    found = json.loads(json.dumps(as_plain(friendly()[1]), allow_nan=False))
    assert {"rate", "low", "high", "outer", "warnings", "by_class"} <= found["noise"].keys()
    assert 0 <= found["noise"]["low"] <= found["noise"]["rate"] <= found["noise"]["high"]
    assert found["clean_accuracy"].keys() == {"estimate", "low", "high"}
    assert found["recommended"]["name"] in [learner["name"] for learner in found["learners"]]
    for learner in found["learners"]:
        assert learner.keys() == {"name", "words", "accuracy", "error", "clean", "corrected", "curve"}
        assert [point.keys() for point in learner["curve"]] == [{"rate", "mean", "std"}] * 3
    assert found["guarantee"].keys() == {"exact", "growing", "heuristic", "limits"}
    assert found["left_out"].keys() == {"customer_id", "country"}
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds == {
        "customer_id": "left out",
        "age": "numbers",
        "region": "categories",
        "joined": "dates",
        "country": "left out",
    }
    assert found["settings"]["versions"] == {"unflip": "0.1.0"}
    assert found["verdict"][0].startswith(("About ", "Between none and "))
    assert len(found["verdict"]) == 3


@pytest.mark.parametrize("sample", [friendly, hostile])
def test_rows_are_those_of_the_file(sample):
    frame, audit = sample()
    labels, found = frame[audit.labels.target].to_list(), as_plain(audit)
    assert found["rows"] + found["missing"] == len(frame)
    assert sum(each["count"] for each in found["classes"]) == found["rows"]
    names = frame[audit.ids[0]].to_list()
    for suspect in found["suspects"]:
        assert labels[suspect["row"]] == suspect["given"]
        assert names[suspect["row"]] == suspect["id"]
        assert all(labels[near] == suspect["likely"] for near in suspect["neighbours"])
    assert any(suspect["neighbours"] for suspect in found["suspects"])


def test_suspects_are_all_that_are_probably_wrong_and_at_least_twenty():
    audit = friendly()[1]
    found = as_plain(audit)["suspects"]
    assert len(found) == max(20, int((audit.suspects.probability >= 0.5).sum()))
    none = replace(audit.suspects, probability=np.zeros(len(audit.suspects)))
    assert len(as_plain(replace(audit, suspects=none))["suspects"]) == 20
    assert len(as_plain(crowded())["suspects"]) == 10_000
    assert "id" not in as_plain(replace(audit, ids=None))["suspects"][0]


@pytest.mark.parametrize("sample", [friendly, hostile])
def test_text_fits_a_terminal(sample):
    said = as_text(sample()[1])
    lines = said.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 100
    assert all(line.isprintable() for line in lines)  # no colours, no bells


def test_text_has_the_answers():
    audit = friendly()[1]
    said = as_text(audit)
    assert f"{100 * audit.noise.rate:.1f} %" in said
    assert f"{100 * audit.noisy_accuracy:.1f} %" in said
    assert all(learner.name in said for learner in audit.learners)
    assert "country (it never varies)" in " ".join(said.split())
    assert str(audit.suspects.rows[0]) in said


@pytest.mark.parametrize("sample", [friendly, hostile])
def test_csv_has_every_row_and_no_formula(sample):
    frame, audit = sample()
    rows = list(csv.DictReader(io.StringIO(as_csv(audit), newline="")))
    assert sorted(int(row["row"]) for row in rows) == audit.labels.rows.tolist()
    chances = [float(row["probability"]) for row in rows]
    assert chances == sorted(chances, reverse=True)
    labels, names = frame[audit.labels.target].to_list(), frame[audit.ids[0]].to_list()
    for row in rows:
        k = int(row["row"])
        assert row["given"].removeprefix("'") == labels[k]
        assert row["id"].removeprefix("'") == names[k]
        assert not any(text.startswith(tuple("=+-@")) for text in row.values())


def odd(**changes):
    """The verdict of an audit that differs from the friendly one."""
    audit = friendly()[1]
    noise = {
        name: changes.pop(name) for name in ("rate", "low", "high", "outer", "warnings") if name in changes
    }
    audit = replace(audit, **changes, noise=replace(audit.noise, **noise))
    for form in FORMS:
        assert form(audit)  # nothing breaks
    Outline(as_html(audit))
    return said_of(audit)


def said_of(audit):
    found = as_plain(audit)
    return " ".join([*found["verdict"], *found["further"]])


def test_the_report_ends_where_the_columns_tell_nothing():
    frame = pl.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), schema=["a", "b", "c"])
    frame = frame.with_columns(y=np.random.default_rng(1).integers(0, 2, 300))
    audit = audit_table(frame, "y")
    for form in FORMS[:3]:
        said = form(audit)
        assert "Nothing can be said of the 300 labels of “y”" in " ".join(said.split())
        for word in ("are wrong", "suspicious", "clean labels", "Use the learner", "interval"):
            assert word not in said
    Outline(as_html(audit))
    found = as_plain(audit)
    assert found["verdict"][0] == "Nothing can be said of the 300 labels of “y”."
    assert [found["noise"][name] for name in ("rate", "low", "high")] == [None] * 3
    assert found["clean_accuracy"] is found["recommended"] is found["more_likely_wrong"] is None
    assert found["suspects"] == found["learners"] == []
    assert found["noise"]["outer"] <= 0.5
    assert not any("noise of rate" in words for words in found["guarantee"]["growing"])


def test_few_rows_are_told_from_columns_that_say_nothing():
    found = as_plain(audit_table(pl.DataFrame({"x": range(12), "y": [0] * 6 + [1] * 6}), "y"))
    assert found["verdict"][:2] == [
        "Nothing can be said of the 12 labels of “y”.",
        "So few rows do not show whether the columns predict them better than guessing.",
    ]


def test_where_the_rate_is_hardly_known_no_form_counts_wrong_rows():
    audit = friendly()[1]
    audit = replace(audit, noise=replace(audit.noise, low=0.0, high=0.6))
    assert np.count_nonzero(audit.suspects.probability > 0.5)
    for form in FORMS[:3]:
        said = form(audit)
        for words in ("more likely wrong than right", "probably wrong</dt>\n<dd><strong>1", "should find"):
            assert words not in said
        assert "is an order" in said
    assert as_plain(audit)["more_likely_wrong"] is None
    assert "in order" in repr(replace(audit.suspects, noise=audit.noise))


def test_one_doubtful_row_is_one():
    audit = friendly()[1]
    probability = np.where(np.arange(len(audit.suspects)) == 0, 0.9, 0.1)
    said = odd(suspects=replace(audit.suspects, probability=probability))
    assert "1 row is more likely wrong than right; check it first" in said


def test_what_holds_on_an_assumption_may_hold_without_it():
    audit = friendly()[1]
    clean = replace(audit.clean_accuracy, estimate=0.5, low=0.4, high=0.6)
    low, high = replace(audit, clean_accuracy=clean).clean_bounds
    assert low <= 0.4 < 0.6 <= high


def test_the_verdict_says_when_the_rate_is_unknown():
    said = odd(clean_accuracy=None, high=0.66, rate=0.4)
    assert "cannot be told: the columns say too little" in said
    assert "how good it would be on clean labels cannot be told" in said


def test_the_verdict_says_when_labels_may_be_clean_and_when_not():
    said = odd(rate=0.005, low=0.0, high=0.01, outer=0.015)
    assert "may be clean: between none and 1.0 % are wrong" in said
    said = odd(rate=0.005, low=0.0, high=0.01, outer=0.2)
    assert said.startswith("Between none and 1.0 % of the 300 labels of “tier” are wrong")
    assert "may be clean" not in odd(rate=0.005, low=0.0, high=0.01, outer=0.021)
    assert "may be clean" not in odd(rate=0.02, low=0.0, high=0.05)
    assert "may be clean" not in odd(rate=0.04, low=0.02, high=0.06)
    assert "About 4.0 % of the 300 labels of “tier”, some 12 of them, are wrong" in odd(
        rate=0.04, low=0.02, high=0.06
    )
    assert "hardly known" in odd(rate=0.3, low=0.0, high=0.6)


def test_the_verdict_says_when_guessing_is_as_good():
    audit = friendly()[1]
    said = odd(noisy_accuracy=audit.guess)
    common = audit.labels.classes[int(np.argmax(audit.labels.counts))]
    assert f"always saying “{common}” matches hardly fewer" in said
    assert "hardly fewer" not in odd()


def test_all_forms_say_the_same_as_the_estimate():
    """The first sentence is that of Python, but for the number of labels and what they are called."""
    audit = friendly()[1]
    rate = audit.noise
    bare = str(rate).split(" Caution")[0].replace("the labels are", "LABELS are")
    known, without = bare.split("; ")
    for said in (
        " ".join(as_plain(audit)["verdict"]),
        " ".join(as_text(audit).split()),
        " ".join(as_markdown(audit).replace("**", "").split()),
        f"{as_plain(audit)['noise']['words'].replace('; without', '. Without')}",
    ):
        found = re.sub(r"the 300 labels of “tier”(, some [\d,]+ of them,)? are", "LABELS are", said)
        assert f"{known}." in found
        assert without.capitalize() in found
    tiles = " ".join(Outline(as_html(audit)).text).replace("\u00a0", " ")
    assert f"up to {share(rate.outer)} may be wrong, {RIGHT}" in tiles


def test_one_split_has_no_deviation():
    audit = friendly()[1]
    assert "±" in as_html(audit)
    curves = [
        RobustnessCurve(each.name, each.curve.rates, each.curve.scores[:, :1]) for each in audit.learners
    ]
    once = replace(
        audit,
        learners=tuple(
            replace(each, curve=curve) for each, curve in zip(audit.learners, curves, strict=True)
        ),
    )
    for form in FORMS:
        assert "± 0.0" not in form(once)
    assert "standard deviation around the recommended" not in as_html(once)
    assert 'class="band"' not in as_html(once)


def test_rates_by_class_are_said_everywhere():
    audit = replace(friendly()[1], noise=by_class())
    learners = tuple(replace(each, stretch=1.3) for each in audit.learners)
    audit = replace(audit, learners=learners)
    for form in FORMS:
        said = (
            form(audit)
            .replace("\\u201c", "“")
            .replace("\\u201d", "”")
            .replace("\n", " ")
            .replace("\u00a0", " ")
        )
        assert "if mistakes depend on the class alone" in said
        assert "40.0 % of what is really “gold” is labelled “silver”" in said
    assert as_plain(audit)["noise"]["by_class"]["gold"] == {"rate": 0.4, "low": 0.3, "high": 0.5}
    page = as_html(audit)
    assert "Accuracies are corrected for the rates by class" in page
    assert "held-out labels as they are" not in page


def by_class():
    table = np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]])
    rates = {"bronze": (0.0, 0.0, 0.01), "gold": (0.4, 0.3, 0.5), "silver": (0.0, 0.0, 0.02)}
    return NoiseEstimate(0.13, 0.1, 0.17, 0.2, ClassConditionalNoise(table), by_class=rates)


def test_the_verdict_names_the_caveat():
    assert "Caution: something is odd." in odd(warnings=("something is odd",), low=0.01)
    for said in (odd(warnings=()), odd(warnings=("something is odd",), low=0.01, outer=0.25)):
        assert "Without that assumption up to" in said  # beside a caution too
    assert "4 rows have no label and take no part." in said_of(hostile()[1])


def test_the_verdict_says_when_no_row_stands_out():
    suspects = friendly()[1].suspects
    assert "no single row is more likely wrong" in odd(
        suspects=replace(suspects, probability=np.full(len(suspects), 0.01))
    )


def test_no_posterior_is_no_trouble():
    audit = friendly()[1]
    noise = replace(audit.noise, rates=np.zeros(0), masses=np.zeros(0))
    page = as_html(replace(audit, noise=noise))
    assert 'class="cell' not in page
    assert 'id="noise-wide-title"' in page
    assert as_markdown(replace(audit, noise=noise))


def test_class_means_speak_of_days_and_shares():
    said = " ".join(each["words"] for each in as_plain(friendly()[1])["differences"])
    assert re.search(r"joined is (later|earlier) where the label is \w+: 202\d-\d\d-\d\d on average", said)
    assert re.search(r"region = \w+ in [\d.]+ % of the rows where the label is", said)


def test_markdown_is_a_twin_of_the_page():
    audit = friendly()[1]
    text = as_markdown(audit)
    plain = " ".join(text.replace("**", "").split())
    assert all(line in plain for line in as_plain(audit)["verdict"])
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    page = as_html(audit)
    assert titles == re.findall(r"<h2[^>]*>([^<]*)</h2>", page)
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1
    for suspect in as_plain(audit)["suspects"]:
        assert f"| {suspect['row']} | {suspect['id']} | {suspect['given']} |" in text


def test_markdown_keeps_strangers_from_making_links_and_tags():
    text = as_markdown(hostile()[1])
    outside = "\n".join(line for line in text.splitlines() if not line.startswith("    "))
    assert not re.search(r"(?<!\\)<", outside)
    assert not re.search(r"(?<!\\)\]\(", outside)
    assert not re.search(r"(?<!\\)`", outside)


def test_the_page_stands_alone_and_is_small():
    page = as_html(friendly()[1])
    assert not re.search(r"""(?:src|href|action)\s*=\s*["']?(?:https?:)?//""", page)
    assert "default-src 'none'" in page
    assert len(page.encode()) <= 300_000
    assert len(as_html(crowded()).encode()) <= 1_500_000


def test_hostile_texts_stay_texts():
    page = as_html(hostile()[1])
    outline = Outline(page)
    assert all(tag != "img" and "onerror" not in attributes for tag, attributes in outline.tags)
    assert "<script>alert" not in page
    assert page.count("<script") == 2
    text = " ".join(outline.text)
    assert HOSTILE[:60] in text
    assert FORMULA in text
    held = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page).group(1))
    rows = list(csv.DictReader(io.StringIO(held, newline="")))
    assert {row["given"] for row in rows} == {HOSTILE, "'" + FORMULA}


def test_names_are_unique_and_links_lead_somewhere():
    tags = Outline(as_html(friendly()[1])).tags
    names = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(names) == len(set(names))
    for _, attributes in tags:
        assert attributes.get("href", "#content").removeprefix("#") in [*names, "data:,"]
        for key in ("aria-labelledby", "aria-describedby"):
            assert all(name in names for name in attributes.get(key, "").split())


@pytest.mark.subprocess
def test_without_jinja_the_extra_is_named():
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from unflip.report.audit import require_page\n"
        "try: require_page()\n"
        "except ImportError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "unflip[report]" in run.stdout
