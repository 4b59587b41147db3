"""scikit-learn's estimator checks, counted: every public estimator and feature map, beside two peers.

python -m benchmarks.faults.scikit_checks [--small] [--json FILE]

`check_estimator` with the array API on, some checks that it leaves out, and for estimators that take arrays
of other libraries array-api-strict and torch, values compared. Each skip and each check that must fail is
named with its reason; any other failure breaks the promise. tests/contracts/test_scikit_checks.py runs the
same checks, but for the slowest estimator.
"""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before SciPy is imported, or array API checks are skipped

import sys
import warnings
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import NamedTuple
from unittest import SkipTest

import sklearn
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import check_estimator

import unflip
from benchmarks.faults.promise import Found, main
from unflip import features

COPIES = "leaving out a row of weight 2 leaves out both copies, so what is tuned by leave-one-out differs"
SHARES = "shares by similarity are scores over densities and know of no threshold: they rank otherwise"
# Before scikit-learn 1.9, which has this check, `classes_` had to be an array of the library too.
NEW = hasattr(estimator_checks, "check_array_api_mixed_inputs")
CLASSES = {} if NEW else {"check_array_api_input": "classes are in NumPy, as they may be words"}
WEIGHTS = {f"check_sample_weight_equivalence_on_{kind}_data": COPIES for kind in ("dense", "sparse")}
RANKS = {"check_decision_proba_consistency": SHARES}
MUST_FAIL = {
    "DenoisedClassifier()": WEIGHTS,
    "KernelSquareClassifier()": WEIGHTS,
    "KernelUnhingedClassifier()": {"check_classifiers_train": SHARES} | RANKS,
    "KernelUnhingedClassifier(threshold=0.0)": RANKS,
    "NoiseCorrectedClassifier()": WEIGHTS,
    "ProbingClassifier()": WEIGHTS,
    "RobustClassifierCV()": WEIGHTS,
    "RobustClassifierCV(feature_weights=False)": WEIGHTS,
}
VARIANTS = [  # with other checks that must fail, or another tag
    unflip.KernelUnhingedClassifier(threshold=0.0),
    unflip.KernelSquareClassifier(regularization=0.1),
    unflip.RobustClassifierCV(feature_weights=False),
    features.Standardize(center=False),
    features.OneHot(sparse=True),
    features.Fourier(kernel="laplace"),
    features.Nystroem(kernel="laplace", landmarks="pivoted"),
]
LEFT_OUT = (
    "check_param_validation",
    "check_dataframe_column_names_consistency",
    "check_estimator_sparse_tag",
)
LEFT_OUT_OF_CLASSIFIERS = ("check_inplace_ensure_writeable", "check_sample_weights_not_overwritten")
LEFT_OUT_OF_MAPS = (
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
)
CHEAP = ("UnhingedClassifier", "Standardize")
PLACES = (("numpy", None), ("array_api_strict", "CPU_DEVICE"), ("torch", "cpu"))


class Outcome(NamedTuple):
    """What came of one check."""

    check: str
    status: str
    reason: str


def public():
    """Every estimator and feature map in the open, the cheap ones first."""
    kinds = [getattr(home, name) for home in (unflip, features) for name in home.__all__]
    found = [kind() for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseEstimator)]
    return sorted(found, key=lambda estimator: type(estimator).__name__ not in CHEAP)


