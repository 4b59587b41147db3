"""The runner: the same numbers whatever the jobs, the order and the interruptions."""

import numpy as np
import pytest

from unflip.experiments.runner import Task, run_task, run_tasks
from unflip.experiments.store import Place, Store

TASKS = [
    Task(Place(name, "declared", 3, split), ("hinge", "square", "unhinged"))
    for name in ("iris", "long")
    for split in range(3)
]


def stored(tmp_path, name, **options):
    store = Store(tmp_path / f"{name}.sqlite", {"seed": "0"})
    run_tasks(TASKS, store, **options)
    return store


def test_jobs_and_order_do_not_show_in_the_results(tmp_path):
    one, two = stored(tmp_path, "one"), stored(tmp_path, "two", jobs=2)
    assert one.digest() == two.digest()
    assert stored(tmp_path, "other", seed=1).digest() != one.digest()


def test_an_interrupted_run_ends_with_the_same_bytes(tmp_path):
    whole = stored(tmp_path, "whole")
    store = Store(tmp_path / "cut.sqlite", {"seed": "0"})
    # A learner at a time, as the tasks of a full split come, and none at all twice.
    run_tasks([Task(task.place, ("square",)) for task in TASKS[:2]], store)
    seen = []

    def interrupt(task):
        seen.append(task)
        if len(seen) % 3 == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_tasks(TASKS, store, progress=interrupt)
    assert 4 < len(store.done()) < 18
    again = Store(tmp_path / "cut.sqlite", {"seed": "0"})  # as a new process would
    run_tasks(TASKS, again)
    assert len(again.done()) == 18
    assert again.digest() == whole.digest()


def test_what_is_read_back_is_what_was_run(tmp_path):
    outcomes = stored(tmp_path, "kept").outcomes("iris", "declared", 3, range(3))["hinge"]
    assert len(outcomes) == 3
    _, found = run_task(TASKS[1], 0)
    fresh = found[TASKS[1].place]
    for name in ("error", "one_less_auc", "certificate", "separable", "curvature"):
        assert np.array_equal(getattr(outcomes[1], name), getattr(fresh["hinge"], name), equal_nan=True)


def test_results_of_other_settings_are_not_mixed(tmp_path):
    Store(tmp_path / "a.sqlite", {"seed": "0", "trials": "8"})
    with pytest.raises(ValueError, match="other settings \\(trials\\); name another file"):
        Store(tmp_path / "a.sqlite", {"seed": "0", "trials": "9"})


def test_protocols_share_rows_and_flips():
    places = [Place("iris", name, 3, 0) for name in ("declared", "plus-minus")]
    declared, raw = (run_task(Task(place, ("square",)), 0)[1][place]["square"] for place in places)
    # With a bias the square loss sees only the column space, which min-max to [-1, 1] does not change.
    assert np.array_equal(declared.error, raw.error)


def test_another_threshold_is_scored_with_the_same_fits():
    place, other = Place("iris", "declared", 3, 0), Place("iris", "zero-threshold", 3, 0)
    _, both = run_task(Task(place, ("square", "hinge"), also=("zero-threshold",)), 0)
    _, alone = run_task(Task(other, ("square", "hinge")), 0)
    for learner in ("square", "hinge"):
        assert np.array_equal(both[other][learner].error, alone[other][learner].error)
        assert not np.array_equal(both[place][learner].error, both[other][learner].error)
        assert np.array_equal(both[place][learner].one_less_auc, both[other][learner].one_less_auc)
