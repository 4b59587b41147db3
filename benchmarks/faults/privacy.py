"""Privacy: the stated epsilon against OpenDP's own, what a row can move, and a search for violations.

The audit runs the mechanism many times on two tables that differ in one row, the longest there can be, and
looks along the direction in which the row pulls. Half the runs choose a threshold, the other half count how
often it is passed with the row and without; Clopper-Pearson bounds on both give an epsilon that the mechanism
cannot be below (95 %). A mechanism with too little noise is audited too, and must be caught.
"""

import math
from unittest import mock

import numpy as np
from scipy.stats import beta

from benchmarks.faults.promise import Found, main
from unflip.features import Columns
from unflip.moments.privacy import gaussian, opendp
from unflip.private import private_labels, private_moments
from unflip.private import sums as private_sums
from unflip.private.clip import Clipped

SMALL = {"runs": 100, "settings": 2, "neighbours": 10, "labels": 2000, "too_little_percent": 10}
FULL = {"runs": 10_000, "settings": 60, "neighbours": 2000, "labels": 200_000, "too_little_percent": 33}
DELTA = 1e-5


def with_opendps_map(settings: int, rng: np.random.Generator) -> Found:
    dp, below, slack = opendp(), 0, 0.0
    for _ in range(settings):
        epsilon, delta = 10 ** rng.uniform(-2, 1.5), 10 ** rng.uniform(-12, -3)
        bound, d = 10 ** rng.uniform(-3, 3), int(rng.integers(1, 30))
        y = rng.integers(0, 2, 50)
        scales = []
        with mock.patch.object(private_sums, "gaussian", _keeping(scales)):
            stated = private_moments((rng.normal(size=(50, d)), y), epsilon, delta, bound).privacy.epsilon
        largest = Clipped(Columns(d), bound).largest
        domain = dp.vector_domain(dp.atom_domain(T="i64"))
        own = dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=scales[0])
        own = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(own), delta)
        least = own.map(math.hypot(largest, largest // 2))[0]
        below += stated < least or stated > epsilon
        slack = max(slack, stated / least)
    return Found(
        "our epsilon is never below OpenDP's own map",
        f"{settings} settings, epsilon .01 to 30, delta 1e-12 to 1e-3",
        f"{below} below it or above what was asked; at most {slack:.6f} times it",
        below == 0,
    )


def composed(settings: int, rng: np.random.Generator) -> Found:
    """Releases that are added: the epsilon that their sum states, and OpenDP's for all of them together."""
    dp, below, slack = opendp(), 0, 0.0
    for _ in range(settings):
        delta, scales = 10 ** rng.uniform(-12, -3), []
        with mock.patch.object(private_sums, "gaussian", _keeping(scales)):
            releases = [
                private_moments((rng.normal(size=(50, 3)), np.arange(50) % 2), epsilon, delta, bound=1.0)
                for epsilon in 10 ** rng.uniform(-2, 1, int(rng.integers(2, 6)))
            ]
        stated = sum(releases[1:], start=releases[0]).privacy
        largest = Clipped(Columns(3), 1.0).largest
        own = dp.c.make_composition([gaussian(scale) for scale in scales[::2]])  # asked for twice each
        own = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(own), delta)
        least = own.map(math.hypot(largest, largest // 2))[0]
        below += stated.epsilon < least or stated.releases != len(releases)
        slack = max(slack, stated.epsilon / least)
    return Found(
        "releases that are added cost what OpenDP's composition says, or more",
        f"{settings} sums of 2 to 5 releases",
        f"{below} below it; at most {slack:.6f} times it",
        below == 0,
    )


def what_a_row_moves(neighbours: int, rng: np.random.Generator) -> Found:
    """The integers before the noise, of tables with and without a row, by brute force."""
    worst = 0.0
    for _ in range(neighbours):
        d, n = int(rng.integers(1, 20)), int(rng.integers(2, 30))
        bound = float(10 ** rng.uniform(-2, 2))
        X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-3, 3, (n, 1))
        y, clipped = rng.integers(0, 3, n), Clipped(Columns(d), bound)
        per_row, vectors = clipped.largest // 2, []
        for rows in (slice(None), slice(1, None)):
            exact = private_sums._exact_sums((X[rows], y[rows]), None, bound)[0].with_classes((0, 1, 2))
            vectors.append(private_sums._as_integers(exact, clipped.step, per_row)[0])
        moved = vectors[0].astype(object) - vectors[1].astype(object)
        worst = max(worst, math.sqrt(sum(int(m) ** 2 for m in moved)) / math.hypot(per_row, clipped.largest))
    return Found(
        "a row moves the sums by at most the sensitivity",
        f"{neighbours} pairs of neighbouring tables",
        f"at most {worst:.9f} of the closed form",
        worst <= 1,
    )


def audit(runs: int, epsilon: float, share: float) -> float:
    """A lower bound on epsilon (95 %) for the mechanism with this share of the noise that it should have."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 2
    longest = np.vstack([X, 100 * np.ones((1, 3))]), np.append(y, 1)
    step, largest = Clipped(Columns(3), 2.0).step, Clipped(Columns(3), 2.0).largest
    half = largest // 2
    pull = np.append(np.full(3, 1 / math.sqrt(3)) * 2.0 / step, half)  # what the row adds, in whole numbers
    scale = share * private_sums.smallest_scale(epsilon, DELTA, math.hypot(half, largest))
    found = []
    with (
        mock.patch.object(private_sums, "smallest_scale", return_value=scale),  # found once, not in each run
        mock.patch.object(private_sums, "_within", side_effect=lambda sums, radius: sums),
    ):
        for rows in (longest, (X, y)):
            releases = (private_moments(rows, epsilon, DELTA, 2.0) for _ in range(runs))
            found.append(np.array([np.append(r.sums[1] / step, r.counts[1] * half) @ pull for r in releases]))
    return max(_least_epsilon(found[0], found[1]), _least_epsilon(-found[1], -found[0]))


def _least_epsilon(one: np.ndarray, other: np.ndarray) -> float:
    half = len(one) // 2
    thresholds = np.quantile(np.concatenate([one[:half], other[:half]]), np.linspace(0.02, 0.98, 49))
    guess = [_ratio((one[:half] > t).mean(), (other[:half] > t).mean() + 1 / half) for t in thresholds]
    threshold, n = thresholds[int(np.argmax(guess))], len(one) - half
    passed, others = int((one[half:] > threshold).sum()), int((other[half:] > threshold).sum())
    low = beta.ppf(0.025, passed, n - passed + 1) if passed else 0.0
    high = beta.ppf(0.975, others + 1, n - others) if others < n else 1.0
    return _ratio(low, high)


def _ratio(above: float, below: float) -> float:
    return math.log((above - DELTA) / below) if above > DELTA else 0.0


def randomised(n: int) -> Found:
    worst = 0.0
    for k, epsilon in ((2, 0.5), (2, 2.0), (4, 1.0)):
        y = np.arange(n) % k
        told, noise = private_labels(y, epsilon)
        error = math.sqrt(noise.rate * (1 - noise.rate) / n)
        worst = max(worst, abs((told != y).mean() - noise.rate) / error)
    return Found(
        "labels are flipped at the rate that epsilon asks",
        f"3 settings x {n:,} labels",
        f"the share flipped is {worst:.1f} standard errors from the rate at worst",
        worst < 4.5,
    )


def _keeping(scales: list[float]):
    plain = private_sums.gaussian

    def gaussian(scale: float):
        scales.append(scale)
        return plain(scale)

    return gaussian


def run(runs: int, settings: int, neighbours: int, labels: int, too_little_percent: int) -> list[Found]:
    rng = np.random.default_rng(0)
    sound, broken = audit(runs, 1.0, 1.0), audit(runs, 1.0, too_little_percent / 100)
    return [
        with_opendps_map(settings, rng),
        composed(settings, rng),
        what_a_row_moves(neighbours, rng),
        Found(
            "a statistical audit finds no violation",
            f"{runs:,} runs on each of two neighbouring tables, epsilon 1, delta {DELTA:g}",
            f"epsilon is at least {sound:.2f} (95 %); with {too_little_percent} % of the noise {broken:.2f}",
            sound <= 1.0 < broken,
        ),
        randomised(labels),
    ]


if __name__ == "__main__":
    main(run, SMALL, FULL)
