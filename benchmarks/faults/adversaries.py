"""Adversaries: labels flipped at every rate, labels flipped by class and by row, and outliers in X.

python -m benchmarks.faults.adversaries [--small] [--json FILE]

Two normal classes N(-mu, I) and N(mu, I), equally likely: sign <mu, x> is the best rule there is, right with
probability Phi(|mu|), and how often any linear rule is right has a closed form. Tables go to stderr.

From n labels of which a share rho is wrong, E[y (x - mean)] comes out as (1 - 2 rho) mu, with errors of
deviation 1 / sqrt(n) across mu. So the angle to mu is about sqrt(d - 1) / ((1 - 2 rho) |mu| sqrt(n)). Least
squares divides the part along mu by 1 + |mu|^2, the variance along mu, which makes the angle larger by as
much. A rule at an angle theta loses Phi(|mu|) - Phi(|mu| cos theta).
"""

import sys
import warnings

import numpy as np
from scipy.stats import chi2, norm
from sklearn.linear_model import LogisticRegression

from benchmarks.faults.promise import Found, main
from unflip import (
    NoiseCorrectedClassifier,
    RobustClassifierCV,
    SquareClassifier,
    UnhingedClassifier,
    estimate_noise,
)
from unflip.experiments.generators import draw_long
from unflip.moments import accumulate, block_moments, median_of_means
from unflip.noise import ClassConditionalNoise, flip_labels
from unflip.passes.robust import _block_of

SMALL = {"rows": 10_000, "repeats": 2, "noise_rows": 600, "noise_repeats": 1, "outlier_rows": 4000}
FULL = {"rows": 1_000_000, "repeats": 5, "noise_rows": 4000, "noise_repeats": 5, "outlier_rows": 100_000}

WIDTH = 5  # columns
APART, CLOSER = 2.5, 1.5  # |mu|: for symmetric noise, and for all else
BEST = float(norm.cdf(CLOSER))
RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49)
POINT = 0.01  # one percentage point
SURE = 0.9995  # how often each part of the theory's line holds in a single cell
SHARES = (0.001, 0.01, 0.05)  # of outliers
FAR = 1e6  # where they are


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def center(distance):
    return np.full(WIDTH, distance / np.sqrt(WIDTH))


MU = center(CLOSER)


def draw(n, rng, mu=MU):
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, WIDTH)) + np.where(y == 1, 1.0, -1.0)[:, None] * mu, y


def accuracy(model, mu=MU):
    """How often a linear rule is right, in closed form."""
    w, b = model.coef_, float(model.intercept_)
    along, cut = w @ mu / np.linalg.norm(w), b / np.linalg.norm(w)
    return float((norm.cdf(along + cut) + norm.cdf(along - cut)) / 2)


# Symmetric noise


def lost_at(tangent):
    return float(norm.cdf(APART) - norm.cdf(APART / np.sqrt(1 + tangent**2)))


def expected_loss(n, rate, larger):
    return lost_at(larger * np.sqrt((WIDTH - 1) / n) / ((1 - 2 * rate) * APART))


def line(n, rate, larger):
    """A loss that few cells exceed, says theory: by the angle, and by a threshold at the mean of the rows."""
    deviation = np.sqrt((1 + APART**2) / n)  # of a mean along mu
    along = (1 - 2 * rate) * APART - norm.ppf(SURE) * deviation
    if along <= 0:
        return 1.0
    across = larger * np.sqrt(chi2.ppf(SURE, WIDTH - 1) / n)
    lean = APART / np.sqrt(1 + (across / along) ** 2)
    shift = norm.ppf(SURE) * deviation
    return float(norm.cdf(APART) - (norm.cdf(lean + shift) + norm.cdf(lean - shift)) / 2)


LEARNERS = {"unhinged": (UnhingedClassifier, 1.0), "square": (SquareClassifier, 1 + APART**2)}


def symmetric(rows, repeats):
    mu, best = center(APART), float(norm.cdf(APART))
    sizes = [n for n in (1000, 10_000, 100_000, 1_000_000) if n <= rows]
    lost = {name: np.zeros((len(sizes), len(RATES), repeats)) for name in LEARNERS}
    for i, n in enumerate(sizes):
        for repeat in range(repeats):
            rng = np.random.default_rng([n, repeat])
            X, y = draw(n, rng, mu)
            for j, rate in enumerate(RATES):
                noisy = flip_labels(y, rate, rng)
                for name, (learner, _) in LEARNERS.items():
                    lost[name][i, j, repeat] = best - accuracy(learner().fit(X, noisy), mu)
        say(f"symmetric noise, {n:,} rows: done")
    found = []
    for name, (_, larger) in LEARNERS.items():
        say(f"clean accuracy in %, worst of {repeats} draws, {name}; the best rule: {100 * best:.2f}")
        say("rows".rjust(9), *(f"{rate:7.2f}" for rate in RATES))
        worst = lost[name].max(axis=2)
        for n, row in zip(sizes, worst, strict=True):
            say(f"{n:9,}", *(f"{100 * (best - value):7.2f}" for value in row))
        lines = np.array([[line(n, rate, larger) for rate in RATES] for n in sizes])
        broken = int((worst > lines).sum())
        near = [j for j, rate in enumerate(RATES) if expected_loss(sizes[-1], rate, larger) <= POINT / 4]
        gap = (lost[name][-1] - lost[name][-1][0]).max(axis=1)[near]
        cells = f"{worst.size} cells (rates {RATES[0]:.2f} to {RATES[-1]:.2f}), {repeats} draws each"
        found.append(
            Found(
                f"symmetric label noise, {name}: lost accuracy stays below the line of theory",
                f"n = {sizes[0]:,} to {sizes[-1]:,}, {cells}",
                f"above the line in {broken}; at n = {sizes[-1]:,} and rate {RATES[-1]}: "
                f"{100 * (best - worst[-1, -1]):.2f} %, the best rule {100 * best:.2f} %",
                broken == 0,
            )
        )
        found.append(
            Found(
                f"symmetric label noise, {name}: within one point of no noise",
                f"n = {sizes[-1]:,}, rates up to {RATES[near[-1]]} (theory expects a quarter of a point), "
                f"{repeats} draws",
                f"at most {100 * gap.max():.3f} points lost",
                bool(gap.max() <= POINT),
            )
        )
    return found


