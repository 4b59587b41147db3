"""What commands read from and write to: files, devices, pipes and terminals that are full, closed or odd."""

import errno
import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import people

from unflip.models import TableModel

pytestmark = pytest.mark.subprocess


def test_what_is_read_is_not_written_over(run, table, tmp_path):
    run("fit", table, "-t", "sick", "--out", "m.npz", "-q")
    run("fit", table, "--like", "m.npz", "--out", "n.npz", "-q")
    (tmp_path / "link.csv").symlink_to("people.csv")
    (tmp_path / "page.json").write_bytes(table.read_bytes())
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for arguments, given in (
        (["flip", table, "-t", "sick", "--rate", "0.1", "--out", table], table),
        (["predict", "m.npz", table, "--out", "link.csv"], table),
        (["audit", table, "-t", "sick", "--suspects", table], table),
        (["audit", "page.json", "-t", "sick", "--out", "page.html"], "page.json"),
        (["fit", table, "--like", "m.npz", "--out", "m.npz"], "m.npz"),
        (["export", "m.npz", "--check", "page.json", "--json", "page.json"], "page.json"),
    ):
        code, printed, error = run(*arguments)
        assert (code, printed) == (2, ""), arguments
        assert f" would write over {given}, which is read; name another file\n" in error
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
    for arguments in (
        ["merge", "n.npz", "m.npz"],
        ["forget", "m.npz", table],
    ):  # a model may take its own place
        assert run(*arguments, "--out", "m.npz")[0] == 0
    assert TableModel.load("m.npz").moments.total == TableModel.load("n.npz").moments.total


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no device without an end")
def test_what_has_no_end_is_not_read(run, table):
    run("fit", table, "-t", "sick", "--out", "m.npz", "-q")
    for arguments in (
        ["predict", "m.npz", "/dev/zero"],
        ["predict", "/dev/zero", table],
        ["audit", "/dev/zero"],
    ):
        code, printed, error = run(*arguments)
        said = "unflip: /dev/zero is a device, which may have no end; name a file or a pipe\n"
        assert (code, printed, error) == (2, "", said)


def test_standard_input_that_is_closed_is_empty(run, table, monkeypatch):
    run("fit", table, "-t", "sick", "--out", "m.npz", "-q")
    monkeypatch.setattr(sys, "stdin", None)
    assert run("predict", "m.npz", "-") == (2, "", "unflip: standard input is empty\n")
    sys.stdin.close()


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="there is no file that opens unread")
def test_a_model_that_cannot_be_read_is_named(run, table):
    code, printed, error = run("predict", "/proc/self/mem", table)
    assert (code, printed, error) == (2, "", "unflip: /proc/self/mem: Input/output error\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_where_a_refusal_cannot_be_said_the_exit_code_tells(tmp_path):
    code = "from unflip.cli import main; main()"
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-c", code, "predict", "m.npz", "no.csv"]
        done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=full)
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_pipe_by_name_whose_reader_has_left_ends_as_stdout_does(run, table, tmp_path):
    run("fit", table, "-t", "sick", "--out", "m.npz", "-q")
    people(20_000).write_csv(tmp_path / "many.csv")  # more than a pipe holds
    os.mkfifo(tmp_path / "out.csv")
    code = "from unflip.cli import main; main()"
    with subprocess.Popen(["head", "-c", "1", "out.csv"], cwd=tmp_path, stdout=subprocess.DEVNULL):
        command = [sys.executable, "-c", code, "predict", "m.npz", "many.csv", "--out", "out.csv"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (141, b"", b"")


def test_a_disk_that_fills_up_leaves_the_old_file_as_it_was(run, table, tmp_path, monkeypatch):
    run("fit", table, "-t", "sick", "--out", "model.npz", "-q")
    before = (tmp_path / "model.npz").read_bytes()

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, error = run("fit", table, "-t", "sick", "--out", "model.npz", "--learner", "unhinged")
    assert code == 2
    assert "No space left on device" in error
    assert (tmp_path / "model.npz").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.npz", "people.csv"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_output_that_cannot_be_written_is_said(table, tmp_path):
    code = "from unflip.cli import main; main()"
    model = tmp_path / "model.npz"
    fit = [sys.executable, "-c", code, "fit", table, "-t", "sick", "--out", model, "-q"]
    subprocess.run(fit, check=True)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, "predict", model, table],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr == "unflip: the output cannot be written: No space left on device\n"


