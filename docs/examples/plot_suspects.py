"""
Which labels are wrong?
=======================

Every row is scored by a fit to the other rows. Where the given label disagrees with a score that is certain,
the label is probably wrong. We flip a tenth of the labels ourselves, so that the ranking can be compared with
the truth.
"""

# %%
# The suspects, the most suspicious first, with a probability for each.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

from unflip import SuspectsDisplay, find_suspects
from unflip.noise import flip_labels

X, truth = load_breast_cancer(return_X_y=True)
noisy = flip_labels(truth, 0.1, rng=0)
suspects = find_suspects(X, noisy)
print(suspects)

# %%
# The curve falls from labels that are surely wrong to labels that are surely right; the dashed line is the
# number of wrong labels to be expected.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
SuspectsDisplay.from_suspects(suspects, ax=ax)

# %%
# The truth: how many of the first rows have a label that we flipped?

wrong = (noisy != truth)[suspects.rows]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
place = np.arange(1, len(wrong) + 1)
ax.plot(place, np.cumsum(wrong), label="flipped labels found")
ax.plot(place, np.minimum(place, wrong.sum()), color="gray", linestyle="--", label="a perfect ranking")
ax.set(xlabel="rows looked at, most suspicious first", ylabel="wrong labels among them", xlim=(0, 200))
ax.legend()

# %%
# One of them: what was given, what is likely, and near rows that have the likely label.

print(next(iter(suspects)))
