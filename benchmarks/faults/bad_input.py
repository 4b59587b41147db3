"""A battery of bad input: every case fits and is right, or is refused by a message that names the culprit.

python -m benchmarks.faults.bad_input [--small] [--json FILE]

Each case makes its data anew, says what must come of it, and is run with every learner, which was fitted to
good rows before. Broken is what ends in another exception than ValueError or TypeError, lets a warning of
NumPy leak, leaves a model that is not finite or predictions that are no class, is accepted though it must not
be (or the reverse), is refused without naming the culprit or after it has touched the fitted model, or
changes the classifier by a mere change of scale. scikit-learn's linear discriminant and logistic regression
meet the same cases as a yardstick. Then come properties of drawn data, those of
tests/contracts/test_hostile_input.py.

The same table of cases, and the same judge, is walked by tests/contracts/test_bad_input.py with fewer
learners (`QUICK`); nothing else lists bad input.
"""

import os
import pickle
import re
import subprocess
import sys
import traceback
import warnings
from collections import Counter
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

import unflip
from benchmarks.faults.bad_input_case import SAME, Case, Given, rows
from benchmarks.faults.bad_input_labels import HOSTILE, LABELS, RARE, SCALES, WEIGHTS
from benchmarks.faults.bad_input_rows import CASES
from benchmarks.faults.promise import Found, main
from unflip import features
from unflip.moments import accumulate
from unflip.sources import arrays


class Accumulated(BaseEstimator):
    """Rows, labels and weights on the way into sums, where there is no estimator to check them."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Accumulated":
        self.moments_ = accumulate(arrays(X, y, weight=sample_weight))
        return self


OURS = [  # every public estimator as it comes, after the cheap ones; then other ways through them
    unflip.UnhingedClassifier(),
    unflip.SquareClassifier(),
    unflip.BoundedUnhingedClassifier(),
    unflip.KernelUnhingedClassifier(),
    unflip.KernelSquareClassifier(),
    unflip.LossClassifier(),
    unflip.NoiseCorrectedClassifier(),
    unflip.ProbingClassifier(),
    unflip.RobustClassifierCV(),
    unflip.UnhingedClassifier(threshold="loo"),
    unflip.UnhingedClassifier(summation="exact"),
    unflip.UnhingedClassifier(class_weight="balanced", features=features.Standardize(center=False)),
    unflip.LossClassifier("hinge"),
    unflip.LossClassifier("sigmoid"),
    unflip.NoiseCorrectedClassifier(noise=0.1),
    unflip.KernelUnhingedClassifier(bandwidth="loo", center=True, threshold="mean"),
    unflip.KernelUnhingedClassifier(reading="density"),
    unflip.KernelUnhingedClassifier(compress="herding", n_support=20),
    unflip.KernelSquareClassifier(n_landmarks=20),
]
MAPS = [
    features.Standardize(),
    features.Quantile(),
    features.OneHot(),
    features.Fourier(n_features=20),
    features.OrthogonalFourier(n_features=20),
    features.Nystroem(n_components=10),
    features.Tabular(),
]
QUICK = [  # for every run of the tests: every public learner, none that estimates the noise of each case
    Accumulated(),
    *(each for each in OURS[:9] if repr(each) != "NoiseCorrectedClassifier()"),
    unflip.NoiseCorrectedClassifier(noise=0.1),
    *MAPS,
]
PEERS = [LinearDiscriminantAnalysis(), LogisticRegression()]
REFUSALS = (ValueError, TypeError)  # scikit-learn's NotFittedError and InvalidParameterError are both
BROKEN = (
    "stray exception",
    "leaked warning",
    "non-finite model",
    "nameless message",
    "accepted",
    "refused",
    "wrong on scale",
    "changed though refused",
)
OPEN = {"loo_scores_", "honest_scores_"}  # a class without other rows is never chosen: minus infinity


def outcome(estimator: Any, case: Case) -> str:
    """What is broken, in a word and a reason; nothing if all is well."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = _fitted_before(estimator)
        state = _state(model)
        try:
            given = case.given()
            model = _fit(model, given, case.standardized)
            state = None
            answer = _answer(model, given)
        except REFUSALS as error:
            broken = _wrongly_refused(estimator, case, str(error)) or _changed(model, state)
        except Exception as error:
            broken = f"stray exception: {type(error).__name__}: {error}"
        else:
            broken = _wrongly_fitted(estimator, case, model, answer)
    kinds = [RuntimeWarning] if state is None else [RuntimeWarning, UserWarning]  # a refusal says it all
    leaked = [str(warning.message) for warning in seen if warning.category in kinds]
    return broken or (f"leaked warning: {leaked[0]}" if leaked else "")


