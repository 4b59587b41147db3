"""`unflip reproduce` as a user meets it."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress

import pytest

pytestmark = pytest.mark.subprocess

COMMAND = [sys.executable, "-c", "from unflip.cli import main; main()", "reproduce"]


def reproduce(*arguments, cwd=None):
    environment = {"PATH": "", "COLUMNS": "80"}
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=environment, cwd=cwd)


def test_json_and_nothing_else_on_stdout_the_same_for_any_jobs():
    one = reproduce("long", "iris", "--trials", "3", "--splits", "2", "--json", "--jobs", "1")
    assert (one.returncode, one.stderr) == (0, "")
    content = json.loads(one.stdout)
    assert {cell["dataset"] for cell in content["cells"]} == {"long", "iris"}
    assert {cell["solver"] for cell in content["cells"]} == {"exact", "liblinear"}
    assert content["skipped"] == []
    two = reproduce("long", "iris", "--trials", "3", "--splits", "2", "--json", "--jobs", "2")
    assert two.stdout == one.stdout


def test_the_page_and_its_twins_are_written_and_the_headline_printed(tmp_path):
    answer = reproduce(
        "iris", "--trials", "2", "--splits", "2", "--out", str(tmp_path / "new" / "report.html")
    )
    assert answer.returncode == 0, answer.stderr
    assert "iris" in answer.stdout
    written = {path.suffix for path in (tmp_path / "new").iterdir()}
    assert written == {".html", ".md", ".json", ".sqlite"}
    assert (
        len(json.loads((tmp_path / "new" / "report.json").read_text())["cells"]) == 108
    )  # 72 and 18 printed, the hinge twice
    assert "<!doctype html>" in (tmp_path / "new" / "report.html").read_text()[:20]


def test_mistakes_get_one_sentence_and_code_two(tmp_path):
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "broken.sqlite").write_bytes(b"no database at all, but long enough to be read as one" * 20)
    data = tmp_path / "data"
    data.mkdir()
    (data / "housing.csv.gz").write_bytes(b"\x1f\x8bgarbage")
    (data / "usps_0_vs_7.csv").write_bytes(b"")
    before = set(tmp_path.rglob("*"))
    for arguments, words in (
        (["iris", "--out", str(tmp_path / "folder.html")], "folder.html is a folder"),
        (["iris", "--out", str(tmp_path / "broken.html"), "--resume"], "broken.sqlite cannot be used"),
        (
            ["housing", "--data-dir", str(data)],
            "housing.csv.gz cannot be used: it is empty, cut short or no CSV",
        ),
        (["usps_0_vs_7", "--data-dir", str(data)], "usps_0_vs_7.csv cannot be used: it is empty"),
        (["titanic"], "no experiment is called 'titanic'; choose among long"),
        (["iris", "--trials", "0"], "--trials"),
        (["iris", "--resume"], "--resume needs --out"),
        (["iris", "--out", str(tmp_path / "page.pdf")], "must end in .html"),
        (["housing"], "housing is not here"),
        (["iris", "--out", "/dev/null/page.html"], "/dev/null cannot be written to"),
    ):
        answer = reproduce(*arguments)
        assert answer.returncode == 2, arguments
        assert words in answer.stderr
        assert "Traceback" not in answer.stderr
        assert answer.stdout == ""
    assert set(tmp_path.rglob("*")) == before


def test_data_that_is_not_here_is_skipped_and_named():
    answer = reproduce("housing", "counterexample", "--json")
    assert answer.returncode == 0
    assert [entry["name"] for entry in json.loads(answer.stdout)["skipped"]] == ["housing"]


def wait_for_an_outcome(path):
    """Until both workers are at work: one that is still starting says so in its own words."""
    while True:
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
            if store.execute("select count(*) from outcomes").fetchone()[0] > 1:
                return
        time.sleep(0.1)


def test_an_interrupt_ends_with_130_and_resume_goes_on(tmp_path):
    page = tmp_path / "page.html"
    arguments = [*COMMAND, "iris", "long", "--out", str(page), "--jobs", "2"]
    process = subprocess.Popen(
        arguments,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        start_new_session=True,
    )
    wait_for_an_outcome(page.with_suffix(".sqlite"))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the command and its workers alike
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "--resume" in errors
    assert "Traceback" not in errors
    assert not page.exists()
    answer = reproduce("iris", "long", "--out", str(page), "--resume")
    assert answer.returncode == 0, answer.stderr
    assert page.exists()
