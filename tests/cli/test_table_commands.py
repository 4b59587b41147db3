"""Commands on tables: what they write, and one sentence with exit code 2 for whatever is wrong."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.cli.conftest import people

from unflip.features import Tabular
from unflip.models import TableModel
from unflip.models.learners import TABLE_LEARNERS
from unflip.private import Budget


def test_from_a_table_to_predictions(run, table, tmp_path):
    code, said, _ = run("fit", table, "--target", "sick", "--out", "model.npz")
    assert code == 0
    assert "left out 'id': it numbers the rows" in said
    code, said, _ = run("predict", "model.npz", table)
    found = pl.read_csv(said.encode())
    assert found.columns == ["row", "prediction", "score of yes"]
    model = TableModel.load(tmp_path / "model.npz")
    assert found["prediction"].to_list() == model.predict(people()).tolist()
    assert run("predict", "model.npz", table, "--out", "found.parquet") == (0, "", "")
    assert pl.read_parquet(tmp_path / "found.parquet").equals(found)
    plain = json.loads(run("predict", "model.npz", table, "--json")[1])
    assert plain["predictions"][0]["prediction"] == found["prediction"][0]


@pytest.mark.parametrize("learner", TABLE_LEARNERS)
def test_every_learner_that_an_audit_may_recommend_is_fitted_saved_and_predicts(learner, run, table):
    code, said, _ = run("fit", table, "-t", "sick", "--learner", learner, "--out", "model.npz")
    counts = people()["sick"].value_counts(sort=True).rows()
    assert code == 0
    assert f"model.npz: {learner} classifier of 'sick' (" in said
    assert all(f"{label} {count}" in said for label, count in counts)
    assert said.endswith(f"fitted {table}: 300 rows\n")
    found = pl.read_csv(run("predict", "model.npz", table)[1].encode())
    rows = people().select("age", "city")
    numbers = Tabular.of_files().fit_transform(rows)
    plain = TABLE_LEARNERS[learner].make().fit(numbers, people()["sick"].to_list())
    assert found["prediction"].to_list() == plain.predict(numbers).tolist()
    np.testing.assert_allclose(found["score of yes"], plain.decision_function(numbers), rtol=1e-9, atol=1e-9)
    assert (found["prediction"] == people()["sick"]).mean() > 0.8


def test_a_learner_that_is_a_pipeline_predicts_as_scikit_learn_does(run, table):
    assert run("fit", table, "-t", "sick", "--learner", "logistic", "--out", "model.npz", "-q") == (0, "", "")
    found = pl.read_csv(run("predict", "model.npz", table)[1].encode())
    rows = people()
    numbers = np.column_stack([rows["age"], *(rows["city"] == city for city in ("Bonn", "Köln", "Trier"))])
    plain = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)).fit(numbers, rows["sick"])
    assert found["prediction"].to_list() == plain.predict(numbers).tolist()
    np.testing.assert_allclose(found["score of yes"], plain.decision_function(numbers), rtol=1e-3, atol=1e-3)


def test_probabilities_are_those_of_clean_labels_so_that_only_the_robust_learner_has_them(run, table):
    for learner in TABLE_LEARNERS:
        run("fit", table, "-t", "sick", "--learner", learner, "--out", "model.npz", "-q")
        found = pl.read_csv(run("predict", "model.npz", table)[1].encode())
        chances = ["P(no)", "P(yes)"] if learner == "robust" else []
        assert found.columns == ["row", "prediction", "score of yes", *chances]
        if chances:
            assert ((found["P(yes)"] > 0.5) == (found["prediction"] == "yes")).all()


@pytest.mark.parametrize("learner", sorted(TABLE_LEARNERS.keys() - {"square", "unhinged"}))
def test_models_that_only_predict_say_so(learner, run, table, tmp_path):
    run("fit", table, "-t", "sick", "--learner", learner, "--out", "model.npz", "-q")
    before = sorted(tmp_path.iterdir())
    for arguments in (
        ["merge", "model.npz", "model.npz", "--out", "new.npz"],
        ["forget", "model.npz", table, "--out", "new.npz"],
        ["export", "model.npz", "--json", "new.json"],
        ["fit", table, "--like", "model.npz", "--out", "new.npz"],
    ):
        code, said, error = run(*arguments)
        assert (code, said, error.count("\n")) == (2, "", 1)
        assert f"{learner} " in error.replace("kernel or logistic", learner)
        assert "model, which predicts but neither merges, forgets nor exports" in error
        assert "fit with --learner square or unhinged" in error
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
def test_what_an_audit_recommends_is_a_learner_of_fit(run, table):
    found = json.loads(run("audit", table, "-t", "sick", "--against", "bayes", "--json")[1])
    assert [learner["name"] for learner in found["learners"]] == [*TABLE_LEARNERS, "GaussianNB"]
    name = found["recommended"]["name"]
    assert name in TABLE_LEARNERS
    assert run("fit", table, "-t", "sick", "--learner", name, "--out", "model.npz", "-q") == (0, "", "")


def test_the_help_of_fit_names_every_learner(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    said = run("fit", "--help")[1]
    assert all(learner in said for learner in TABLE_LEARNERS)


def test_parts_merge_into_the_whole_and_are_forgotten_again(run, tmp_path):
    whole = people()
    whole.head(200).write_csv(tmp_path / "a.csv")
    whole.tail(100).write_csv(tmp_path / "b.csv")
    assert run("fit", "a.csv", "-t", "sick", "--out", "a.npz", "--drop", "id", "-q") == (0, "", "")
    assert run("fit", "b.csv", "--like", "a.npz", "--out", "b.npz", "-q") == (0, "", "")
    assert run("merge", "a.npz", "b.npz", "--out", "ab.npz", "-q") == (0, "", "")
    assert run("forget", "ab.npz", "b.csv", "--out", "back.npz", "-q") == (0, "", "")
    a, both, back = (TableModel.load(tmp_path / f"{name}.npz") for name in ("a", "ab", "back"))
    assert both.moments.total == 300
    np.testing.assert_allclose(back.scores(whole), a.scores(whole), rtol=1e-8, atol=1e-9)
    facts = json.loads(run("merge", "a.npz", "b.npz", "--out", "ab.npz", "--json")[1])
    assert facts["history"] == ["fitted a.csv: 200 rows", "merged: fitted b.csv: 100 rows"]


def test_a_part_may_have_rows_of_one_class(run, table, tmp_path):
    run("fit", table, "-t", "sick", "--out", "all.npz", "-q")
    people().filter(pl.col("sick") == "no").write_csv(tmp_path / "healthy.csv")
    code, said, error = run("fit", "healthy.csv", "--like", "all.npz", "--out", "healthy.npz")
    assert (code, error) == (0, "")
    assert "no " in said
    assert run("predict", "healthy.npz", table)[0] == 2


@pytest.mark.parametrize("special", [{"privacy": Budget(1.0, 1e-5, rho=0.02, bound=4.0)}, {"outliers": 3}])
def test_columns_are_read_as_in_a_model_whose_sums_neither_add_nor_lose_rows(special, run, table, tmp_path):
    run("fit", table, "-t", "sick", "--learner", "unhinged", "--out", "plain.npz", "-q")
    plain = TableModel.load(tmp_path / "plain.npz")
    plain.with_moments(replace(plain.moments, **special)).save(tmp_path / "special.npz")
    for like in ("plain", "special"):
        assert run("fit", table, "--like", f"{like}.npz", "--out", f"{like}2.npz", "-q") == (0, "", "")
    assert (tmp_path / "special2.npz").read_bytes() == (tmp_path / "plain2.npz").read_bytes()
    assert run("merge", "plain.npz", "special2.npz", "--out", "both.npz", "-q") == (0, "", "")
    assert TableModel.load(tmp_path / "both.npz").moments.total == 600


@pytest.mark.subprocess
def test_completion_knows_the_commands():
    code = "from unflip.cli import main; main()"
    asked = {"COMP_WORDS": "unflip au", "COMP_CWORD": "1", "_UNFLIP_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True
    )
    assert done.stdout.split() == ["audit"]


def test_flipping_changes_labels_and_nothing_else(run, table, tmp_path):
    code, said, _ = run(
        "flip", table, "--target", "sick", "--rate", "0.3", "--seed", "1", "--out", "noisy.csv"
    )
    noisy, clean = pl.read_csv(tmp_path / "noisy.csv"), people()
    assert code == 0
    assert noisy.drop("sick").equals(clean.drop("sick"))
    changed = int((noisy["sick"] != clean["sick"]).sum())
    assert f"{changed} of 300 labels flipped" in said
    assert 60 < changed < 120


def test_flipping_keeps_every_other_byte_of_a_csv_file(run, tmp_path):
    rows = "".join(f"0{i:03d};1,{i};{'ja' if i % 3 else 'nein'};NA\n" for i in range(30))
    (tmp_path / "eu.csv").write_text("code;x;ok;rest\n" + rows)
    assert run("flip", "eu.csv", "-t", "ok", "--rate", "0.4", "--out", "noisy.csv", "-q") == (0, "", "")
    lines = [(tmp_path / name).read_text().splitlines() for name in ("eu.csv", "noisy.csv")]
    for before, after in zip(*lines, strict=True):
        a, b = before.split(";"), after.split(";")
        assert (a[:2], a[3]) == (b[:2], b[3])
    assert lines[0] != lines[1]


def test_one_label_against_the_rest_stays_so_in_later_files(run, tmp_path):
    rng = np.random.default_rng(0)
    pets = pl.DataFrame({"x": rng.normal(size=90), "pet": ["cat", "dog", "cow"] * 30})
    pets.write_csv(tmp_path / "all.csv")
    pets.filter(pl.col("pet") != "cat").write_csv(tmp_path / "others.csv")
    assert run("fit", "all.csv", "-t", "pet", "--positive", "cat", "--out", "all.npz", "-q") == (0, "", "")
    assert run("fit", "others.csv", "--like", "all.npz", "--out", "others.npz", "-q") == (0, "", "")
    assert run("merge", "all.npz", "others.npz", "--out", "both.npz", "-q") == (0, "", "")
    assert TableModel.load(tmp_path / "both.npz").counts == {"cat": 30.0, "not cat": 120.0}
    assert run("forget", "both.npz", "others.csv", "--out", "back.npz", "-q") == (0, "", "")
    assert TableModel.load(tmp_path / "back.npz").counts == {"cat": 30.0, "not cat": 60.0}


@pytest.mark.parametrize("learner", ["square", "robust", "logistic"])
def test_a_model_remembers_whether_days_or_months_come_first(learner, run, tmp_path):
    days = [f"{day:02d}/{month:02d}/2023" for month in (1, 2, 11, 12) for day in range(1, 29)]
    rows = "".join(f"{day},{'late' if '/1' in day[2:5] else 'early'}\n" for day in days)
    (tmp_path / "a.csv").write_text("due,y\n" + rows)
    assert run("fit", "a.csv", "-t", "y", "--learner", learner, "--out", "a.npz", "-q") == (0, "", "")
    (tmp_path / "b.csv").write_text("due\n02/12/2023\n11/01/2023\n")  # in December and in January
    assert run("predict", "a.npz", "b.csv", "--out", "p.csv") == (0, "", "")
    assert pl.read_csv(tmp_path / "p.csv")["prediction"].to_list() == ["late", "early"]


def test_with_two_labels_one_may_be_named_in_later_files_too(run, table):
    assert run("fit", table, "-t", "sick", "--positive", "yes", "--out", "a.npz", "-q") == (0, "", "")
    more = ("fit", table, "--like", "a.npz", "--positive")
    assert run(*more, "yes", "--out", "b.npz", "-q") == (0, "", "")
    assert run(*more, "ill", "--out", "b.npz", "-q")[0] == 2


def test_one_label_against_the_rest_needs_a_rest_that_was_there(run, tmp_path):
    rows = "".join(f"{i * i},{label}\n" for i, label in enumerate(["yes", "no"] * 10))
    (tmp_path / "two.csv").write_text("x,y\n" + rows)
    (tmp_path / "three.csv").write_text("x,y\n" + rows + "7,maybe\n9,maybe\n")
    assert run("fit", "two.csv", "-t", "y", "--positive", "yes", "--out", "two.npz", "-q")[0] == 0
    more = ("fit", "three.csv", "--like", "two.npz", "--positive", "yes", "--out", "three.npz")
    code, _, error = run(*more)
    assert (code, "has the label 'maybe'; fit first the file that has them all" in error) == (2, True)
    assert run("fit", "three.csv", "-t", "y", "--positive", "yes", "--out", "three.npz", "-q")[0] == 0
    (tmp_path / "odd.csv").write_text("x,y\n1,Yes\n")
    code, _, error = run("forget", "three.npz", "odd.csv", "--out", "four.npz")
    assert (code, "the labels 'yes' and 'Yes' differ in writing only" in error) == (2, True)


def test_parquet_and_csv_of_the_same_rows_say_the_same(run, tmp_path):
    frame = pl.DataFrame({"c": ["NA", "DE", "FR"] * 10, "x": range(0, 90, 3), "y": [True, False, False] * 10})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "a.csv")
    assert run("fit", "a.parquet", "-t", "y", "--out", "a.npz", "-q")[0] == 0
    assert run("predict", "a.npz", "a.csv") == run("predict", "a.npz", "a.parquet")
    frame[:3].write_csv(tmp_path / "few.csv")
    frame[:3].write_parquet(tmp_path / "few.parquet")
    for kind in ("csv", "parquet"):
        assert run("forget", "a.npz", f"few.{kind}", "--out", f"{kind}.npz", "-q") == (0, "", "")
    sums = [TableModel.load(tmp_path / f"{kind}.npz").moments.sums.tolist() for kind in ("csv", "parquet")]
    assert sums[0] == sums[1]


def test_a_prediction_does_not_look_at_labels(run, table, tmp_path):
    run("fit", table, "-t", "sick", "--out", "a.npz", "-q")
    (tmp_path / "new.csv").write_text("age,city,sick\n30,Bonn,1\n31,Bonn,2\n32,Trier,tbd\n")
    code, said, _ = run("predict", "a.npz", "new.csv")
    assert (code, len(said.splitlines())) == (0, 4)
    (tmp_path / "new.csv").write_text("age ,city\n30,Bonn\n")
    code, _, error = run("predict", "a.npz", "new.csv")
    assert (code, error) == (2, "unflip: new.csv has no column 'age'; did you mean 'age '?\n")


def test_a_table_is_flipped_in_its_own_kind(run, tmp_path):
    frame = pl.DataFrame({"c": ["", None, "a", "b"] * 5, "y": ["u", "v"] * 10})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "a.csv")
    assert run("flip", "a.parquet", "--rate", "0.2", "-t", "y", "--out", "b.parquet", "-q") == (0, "", "")
    assert pl.read_parquet(tmp_path / "b.parquet")["c"].equals(frame["c"])
    code, _, error = run("flip", "a.csv", "--rate", "0.2", "-t", "y", "--out", "b.parquet")
    assert (code, "--out must end in .csv" in error) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--weight", "sick"], "'sick' cannot be target and weight at once"),
        (["--delimiter", ""], "--delimiter is one character, got ''"),
        (["--decimal", "x"], "--decimal is a comma or a point, got 'x'"),
    ],
)
def test_options_that_make_no_sense(options, said, run, table):
    code, _, error = run("fit", table, "-t", "sick", "--out", "a.npz", *options)
    assert (code, said in error) == (2, True)


def test_what_a_model_settles_cannot_be_asked_for_otherwise(run, table):
    run("fit", table, "-t", "sick", "--out", "a.npz", "-q")
    run("fit", table, "-t", "sick", "--learner", "unhinged", "--out", "b.npz", "-q")
    for arguments, said in (
        (
            ["fit", table, "--like", "a.npz", "--learner", "unhinged", "--out", "c.npz"],
            "--learner is that of",
        ),
        (
            ["fit", table, "--like", "a.npz", "--drop", "city", "--out", "c.npz"],
            "without --drop, --text, --decimal",
        ),
        (["merge", "a.npz", "b.npz", "--out", "c.npz"], "different learners"),
    ):
        code, _, error = run(*arguments)
        assert code == 2
        assert said in error


def test_rows_with_gaps_unseen_levels_and_labels_of_another_look(run, table, tmp_path):
    run("fit", table, "-t", "sick", "--out", "model.npz", "-q")
    (tmp_path / "one.csv").write_text("age,city\n,Berlin\n")
    found = pl.read_csv(run("predict", "model.npz", "one.csv")[1].encode())
    model = TableModel.load(tmp_path / "model.npz")
    median = pl.DataFrame({"age": [people()["age"].median()], "city": ["Berlin"]})
    assert found["score of yes"][0] == pytest.approx(model.scores(median)[0])
    mixed = people().with_columns(
        sick=pl.when(pl.col("sick") == "yes").then(pl.lit("1")).otherwise(pl.lit("A"))
    )
    mixed.write_csv(tmp_path / "mixed.csv")
    mixed.filter(pl.col("sick") == "1").head(20).write_csv(tmp_path / "ones.csv")
    run("fit", "mixed.csv", "-t", "sick", "--out", "mixed.npz", "-q")
    assert run("forget", "mixed.npz", "ones.csv", "--out", "less.npz", "-q") == (0, "", "")


@pytest.mark.slow
def test_an_audit_answers_in_words_json_and_pages(run, table, tmp_path):
    run("flip", table, "-t", "sick", "--rate", "0.2", "--out", "noisy.csv", "-q")
    code, said, _ = run(
        "audit",
        "noisy.csv",
        "-t",
        "sick",
        "--out",
        "page.html",
        "--suspects",
        "rows.csv",
        "--against",
        "bayes",
    )
    assert code == 0
    assert "wrong" in said
    assert {"page.html", "page.md", "page.json", "rows.csv"} <= {path.name for path in tmp_path.iterdir()}
    code, said, _ = run("audit", "noisy.csv", "-t", "sick", "--json")
    found = json.loads(said)
    assert found["noise"]["low"] < 0.2 < found["noise"]["high"]
    assert {"rate", "low", "high", "outer"} <= set(found["noise"])
    assert {"estimate", "low", "high"} <= set(found["clean_accuracy"])
    assert {"row", "given", "likely", "probability"} <= set(found["suspects"][0])
    noisy, clean = pl.read_csv(tmp_path / "noisy.csv"), people()
    wrong = (noisy["sick"] != clean["sick"]).to_list()
    first = [wrong[suspect["row"]] for suspect in found["suspects"][:20]]
    assert np.mean(first) > 0.8
    assert pl.read_csv(tmp_path / "rows.csv").height == 300


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes(run, table, tmp_path):
    pages = []
    for _ in range(2):
        run("audit", table, "-t", "sick", "--out", "page.html", "-q")
        pages.append((tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1]


GOOD = b"age,sick\n" + b"".join(b"%d,%s\n" % (20 + i % 39, b"yes" if i % 2 else b"no") for i in range(40))
BAD = {
    "missing column": (GOOD, ["--target", "sik"], "has no column 'sik'; did you mean 'sick'?"),
    "no target": (GOOD, [], "name the column of labels with --target; there are 'age', 'sick'"),
    "one class": (GOOD.replace(b"yes", b"no"), ["-t", "sick"], "every label of 'sick' is 'no'"),
    "many classes": (GOOD, ["-t", "age"], "the target 'age' has 39 different values in 40 rows"),
    "empty": (b"", ["-t", "sick"], "is empty"),
    "quotes": (GOOD + b'50,"no\n', ["-t", "sick"], "a quote is opened and never closed"),
    "utf-16": (GOOD.decode().encode("utf-16"), ["-t", "sick"], "is UTF-16 or binary"),
    "duplicate": (GOOD.replace(b"age,sick", b"sick,sick"), ["-t", "sick"], "the header has 2 columns 'sick'"),
    "mixed": (
        GOOD.replace(b"25,", b"old,"),
        ["-t", "sick"],
        "column 'age' holds numbers in 39 rows, text in 1",
    ),
    "one row": (b"age,sick\n1,no\n", ["-t", "sick"], "every label of 'sick' is 'no'"),
    "two rows": (b"age,sick\n1,no\n2,yes\n", ["-t", "sick"], "has a single row"),
    "fractions": (b"x,y\n" + b"1,0.25\n2,0.5\n" * 9, ["-t", "y"], "the target 'y' holds fractions"),
    "alone": (b"sick\nno\nyes\nno\nyes\n", ["-t", "sick"], "there is no column beside the target"),
    "constant": (b"a,y\n1,n\n1,p\n1,n\n1,p\n", ["-t", "y"], "no column of X varies"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("command", ["audit", "fit"])
def test_bad_tables_end_with_one_sentence_and_nothing_written(case, command, run, tmp_path):
    data, options, said = BAD[case]
    (tmp_path / "rows.csv").write_bytes(data)
    out = {"audit": "page.html", "fit": "model.npz"}[command]
    code, printed, error = run(command, "rows.csv", *options, "--out", out)
    assert (code, printed) == (2, "")
    assert said in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


def test_a_long_value_does_not_fill_the_screen_and_the_way_out_is_still_said(run, tmp_path):
    (tmp_path / "rows.csv").write_bytes(GOOD + b"z" * 3_000_000 + b",no\n")
    code, _, error = run("fit", "rows.csv", "-t", "sick", "--out", "model.npz")
    assert (code, len(error) < 1100) == (2, True)
    assert "column 'age' holds numbers in 40 rows, text in 1, first 'zzz" in error
    assert error.endswith("zzz' in data row 40; mend it, or fit it as text (--text) or not at all (--drop)\n")


def test_a_byte_order_mark_is_nothing_to_complain_about(run, tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"\xef\xbb\xbf" + GOOD)
    assert run("fit", "rows.csv", "-t", "sick", "--out", "model.npz", "-q") == (0, "", "")
    assert TableModel.load(tmp_path / "model.npz").columns == ["age"]


def test_paths_that_cannot_be(run, table, tmp_path):
    for arguments, said in (
        (["audit", "nothing.csv", "-t", "y"], "there is no file nothing.csv"),
        (["audit", table, "-t", "sick", "--out", "page.txt"], "--out must end in .html"),
        (["audit", table, "-t", "sick", "--out", "no/such/page.html"], "no/such cannot be written to"),
        (["fit", table, "-t", "sick", "--out", "/proc/model.npz"], "/proc cannot be written to"),
        (
            ["fit", table, "-t", "sick", "--out", "m.npz", "--learner", "deep"],
            f"--learner is one of {', '.join(TABLE_LEARNERS)}, got deep",
        ),
        (["predict", table, table], "is not a sound model file"),
        (["predict", "nothing.npz", table], "nothing.npz: No such file"),
        (["audit", table, "-t", "sick", "--against", "magic"], "--against is one of forest"),
        (["export", "nothing.npz"], ""),
    ):
        code, printed, error = run(*arguments)
        assert (code, printed) == (2, ""), arguments
        assert said in error
        assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


@pytest.mark.parametrize("kind", [kind for kind in ("Int128", "UInt128") if hasattr(pl, kind)])
def test_integers_of_128_bits_are_numbers(kind, run, tmp_path):
    years = people().with_columns(pl.col("age").round().cast(pl.Int64))
    years.write_parquet(tmp_path / "short.parquet")
    years.with_columns(pl.col("age").cast(getattr(pl, kind))).write_parquet(tmp_path / "long.parquet")
    said = []
    for name in ("short", "long"):
        assert run("fit", f"{name}.parquet", "-t", "sick", "--out", "model.npz", "-q") == (0, "", "")
        said.append(run("predict", "model.npz", f"{name}.parquet"))
    assert said[0] == said[1]
    assert said[0][0] == 0


def test_a_private_model_says_what_it_has_cost(run, table, tmp_path):
    run("fit", table, "-t", "sick", "--learner", "unhinged", "--out", "plain.npz", "-q")
    plain = TableModel.load(tmp_path / "plain.npz")
    budget = Budget(1.0, 1e-5, rho=0.02, bound=4.0)
    plain.with_moments(replace(plain.moments, privacy=budget)).save(tmp_path / "private.npz")
    assert "private: epsilon 1, delta 1e-05, 1 release\n" in run("merge", "private.npz", "--out", "a.npz")[1]
    facts = json.loads(run("merge", "private.npz", "--out", "a.npz", "--json")[1])
    assert facts["privacy"] == budget.as_facts()
    assert "epsilon" not in run("merge", "plain.npz", "--out", "b.npz")[1]
    assert "privacy" not in json.loads(run("merge", "plain.npz", "--out", "b.npz", "--json")[1])


def numbers(n=400):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    ages, weights = rng.normal(40 + 9 * y, 8), rng.integers(1, 4, n)
    return pl.DataFrame({"age": ages, "height": rng.normal(size=n), "n": weights, "sick": y})


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.tsv"])
@pytest.mark.parametrize("options", [(), ("--weight", "n"), ("--drop", "n", "--positive", "1")])
def test_a_large_file_of_numbers_is_fitted_in_passes_and_its_model_is_the_same(
    name, options, run, tmp_path, monkeypatch
):
    separator = "\t" if name == "a.tsv" else ";"
    table = numbers()
    table.write_parquet(name) if name == "a.parquet" else table.write_csv(name, separator=separator)
    assert run("fit", name, "-t", "sick", *options, "--out", "whole.npz")[0] == 0
    monkeypatch.setattr(sys.modules["unflip.cli.fit"], "LARGE_FILE", 0)
    monkeypatch.setattr(sys.modules["unflip.cli.fit"], "labelled_table", None)  # the file is not read whole
    code, _, said = run("fit", name, "-t", "sick", *options, "--out", "passes.npz")
    assert (code, said) == (0, "")
    whole, found = (TableModel.load(tmp_path / f"{kind}.npz") for kind in ("whole", "passes"))
    assert (found.counts, found.labels, found.history) == (whole.counts, whole.labels, whole.history)
    assert (found.table.key, found.weight, found.positive) == (whole.table.key, whole.weight, whole.positive)
    assert np.allclose(found.scores(table), whole.scores(table), rtol=1e-8, atol=1e-8)


def test_a_large_file_with_text_is_read_whole_and_it_is_said_why(run, table, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["unflip.cli.fit"], "LARGE_FILE", 0)
    code, _, said = run("fit", table, "-t", "sick", "--out", "model.npz")
    assert code == 0
    assert "is read whole, and not in passes: " in said
    assert run("fit", table, "-t", "sick", "--out", "model.npz", "--quiet") == (0, "", "")