def _fitted_before(estimator: Any) -> Any:
    """The learner, fitted to good rows; as it is, where its parameters do not let it be fitted."""
    name = repr(estimator)
    if name not in _before:
        model = clone(estimator)
        with suppress(*REFUSALS):
            _fit(model, Given(*rows()))
        _before[name] = pickle.dumps(model)
    return pickle.loads(_before[name])


_before: dict[str, bytes] = {}


def _state(model: Any) -> dict[str, bytes]:
    return {name: pickle.dumps(value) for name, value in vars(model).items()}


def _changed(model: Any, state: dict[str, bytes] | None) -> str:
    """What a refused fit did to a fitted model."""
    if state is None or isinstance(model, tuple(map(type, PEERS))):
        return ""
    now = _state(model)
    touched = [name for name in state | now if state.get(name) != now.get(name)]
    return f"changed though refused: {', '.join(touched)}" if touched else ""


def _fit(model: Any, given: Given, standardized: bool = False) -> Any:
    if standardized:
        model = make_pipeline(features.Standardize(), clone(model))
    if isinstance(model, Accumulated):
        return model.fit(given.X, given.y, given.weight)
    if not hasattr(model, "predict"):
        return model.fit(given.X)
    if given.weight is None:
        return model.fit(given.X, given.y)
    return model.fit(given.X, given.y, sample_weight=given.weight)


def _answer(model: Any, given: Given) -> dict[str, Any]:
    query = given.X if given.query is SAME else given.query
    if hasattr(model, "transform") and not hasattr(model, "predict"):
        return {"transform": model.transform(query)}
    methods = [name for name in ("predict", "decision_function", "predict_proba") if hasattr(model, name)]
    return {name: getattr(model, name)(query) for name in methods}


def _wrongly_refused(estimator: Any, case: Case, message: str) -> str:
    first = message.splitlines()[0][:200]
    needs_dense = not get_tags(estimator).input_tags.sparse and "ense" in message
    if case.refused is None and not needs_dense and not _of_two_classes(message):
        return f"refused: {first}"
    if case.refused is None or needs_dense or re.search(f"(?s){case.refused}", message):
        return ""
    return f"nameless message: {first}"


def _of_two_classes(message: str) -> bool:
    return "binary" in message


def _wrongly_fitted(estimator: Any, case: Case, model: Any, answer: dict[str, Any]) -> str:
    takes = get_tags(estimator).input_tags
    if isinstance(estimator, features.OneHot):
        return ""  # anything is a level
    if isinstance(estimator, Accumulated) and re.search("(one|no) class", case.refused or ""):
        return ""  # sums of one class are sums
    if case.refused is not None and not case.may_fit and not getattr(takes, case.unless, False):
        return f"accepted, instead of {case.refused!r}"
    for name, value in vars(model).items():
        bad = None if name in OPEN or not name.endswith("_") else _not_finite(value)
        if bad is not None:
            return f"non-finite model: {name} holds {bad}"
    for name, value in answer.items():
        if name != "predict" and np.isnan(value.data if sparse.issparse(value) else value).any():
            return f"non-finite model: {name} is NaN"  # a score beyond all floats may be infinite
    if "predict" in answer and not set(answer["predict"].tolist()) <= set(model.classes_.tolist()):
        return "non-finite model: a prediction is no class"
    if "predict_proba" in answer and not np.allclose(answer["predict_proba"].sum(axis=1), 1):
        return "non-finite model: probabilities do not sum to one"
    return _wrong_scale(estimator, case, answer) if case.truth else ""


def _wrong_scale(estimator: Any, case: Case, answer: dict[str, Any]) -> str:
    """The classifier must say the same of every row; if rows are repeated, of those away from the border."""
    truth = case.truth()
    right = _answer(_fit(clone(estimator), truth, case.standardized), truth)
    differ = np.flatnonzero(answer["predict"] != right["predict"])
    if case.given().query is not SAME:  # what is tuned by leaving a row out leaves its copy in
        score = np.abs(right["decision_function" if "decision_function" in right else "predict_proba"])
        score = score if score.ndim == 1 else score.max(axis=1)
        differ = differ[score[differ] > np.median(score)]
    return f"wrong on scale: {len(differ)} rows change class" if len(differ) else ""


def _not_finite(value: Any) -> Any:
    """The first number that is not finite in what an attribute holds; None if all are."""
    if sparse.issparse(value):
        value = value.data
    if isinstance(value, np.ndarray | float):
        numbers = np.asarray(value)
        bad = numbers[~np.isfinite(numbers)] if numbers.dtype.kind in "fc" else numbers[:0]
        return bad[0] if bad.size else None
    if is_dataclass(value):
        value = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return next((bad for each in value if (bad := _not_finite(each)) is not None), None)
    return None


