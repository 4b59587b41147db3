"""
What wrong training labels do to a classifier
=============================================

A robustness curve flips more and more of the training labels and measures each classifier on test labels that
nobody touched. All of them meet the same splits and the same flips.
"""

# %%
# Ten digits, half of the rows. ``rates`` are shares of training labels that become another digit, any of the
# nine alike.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from unflip import KernelUnhingedClassifier, RobustnessCurveDisplay, UnhingedClassifier

X, y = load_digits(return_X_y=True)
X, y = X[::2], y[::2]
rivals = {
    "kernel mean": KernelUnhingedClassifier(bandwidth="loo"),
    "linear mean": UnhingedClassifier(),
    "SVC": make_pipeline(StandardScaler(), SVC()),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
}
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
rates = np.linspace(0, 0.6, 4).round(1)
display = RobustnessCurveDisplay.from_estimator(rivals, X, y, rates, repeats=2, ax=ax)

# %%
# Bands are one standard deviation over the repeats. The linear mean is among the flattest and, without noise,
# the worst: robust is not the same as accurate. With a kernel the mean is both, here.

for curve in display.curves:
    print(f"{curve.name:20} {curve.mean.round(2)}")
