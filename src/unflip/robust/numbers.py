"""The robust classifier of rows that are numbers already; `RobustClassifierCV` puts a table before it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from unflip._state import all_or_nothing
from unflip.border.arrays import Array
from unflip.border.classes import as_scores, contrasted, refuse_single_class, warn_lonely_class
from unflip.border.labels import Labels, encode_classes
from unflip.border.weights import as_weight
from unflip.border.words import is_missing
from unflip.estimators.classifier import Classifier
from unflip.features.labelfree import generator
from unflip.noise.correct import clean_scores
from unflip.noise.estimate import NoiseEstimate, identified_noise
from unflip.noise.intervals import ScoreEstimate
from unflip.noise.models import Noise, as_noise
from unflip.noise.words import is_by_class, is_told
from unflip.passes.anywhere import is_source
from unflip.robust.blend import Blend, fit_blend
from unflip.robust.calibration import Calibration
from unflip.robust.ensemble import RidgeEnsemble
from unflip.robust.everyone import Everyone
from unflip.robust.fit import RobustFit, fit_rows
from unflip.robust.guarantee import Guarantee
from unflip.robust.report import Calibrated, HonestLabels, LabelReport
from unflip.robust.sample import RowsAndLabels, draw, plain
from unflip.solvers.ridge import FLOAT_ROUNDING

MOST_JUDGED = 100_000  # rows whose leave-one-out scores are computed


class EnsembleClassifier(Classifier):
    """A `RidgeEnsemble` of rows of finite numbers, fitted and asked by scikit-learn's manners."""

    _most_judged: ClassVar[int] = MOST_JUDGED

    feature_weights: str | bool
    random_state: Any
    noise: Any
    target: Any
    estimators: Any
    blend_: Blend | None
    ensemble_: RidgeEnsemble
    varying_: Array
    report_: Any
    feature_names_in_: Array

    def __init__(
        self,
        feature_weights: str | bool = "auto",
        random_state: Any = 0,
        noise: Any = "auto",
        target: Any = "accuracy",
        estimators: Any = None,
    ) -> None:
        self.feature_weights = feature_weights
        self.random_state = random_state
        self.noise = noise
        self.target = target
        self.estimators = estimators

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit all candidates and choose. What labels tell about themselves is computed when asked for.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features), or a source
            Rows; or a source of `unflip.sources` or an iterator of its batches, which bring labels and
            weights along. Of more than 100,000 rows a sample chooses, and all are summed: two passes over a
            source (three where rows come twice; one more on Dask, to number the rows).
        y : array-like of shape (n_samples,)
            Labels of any kind, or probabilities; None with a source.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for.
        groups : array-like of shape (n_samples,), optional
            Labels of rows that belong together (several labels of one item, one patient) and are left out
            together. Equal rows are, unless they are so many that columns of few values make them.
        """
        with all_or_nothing(self):
            if is_source(X) or (y is None and isinstance(X, Iterator)):
                if not (y is None and sample_weight is None and groups is None):
                    raise ValueError("a source brings its own labels and weights, and knows no groups")
                return self._fit_source(X)
            labels = encode_classes(y)
            _refuse_other_lengths(getattr(X, "shape", None), labels)
            weight = as_weight(sample_weight, len(labels))
            # What rounding loses beside the largest weight counts for nothing.
            counting = np.flatnonzero(weight > FLOAT_ROUNDING * weight.max(initial=0.0))
            kept, weight = labels[counting], weight[counting]
            self.classes_ = labels.classes
            refuse_single_class(self.classes_.tolist(), weight @ kept.membership)
            warn_lonely_class(self.classes_.tolist(), kept.membership)
            most = self._most_judged
            if len(counting) > most and groups is None:
                return self._fit_source(RowsAndLabels(X, labels, as_weight(sample_weight, len(labels))))
            rows = self._rows(X, reset=True)
            _refuse_other_lengths(rows.shape, labels)
            together = None if groups is None else _group_codes(groups, len(labels), most)[counting]
            weigh, rng = bool(self.feature_weights), generator(self.random_state)
            scale = _scale(float(weight.max()), float(weight.mean()))
            found = fit_rows(rows[counting], kept, scale * weight, together, most, weigh, rng)
            self._take(found, counting)
            self._blend(rows[self.loo_rows_], None if together is None else together[found.judged])
        return self

    @classmethod
    def of(cls, classes: Array, ensemble: RidgeEnsemble, calibration: Calibration) -> Self:
        """One that predicts, of parts that were fitted before."""
        made = cls()
        made.classes_, made.ensemble_, made.costs_, made.blend_ = classes, ensemble, None, None
        made.report_ = Calibrated(ensemble, calibration)
        made.n_features_in_ = len(ensemble.views.mean)
        made.varying_ = np.arange(made.n_features_in_)
        return made

    def decision_function(self, X: Any) -> Array:
        """Scores: (n,) for two classes, positive for the second one; (n, K) for more.

        They are for the fewest mistakes on clean labels, or whatever else is the `target`.
        """
        rows = self._checked(X)
        scores = as_scores(self.ensemble_.score(rows))
        if self.costs_ is None and self.blend_ is None:
            return scores
        chances = self._chances(scores, rows)
        return as_scores(contrasted(chances if self.costs_ is None else -chances @ self.costs_))

    def honest_scores(self, X: Any) -> Array:
        """Scores of rows that were not fitted, beside those of `honest_scores_`."""
        ensemble = self.ensemble_
        return as_scores(ensemble.mean + ensemble.away(self._rows(X, reset=False)))

    def predict_proba(self, X: Any) -> Array:
        """P(clean class) for each row: the share of clean labels along the score, without the noise."""
        rows = self._checked(X)
        return self._chances(as_scores(self.ensemble_.score(rows)), rows)

    def with_noise(self, noise: Any) -> Self:
        """The same fit, corrected for this noise in place of the one that was estimated, without the rows.

        Parameters
        ----------
        noise : Noise, NoiseEstimate, float or None
            What the labels went through: a model, an estimate, one rate for all classes, or a table of
            `ClassConditionalNoise`. None leaves scores as the labels made them.

        Returns
        -------
        RobustClassifierCV
            A new classifier; this one stays as it is.

        Examples
        --------
        >>> from unflip import RobustClassifierCV
        >>> from unflip.noise import ClassConditionalNoise
        >>> X, y = np.arange(60.0)[:, None], np.arange(60) >= 30
        >>> model = RobustClassifierCV(noise=None).fit(X, y)
        >>> lost = model.with_noise(ClassConditionalNoise([0.0, 0.4]))  # two in five of the ones are zeros
        >>> bool(lost.predict(X).sum() >= model.predict(X).sum())
        True
        """
        check_is_fitted(self, "ensemble_")
        if self.blend_ is not None:
            raise ValueError(
                "the estimators learned from labels that were denoised for the noise of the fit; fit again "
                "with noise=..., or without estimators"
            )
        made = copy(self)
        made._say(None if noise is None else as_noise(identified_noise(noise), len(self.classes_)))
        return made

    @property
    def noise_(self) -> NoiseEstimate:
        """How many of the labels are wrong, as `estimate_noise` says it of the same rows.

        `estimate_noise` weighs columns; a fit with `feature_weights=False` judges by its own scores.
        """
        check_is_fitted(self, "ensemble_")
        return self.report_.noise

    @property
    def clean_error_(self) -> ScoreEstimate | None:
        """The error on clean labels, with an interval; None where the labels do not tell the noise rate."""
        return self.report_.clean_error(self.noise_)

    @property
    def guarantee_(self) -> Guarantee:
        """What holds of this fit, and what does not."""
        return self.report_.guarantee(self.noise_)

    def _relative_scores(self, X: Any) -> Array:
        return self.decision_function(X)

    def _checked(self, X: Any) -> Array:
        check_is_fitted(self, "ensemble_")
        return self._rows(X, reset=False)

    def _chances(self, scores: Array, rows: Array) -> Array:
        """P(clean class), by the kernels and by whatever learners stand beside them."""
        chances = self.report_.calibration.probabilities(scores)
        return chances if self.blend_ is None else self.blend_.probabilities(chances, rows)

    def _rows(self, X: Any, *, reset: bool) -> Array:
        """The columns that varied in the rows that were fitted."""
        rows = super()._rows(X, reset=reset)
        if reset:
            self.varying_ = np.flatnonzero((rows != rows[:1]).any(axis=0))
        return self._numbers(rows)

    def _numbers(self, rows: Any) -> Array:
        """The same of rows that were checked."""
        return np.asarray(rows[:, self.varying_], dtype=np.float64)

    def _numbers_of_batches(self, X: Any) -> Array:
        return self._numbers(plain(X))

    def _name_columns(self, names: Array) -> None:
        """Remember what a source calls its columns."""
        self.feature_names_in_ = names

    def _fit_source(self, source: Any) -> Self:
        """A sample chooses; of more rows than that, all are summed."""
        rng, most = generator(self.random_state), self._most_judged
        drawn = draw(source, most, int(deepcopy(rng).integers(2**62)))
        counting = np.flatnonzero(drawn.weight > FLOAT_ROUNDING * drawn.weight.max())
        labels, weight = drawn.labels[counting], drawn.weight[counting]
        self.classes_ = drawn.classes
        refuse_single_class(self.classes_.tolist(), weight @ labels.membership)
        rows = self._rows(drawn.X, reset=True)[counting]
        if drawn.names is not None:
            self._name_columns(np.asarray(drawn.names, dtype=object))
        scale = _scale(float(weight.max()), drawn.total / drawn.rows)
        all_seen = drawn.rows <= most
        if isinstance(source, Iterator) and not all_seen:
            raise ValueError(
                f"of {drawn.rows:,} rows {most:,} are sampled in one pass, and all are summed in a second "
                "one, but an iterator can be read only once; give a list of batches, or a source"
            )
        if all_seen:
            warn_lonely_class(self.classes_.tolist(), labels.membership)
        if self.estimators:
            raise ValueError("estimators learn from rows in memory, at most 100,000, and not from a source")
        everyone = None if all_seen else Everyone(source, self._numbers_of_batches, self.classes_, scale)
        weigh = bool(self.feature_weights)
        found = fit_rows(rows, labels, scale * weight, None, most, weigh, rng, everyone)
        self._take(replace(found, rows=drawn.rows), drawn.places[counting])
        return self

    def _take(self, found: RobustFit, counting: Array) -> None:
        self.feature_weights_ = found.column_weights
        self.cv_results_, self.best_candidate_ = found.results, found.best
        self.loo_rows_, self.honest_scores_ = counting[found.judged], found.honest
        kind = self.noise if isinstance(self.noise, str) else "auto"
        honest = HonestLabels(found.honest, found.masses, self.classes_, kind)
        self.report_ = LabelReport(found, honest, found.rows)
        self._say(self._noise_to_correct())
        self.costs_, self.blend_ = self._costs(), None

    def _blend(self, rows: Array, together: Array | None) -> None:
        """Train the other learners, if there are any, and weigh all."""
        if not self.estimators:
            return
        for each in self.estimators:
            able = hasattr(each, "predict_proba") and not isinstance(each, type)
            if not able or not has_fit_parameter(each, "sample_weight"):
                raise ValueError(
                    "estimators are classifiers of scikit-learn that take sample_weight and tell "
                    f"probabilities, got {each!r}"
                )
        report = self.report_
        weight = report.honest.masses.sum(axis=1)
        targets, used = report.honest.masses / weight[:, None], self.ensemble_.noise
        self.blend_ = fit_blend(
            rows,
            report.calibration.probabilities(self.loo_scores_),
            report.honest.judgement.posterior(),
            targets if used is None else clean_scores(targets, used),
            weight,
            np.arange(len(rows)) if together is None else np.unique(together, return_inverse=True)[1],
            list(self.estimators),
        )

    def _say(self, noise: Noise | None) -> None:
        """Take the correction for this noise, and what single rows say under it."""
        report = self.report_ = self.report_.with_noise(noise)
        self.ensemble_ = report.ensemble
        if isinstance(report, LabelReport):
            self.loo_scores_, self.noisy_error_ = report.fit.scores, report.fit.noisy_error

    def _noise_to_correct(self) -> Noise | None:
        """What scores are corrected for: only noise by class moves them."""
        if self.noise is None or self.noise == "symmetric":
            return None
        if not isinstance(self.noise, str):
            return as_noise(identified_noise(self.noise), len(self.classes_))
        if not (self.report_.honest.masses.sum(axis=0) > 0).all():
            return None  # no row of some class was judged
        found = self.report_.noise
        return found.noise if is_by_class(found) and is_told(found) else None

    def _costs(self) -> Array | None:
        """The cost of each answer where each class is the truth, (K, K); None if all mistakes cost alike."""
        k = len(self.classes_)
        if isinstance(self.target, str):
            if self.target == "accuracy":
                return None
            if self.target == "balanced":
                return (1 - np.eye(k)) / self.report_.clean_shares[:, None]
        costs = np.asarray(self.target)
        if isinstance(self.target, str) or costs.dtype.kind not in "iuf" or costs.shape != (k, k):
            raise ValueError(
                f"target is 'accuracy', 'balanced' or costs of the shape {(k, k)}, one row for each class "
                f"that is the truth and one column for each answer; got {self.target!r}"
            )
        if not np.isfinite(costs).all():
            raise ValueError(f"costs are finite, got {self.target!r}")
        return costs.astype(np.float64)


def _refuse_other_lengths(shape: tuple[int, ...] | None, labels: Labels) -> None:
    """Raise if rows that know their number have another one than labels."""
    if shape and shape[0] != len(labels):
        raise ValueError(f"X has {shape[0]} rows, y has {len(labels)} labels: inconsistent lengths")


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
    return np.asarray(codes)


def _scale(largest: float, mean: float) -> float:
    """What makes counts of rows of weights: one, or their mean as unit where squares overflow or vanish."""
    return 1.0 if 1e-9 < largest < 1e9 else 1 / mean
