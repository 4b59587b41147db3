"""
A kernel classifier with few points
===================================

A kernel mean keeps all rows. Herding picks few of them, with weights, whose mean is nearly the same, and
knows after each step how far away it is.
"""

# %%
# Two moons, a third of the labels wrong. All 1000 rows, and 30 points that stand for them.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from unflip import KernelUnhingedClassifier
from unflip.noise import flip_labels

X, truth = make_moons(1000, noise=0.2, random_state=0)
noisy = flip_labels(truth, 1 / 3, rng=0)
every = KernelUnhingedClassifier(bandwidth=0.4).fit(X, noisy)
few = KernelUnhingedClassifier(bandwidth=0.4, compress="herding", n_support=30).fit(X, noisy)
for name, model in (("all rows", every), ("30 points", few)):
    print(f"{name}: accuracy on clean labels {model.score(X, truth):.3f}")

# %%
# The lines where each of them changes its mind.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.scatter(*X.T, c=noisy, cmap="coolwarm", s=8, alpha=0.4)
ax.scatter(*few.support_vectors_.T, facecolors="none", edgecolors="black", s=60)
across, up = np.meshgrid(np.linspace(-2, 3, 120), np.linspace(-1.5, 2, 120))
grid = np.column_stack([across.ravel(), up.ravel()])
for model, look in ((every, {"colors": "orange", "linewidths": 4}), (few, {"colors": "black"})):
    scores = model.decision_function(grid).reshape(across.shape)
    ax.contour(across, up, scores, [0.0], **look)
ax.set_title("labels as given; circles are the points that are kept, in black their boundary")

# %%
# The error of the mean after each point. No score changes by more than that.

figure, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.semilogy(few.herd_.errors)
ax.set(xlabel="points kept", ylabel="distance of the means")
