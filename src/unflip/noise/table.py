"""How several classes are mistaken for each other: a table of noise, from honest scores and given labels.

The given label of a row is modelled in two steps, the clean class from the scores and the given one from it:

    P(given | scores) = softmax(V (a W + R) + b) T,      T[k, l] = P(given l | clean k),

V being the scores, centred and scaled, and W twice the inverse of a first guess of T, so that R, kept small
by a ridge, only mends what is left. Flips go anywhere, overlap goes to the runner-up: that is what
tells the two apart. The likelihood is maximised twice, once with one rate for all classes and once with a
free table whose diagonal dominates, and the difference of the two says whether the classes differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln, logsumexp, ndtr, ndtri, softmax
from scipy.stats import beta

from unflip.border.arrays import Array
from unflip.noise.by_class import APART, ClassRates
from unflip.noise.curve import weighted_quantile

MOST_CLASSES = 20  # classes; a table has their square
FITTED_ROWS = 4000  # that are fitted, drawn without a look at labels
WEIGHT = 5000.0  # misfit, not chance, rules beyond so many rows
RIDGE, OFFSETS, SLOPE_DEVIATION = 20.0, 0.05, 1.5  # on R and b; the deviation of log a
PRIOR = 2.0  # labels that every row of the free table gets, split as uniform noise would
DOMINANT, GAP = 20.0, 0.05  # penalty where the logarithm of an entry is within the gap of its diagonal
NEEDED_NATS, SOFTLY = 2.0, 2.0  # nats by which the free table must win, and how sharply that counts
CLASSES_DIFFER, CLASSES_MAY_DIFFER = 0.95, 0.1  # P(the classes differ) from which on they do, and may
WIDER = 1.15  # times the standard error
MISFIT = 0.2  # of what overlap may explain, added to the standard error
CERTAIN_SHARE = 0.5  # of the rows of each likely class, the most certain ones, stand for that class
FEW_ROWS_OF_CLASS = 5  # rows that look like a class: fewer tell nothing
SEPARATED = 0.1  # of labels that overlap explains at most, where an interval of the tables holds
UPPER_END_LEVEL = 0.95  # of its upper end
TINY_CHANCE = 1e-12


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A table of noise and the map from scores to clean classes that goes with it.

    transition: (K, K), P(given | clean); weights, offset, center, scale: the map; likelihood: its logarithm;
    wrong: the share of wrong labels; hidden: that of other labels which differ from the likely class, by
    overlap then; error: the standard error of `wrong`; errors: (K,), those of the classes' rates;
    sizes: (K,), how many rows each clean class seems to have.
    """

    transition: Array
    weights: Array
    offset: Array
    center: Array
    scale: float
    likelihood: float
    wrong: float
    hidden: float
    error: float
    errors: Array
    sizes: Array

    def clean(self, scores: Array) -> Array:
        """P(clean class | scores), (n, K)."""
        return softmax((scores - self.center) / self.scale @ self.weights + self.offset, axis=1)


