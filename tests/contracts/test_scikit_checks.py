"""scikit-learn's own checks, once for every public estimator and feature map, and for some variants."""

import pytest
from benchmarks.faults.scikit_checks import VARIANTS, as_foretold, checks_of, public
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import estimator_checks

from unflip import UnhingedClassifier

# To estimate the noise of each check takes longer than all other estimators together: in `make faults`.
QUICK = [each for each in [*public(), *VARIANTS] if repr(each) != "NoiseCorrectedClassifier()"]


@pytest.mark.filterwarnings("ignore:X (does not have|has) .*feature names")
@pytest.mark.filterwarnings("ignore:class .* has one row:UserWarning")
@pytest.mark.parametrize("estimator", QUICK, ids=repr)
def test_all_checks_pass_but_those_that_must_fail(estimator):
    found = checks_of(estimator)
    assert len(found) >= 48
    assert [f"{each.check}: {each.reason}" for each in found if each.status == "failed"] == []
    assert as_foretold(estimator, found)
    # Of arrays on GPUs and of libraries that are not here, scikit-learn leaves the checks out.
    skipped = {each.check for each in found if each.status == "skipped"}
    assert all(name.startswith("check_array_api") for name in skipped)
    assert {each.status for each in found} <= {"passed", "skipped", "xfail"}


def test_balanced_class_weight_is_what_scikit_learn_means_by_it():
    estimator_checks.check_class_weight_balanced_linear_classifier("UnhingedClassifier", UnhingedClassifier())


class Silent(ClassifierMixin, BaseEstimator):
    """An estimator that checks nothing."""

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        return X


def test_a_check_that_fails_is_counted():
    failed = {each.check for each in checks_of(Silent()) if each.status == "failed"}
    assert {"check_n_features_in", "check_estimators_nan_inf"} <= failed
