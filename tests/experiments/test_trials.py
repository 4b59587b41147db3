"""Protocols and trials: the same numbers as a plain loop over scikit-learn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from unflip.experiments.datasets import load
from unflip.experiments.protocol import Protocol, protocol, variants
from unflip.experiments.splits import draw_split, encode
from unflip.experiments.trials import EARLY, PAPER_LEARNERS, PAPER_RATES, run_trials


def test_one_hot_codes_are_the_peers():
    car = load("car")
    expected = OneHotEncoder(sparse_output=False).fit_transform(car.X.astype(str))
    assert_allclose(encode(car, "one-hot"), expected)
    appearing = encode(car, "appearance")[:, 0]
    assert [list(dict.fromkeys(car.X[:, 0])).index(value) for value in car.X[:, 0]] == appearing.tolist()
    with pytest.raises(ValueError, match="'one-hot', 'codes' or 'appearance', got 'hash'"):
        encode(car, "hash")


@pytest.mark.parametrize(
    ("scaling", "peer"),
    [
        ("min-max", MinMaxScaler()),
        ("plus-minus", MinMaxScaler((-1, 1))),
        ("standard", StandardScaler()),
        ("centered", StandardScaler(with_std=False)),
    ],
)
def test_scaling_learns_from_the_training_part_only(scaling, peer):
    split = draw_split("spambase", Protocol(scaling=scaling, bias=False), np.random.default_rng(3))
    raw = draw_split("spambase", Protocol(scaling="raw", bias=False), np.random.default_rng(3))
    peer.fit(raw.X_train)
    assert_allclose(split.X_train, peer.transform(raw.X_train), atol=1e-12)
    assert_allclose(split.X_test, peer.transform(raw.X_test), atol=1e-12)
    with pytest.raises(ValueError, match="scaling is one of raw"):
        draw_split("iris", Protocol(scaling="log"), np.random.default_rng(3))


def test_a_constant_column_is_shifted_and_not_blown_up():
    split = draw_split("ionosphere", Protocol(bias=False), np.random.default_rng(0))  # its second column is
    assert (split.X_train[:, 1] == 0).all()
    assert np.abs(split.X_test).max() < 10


def test_a_split_deals_every_row_once():
    data = load("iris")
    split = draw_split("iris", Protocol(scaling="raw", bias=True), np.random.default_rng(0))
    together = np.vstack([split.X_train, split.X_test])
    assert (together[:, -1] == 1).all()
    assert sorted(map(tuple, together[:, :-1].tolist())) == sorted(map(tuple, data.X.tolist()))


def test_trials_equal_a_plain_loop():
    split = draw_split("ionosphere", Protocol(), np.random.default_rng(1))
    outcome = run_trials(split, np.random.default_rng(2), 3, ["square"])["tuned"]["square"]
    # The same draws again, one trial at a time.
    rng = np.random.default_rng(2)
    for i, rate in enumerate(PAPER_RATES):
        flips = rng.random((len(split.y_train), 1 if rate == 0 else 3)) < rate
        for k in range(3):
            flipped = flips[:, min(k, flips.shape[1] - 1)]
            y = np.where(flipped, -split.y_train, split.y_train)
            peer = LinearRegression(fit_intercept=False).fit(split.X_train, y)
            train, test = peer.predict(split.X_train), peer.predict(split.X_test)
            assert outcome.one_less_auc[i, k] == pytest.approx(1 - roc_auc_score(split.y_test, test))
            cuts = np.concatenate([[train.min() - 1], np.sort(train) + 1e-9])
            errors = [np.mean((train > cut) != (y > 0)) for cut in cuts]
            best = cuts[int(np.argmin(errors))]
            assert abs(outcome.error[i, k] - np.mean((test > best) != (split.y_test > 0))) < 0.03


def test_every_learner_runs_is_certified_and_repeats_with_its_seed():
    split = draw_split("iris", Protocol(), np.random.default_rng(0))
    one = run_trials(split, np.random.default_rng(5), trials=20)["tuned"]
    two = run_trials(split, np.random.default_rng(5), trials=20)["tuned"]
    assert set(one) == set(PAPER_LEARNERS)
    for name in PAPER_LEARNERS:
        assert one[name].error.shape == (len(PAPER_RATES), 5 if name == EARLY else 20)
        assert np.array_equal(one[name].error, two[name].error)
        assert np.ptp(one[name].error[0]) == 0  # no noise, no spread
        if name != EARLY:
            assert (one[name].error[0] == 0).all()  # setosa is separable
            assert one[name].certificate.shape == (101,)
            assert ((one[name].certificate < 1e-6) | (one[name].separable > 0)).all()


def test_a_threshold_of_zero_is_the_sign_of_the_score():
    split = draw_split("long", protocol("long"), np.random.default_rng(0))
    outcome = run_trials(split, np.random.default_rng(1), 2, ["square"], ["zero"], [0.0])["zero"]["square"]
    weights = np.linalg.lstsq(split.X_train, split.y_train, rcond=None)[0]
    assert outcome.error[0, 0] == np.mean(split.X_test @ weights < 0)  # every label is positive


def test_every_variant_is_a_protocol_and_changes_something():
    for dataset in ("long", "mease", "iris", "car", "splice"):
        for name in variants(dataset):
            assert protocol(dataset, name) != protocol(dataset)
    assert variants("long") == ["gamma-half", "masses-of-the-text", "gamma-thirteenth", "half-first"]
    with pytest.raises(ValueError, match="iris has no protocol called 'leak'; choose one of declared, raw"):
        protocol("iris", "leak")