def test_an_interrupted_audit_leaves_nothing(tmp_path):
    rng = np.random.default_rng(0)
    wide = pl.DataFrame(rng.normal(size=(30_000, 20))).with_columns(y=pl.Series(rng.integers(0, 2, 30_000)))
    wide.write_csv(tmp_path / "rows.csv")
    code = "from unflip.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "audit", "rows.csv", "-t", "y", "--out", "page.html"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(2.5)
    process.send_signal(signal.SIGINT)
    printed, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error == "unflip: stopped\n"
    assert printed == ""
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


@pytest.mark.parametrize("command", ["audit", "fit"])
def test_a_terminal_that_knows_ascii_only_gets_escapes(command, run, tmp_path, monkeypatch):
    people().rename({"sick": "krank", "id": "größe"}).write_csv(tmp_path / "leute.csv")
    told = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", told)
    out = {"audit": "page.html", "fit": "model.npz"}[command]
    assert run(command, "leute.csv", "-t", "krank", "--out", out)[0] == 0
    assert "gr\\xf6\\xdfe" in told.buffer.getvalue().decode("ascii")


def test_results_on_stdout_are_utf_8_whatever_the_locale(run, table, tmp_path, monkeypatch):
    run("fit", table, "-t", "city", "--out", "model.npz", "-q")
    told = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", told)
    assert run("predict", "model.npz", table)[0] == 0
    assert "score of Köln" in pl.read_csv(told.buffer.getvalue()).columns


def test_a_result_is_written_whole_where_streams_take_parts(run, table, monkeypatch):
    run("fit", table, "-t", "sick", "--out", "model.npz", "-q")
    whole, taken = run("predict", "model.npz", table)[1], io.BytesIO()

    class Unbuffered(io.BytesIO):
        def write(self, content):
            return taken.write(content[:1000])

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Unbuffered()))
    assert run("predict", "model.npz", table)[0] == 0
    assert taken.getvalue().decode() == whole


ERASE = "\x1b[2J"


@pytest.fixture
def hostile(tmp_path):
    """A table whose labels and names of columns do something to terminals."""
    people().with_columns(sick=pl.col("sick") + ERASE).rename({"id": f"id{ERASE}"}).write_csv(
        tmp_path / "hostile.csv"
    )
    return tmp_path / "hostile.csv"


def test_what_is_said_of_hostile_labels_is_printable_and_files_keep_them(run, hostile, tmp_path):
    code, said, _ = run("fit", hostile, "-t", "sick", "--out", "model.npz")
    assert (code, "yes\\x1b[2J 1" in said) == (0, True)
    code, found, _ = run("predict", "model.npz", hostile)
    assert (code, f"score of yes{ERASE}" in found) == (0, True)
    code, _, error = run("predict", "model.npz", hostile, "--delimiter", "\x1b")
    assert code == 2
    assert all(text.isprintable() for text in (*said.splitlines(), *error.splitlines()))
    assert TableModel.load(tmp_path / "model.npz").labels == [f"no{ERASE}", f"yes{ERASE}"]


def test_a_result_that_goes_to_a_terminal_is_printable_too(run, hostile, monkeypatch):
    run("fit", hostile, "-t", "sick", "--out", "model.npz", "-q")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, said, _ = run("predict", "model.npz", hostile)
    assert (code, "score of yes\\x1b[2J\n" in said, "\x1b" in said) == (0, True, False)
    assert len(said.splitlines()) == 301


def test_a_table_from_a_pipe(table, tmp_path):
    code = "from unflip.cli import main; main()"
    with open(table, "rb") as content:
        done = subprocess.run(
            [sys.executable, "-c", code, "fit", "-", "-t", "sick", "--out", tmp_path / "model.npz", "--json"],
            stdin=content,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"].keys() == {"no", "yes"}