def parameter_cases(estimator: Any) -> list[tuple[Any, Case]]:
    """Every parameter with every hostile value: fitted, or refused by the parameter's name."""
    pairs = []
    for name in estimator.get_params(deep=False):
        for word, value in HOSTILE.items():
            case = Case(f"{name} is {word}", lambda: Given(*rows()), rf"\b{name}\b", may_fit=True)
            pairs.append((clone(estimator).set_params(**{name: value}), case))
    return pairs


def judged(pairs: list[tuple[Any, Case]]) -> Counter[str]:
    """How many runs were broken, and in which way; each is told on stderr."""
    found: Counter[str] = Counter()
    for k, (estimator, case) in enumerate(pairs):
        broken = outcome(estimator, case)
        if broken:
            print(f"  {estimator} | {case.name} | {broken}", file=sys.stderr)
            found[re.split("[:,]", broken)[0]] += 1
        if k % 500 == 499:
            print(f"{k + 1} of {len(pairs)} runs", file=sys.stderr, flush=True)
    return found


def peers_on(cases: list[Case]) -> str:
    """Stray exceptions of the peers, or scale cases that they get wrong, in words."""
    words = []
    for place, peer in enumerate(PEERS):
        found: Counter[str] = Counter()
        for case in cases:
            broken = _apart(place, case) if case.deadly else outcome(peer, case)
            found[broken.split(":")[0]] += 1
        bad = [
            f"{found[what]} {what}" for what in ("crash", "stray exception", "leaked warning") if found[what]
        ]
        if any(case.truth for case in cases):
            bad = [f"{found.total() - found['']} wrong"]
        words.append(f"{type(peer).__name__}: {', '.join(bad or ['none'])} of {len(cases)}")
    return "; ".join(words)


def _apart(peer: int, case: Case) -> str:
    """What a case does to a peer, in a process of its own, which it may end."""
    code = f"from benchmarks.faults import bad_input as b; b.outcome(b.PEERS[{peer}], b.named({case.name!r}))"
    ended = subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    return "crash" if ended.returncode < 0 else ""


def named(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


def concerns(case: Case, learner: Any) -> bool:
    """Whether a case can be tried with a learner: maps see rows only, sums do not predict."""
    if hasattr(learner, "predict"):
        return True
    if case.truth is not None or not isinstance(learner, Accumulated):
        return case.truth is None and case.of_rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.given().query is SAME


def run(estimators: int, maps: int, every: int, examples: int) -> list[Found]:
    ours, plain, scales = OURS[:estimators], [*CASES, *LABELS, *WEIGHTS, RARE][::every], SCALES[::every]
    pairs = [(each, case) for each in [*ours, *MAPS[:maps]] for case in plain if concerns(case, each)]
    size = f"{len(plain)} cases x {len(ours)} estimators and {len(MAPS[:maps])} feature maps"
    found = [_found("bad input: named, or fitted and finite", size, pairs, peers_on(plain))]
    pairs = [pair for estimator in ours for pair in parameter_cases(estimator)[::every]]
    size = f"{len(HOSTILE)} hostile values x the parameters of {len(ours)} estimators"
    found.append(_found("bad input: parameters", size, pairs))
    pairs = [(estimator, case) for estimator in ours for case in scales]
    size = f"{len(scales)} scale cases x {len(ours)} estimators"
    found.append(_found("bad input: the same classifier at every scale", size, pairs, peers_on(scales)))
    return [*found, _properties(examples)] if examples else found


def _found(promise: str, size: str, pairs: list[tuple[Any, Case]], peers: str = "") -> Found:
    broken = judged(pairs)
    words = ", ".join(f"{broken[kind]} {kind}" for kind in BROKEN)
    result = words + (f" (beside it {peers})" if peers else "")
    return Found(promise, f"{size}: {len(pairs)} runs", result, not broken)


def _properties(examples: int) -> Found:
    os.environ["UNFLIP_EXAMPLES"] = str(examples)  # read when the tests are imported
    from tests.contracts import test_hostile_input as tests

    broken = []
    for name in tests.PROPERTIES:
        print(name, file=sys.stderr, flush=True)
        try:
            getattr(tests, name)()
        except Exception as error:
            broken.append(f"{name}: {type(error).__name__}")
            traceback.print_exception(error)  # with the example, in notes of hypothesis
    size = f"{tests.tried.total()} drawn examples of {len(tests.PROPERTIES)} properties"
    return Found(
        "bad input: properties of drawn data", size, "; ".join(broken) or "no counterexample", not broken
    )


SMALL = {"estimators": 5, "maps": 0, "every": 6, "examples": 0}
FULL = {"estimators": len(OURS), "maps": len(MAPS), "every": 1, "examples": 100_000}

if __name__ == "__main__":
    main(run, SMALL, FULL)
