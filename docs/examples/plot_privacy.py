"""
What privacy costs
==================

Sums with noise for (epsilon, delta)-differential privacy, or labels flipped before anybody sees them: how
much accuracy is left? The smaller epsilon, the less a single row can be told.
"""

# %%
# Two tables, halved: spambase with two classes, digits with ten. Features are made by formulas that look at
# no other row (is a word there at all, pixels over 16), and the bound on the length of a row is a round
# number: what is fixed in advance costs nothing.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from unflip import UnhingedClassifier
from unflip.experiments.datasets import load
from unflip.private import private_labels, private_moments

spam = load("spambase")
pixels, digits = load_digits(return_X_y=True)
words = (spam.X[:, :54] > 0).astype(float)
tables = {"spambase": (words, spam.y, 4.0), "digits": (pixels / 16 - 0.5, digits, 4.0)}
epsilons, delta = (0.1, 0.3, 1.0, 3.0, 10.0), 1e-5

# %%
# Each point is the mean of ten releases. "sums": a row and its label are private. "labels": labels alone are,
# each by itself, by randomised response, and the learner is not told.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (name, (X, y, bound)) in zip(axes, tables.items(), strict=True):
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    plain = UnhingedClassifier().fit(X, y).score(X_test, y_test)
    found = {"sums": [], "labels": []}
    for epsilon in epsilons:
        releases = [private_moments((X, y), epsilon, delta, bound) for _ in range(10)]
        models = [UnhingedClassifier().fit_moments(release) for release in releases]
        found["sums"].append(np.mean([model.score(X_test, y_test) for model in models]))
        flipped = [private_labels(y, epsilon)[0] for _ in range(10)]
        models = [UnhingedClassifier().fit(X, told) for told in flipped]
        found["labels"].append(np.mean([model.score(X_test, y_test) for model in models]))
    ax.axhline(plain, color="grey", linestyle=":", label="not private")
    for way, mark in (("sums", "o-"), ("labels", "s--")):
        ax.plot(epsilons, found[way], mark, label=f"private {way}")
    ax.set(xscale="log", xlabel="epsilon", ylabel="accuracy", ylim=(0, 1), title=f"{name}, {len(X)} rows")
    ax.legend()
    print(f"{name}: not private {plain:.3f}")
    for way, scores in found.items():
        print(
            f"    private {way}: "
            + ", ".join(f"{e:g} {s:.3f}" for e, s in zip(epsilons, scores, strict=True))
        )