def outcomes(estimator):
    """Those of all checks, whatever they warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return checks_of(estimator)


def checks_of(estimator):
    """The outcomes of `check_estimator`, then those of the checks that it leaves out."""
    must_fail = MUST_FAIL.get(repr(estimator), {}) | CLASSES
    results = check_estimator(estimator, on_fail=None, on_skip=None, expected_failed_checks=must_fail)
    found = [Outcome(r["check_name"], r["status"], _reason(r)) for r in results]
    return found + [_outcome(name, check, estimator) for name, check in _more_checks(estimator)]


def as_foretold(estimator, found):
    """Whether those checks failed that must fail."""
    failed = {each.check for each in found if each.status == "xfail"}
    return failed - CLASSES.keys() == MUST_FAIL.get(repr(estimator), {}).keys()


def _reason(result):
    reason = result["expected_to_fail_reason"] if result["status"] == "xfail" else result["exception"]
    return _one_line(reason)


def _one_line(reason):
    return " ".join(str(reason or "").replace("|", "/").split())[:150]


def _outcome(name, check, estimator):
    try:
        check(type(estimator).__name__, clone(estimator))
    except SkipTest as skipped:
        return Outcome(name, "skipped", _one_line(skipped))
    except Exception as error:
        foretold = MUST_FAIL.get(repr(estimator), {}).get(name)
        return Outcome(name, "xfail" if foretold else "failed", foretold or _one_line(error))
    return Outcome(name, "passed", "")


def _more_checks(estimator):
    more = LEFT_OUT_OF_CLASSIFIERS if is_classifier(estimator) else LEFT_OUT_OF_MAPS
    for name in (*LEFT_OUT, *more):
        yield name, getattr(estimator_checks, name)
    if not get_tags(estimator).array_api_support or not NEW:
        return
    same = estimator_checks.check_array_api_input_and_values
    for library, device in PLACES:
        for weighted in (False, True):
            given = {"array_namespace": library, "device_name": device, "check_sample_weight": weighted}
            yield f"{same.__name__}({library}, weighted={weighted})", partial(same, **given)
    mixed = estimator_checks.check_array_api_mixed_inputs
    for rows, others in permutations(PLACES, 2):
        if rows[0] != "numpy":  # labels of another library do not turn rows of NumPy into theirs
            pair = [estimator_checks.NamespaceAndDevice(*place) for place in (rows, others)]
            given = {"X_ns_and_device": pair[0], "other_ns_and_device": pair[1], "check_values": True}
            yield f"{mixed.__name__}({rows[0]}, {others[0]})", partial(mixed, **given)


def row(estimator, found):
    """One estimator's row of the table."""
    name = type(estimator).__name__
    counts = Counter(each.status for each in found)
    words = [f"{counts[status]} {status}" for status in ("passed", "skipped", "failed")]
    words += [f"{counts['xfail']} must fail"] * bool(counts["xfail"])
    failed = Counter(each.check.split("(")[0] for each in found if each.status == "failed")
    result = ", ".join(words) + "".join(f"; {count} x {check}" for check, count in failed.items())
    kept = as_foretold(estimator, found) and not counts["failed"]
    return Found(f"scikit-learn's checks: {name}", f"{len(found)} checks", result, kept)


def named(promise, found, status):
    """All skips, or all checks that must fail, with their reasons."""
    chosen = [each for each in found if each.status == status]
    reasons = Counter((each.reason or "NO REASON", each.check) for each in chosen)
    words = "; ".join(f"{count} x {check}: {reason}" for (reason, check), count in sorted(reasons.items()))
    return Found(promise, f"{len(chosen)} of {len(found)}", words or "none", all(e.reason for e in chosen))


def run(estimators):
    rows, seen = [], []
    for estimator in public()[:estimators]:
        print(type(estimator).__name__, file=sys.stderr, flush=True)
        found = outcomes(estimator)
        for each in found:
            if each.status == "failed":
                print(f"  {each.check} failed: {each.reason}", file=sys.stderr)
        rows.append(row(estimator, found))
        seen += found
    rows.append(named("scikit-learn's checks: none skipped unseen", seen, "skipped"))
    rows.append(named("scikit-learn's checks: those that must fail", seen, "xfail"))
    for peer in (NearestCentroid(), GaussianNB()):
        beside = row(peer, outcomes(peer))
        rows.append(replace(beside, promise=f"{beside.promise}, a peer", kept=True))
    version = f"scikit-learn {sklearn.__version__}"
    return [replace(each, size=f"{each.size}, {version}") for each in rows]


SMALL = {"estimators": len(CHEAP)}
FULL = {"estimators": len(public())}

if __name__ == "__main__":
    main(run, SMALL, FULL)
