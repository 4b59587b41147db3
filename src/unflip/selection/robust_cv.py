"""Choose a classifier by exact leave-one-out on noisy labels, and average what cannot be told from the best.

Label-free views of the table, a kernel made of both, the square loss along a ridge path from least squares
to the mean map: noise moves none of these, on average. For a fixed classifier the error on noisy labels is
an increasing function of the error on clean ones, so that a choice by leave-one-out is sound too.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import nullcontext
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from unflip._culprits import is_missing
from unflip._state import all_or_nothing
from unflip._threads import workers
from unflip._weights import as_weight
from unflip.estimators.border import refuse_single_class, warn_lonely_class
from unflip.features import Tabular
from unflip.features.labelfree import generator
from unflip.kernels import Kernel
from unflip.noise.curve import normal_scores
from unflip.noise.estimate import NoiseEstimate, estimate_rate
from unflip.noise.intervals import ScoreEstimate, clean_score_interval
from unflip.noise.judgement import judge
from unflip.selection.choose import Choice, choose
from unflip.selection.copies import copies, distinct
from unflip.selection.folds import folds_of, in_one_order, in_steps
from unflip.selection.guarantee import Guarantee
from unflip.selection.path import RIDGES, ROUNDING, RidgePath, Rows
from unflip.selection.relevance import ROWS, column_weights
from unflip.selection.two_part import TwoPart
from unflip.selection.views import Views
from unflip.sources.labels import encode_classes

Array = np.ndarray[Any, Any]
LANDMARKS = 400
MORE, EACH = 800, 600  # landmarks for a closer look: with one kernel, and for each of several
FULL = 0.4  # of the landmarks in use as degrees of freedom: then more of them are worth their time
JUDGED = 100_000  # rows whose leave-one-out scores are computed
SMALL = 50_000  # rows whose views are kept
MANY = 50  # equal rows share one honest score: leave-one-out would order them against their own labels
SIMPLE = 50  # rows a degree of freedom beyond which folds are left out, not single rows
KAPPAS = (0.75, 0.5, 0.25, 0.0)


class Group(NamedTuple):
    """Paths of the same candidates: of the plain kernel, or one for each half's weights of the columns."""

    name: str
    columns: list[Array]
    paths: list[RidgePath]


class Part(NamedTuple):
    """One kernel of the ensemble: its landmarks, coefficients and constant."""

    kernel: Kernel
    landmarks: Array
    dual: Array
    offset: Array


