"""What `audit` and `fit` ask about before they say anything: sentences, ratings, labels in two spellings."""

import json

import polars as pl
import pytest
from tests.tables.test_sentences import PAIRS, TEXTS

from unflip.models import TableModel

COMMANDS = {"audit": ["audit"], "fit": ["fit", "--out", "model.npz"]}
LEARNERS = ["square", "robust"]


def refused(run, *arguments):
    code, said, error = run(*arguments)
    assert (code, said) == (2, "")
    assert error.startswith("unflip: ")
    return error


def texts(folder, ending="csv", **more):
    frame = pl.DataFrame({"text": TEXTS, **more, "y": ["a", "b"] * 50})
    path = folder / f"texts.{ending}"
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    return path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("options", [[], ["--text", "text"]])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("more", [{}, {"size": [float(n * n % 17) for n in range(100)]}])
def test_a_column_of_sentences_is_refused(run, tmp_path, command, options, ending, more):
    path = texts(tmp_path, ending, **more)
    error = refused(run, *COMMANDS[command], path, "-t", "y", *options)
    assert "column 'text' of X holds sentences, such as 'I bought the kettle" in error
    assert error.endswith("(--drop text in the command; --category text if it is categories)\n")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_whoever_calls_texts_categories_has_them_read_so(run, tmp_path, ending):
    path = texts(tmp_path, ending, size=[float(n * n % 17) for n in range(100)])
    assert run("fit", path, "-t", "y", "--category", "text", "--out", "model.npz", "-q")[0] == 0


def test_the_way_out_of_sentences_is_one(run, tmp_path):
    path = texts(tmp_path, size=[float(n * n % 17) for n in range(100)])
    assert run("fit", path, "-t", "y", "--drop", "text", "--out", "model.npz", "-q") == (0, "", "")


def ratings(folder, n=400, last=42):
    frame = pl.DataFrame({"x": [k * k % 101 for k in range(n)], "rating": [k % (last + 1) for k in range(n)]})
    frame.write_csv(folder / "ratings.csv")
    frame.with_columns(pl.col("rating").cast(pl.Float64)).write_parquet(folder / "ratings.parquet")
    return frame


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_rating_as_target_is_asked_about(run, tmp_path, command, ending):
    ratings(tmp_path)
    error = refused(run, *COMMANDS[command], f"ratings.{ending}", "-t", "rating", "--text", "rating")
    assert error == (
        "unflip: the target 'rating' holds 43 different whole numbers, 0 to 42: if they are amounts or "
        "ratings, group them first (for example into low and high); if each is the code of a class, say so "
        "with --category rating\n"
    )


def test_twenty_numbers_one_number_against_all_others_and_words_are_not_asked_about(run, tmp_path):
    ratings(tmp_path, last=19)
    assert run("fit", "ratings.csv", "-t", "rating", "--out", "a.npz", "-q") == (0, "", "")
    frame = ratings(tmp_path, last=20)
    refused(run, "fit", "ratings.csv", "-t", "rating", "--out", "a.npz", "-q")
    one = ("fit", "ratings.csv", "-t", "rating", "--positive", "7", "--out", "a.npz", "-q")
    assert run(*one) == (0, "", "")
    frame.with_columns(rating=pl.format("code {}", "rating")).write_csv(tmp_path / "words.csv")
    assert run("fit", "words.csv", "-t", "rating", "--out", "a.npz", "-q") == (0, "", "")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_confirmed_codes_keep_their_values_wherever_they_are_read_again(run, tmp_path, ending):
    frame, file = ratings(tmp_path), f"ratings.{ending}"
    say = ("--category", "rating")
    assert run("fit", file, "-t", "rating", *say, "--out", "a.npz", "-q") == (0, "", "")
    assert TableModel.load(tmp_path / "a.npz").labels == list(range(43))
    assert run("fit", file, "--like", "a.npz", "--out", "b.npz", "-q") == (0, "", "")
    assert run("merge", "a.npz", "b.npz", "--out", "ab.npz", "-q") == (0, "", "")
    assert run("forget", "ab.npz", file, "--out", "back.npz", "-q") == (0, "", "")
    counts = dict(frame["rating"].cast(pl.String).value_counts().iter_rows())
    assert TableModel.load(tmp_path / "back.npz").counts == pytest.approx(counts)
    found = json.loads(run("predict", "back.npz", file, "--json")[1])
    assert all(type(row["prediction"]) is int for row in found["predictions"])


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_audit_and_every_learner_take_confirmed_codes(run, tmp_path, learner):
    ratings(tmp_path, n=200, last=21)
    say = ("-t", "rating", "--category", "rating", "-q")
    assert run("fit", "ratings.csv", *say, "--learner", learner, "--out", "a.npz")[0] == 0


def test_an_audit_takes_confirmed_codes(run, tmp_path):
    ratings(tmp_path, n=200, last=21)
    code, said, _ = run("audit", "ratings.csv", "-t", "rating", "--category", "rating", "--json", "-q")
    assert code == 0
    assert all(type(row["given"]) is int for row in json.loads(said)["suspects"])


def test_targets_that_no_word_makes_classes_stay_refused(run, tmp_path):
    rows = "".join(f"{k},{k % 150},{k % 7 / 10}\n" for k in range(600))
    (tmp_path / "a.csv").write_text("x,amount,share\n" + rows)
    for target, said in (("amount", "labels are at most 100 classes"), ("share", "holds fractions")):
        for say in ([], ["--category", target]):
            assert said in refused(run, "fit", "a.csv", "-t", target, *say, "--out", "a.npz")


