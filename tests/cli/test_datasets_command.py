"""`unflip datasets`: what is here, what is missing, and one sentence when something is wrong."""

import json
import subprocess
import sys

import pytest

from unflip.experiments.datasets import load

pytestmark = pytest.mark.subprocess


def run(*arguments):
    code = "from unflip.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env={"PATH": "", "COLUMNS": "80"},
    )


def test_the_list_says_what_is_here_and_what_is_missing():
    answer = run("datasets", "list")
    assert answer.returncode == 0
    assert "spambase             4601       57       1813  shipped" in answer.stdout
    assert "housing               506       13         35  missing: unflip datasets fetch" in answer.stdout
    found = json.loads(run("datasets", "list", "--json").stdout)["datasets"]
    assert {row["name"] for row in found if not row["available"]} == {
        "housing",
        "usps_0_vs_7",
        "splice_with_names",
    }


def test_a_dataset_becomes_a_table(tmp_path):
    answer = run("datasets", "write", "iris", "--out", str(tmp_path / "iris.csv"))
    assert answer.stdout == f"{tmp_path / 'iris.csv'}: 150 rows, 4 columns and the label\n"
    header, *rows = (tmp_path / "iris.csv").read_text().splitlines()
    assert header.endswith(",label")
    truth = load("iris")
    given = {(*map(float, row), label) for *row, label in (line.split(",") for line in rows)}
    assert given == {
        (*row, label) for row, label in zip(truth.X.tolist(), truth.target.tolist(), strict=True)
    }
    assert run("datasets", "write", "no", "--out", str(tmp_path / "x.csv")).returncode == 2


def test_fetching_needs_a_folder_and_something_to_fetch(tmp_path):
    answer = run("datasets", "fetch", "housing")
    assert answer.returncode == 2
    assert "--data-dir or UNFLIP_DATA" in answer.stderr
    answer = run("datasets", "fetch", "car", "--data-dir", str(tmp_path))
    assert answer.returncode == 2
    assert "car needs no fetching" in answer.stderr
    assert "Traceback" not in answer.stderr
    assert list(tmp_path.iterdir()) == []