@dataclass(frozen=True, eq=False)
class Tables:
    """The best table with one rate for all classes, the best other one, and P(the classes differ).

    The other one has a rate for each class, whose mistakes go anywhere, or is free.
    """

    uniform: FittedTable
    other: FittedTable
    differ: float

    @property
    def clearly(self) -> bool:
        """Whether the classes differ beyond doubt.

        Some mistake must also be clearly more frequent than one rate for all has it, and overlap must not
        explain more than mistakes do: the way in which several classes overlap is only roughly modelled.
        """
        apart = float((self.other.transition - self.uniform.transition).max())
        return self.differ > CLASSES_DIFFER and apart > APART and self.other.wrong >= self.other.hidden

    @property
    def perhaps(self) -> bool:
        """Whether they may differ."""
        return self.differ > CLASSES_MAY_DIFFER

    def rates(self, level: float) -> ClassRates:
        """The other table, the rate of each class, and the share of labels that are wrong."""
        table = self.other.transition
        rates = _around(1 - np.diag(table), self.other.errors, level)
        # Standard errors vanish at a rate of zero; a class of few rows still does not show rare mistakes.
        unseen = 1 - (1 - UPPER_END_LEVEL) ** (1 / np.maximum(self.other.sizes, 1.0))
        rates[:, 2] = np.maximum(rates[:, 2], unseen)
        wrong = _around(np.array([self.other.wrong]), self.other.error, level)[0].tolist()
        return ClassRates(table, rates, *wrong)

    def separated(self, level: float) -> tuple[float, float, float] | None:
        """The wrong share and its interval by both tables, as likely as they are; None where classes overlap.

        Where hardly a label disagrees but for noise, the disagreement nearly is the answer.
        """
        hidden = (1 - self.differ) * self.uniform.hidden + self.differ * self.other.hidden
        if hidden > SEPARATED:
            return None
        at = np.linspace(0, 1, 4001)
        grown = sum(
            chance * ndtr((at - fitted.wrong) / fitted.error)
            for chance, fitted in ((1 - self.differ, self.uniform), (self.differ, self.other))
        )
        low, middle, high = np.interp([(1 - level) / 2, 0.5, (1 + level) / 2], grown, at).tolist()
        return middle, 0.0 if low < 0.01 else low, high

    def clean(self, scores: Array, member: Array) -> Array:
        """P(clean class) of each row by the other table, (n, K)."""
        return self.other.clean(scores)

    def judged(self, scores: Array, member: Array) -> tuple[Array, Array]:
        """P(the label is wrong) of each row by the other table, and its likely class."""
        clean, given = self.other.clean(scores), member.argmax(axis=1)
        explained = np.maximum(clean @ self.other.transition, TINY_CHANCE)
        right = clean * np.diag(self.other.transition) / explained
        wrong = 1 - np.sum(member * right, axis=1) / member.sum(axis=1)
        likely = clean * self.other.transition[:, given].T
        # A label that is probably wrong is not the likely one, though no other may have half the chance.
        likely[np.arange(len(given)), given] *= wrong <= 0.5
        return wrong, likely.argmax(axis=1)


def _around(rates: Array, errors: Array | float, level: float) -> Array:
    """Rates and the ends of their intervals, (K, 3)."""
    away = ndtri((1 + level) / 2) * errors
    low = np.maximum(rates - away, 0.0)
    return np.column_stack([rates, np.where(low < 0.01, 0.0, low), np.minimum(rates + away, 1.0)])


def fit_tables(scores: Array, member: Array, trusted: Array | None = None) -> Tables:
    """Fit both tables to honest scores, (n, K); member: (n, K), the weight of each row in each class.

    trusted: (n,), rows whose labels are right.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 3, 600)
    >>> given = np.where((y == 0) & (rng.uniform(size=600) < 0.4), 1, y)  # one class is taken for another
    >>> scores = 0.8 * np.eye(3)[y] + 0.1 * rng.normal(size=(600, 3))
    >>> found = fit_tables(scores, np.eye(3)[given])
    >>> found.differ > 0.9, bool(abs(found.other.transition[0, 1] - 0.4) < 0.1)
    (True, True)
    """
    n, k = member.shape
    some = (
        np.arange(n) if n <= FITTED_ROWS else np.sort(np.random.default_rng(0).permutation(n)[:FITTED_ROWS])
    )
    scores, member = scores[some], member[some]
    member = member * min(1.0, WEIGHT / member.sum())
    sure = np.zeros(len(some), dtype=bool) if trusted is None else trusted[some].astype(bool)
    counted = counted_table(scores, member, sure)
    nearly_clean = 0.98 * np.eye(k) + 0.02 / (k - 1) * (1 - np.eye(k))
    one = _Likelihood(scores, member, sure, rates=1).best([counted, nearly_clean])
    each = _Likelihood(scores, member, sure, rates=k).best([counted, one.transition])
    free = _Likelihood(scores, member, sure, base=one.transition).best([counted, one.transition])
    counts = _expected_counts(free, scores, member, sure)[~np.eye(k, dtype=bool)]
    costs = np.array([k, _cost_of(counts)]) - 1
    gains = np.array([each.likelihood, free.likelihood]) - one.likelihood - costs
    differ = expit((logsumexp(gains / SOFTLY) * SOFTLY - NEEDED_NATS) / SOFTLY)
    return Tables(one, (each, free)[int(gains.argmax())], float(differ))