def zips(folder):
    frame = pl.DataFrame(
        {"zip": [10115, 53111, 60311, 80331] * 25, "x": [k % 9 for k in range(100)], "y": [0, 1, 1, 0] * 25}
    )
    frame.write_csv(folder / "zips.csv")
    frame.write_parquet(folder / "zips.parquet")
    return frame


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_numbers_that_are_categories_are_so_from_any_file(run, tmp_path, ending, learner):
    """Four codes of which the first and the last are zeros: no line through the numbers tells them apart."""
    frame = zips(tmp_path)
    way = ("-t", "y", "--category", "zip", "--learner", learner, "--out", "model.npz", "-q")
    assert run("fit", f"zips.{ending}", *way) == (0, "", "")
    for later in ("zips.csv", "zips.parquet"):
        found = pl.read_csv(run("predict", "model.npz", later)[1].encode())
        assert found["prediction"].to_list() == frame["y"].to_list()


def test_category_names_columns_that_are_there_and_is_settled_by_a_model(run, tmp_path):
    zips(tmp_path)
    for ending in ("csv", "parquet"):
        error = refused(run, "fit", f"zips.{ending}", "-t", "y", "--category", "zap", "--out", "a.npz")
        assert "no column 'zap'" in error
    assert run("fit", "zips.csv", "-t", "y", "--out", "a.npz", "-q") == (0, "", "")
    error = refused(run, "fit", "zips.csv", "--like", "a.npz", "--category", "zip", "--out", "b.npz")
    assert "--category" in error


def answers(folder, name="answers", yes=("yes",), n=60):
    """Half of them no, and now and then one of the other spellings."""
    said = ["no" if k % 2 else yes[k // 2 % len(yes)] for k in range(n)]
    pl.DataFrame({"x": [k * k % 23 for k in range(n)], "ok": said}).write_csv(folder / f"{name}.csv")
    pl.DataFrame({"x": [k * k % 23 for k in range(n)], "ok": said}).write_parquet(folder / f"{name}.parquet")


@pytest.mark.parametrize("command", COMMANDS)
def test_two_spellings_of_a_label_are_asked_about(run, tmp_path, command):
    answers(tmp_path, yes=("Yes", "yes", "Yes"))
    assert refused(run, *COMMANDS[command], "answers.csv", "-t", "ok") == (
        "unflip: the labels 'Yes' and 'yes' differ in writing only (20 and 10 rows of 'ok'); write them "
        "alike, or say with --category ok that they are two classes\n"
    )
    answers(tmp_path, yes=("yes", "yes "))
    error = refused(run, *COMMANDS[command], "answers.parquet", "-t", "ok")
    assert "the labels 'yes' and 'yes ' differ" in error


def test_two_spellings_that_are_two_classes_stay_so(run, tmp_path):
    answers(tmp_path, yes=("Yes", "yes"))
    say = ("-t", "ok", "--category", "ok", "-q")
    assert run("fit", "answers.csv", *say, "--out", "a.npz") == (0, "", "")
    assert TableModel.load(tmp_path / "a.npz").counts == {"Yes": 15, "no": 30, "yes": 15}
    assert run("fit", "answers.csv", "--like", "a.npz", "--out", "b.npz", "-q") == (0, "", "")
    assert run("merge", "a.npz", "b.npz", "--out", "ab.npz", "-q") == (0, "", "")
    assert run("forget", "ab.npz", "answers.csv", "--out", "back.npz", "-q") == (0, "", "")
    assert run("predict", "back.npz", "answers.csv")[0] == 0


def test_a_later_file_cannot_bring_another_spelling_of_a_known_label(run, tmp_path):
    answers(tmp_path)
    answers(tmp_path, "later", yes=("YES",))
    assert run("fit", "answers.csv", "-t", "ok", "--out", "a.npz", "-q") == (0, "", "")
    said = "the labels 'yes' and 'YES' differ in writing only (0 and 30 rows of 'ok'); write them alike\n"
    assert said in refused(run, "fit", "later.csv", "--like", "a.npz", "--out", "b.npz")
    assert said in refused(run, "forget", "a.npz", "later.csv", "--out", "b.npz")


def test_one_label_against_all_others_is_asked_about_its_own_spellings_only(run, tmp_path):
    rows = "".join(f"{k * k},{label}\n" for k, label in enumerate(["yes", "no", "No"] * 10))
    (tmp_path / "a.csv").write_text("x,y\n" + rows)
    assert run("fit", "a.csv", "-t", "y", "--positive", "yes", "--out", "a.npz", "-q") == (0, "", "")
    error = refused(run, "fit", "a.csv", "-t", "y", "--positive", "no", "--out", "a.npz")
    assert "the labels 'no' and 'No' differ in writing only" in error
    assert "--category" not in error


def test_text_in_few_words_is_still_a_category(run, tmp_path):
    frame = pl.DataFrame({"what": [how for _, how in PAIRS], "y": ["a", "b"] * 50})
    frame.write_csv(tmp_path / "few.csv")
    assert run("fit", "few.csv", "-t", "y", "--out", "a.npz", "-q") == (0, "", "")