def three_points(rows):
    """Long and Servedio: rules through the origin, all clean labels positive."""
    rng = np.random.default_rng(0)
    X, y = draw_long(rows, rng)
    points, place = np.unique(X, axis=0, return_inverse=True)
    share = np.bincount(place) / rows
    right = {"unhinged": [], "logistic": []}
    rates = [rate for rate in RATES[1:] if 3.5 / ((1 - 2 * rate) * np.sqrt(rows)) < 0.2]
    for rate in rates:
        noisy = flip_labels(y, rate, rng, classes=[-1, 1])
        paper = UnhingedClassifier(center=False, threshold=0.0).fit(X, noisy)
        weight = np.concatenate([np.bincount(place[noisy == label], minlength=3) for label in (-1, 1)])
        logistic = LogisticRegression(C=1e4, fit_intercept=False)
        logistic.fit(np.vstack([points, points]), np.repeat([-1, 1], 3), weight)
        for name, model in (("unhinged", paper), ("logistic", logistic)):
            right[name].append(float(share @ (model.decision_function(points) > 0)))
    return Found(
        "Long and Servedio's points: noise does not move unhinged, and breaks logistic regression",
        f"n = {rows:,}, rates {', '.join(map(str, rates))}",
        "; ".join(f"{name} {', '.join(f'{100 * a:.0f}' for a in got)} %" for name, got in right.items()),
        min(right["unhinged"]) == 1 and max(right["logistic"]) < 0.9,
    )


# Noise that depends on the class or on the row


def flip_rates(kind, X, y):
    """P(flip) for each row."""
    margin = X @ MU / CLOSER
    return {
        "all rows .25": np.full(len(y), 0.25),
        "by class .1, .4": np.where(y == 1, 0.4, 0.1),
        "by class 0, .45": np.where(y == 1, 0.45, 0.0),
        "near the border": 0.45 * np.exp(-np.abs(margin)),
        "far from the border": np.where(np.abs(margin) > CLOSER, 0.45, 0.05),
        "one side of a column": np.where(X[:, 0] > 0, 0.4, 0.0),
        "in two corners": np.where((X[:, 0] > X[:, 1]) == (margin > 0), 0.45, 0.0),
    }[kind]


KINDS = ("all rows .25", "by class .1, .4", "by class 0, .45", "near the border", "far from the border")
KINDS += ("one side of a column", "in two corners")
BY_CLASS = {"by class .1, .4": (0.1, 0.4), "by class 0, .45": (0.0, 0.45)}


