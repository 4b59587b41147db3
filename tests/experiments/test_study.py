"""A small run of the whole study, its counts made again by hand, and its reasons."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from unflip.experiments import names, run
from unflip.experiments.agreement import mean_range
from unflip.experiments.compare import with_reasons
from unflip.experiments.protocol import DECLARED, variants
from unflip.experiments.published import published
from unflip.experiments.runner import Task, run_task
from unflip.experiments.store import Place


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    store = tmp_path_factory.mktemp("study") / "small.sqlite"
    return run(["long", "iris"], trials=6, splits=4, store=store)


def test_every_printed_cell_of_a_dataset_is_there_and_the_hinge_twice(result):
    printed = [cell for cell in published() if cell.dataset in ("long", "iris")]
    exact = [c for c in result.cells if c.solver == "exact"]
    assert len(exact) == len(printed)
    by_key = {(c.table, c.dataset, c.metric, c.noise_rate, c.loss): c for c in exact}
    for cell in printed:
        ours = by_key[cell.table, cell.dataset, cell.metric, cell.noise_rate, cell.loss]
        assert (ours.published_mean, ours.published_std) == (cell.mean, cell.std)
    early = [c for c in result.cells if c.solver == "liblinear"]
    assert len(early) == sum(cell.loss == "hinge" for cell in printed)


def square_errors(split):
    """At noise 0.3."""
    place = Place("iris", DECLARED, 6, split)
    return run_task(Task(place, ("square",)), 0)[1][place]["square"].error[3]


def test_numbers_are_those_of_the_splits(result):
    cell = next(
        c
        for c in result.cells
        if (c.table, c.metric, c.noise_rate, c.loss, c.solver)
        == ("full-iris-matlab", "error", 0.3, "square", "exact")
    )
    draws = square_errors(0)
    assert cell.mean == pytest.approx(draws.mean())
    assert cell.std == pytest.approx(np.std(draws, ddof=1))
    # Four further splits, with as many trials as the full one has, since that has fewer than eight.
    expected = mean_range(np.array([square_errors(k) for k in range(1, 5)]))
    assert (cell.center, cell.low, cell.high) == (expected.center, expected.low, expected.high)
    assert cell.agrees == expected.agrees(cell.published_mean)


def test_tallies_cover_every_variant_and_count_cells_of_the_appendix(result):
    assert {t.protocol for t in result.tallies if t.dataset == "iris"} == {DECLARED, *variants("iris")}
    for tally in result.tallies:
        assert tally.cells == (6 if tally.dataset == "long" else 12)
        assert tally.agreeing + len(tally.differing) == tally.cells
        if tally.protocol == DECLARED:
            cells = [
                c
                for c in result.cells
                if (c.dataset, c.loss, c.solver) == (tally.dataset, tally.loss, "exact")
                and c.table.startswith("full-")
            ]
            named = [f"{c.metric} at {c.noise_rate:g}" for c in cells if not c.agrees]
            assert sorted(named) == sorted(tally.differing)


def test_every_fit_is_counted_and_certified(result):
    for row in result.certificates:
        # One noise-free fit and five rates: the full split and the four of the study, six trials each.
        assert row.fits == 5 * 31
        assert row.met == row.fits


def test_what_is_written_is_plain_json(result):
    plain = json.loads(json.dumps(result.as_plain(), allow_nan=False))
    assert set(plain) >= {"cells", "certificates", "skipped", "settings"}
    wanted = (
        "table dataset metric noise_rate loss solver protocol mean std published_mean published_std low high"
    )
    assert set(wanted.split()) < set(plain["cells"][0])
    assert plain["certificates"]["duality gap"]["fits"] == 2 * 2 * 155
    assert plain["settings"]["command"] == "unflip reproduce long iris --trials 6 --splits 4 --seed 0"


def test_cells_that_differ_say_why_and_others_say_nothing(result):
    for cell in result.cells:
        assert bool(cell.reason) != cell.agrees


def test_reasons_follow_the_other_numbers(result):
    cell = replace(result.cells[0], table="full-x-matlab", dataset="x", loss="hinge", agrees=False, reason="")
    early = replace(cell, solver="liblinear", agrees=True)
    assert with_reasons((cell, early), {})[0].reason.startswith("solver:")
    square = replace(cell, loss="square", metric="error")
    area = replace(square, metric="one_minus_auc", agrees=True)
    assert with_reasons((square, area), {})[0].reason.startswith("perhaps the threshold:")
    key = ("x", square.metric, square.noise_rate, "square", "exact")
    assert "100 evenly spaced" in with_reasons((square, area), {key: ["raw", "grid-threshold"]})[0].reason
    assert with_reasons((square,), {key: ["raw"]})[0].reason == "perhaps the protocol: agrees under raw"
    near = replace(cell, loss="logistic", low=0.1, high=0.2, published_mean=0.21)
    assert with_reasons((near,), {})[0].reason.startswith("near:")
    far = replace(near, published_mean=0.4)
    assert with_reasons((far,), {})[0].reason.startswith("open:")


def test_what_explains_the_exact_hinge_does_not_explain_the_early_stopped_one(result):
    early = replace(result.cells[0], dataset="x", loss="hinge", solver="liblinear", agrees=False)
    early = replace(early, low=0.1, high=0.2, published_mean=0.4)
    key = ("x", early.metric, early.noise_rate, "hinge")
    assert with_reasons((early,), {(*key, "exact"): ["grid-threshold"]})[0].reason.startswith("open:")
    assert "evenly spaced" in with_reasons((early,), {(*key, "liblinear"): ["grid-threshold"]})[0].reason


def test_resuming_with_fewer_splits_gives_what_fewer_splits_give(tmp_path):
    run(["long"], trials=3, splits=4, store=tmp_path / "a.sqlite")
    fewer = run(["long"], trials=3, splits=2, store=tmp_path / "a.sqlite", resume=True)
    assert fewer == run(["long"], trials=3, splits=2)


def test_an_earlier_file_is_put_aside_and_not_lost(tmp_path):
    (tmp_path / "mine.sqlite").write_text("precious")
    run(["long"], trials=2, splits=1, store=tmp_path / "mine.sqlite")
    assert (tmp_path / "mine.sqlite.old").read_text() == "precious"


def test_what_cannot_be_had_is_named_and_the_rest_is_run(monkeypatch):
    monkeypatch.delenv("UNFLIP_DATA", raising=False)
    result = run(["housing", "counterexample"], splits=1)
    assert [entry["name"] for entry in result.skipped] == ["housing"]
    assert "unflip datasets fetch housing" in result.skipped[0]["reason"]
    assert not result.complete
    assert [figure.name for figure in result.figures] == ["counterexample"]
    with pytest.raises(ValueError, match="no experiment is called 'titanic'; choose among long, mease"):
        run(["titanic"])
    with pytest.raises(ValueError, match="trials must be at least 2"):
        run(["iris"], trials=1)
    with pytest.raises(ValueError, match="splits must be at least 1, got 0"):
        run(["iris"], splits=0)
    assert len(names()) == 9 + 5 + 4


CRASH = """
import sys
from unflip.experiments import run
run(["iris", "long"], trials=20, splits=6, jobs=2, store=sys.argv[1], resume=True)
"""


@pytest.mark.slow
def test_a_run_killed_at_random_moments_ends_with_the_same_bytes(tmp_path):
    whole = run(["iris", "long"], trials=20, splits=6, store=tmp_path / "whole.sqlite")
    target, rng = tmp_path / "killed.sqlite", np.random.default_rng(0)
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", CRASH, str(target)], start_new_session=True)
        time.sleep(2.5 + 2 * rng.random())  # some of it starting up
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    again = run(["iris", "long"], trials=20, splits=6, store=target, resume=True)
    assert again.settings["digest"] == whole.settings["digest"]
    assert again == whole


def test_results_of_another_seed_are_not_resumed(tmp_path):
    run(["long"], trials=2, splits=1, store=tmp_path / "a.sqlite")
    with pytest.raises(ValueError, match=r"holds results of other settings \(seed\)"):
        run(["long"], trials=2, splits=1, store=tmp_path / "a.sqlite", seed=1, resume=True)
    run(["long"], trials=2, splits=1, store=tmp_path / "a.sqlite", resume=True)