def counted_table(scores: Array, member: Array, trusted: Array) -> Array:
    """Given labels of the most certain half of the rows of each likely class, as shares.

    Overlap counts as noise here: it is where the search begins, and all that there is for many classes.

    >>> scores = np.repeat(np.eye(2), 5, axis=0)
    >>> counted_table(scores, np.eye(2)[[0] * 5 + [1] * 4 + [0]], np.zeros(10, dtype=bool)).tolist()
    [[1.0, 0.0], [0.2, 0.8]]
    """
    k = member.shape[1]
    table = 0.7 * np.eye(k) + 0.3 / k
    for row, counts in enumerate(_certain_counts(scores, member, trusted)):
        if counts is not None:
            table[row] = counts / counts.sum()
    return table


def counted_rates(
    scores: Array, member: Array, trusted: Array, classes: list[Any], level: float
) -> ClassRates:
    """The same with intervals: what can be said of more classes than a table is fitted for."""
    counts = _certain_counts(scores, member, trusted)
    unknown = next((k for k, found in enumerate(counts) if found is None), None)
    if unknown is not None:
        raise ValueError(
            f"fewer than {FEW_ROWS_OF_CLASS} rows look like class {classes[unknown]!r}: "
            "too few to tell how it is flipped"
        )
    table = counted_table(scores, member, trusted)
    right = np.array([found[k] for k, found in enumerate(counts) if found is not None])
    total = np.array([found.sum() for found in counts if found is not None])
    ends = [beta.ppf(at, total - right + 0.5, right + 0.5) for at in ((1 - level) / 2, (1 + level) / 2)]
    rates = np.column_stack([1 - np.diag(table), *ends])
    shares = member.sum(axis=0) / member.sum()
    rate, low, high = (shares @ rates).tolist()
    return ClassRates(table, rates, rate, low, high)


def _certain_counts(scores: Array, member: Array, trusted: Array) -> list[Array | None]:
    """How often the most certain half of the rows that look like a class have each label; None of too few."""
    ordered = np.sort(scores, axis=1)
    margin, likely = ordered[:, -1] - ordered[:, -2], scores.argmax(axis=1)
    found: list[Array | None] = []
    for k in range(member.shape[1]):
        here = (likely == k) & ~trusted
        if member[here].sum() < FEW_ROWS_OF_CLASS:
            found.append(None)
            continue
        least = weighted_quantile(margin[here], member[here].sum(axis=1), 1 - CERTAIN_SHARE)
        certain = here & (margin >= least)
        found.append(member[certain].sum(axis=0))
    return found


