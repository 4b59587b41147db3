"""The runner: the same numbers whatever the jobs, the order and the interruptions."""

import numpy as np
import pytest

from unflip.experiments.runner import names, run, run_split
from unflip.experiments.store import Store


def stored(tmp_path, name, **options):
    store = Store(tmp_path / f"{name}.sqlite", {"seed": "0"})
    run(["iris", "long"], store, splits=3, trials=3, **options)
    return store


def test_jobs_and_order_do_not_show_in_the_results(tmp_path):
    one, two = stored(tmp_path, "one"), stored(tmp_path, "two", jobs=2)
    assert one.digest() == two.digest()
    assert stored(tmp_path, "other", seed=1).digest() != one.digest()


def test_an_interrupted_run_ends_with_the_same_bytes(tmp_path):
    whole = stored(tmp_path, "whole")
    store = Store(tmp_path / "cut.sqlite", {"seed": "0"})

    def interrupt(dataset, split):
        raise KeyboardInterrupt

    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            run(["iris", "long"], store, splits=3, trials=3, progress=interrupt)
    assert sum(len(store.done(name)) for name in ("iris", "long")) == 3
    again = Store(tmp_path / "cut.sqlite", {"seed": "0"})  # as a new process would
    run(["iris", "long"], again, splits=3, trials=3)
    assert again.digest() == whole.digest()


def test_what_is_read_back_is_what_was_run(tmp_path):
    store = stored(tmp_path, "kept")
    outcomes = store.outcomes("iris")["unhinged"]
    assert len(outcomes) == 3
    fresh = run_split("iris", 1, 3, 0)["unhinged"]
    assert np.array_equal(outcomes[1].error, fresh.error)
    assert np.array_equal(outcomes[1].one_less_auc, fresh.one_less_auc, equal_nan=True)


def test_results_of_other_settings_are_not_mixed(tmp_path):
    Store(tmp_path / "a.sqlite", {"seed": "0", "trials": "8"})
    with pytest.raises(ValueError, match="other settings \\(trials\\); name another file"):
        Store(tmp_path / "a.sqlite", {"seed": "0", "trials": "9"})


def test_what_cannot_be_had_is_named_and_the_rest_is_run(tmp_path, monkeypatch):
    monkeypatch.delenv("UNFLIP_DATA", raising=False)
    store = Store(tmp_path / "b.sqlite", {})
    assert run(["housing", "iris"], store, splits=1, trials=1) == ["housing"]
    assert store.done("iris") == {0}
    with pytest.raises(ValueError, match="choose one of long, mease, iris"):
        run(["titanic"], store)
    assert len(names()) == 9
