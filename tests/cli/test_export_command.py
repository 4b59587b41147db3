"""`unflip export` as a user meets it: three formats, each checked before it is written."""

import json
import sys

import duckdb
import polars as pl
import pytest
from tests.export.tables import BUDGET, fitted, mixed_table, private, with_buckets

from unflip.cli import main

onnxruntime = pytest.importorskip("onnxruntime")


def run(monkeypatch, *arguments):
    """The exit code of the command, run in this process."""
    monkeypatch.setattr(sys, "argv", ["unflip", "export", *map(str, arguments)])
    with pytest.raises(SystemExit) as left:
        main()
    return left.value.code or 0


@pytest.fixture
def model(tmp_path):
    """A model in a file, beside the table that it was fitted to."""
    mixed_table().write_parquet(tmp_path / "table.parquet")
    fitted().save(tmp_path / "model.npz")
    return tmp_path / "model.npz"


def test_all_formats_at_once_are_checked_and_written(monkeypatch, capsys, tmp_path, model):
    paths = {kind: tmp_path / f"out.{kind}" for kind in ("onnx", "sql", "json")}
    options = [part for kind, path in paths.items() for part in (f"--{kind}", path)]
    assert run(monkeypatch, model, *options, "--check", tmp_path / "table.parquet") == 0
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert len(lines) == 3
    for line, path in zip(lines, paths.values(), strict=True):
        assert line.startswith(
            f"{path}: scores of 150 rows of {tmp_path / 'table.parquet'} differ by at most "
        )
        assert line.endswith(" from the model, classes are equal")
        assert float(line.split("at most ")[1].split()[0]) < 1e-9
    expected = fitted().predict(mixed_table()).tolist()
    rows = mixed_table().to_arrow()  # noqa: F841  # DuckDB finds it by its name
    found = duckdb.sql(f"SELECT {paths['sql'].read_text()} FROM rows").fetchall()
    assert [row[1] for row in found] == expected
    session = onnxruntime.InferenceSession(paths["onnx"].read_bytes())
    assert session.get_modelmeta().custom_metadata_map["target"] == "y"
    assert json.loads(paths["json"].read_text())["classes"] == ["it's", "no"]


def test_without_a_table_rows_are_made_up(monkeypatch, capsys, tmp_path, model):
    assert run(monkeypatch, model, "--onnx", tmp_path / "out.onnx") == 0
    assert "out.onnx: scores of 200 made-up rows differ by at most " in capsys.readouterr().out
    assert run(monkeypatch, model, "--onnx", tmp_path / "out.onnx", "--quiet") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("kind", ["sql", "json"])
def test_a_dash_is_stdout_and_nothing_else_is_there(monkeypatch, capsys, model, kind):
    assert run(monkeypatch, model, f"--{kind}", "-") == 0
    out, err = capsys.readouterr()
    assert err.startswith("stdout: scores of 200 made-up rows")
    if kind == "json":
        assert json.loads(out)["target"] == "y"
    else:
        assert out.startswith("-- square classifier of 'y': SELECT this FROM your table\n")
        assert out.endswith('END AS "prediction"\n')


def test_a_private_model_says_in_every_format_what_it_has_cost(monkeypatch, capsys, tmp_path):
    private().save(tmp_path / "private.npz")
    assert run(monkeypatch, tmp_path / "private.npz", "--json", tmp_path / "out.json", "--sql", "-") == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1] == "-- private: epsilon 1, delta 1e-05, 1 release"
    rows = mixed_table().to_arrow()  # noqa: F841  # DuckDB finds it by its name
    assert len(duckdb.sql(f"SELECT {out} FROM rows").fetchall()) == 150
    assert json.loads((tmp_path / "out.json").read_text())["privacy"] == BUDGET.as_facts()


def test_a_dialect_is_spoken(monkeypatch, capsys, model):
    assert run(monkeypatch, model, "--sql", "-", "--dialect", "postgres") == 0
    assert "DOUBLE PRECISION" in capsys.readouterr().out


def test_mistakes_get_one_sentence_and_code_two_and_nothing_is_written(monkeypatch, capsys, tmp_path, model):
    with_buckets()[0].save(tmp_path / "buckets.npz")
    (tmp_path / "other.csv").write_text("age,y\n1,2\n")
    (tmp_path / "folder.json").mkdir()
    before = set(tmp_path.rglob("*"))
    out = tmp_path / "out.json"
    for arguments, words in (
        ([model], "say what to write: --onnx FILE, --sql FILE or --json FILE"),
        ([model, "--sql", "-", "--json", "-"], "only one of --sql and --json can go to stdout"),
        ([model, "--onnx", tmp_path / "out.bin"], "--onnx must end in .onnx"),
        ([model, "--json", tmp_path / "folder.json"], "folder.json is a folder"),
        ([model, "--json", "/dev/null/out.json"], "/dev/null cannot be written to"),
        ([tmp_path / "no.npz", "--json", out], "No such file"),
        ([tmp_path / "table.parquet", "--json", out], "is not a sound model file"),
        ([model, "--json", out, "--check", tmp_path / "other.csv"], "other.csv has no column"),
        ([model, "--json", out, "--check", tmp_path / "no.csv"], "there is no file"),
        ([model, "--json", out, "--sql", "-", "--dialect", "spark"], "column 'day' holds dates"),
        ([model, "--json", out, "--sql", "-", "--dialect", "nonsense"], "dialect"),
        ([tmp_path / "buckets.npz", "--json", out, "--sql", "-"], "column 'name' has more than 30 levels"),
        ([tmp_path / "buckets.npz", "--json", out, "--onnx", tmp_path / "o.onnx"], "column 'name' has more"),
    ):
        assert run(monkeypatch, *arguments) == 2, arguments
        answer = capsys.readouterr()
        assert answer.out == ""
        assert words in answer.err, answer.err
        assert len(answer.err.splitlines()) == 1
    assert set(tmp_path.rglob("*")) == before


def test_nothing_is_written_where_the_check_fails(monkeypatch, capsys, tmp_path, model):
    other = fitted(learner="unhinged")
    from unflip.export import onnx_model

    monkeypatch.setattr("unflip.export.onnx_model", lambda model: onnx_model(other))
    assert run(monkeypatch, model, "--onnx", tmp_path / "out.onnx", "--json", tmp_path / "out.json") == 2
    assert "the ONNX does not say what the model says: scores differ by" in capsys.readouterr().err
    assert not {"out.onnx", "out.json"} & {path.name for path in tmp_path.iterdir()}


def test_a_table_in_text_is_read_as_the_model_reads_it(monkeypatch, capsys, tmp_path):
    frame = pl.DataFrame({"zip": ["01", "02", "x", "01", "x", "02"] * 4, "y": [0, 1, 1, 0, 1, 1] * 4})
    from unflip.models import TableModel

    TableModel.fit(frame, "y").save(tmp_path / "zip.npz")
    (tmp_path / "rows.csv").write_text("zip\n01\n02\n1\n")
    paths = ["--onnx", tmp_path / "o.onnx", "--sql", tmp_path / "o.sql", "--json", tmp_path / "o.json"]
    assert run(monkeypatch, tmp_path / "zip.npz", *paths, "--check", tmp_path / "rows.csv") == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