class _Likelihood:
    """The logarithm of the likelihood and its priors, as a function of one long vector.

    The vector holds R (K K), b (K), log a (1), and the table: logits of rates, or K K logarithms.
    rates: one, or one for each class. base: (K, K), the table that a free one is drawn to.
    """

    def __init__(
        self, scores: Array, member: Array, trusted: Array, rates: int = 0, base: Array | None = None
    ) -> None:
        weight = member.sum(axis=1)
        self.center = np.average(scores, axis=0, weights=weight)
        self.scale = max(
            float(np.sqrt(np.average((scores - self.center) ** 2, axis=0, weights=weight).mean())),
            TINY_CHANCE,
        )
        self.rows, self.member, self.trusted, self.base = (
            (scores - self.center) / self.scale,
            member,
            trusted,
            base,
        )
        self.k, self.rates = member.shape[1], rates
        self.same: Array = np.eye(self.k)
        self.first: Array = np.eye(self.k)  # the map before it is mended
        self.misses = float(member.sum() - member[np.arange(len(member)), scores.argmax(axis=1)].sum())

    def parts(self, at: Array) -> tuple[Array, Array, float, Array, Array]:
        """R, b, log a, the table's own part of the vector, and the table."""
        k = self.k
        R, b, slope, own = (
            at[: k * k].reshape(k, k),
            at[k * k : k * k + k],
            at[k * k + k],
            at[k * k + k + 1 :],
        )
        if self.base is None:
            rates = (1 - 1 / k) * expit(own)[:, None] * np.ones((k, 1))
            return R, b, slope, own, (1 - rates) * self.same + rates / (k - 1) * (1 - self.same)
        return R, b, slope, own, softmax(own.reshape(k, k), axis=1)

    def slopes(self, at: Array) -> tuple[Array, Array, Array, Array]:
        """P(clean), P(given), and the slopes of the likelihood along the logits and along P(given)."""
        R, b, slope, _, T = self.parts(at)
        clean = softmax(self.rows @ (np.exp(slope) * self.first + R) + b, axis=1)
        given = np.where(self.trusted[:, None], clean, clean @ T)
        along_given = self.member / np.maximum(given, TINY_CHANCE)
        along_clean = np.where(self.trusted[:, None], along_given, along_given @ T.T)
        logits = clean * (along_clean - np.sum(along_clean * clean, axis=1, keepdims=True))
        return clean, given, logits, np.where(self.trusted[:, None], 0.0, along_given)

    def __call__(self, at: Array) -> tuple[float, Array]:
        """Minus the logarithm, and its gradient."""
        R, b, slope, own, T = self.parts(at)
        clean, given, logits, along_given = self.slopes(at)
        value = np.sum(self.member * np.log(np.maximum(given, TINY_CHANCE)))
        value -= RIDGE / 2 * np.sum(R**2) + OFFSETS / 2 * np.sum(b**2) + (slope / SLOPE_DEVIATION) ** 2 / 2
        by_weight, by_table = self.rows.T @ logits, clean.T @ along_given
        if self.base is None:
            table = self._tied(np.sum(by_table * self._along_rate(), axis=1) * self._rate_along_logit(T))
        else:
            value += PRIOR * np.sum(self.base * np.log(np.maximum(T, TINY_CHANCE)))
            by_table = by_table + PRIOR * self.base / np.maximum(T, TINY_CHANCE)
            table = T * (by_table - np.sum(by_table * T, axis=1, keepdims=True))
            logs = own.reshape(self.k, self.k)
            over = np.maximum(logs - np.diag(logs)[:, None] + GAP, 0.0) * (1 - self.same)
            value -= DOMINANT * np.sum(over**2)
            table = (table - 2 * DOMINANT * (over - np.diag(over.sum(axis=1)))).ravel()
        lift = np.sum(by_weight * self.first) * np.exp(slope) - slope / SLOPE_DEVIATION**2
        rest = [(by_weight - RIDGE * R).ravel(), logits.sum(axis=0) - OFFSETS * b, [lift], table]
        return -value, -np.concatenate(rest)

    def best(self, starts: list[Array]) -> FittedTable:
        """The best fit of those found from each start, which is a first guess of the table."""
        best, at, first = np.inf, np.zeros(0), self.same
        for start in starts:
            guess = 0.9 * start + 0.1 * self.same
            self.first = 2 * np.linalg.pinv(guess)
            if self.base is None:
                rates = 1 - np.diag(guess) if self.rates > 1 else np.array([1 - np.trace(guess) / self.k])
                rates = np.clip(rates, 0.02, 0.9 * (1 - 1 / self.k))
                own = np.log(rates / (1 - 1 / self.k - rates))
            else:
                own = np.log(np.clip(guess, 1e-3, 1)).ravel()
            begin = np.concatenate([np.zeros(self.k * self.k + self.k + 1), own])
            found = minimize(
                self, begin, jac=True, method="L-BFGS-B", options={"maxiter": 150, "maxfun": 300}
            )
            if found.fun < best - 1e-3:  # the first of equals
                best, at, first = found.fun, found.x, self.first
        self.first = first
        return self._fitted(at)

    def _fitted(self, at: Array) -> FittedTable:
        R, b, slope, _, T = self.parts(at)
        T = _dominated(T)
        clean, given, *_ = self.slopes(at)
        doubtful = np.where(self.trusted, 0.0, self.member.sum(axis=1))
        shares = doubtful @ clean / doubtful.sum()
        wrong = float(shares @ (1 - np.diag(T)))
        error, errors = self._errors(at, doubtful / doubtful.sum())
        hidden = max(0.0, self.misses / self.member.sum() - wrong)
        return FittedTable(
            T,
            np.exp(slope) * self.first + R,
            b,
            self.center,
            self.scale,
            float(np.sum(self.member * np.log(np.maximum(given, TINY_CHANCE)))),
            wrong,
            hidden,
            float(np.hypot(error, MISFIT * hidden)),
            errors,
            doubtful @ clean,
        )

    def _errors(self, at: Array, share: Array) -> tuple[float, Array]:
        """Standard errors of the wrong share and of each class's rate, by the delta method.

        The covariance is the inverse of the summed outer products of the rows' gradients and the priors.
        """
        k, n = self.k, len(self.rows)
        _, _, slope, _, T = self.parts(at)
        clean, _, logits, along_given = self.slopes(at)
        parts = [(self.rows[:, :, None] * logits[:, None, :]).reshape(n, -1), logits]
        parts.append(np.exp(slope) * np.sum(self.rows @ self.first * logits, axis=1, keepdims=True))
        flips = 1 - np.diag(T)
        by_logit = clean * (share[:, None] * (flips - clean @ flips[:, None]))
        by_weight = self.rows.T @ by_logit
        stretch = np.array([np.sum(by_weight * self.first) * np.exp(slope)])
        along: list[Array] = [by_weight.ravel(), by_logit.sum(axis=0), stretch]
        of_class = share @ clean
        priors: list[Array] = [np.full(k * k, RIDGE), np.full(k, OFFSETS), np.array([SLOPE_DEVIATION**-2.0])]
        if self.base is None:
            lift = self._rate_along_logit(T)
            by_rate = clean * (along_given @ self._along_rate().T) * lift
            parts, along, priors = (
                [*parts, self._tied(by_rate)],
                [*along, self._tied(of_class * lift)],
                [*priors, np.zeros(self.rates)],
            )
            jacobian = self._tied(np.diag(lift))
        else:
            entries = clean[:, :, None] * along_given[:, None, :]
            entries = T * (entries - np.sum(entries * T, axis=2, keepdims=True))
            by_entry = -(np.diag(T)[:, None] * (self.same - T))  # of each class's rate, along its own row
            parts, along = (
                [*parts, entries.reshape(n, -1)],
                [*along, (of_class[:, None] * by_entry).ravel()],
            )
            priors.append(PRIOR / 2 * self.base.ravel() + 0.05)
            jacobian = (by_entry[:, None, :] * self.same[:, :, None]).reshape(k, -1)
        gradients = np.hstack(parts) / np.sqrt(np.maximum(self.member.sum(axis=1), TINY_CHANCE))[:, None]
        information = gradients.T @ gradients + np.diag(np.concatenate(priors) + 1e-3)
        covariance = np.linalg.pinv(information, hermitian=True)
        direction, own = np.concatenate(along), covariance[-jacobian.shape[1] :, -jacobian.shape[1] :]
        of_classes = np.einsum("ka,ab,kb->k", jacobian, own, jacobian)
        spread = max(float(direction @ covariance @ direction), 0.0)
        one_row = 1 / self.member.sum()
        return float(np.hypot(WIDER * np.sqrt(spread), one_row)), WIDER * np.sqrt(np.maximum(of_classes, 0.0))

    def _along_rate(self) -> Array:
        return (1 - self.same) / (self.k - 1) - self.same

    def _rate_along_logit(self, T: Array) -> Array:
        rates = 1 - np.diag(T)
        return np.asarray(rates * (1 - rates / (1 - 1 / self.k)))

    def _tied(self, slopes: Array) -> Array:
        """Slopes along the rates of all classes, as those along the rates that there are."""
        return slopes if self.rates > 1 else slopes.sum(axis=-1, keepdims=True)