class Ensemble(NamedTuple):
    """Groups of candidates, how they are averaged, and their leave-one-out scores about the mean label.

    scores: (candidates, j, k), of each candidate; left: (j, k), averaged.
    """

    groups: list[Group]
    choice: Choice
    scores: Array

    @property
    def left(self) -> Array:
        """The scores of the average."""
        return np.tensordot(self.choice.weights, self.scores, axes=1)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the candidates that are kept."""
        return float(_freedom(self.groups)[self.choice.kept].mean())


class LeftOut(NamedTuple):
    """Leave-one-out scores about the mean label, (j, k); all rows; classes and weights of the judged ones."""

    scores: Array
    rows: Rows
    member: Array
    weight: Array


class RobustClassifierCV(ClassifierMixin, BaseEstimator):
    """The classifier to start from when labels are wrong at an unknown rate. Nothing to tune.

    Parameters
    ----------
    feature_weights: "auto" weighs columns by the gradient of a robust fit, learned by each half of the rows
        for the other, if that lowers the error there; False keeps all of the features label-free, at a
        third of the time.
    random_state: seeds the landmarks, the halves and the rows that scales are taken from.

    Tables of numbers, sparse matrices, or frames with text columns (one column a level) and gaps (filled
    with the median, and marked). Labels of any kind, or a row of K probabilities each; weights count
    rows.

    Attributes: `classes_`; `cv_results_`, a column for each property of the candidates, and
    `best_candidate_`, the place of the best; `loo_scores_` of the rows `loo_rows_` (all of them up to
    100,000), what `decision_function` would say of each had it not been fitted; `noisy_error_`, their error
    on the given labels; `noise_`, a `NoiseEstimate`; `clean_error_`, what the error on clean labels would
    then be; `guarantee_`, what holds and what does not.

    >>> from sklearn.datasets import load_wine
    >>> from unflip.noise import flip_labels
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RobustClassifierCV().fit(X, flip_labels(y, 0.2, rng=0))
    >>> bool(model.score(X, y) > 0.9)  # on clean labels that it never saw
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "feature_weights": [StrOptions({"auto"}), "boolean"],
        "random_state": ["random_state"],
    }

    _noise: NoiseEstimate | None

    def __init__(self, feature_weights: str | bool = "auto", random_state: Any = 0) -> None:
        self.feature_weights = feature_weights
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit all candidates, choose, estimate the noise.

        groups: (n,), labels of rows that belong together (several labels of one item, one patient) and are
        left out together. Equal rows are, unless they are so many that columns of few values make them.
        """
        with all_or_nothing(self):
            self._finish(self._leave_out(X, y, sample_weight, groups, JUDGED))
        return self

    def decision_function(self, X: Any) -> Array:
        """Scores: (n,) for two classes, positive for the second one; (n, K) for more."""
        check_is_fitted(self, "parts_")
        rows = self.views_.transform(self.table_.transform(X))
        scores = np.tile(self.intercept_, (len(rows), 1))
        for part in self.parts_:
            scores += part.kernel.score(rows, part.landmarks, part.dual) - part.offset
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Array:
        """The class of each row.

        >>> model = RobustClassifierCV().fit([[0.0], [1.0], [8.0], [9.0]], ["a", "a", "b", "b"])
        >>> model.predict([[0.5], [8.5]]).tolist()
        ['a', 'b']
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """P(clean class) for each row: the share of clean labels along the score, with the noise taken out.

        >>> model = RobustClassifierCV().fit([[0.0], [1.0], [8.0], [9.0]] * 10, ["a", "a", "b", "b"] * 10)
        >>> bool(model.predict_proba([[0.0]])[0, 0] > 0.8)
        True
        """
        scores = self.decision_function(X)
        if len(self.classes_) == 2:
            p = np.interp(scores, *self._calibration)
            p = np.where(scores > 0, np.maximum(p, np.nextafter(0.5, 1.0)), np.minimum(p, 0.5))
            return np.column_stack([1 - p, p])
        ordered = np.sort(scores, axis=1)
        top = np.interp(ordered[:, -1] - ordered[:, -2], *self._calibration)
        best = scores.argmax(axis=1)
        rest = np.maximum(scores, 1e-6 * np.abs(scores).max(axis=1, keepdims=True) + 1e-300)
        rest[np.arange(len(rest)), best] = 0.0
        rest *= ((1 - top) / rest.sum(axis=1))[:, None]
        rest = np.minimum(rest, top[:, None] * (1 - 1e-9))  # the likely class stays the likeliest
        rest[np.arange(len(rest)), best] = top
        return rest / rest.sum(axis=1, keepdims=True)

    def _leave_out(self, X: Any, y: Any, sample_weight: Any, groups: Any, judged: int) -> LeftOut:
        """Fit and choose, and the leave-one-out scores of at most so many rows."""
        labels = encode_classes(y)
        weight = as_weight(sample_weight, len(labels))
        # What rounding loses beside the largest weight counts for nothing.
        counting = np.flatnonzero(weight > ROUNDING * weight.max(initial=0.0))
        self.classes_ = labels.classes
        member = labels.membership[counting]
        refuse_single_class(self.classes_.tolist(), weight[counting] @ member)
        warn_lonely_class(self.classes_.tolist(), member)
        self.table_ = Tabular().fit(X)
        rows = self.table_._rows(X, reset=False)
        if rows.shape[0] != len(labels):
            raise ValueError(f"X has {rows.shape[0]} rows, y has {len(labels)} labels: inconsistent lengths")
        self.n_features_in_ = self.table_.n_features_in_
        if hasattr(self.table_, "feature_names_in_"):
            self.feature_names_in_ = self.table_.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        together = None if groups is None else _group_codes(groups, len(labels), judged)[counting]
        X, weight = self.table_._map(rows)[counting], _counts(weight[counting])
        if together is None:
            together = copies(X)
        return self._learn(X, member, weight, together, judged, counting)

    @property
    def clean_error_(self) -> ScoreEstimate | None:
        """The error on clean labels, with an interval; None where the labels do not tell the noise rate."""
        return self._clean_error(self.noise_)

    def _clean_error(self, noise: NoiseEstimate) -> ScoreEstimate | None:
        chosen = _likely(self.loo_scores_.reshape(len(self.loo_scores_), -1))
        return _clean_error(self._judged_masses, chosen, noise)

    @property
    def noise_(self) -> NoiseEstimate:
        """How many of the labels are wrong, as `estimate_noise` says it of the same rows.

        `estimate_noise` weighs columns; a fit with `feature_weights=False` judges by its own scores.
        """
        check_is_fitted(self, "parts_")
        if self._noise is None:
            self._noise = judge(self.honest_scores_, self._judged_masses, classes=self.classes_).estimate
        return self._noise

    @property
    def guarantee_(self) -> Guarantee:
        """What holds of this fit, and what does not."""
        return self._guarantee(self.noise_)

    def _guarantee(self, noise: NoiseEstimate) -> Guarantee:
        return Guarantee(self._fitted_rows, self.feature_weights_ is None, noise, len(self.classes_))

    def _learn(
        self, X: Array, member: Array, weight: Array, together: Array | None, judged: int, counting: Array
    ) -> LeftOut:
        rng, n = generator(self.random_state), len(X)
        self.views_ = Views().fit(X, rng)
        kept = self.views_.transform(X) if n <= SMALL else None

        def viewed(places: Any) -> Array:
            return self.views_.transform(X[places]) if kept is None else kept[places]

        order = rng.permutation(n)
        self._judged = _some_units(order, together, judged)
        self.loo_rows_ = counting[self._judged]
        rows = Rows(viewed, _targets(member), weight, together)
        half = _halves(order, together)
        landmarks = distinct(viewed(order[: min(n, LANDMARKS)]))

        groups = self._fit_groups(rows, landmarks, order, half, rng)
        chosen = self._choose(rows, groups, half)
        if n > LANDMARKS and chosen.freedom > FULL * len(landmarks):
            in_use = np.split(chosen.choice.weights, len(groups))
            groups = [group for group, share in zip(groups, in_use, strict=True) if share.any()]
            alone = len(groups) == len(groups[0].paths) == 1
            groups = self._fit_again(rows, distinct(viewed(order[: min(n, MORE if alone else EACH)])), groups)
            chosen = self._choose(rows, groups, half)
        self._report(chosen)
        self.parts_ = _parts(chosen.groups, chosen.choice)
        honest = self._honest(rows, chosen, half, rng)
        self.honest_scores_ = _shared_by_equal_rows(honest, X[self._judged])
        return LeftOut(in_steps(chosen.left), rows, member[self._judged], rows.weight[self._judged])

    def _honest(self, rows: Rows, found: Ensemble, half: Array, rng: np.random.Generator) -> Array:
        """Scores that never saw the label of their own row: by leaving out the row, or its fold."""
        away = found.left
        units = np.arange(len(rows.weight)) if rows.groups is None else rows.groups
        if SIMPLE * found.freedom < units.max() + 1:
            # So simple a fit gives near rows one score, and leaving one out ranks it against its own label.
            folds = folds_of(units, rng)[self._judged]
            away = in_one_order(self._without_folds(rows, found, half, folds), folds)
        scores = in_steps(rows.mean + away)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _fit_groups(
        self, rows: Rows, landmarks: Array, order: Array, half: Array, rng: np.random.Generator
    ) -> list[Group]:
        """The plain kernel and, where they help, one for the column weights that each half learned."""
        fit, even = partial(self._path, rows, landmarks), np.ones(landmarks.shape[1] // 2)
        learning = order[:ROWS]
        apart = learning  # rows that leave apart from each other
        if rows.groups is not None:
            apart = learning[np.unique(rows.groups[learning], return_index=True)[1]]
        few = min(np.bincount(half[apart], minlength=2)) < 10
        self.feature_weights_ = None
        if not self.feature_weights or len(even) < 2 or few:
            return [Group("plain", [even], [fit(even)])]
        z = rows.at(learning)[:, : len(even)]
        with workers(None) as spread:
            plain = spread(fit, [even])  # which goes on while columns are weighed
            some = rows.some(learning)
            weights = column_weights(z, some, half[learning], rng, spread)
            weighted = list(spread(fit, weights or []))
            groups = [Group("plain", [even], list(plain))]
        if weights is not None:
            self.feature_weights_ = np.mean(weights, axis=0)
            groups.append(Group("weighted", weights, weighted))
        return groups

    def _fit_again(self, rows: Rows, landmarks: Array, groups: list[Group]) -> list[Group]:
        """The same kernels on other landmarks."""
        fit = partial(self._path, rows, landmarks)
        columns = [column for group in groups for column in group.columns]
        # A path by itself shares its rows among the threads.
        with workers(None) if len(columns) > 1 else nullcontext(map) as spread:
            paths = iter(list(spread(fit, columns)))
        return [group._replace(paths=[next(paths) for _ in group.columns]) for group in groups]

    def _path(self, rows: Rows, landmarks: Array, columns: Array) -> RidgePath:
        kernel = TwoPart(landmarks, columns, self.views_.two_valued)
        return RidgePath(kernel, landmarks, rows, self._judged)

    def _choose(self, rows: Rows, groups: list[Group], half: Array) -> Ensemble:
        """Where columns were weighed, every row judges by weights that it did not teach."""
        first_half = (half[self._judged] == 0)[:, None]
        scores = np.concatenate(
            [np.where(first_half, group.paths[-1].scores, group.paths[0].scores) for group in groups]
        )
        place = np.repeat([group.name == "weighted" for group in groups], len(RIDGES)).astype(int)
        centred, weight = rows.centred[self._judged], rows.weight[self._judged]
        return Ensemble(groups, choose(scores, centred, weight, _freedom(groups), place), scores)

    def _without_folds(self, rows: Rows, found: Ensemble, half: Array, folds: Array) -> Array:
        """Scores of the ensemble, each by fits to all rows but a fold."""
        first_half = (half[self._judged] == 0)[:, None]
        total = np.zeros((len(self._judged), rows.labels.shape[1]))
        for group, weights in zip(
            found.groups, np.split(found.choice.weights, len(found.groups)), strict=True
        ):
            if weights.any():
                parts = [path.without_folds(rows, self._judged, folds, weights) for path in group.paths]
                total += np.where(first_half, parts[-1], parts[0])
        return total

    def _report(self, found: Ensemble) -> None:
        groups, choice = found.groups, found.choice
        self.cv_results_ = {
            "kernel": np.repeat([group.name for group in groups], len(RIDGES)),
            "ridge": np.tile(RIDGES, len(groups)),
            "loo_squared_error": choice.errors,
            "slope": choice.slopes,
            "degrees_of_freedom": _freedom(groups),
            "kept": choice.kept,
            "weight": choice.weights,
        }
        self.best_candidate_ = choice.best

    def _finish(self, left: LeftOut) -> None:
        """Intercept, noise and calibration from the ensemble's leave-one-out scores."""
        scores, rows, judged, weight = left
        mean, n_classes = rows.mean, judged.shape[1]
        middle = 0.0 if n_classes == 2 else 1 / n_classes
        away = mean - middle
        spread = np.sum(1 - mean**2) if n_classes == 2 else np.sum(mean * (1 - mean))
        # Positive-part shrinkage: where the mean label is noise, so is its sign.
        size = max(float(away @ away), 1e-300)
        shrunk = max(0.0, 1 - float(spread) / (rows.weight.sum() * size))

        def error(constant: Array) -> float:
            right = np.take_along_axis(judged, _likely(constant + scores)[:, None], axis=1)[:, 0]
            return 1 - float(weight @ right / weight.sum())

        plain = error(mean)
        others = [error(middle + kappa * away) for kappa in KAPPAS]
        chance = np.sqrt(max(plain * (1 - plain), 1e-12) / weight.sum())
        kappa = KAPPAS[int(np.argmin(others))] if min(others) <= plain - chance / 2 else 1.0
        self.intercept_, self.label_mean_ = middle + kappa * shrunk * away, mean
        final = self.intercept_ + scores
        self.loo_scores_ = final[:, 0] if n_classes == 2 else final
        self.noisy_error_ = error(self.intercept_)
        masses = weight[:, None] * judged
        self._curve = estimate_rate(self.honest_scores_, masses)[1]
        self._calibrate(final, weight)
        self._judged_masses, self._fitted_rows = masses, len(rows.weight)
        self._noise = None  # until somebody asks

    def _calibrate(self, left: Array, weight: Array) -> None:
        """The clean share along the score, as points to interpolate between."""
        n_classes = len(self.classes_)
        if n_classes == 2:
            along = left[:, 0]
        else:
            ordered = np.sort(left, axis=1)
            along = ordered[:, -1] - ordered[:, -2]
        clean = self._curve.average(lambda r, g, p: g)
        share = clean if n_classes == 2 else 1 / n_classes + (1 - 1 / n_classes) * clean
        z = normal_scores(along, weight)
        order = np.argsort(along, kind="stable")
        at = np.interp(self._curve.z, z[order], along[order])
        p = np.maximum.accumulate(share)
        if n_classes == 2:
            # The threshold was chosen by the error; probabilities go along with it, so that they agree.
            middle = float(np.clip(np.interp(0.0, at, p), 1e-6, 1 - 1e-6))
            p = np.where(p < middle, p / middle / 2, 1 - (1 - p) / (1 - middle) / 2)
            place = int(np.searchsorted(at, 0.0))
            at, p = np.insert(at, place, 0.0), np.insert(p, place, 0.5)
        self._calibration = at, p


def _targets(member: Array) -> Array:
    """-1 and +1 for two classes, indicators for more."""
    return member[:, [1]] - member[:, [0]] if member.shape[1] == 2 else member


def _group_codes(groups: Any, n: int, judged: int) -> Array:
    given = np.asarray(groups)
    if given.shape != (n,):
        raise ValueError(f"groups has the shape {given.shape} for {n} rows")
    missing = np.flatnonzero([is_missing(label) for label in given.tolist()])
    if missing.size:
        raise ValueError(
            f"row {missing[0]} has no group; give rows that belong to nobody a group of their own"
        )
    if n > judged:
        raise ValueError(f"rows leave in groups up to {judged:,} rows, and these are {n:,}")
    codes = np.unique(given.astype(str) if given.dtype == object else given, return_inverse=True)[1]
    if codes.max() == 0:
        raise ValueError("all rows are in one group, and none would be left to learn from")
    return codes


def _counts(weight: Array) -> Array:
    """Weights as counts of rows; in units of their mean where squares of them would overflow or vanish."""
    return weight if 1e-9 < weight.max() < 1e9 else weight / weight.mean()


def _halves(order: Array, together: Array | None) -> Array:
    """Which half each row is in: those that weigh columns are cut in the middle of their order.

    together: (n,), numbers of groups; a group is in the half of its first row.
    """
    n, learning = len(order), order[:ROWS]
    half = np.empty(n, dtype=np.intp)
    half[learning] = np.arange(len(learning)) >= (len(learning) + 1) // 2
    half[order[ROWS:]] = np.arange(n - len(learning)) % 2
    if together is None:
        return half
    first, codes = np.unique(together[order], return_index=True, return_inverse=True)[1:]
    half[order] = half[order[first]][codes]
    return half


def _some_units(order: Array, together: Array | None, most: int) -> Array:
    """At most so many rows, the first of their order, whole groups or nothing of them."""
    if len(order) <= most or together is None:
        return np.sort(order[:most])
    _, first, codes, sizes = np.unique(
        together[order], return_index=True, return_inverse=True, return_counts=True
    )
    turn = np.argsort(first)
    turn = turn[sizes[turn] <= most]
    taken = turn[np.cumsum(sizes[turn]) <= most]
    return np.sort(order[np.isin(codes, taken)])


def _freedom(groups: list[Group]) -> Array:
    """Degrees of freedom of every candidate, averaged over the kernels of a group."""
    return np.concatenate([np.mean([path.freedom for path in group.paths], axis=0) for group in groups])


def _likely(scores: Array) -> Array:
    return (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)


def _parts(groups: list[Group], choice: Choice) -> list[Part]:
    """Each kernel with the coefficients of its candidates, summed."""
    parts = []
    for group, weights in zip(groups, np.split(choice.weights, len(groups)), strict=True):
        for path in group.paths if weights.any() else []:
            dual, offset = path.dual(weights / len(group.paths))
            parts.append(Part(path.kernel, path.landmarks, dual, offset))
    return parts


def _shared_by_equal_rows(scores: Array, X: Array) -> Array:
    """The scores, with one for all rows that are equal and many."""
    places = defaultdict(list)
    for place, row in enumerate(np.ascontiguousarray(X)):
        places[row.tobytes()].append(place)
    shared = scores.copy()
    for equal in places.values():
        if len(equal) >= MANY:
            shared[equal] = scores[equal].mean(axis=0)
    return shared


def _clean_error(masses: Array, chosen: Array, noise: NoiseEstimate) -> ScoreEstimate | None:
    """What the error on clean labels is, with an interval; None where the labels do not tell the rate."""
    if not noise.identified:
        return None
    n, n_classes = masses.shape
    found = clean_score_interval(
        "accuracy",
        np.repeat(np.arange(n_classes), n),  # a soft label is one of each class, weighted
        np.tile(chosen, n_classes),
        noise,
        sample_weight=masses.T.ravel(),
        classes=np.arange(n_classes),
    )
    return ScoreEstimate(1 - found.estimate, 1 - found.high, 1 - found.low, 1 - found.noisy)