def not_symmetric(rows, repeats):
    say(f"noise of other kinds, {rows:,} rows, mean of {repeats}: clean accuracy in %, then the rate")
    found = []
    for place, kind in enumerate(KINDS):
        right, truth, covered, outer, alarms, estimates, by_class = {}, [], [], [], [], [], []
        for repeat in range(repeats):
            rng = np.random.default_rng([place, repeat])
            X, y = draw(rows, rng)
            new, target = draw(20_000, rng)
            p = flip_rates(kind, X, y)
            noisy = np.where(rng.random(rows) < p, 1 - y, y)
            known = ClassConditionalNoise(BY_CLASS[kind]) if kind in BY_CLASS else float(p.mean())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for name, model in (
                    ("unhinged", UnhingedClassifier()),
                    ("square", SquareClassifier()),
                    ("corrected", NoiseCorrectedClassifier(noise=known)),
                    ("robust", RobustClassifierCV()),
                    ("logistic", LogisticRegression()),
                ):
                    got = float(np.mean(model.fit(X, noisy).predict(new) == target))
                    right.setdefault(name, []).append(got)
                noise = estimate_noise(X, noisy)
            truth.append(float(np.mean(noisy != y)))
            estimates.append(noise.rate)
            covered.append(noise.low <= truth[-1] <= noise.high)
            outer.append(noise.outer >= truth[-1])
            alarms.append(bool(noise.warnings))
            rates = zip(BY_CLASS.get(kind, ()), noise.by_class.values(), strict=False)
            by_class.append(all(low <= rate <= high for rate, (_, low, high) in rates))
        mean = {name: float(np.mean(got)) for name, got in right.items()}
        scores = ", ".join(f"{name} {100 * got:.1f}" for name, got in mean.items())
        rate = (
            f"rate {np.mean(truth):.3f}, estimated {np.mean(estimates):.3f}, inside the interval in "
            f"{sum(covered)} of {repeats}, with a warning in {sum(alarms)}, below `outer` in {sum(outer)}"
        )
        rate += f", the rates of both classes inside theirs in {sum(by_class)}" if kind in BY_CLASS else ""
        say(f"{kind}: {scores}; {rate}")
        # Noise by class multiplies the covariance of label and row by one number: a promise there too.
        promised = ("unhinged", "corrected") if place < 3 else ()
        close = all(BEST - mean[name] <= POINT * max(1.0, np.sqrt(10_000 / rows)) for name in promised)
        words = "unhinged and corrected near the best rule, " if promised else "no promise but "
        found.append(
            Found(
                f"labels flipped {kind}: {words}`outer` holds",
                f"n = {rows:,}, {repeats} draws",
                f"clean accuracy, in %: {scores} (best {100 * BEST:.1f}); {rate}",
                bool(close and sum(outer) >= 0.8 * repeats),
            )
        )
    return found


# Outliers in X


def poisoned(rows, share, blocks, rng):
    """Rows of the second class moved far to the side of the first one, and which these are.

    The adversary knows the hash, and puts each of them into a block of its own.
    """
    X, y = draw(rows, rng)
    count = round(share * rows)
    moved = np.flatnonzero(y == 1)[:count]
    places = -FAR * MU / CLOSER + rng.normal(size=(20 * count, WIDTH))
    _, first = np.unique(_block_of(places, blocks, 0), return_index=True)
    X[moved] = places[rng.permutation(first)[:count]]
    return X, y, moved


def class_distances(moments):
    means = moments.origin + moments.unit * (moments.sums / moments.counts[:, None])
    return np.linalg.norm(means - np.array([-MU, MU]), axis=1)


def bounds(X, y, moved, outliers):
    """For each class C_alpha r, r the distance of the farthest clean block; infinite if alpha >= 1/2."""
    n_blocks = 4 * outliers + 1
    block, found = _block_of(X, n_blocks, 0), []
    for k, truth in enumerate((-MU, MU)):
        mine = y == k
        counts = np.bincount(block[mine], minlength=n_blocks)
        sums = np.column_stack([np.bincount(block[mine], X[mine, j], n_blocks) for j in range(WIDTH)])
        spoiled = np.isin(np.arange(n_blocks), block[moved] if k == 1 else [])
        clean = (counts > 0) & ~spoiled
        alpha = spoiled.sum() / np.count_nonzero(counts)
        if alpha >= 0.5:
            found.append(np.inf)
            continue
        r = np.linalg.norm(sums[clean] / counts[clean, None] - truth, axis=1).max()
        found.append((1 - alpha) / np.sqrt(1 - 2 * alpha) * r)
    return np.array(found)


def outliers_in_x(rows):
    found = []
    for share in SHARES:
        count = round(share * rows)
        results = []
        kept = True
        for allowed in (count, count // 2, count // 4):
            rng = np.random.default_rng([rows, count])
            X, y, moved = poisoned(rows, share, 4 * allowed + 1, rng)
            plain = accumulate((X, y))
            moments = median_of_means(block_moments((X, y), outliers=allowed))
            limit, distance = bounds(X, y, moved, allowed), class_distances(moments)
            right = accuracy(UnhingedClassifier().fit_moments(moments))
            results.append(
                f"m = {allowed}: {100 * right:.2f} %, off by {distance.max():.3g}, bound {limit.max():.3g}"
            )
            if allowed == count:
                spoiled = len(np.unique(_block_of(X[moved], 4 * allowed + 1, 0)))
                overturned = accuracy(UnhingedClassifier().fit_moments(plain))
                off = class_distances(plain)
                results.insert(0, f"plain mean: {100 * overturned:.2f} %, off by {off.max():.3g}")
                # The check must be able to fail: the plain mean has to break the same bound.
                kept = bool((distance <= limit).all() and (off > limit).any())
        say(f"outliers {share:.1%}: " + "; ".join(results))
        found.append(
            Found(
                "outliers in X: medians of means stay within Minsker's bound, with outliers <= m",
                f"n = {rows:,}, {count:,} rows moved by {FAR:g} into {spoiled:,} of {4 * count + 1:,} blocks",
                f"{'; '.join(results)} (best rule {100 * BEST:.2f} %)",
                kept,
            )
        )
    return found


def run(rows, repeats, noise_rows, noise_repeats, outlier_rows):
    found = symmetric(rows, repeats)
    found.append(three_points(rows))
    found += outliers_in_x(outlier_rows)
    return found + not_symmetric(noise_rows, noise_repeats)


if __name__ == "__main__":
    main(run, SMALL, FULL)