def _cost_of(counts: Array) -> float:
    """The nats that a free table costs: one for each entry that labels use, and those of choosing these.

    An entry that no label uses costs nothing, so that a single pair of classes is enough. But a few wrong
    labels fall on a few entries of many by chance alone, which then look like mistakes of their own.

    >>> round(_cost_of(np.array([1e9, 1e9])), 6), _cost_of(np.zeros(2))
    (2.0, 0.0)
    """
    used, all_of_them = float(np.sum(counts / (counts + 1))), len(counts)
    return used + float(gammaln(all_of_them + 1) - gammaln(used + 1) - gammaln(all_of_them - used + 1))


def _dominated(table: Array) -> Array:
    """The table, each row moved towards no mistakes until no wrong label is more frequent than the right one.

    >>> _dominated(np.array([[0.4, 0.6], [0.1, 0.9]])).tolist()
    [[0.5, 0.5], [0.1, 0.9]]
    """
    right = np.diag(table)
    over = np.maximum(np.where(np.eye(len(table), dtype=bool), 0.0, table).max(axis=1) - right, 0.0)
    kept = (1 / (1 + over))[:, None]  # (1 - a) t_kl = (1 - a) t_kk + a
    return kept * table + (1 - kept) * np.eye(len(table))


def _expected_counts(fitted: FittedTable, scores: Array, member: Array, trusted: Array) -> Array:
    """How many labels went from each clean class to each given one."""
    clean, T = fitted.clean(scores[~trusted]), fitted.transition
    return T * (clean.T @ (member[~trusted] / np.maximum(clean @ T, TINY_CHANCE)))
