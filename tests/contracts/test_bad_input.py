"""Every case of the table of bad input, with every public learner; `make faults` walks it in more ways."""

import numpy as np
import pytest
from benchmarks.faults import bad_input
from benchmarks.faults.bad_input import QUICK, concerns, outcome, parameter_cases
from benchmarks.faults.bad_input_labels import LABELS, RARE, SCALES, WEIGHTS
from benchmarks.faults.bad_input_rows import CASES

import unflip
from unflip import features

TABLE = {case.name: case for case in (*CASES, *LABELS, *WEIGHTS, RARE, *SCALES)}
HAS_PARAMETERS = [unflip.UnhingedClassifier(), unflip.KernelUnhingedClassifier(), unflip.RobustClassifierCV()]


def test_every_case_has_a_name_of_its_own():
    assert len(TABLE) == len(CASES) + len(LABELS) + len(WEIGHTS) + 1 + len(SCALES)


@pytest.mark.parametrize("name", TABLE)
def test_it_is_fitted_and_right_or_refused_by_name_and_the_fitted_model_stays(name):
    case = TABLE[name]
    broken = {learner: outcome(learner, case) for learner in QUICK if concerns(case, learner)}
    assert {str(learner): what for learner, what in broken.items() if what} == {}


@pytest.mark.parametrize("estimator", HAS_PARAMETERS, ids=repr)
def test_parameters_of_any_kind_are_fitted_or_refused_by_name(estimator):
    broken = {case.name: outcome(changed, case) for changed, case in parameter_cases(estimator)}
    assert {name: what for name, what in broken.items() if what} == {}


class Lenient(unflip.UnhingedClassifier):
    """Refuses in words that name nothing, and after it has forgotten what it was fitted to."""

    def fit(self, X, y, sample_weight=None):
        try:
            return super().fit(X, y, sample_weight)
        except ValueError:
            self.coef_ = None
            raise


class Careless(unflip.UnhingedClassifier):
    """Takes anything for good rows."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(np.eye(3), [0, 1, 0])


class Nameless(unflip.UnhingedClassifier):
    """Does not say what is wrong."""

    def fit(self, X, y, sample_weight=None):
        try:
            return super().fit(X, y, sample_weight)
        except ValueError:
            raise ValueError("bad input") from None


class Scaled(unflip.UnhingedClassifier):
    """Sees the unit of the rows."""

    def predict(self, X):
        return super().predict(X)[:: 1 if np.abs(X).max() > 1e-3 else -1]


@pytest.mark.parametrize(
    ("learner", "name", "kind"),
    [
        (Lenient(), "NaN at (0, 0)", "changed though refused: coef_"),
        (Careless(), "y is one class", "accepted, instead of"),
        (Nameless(), "NaN at (0, 0)", "nameless message: bad input"),
        (Nameless(), "strided", ""),
        (Scaled(), "a factor of 1e-09", "wrong on scale"),
        (features.Standardize(), "a factor of 1e-09", None),
    ],
)
def test_the_judge_sees_what_is_broken(learner, name, kind):
    if kind is None:
        assert not concerns(TABLE[name], learner)
    else:
        said = outcome(learner, TABLE[name])
        assert said.startswith(kind)
        assert bool(said) == bool(kind)


@pytest.mark.subprocess
def test_the_program_of_make_faults_walks_the_table_and_counts(capsys):
    found = bad_input.run(estimators=1, maps=1, every=60, examples=0)
    assert [each.kept for each in found] == [True] * 3
    assert "LinearDiscriminantAnalysis" in found[0].result
