"""Draws docs/robustness_curve.svg: accuracy on clean labels against the share of wrong training labels.

python docs/robustness_curve.py
"""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from unflip import KernelUnhingedClassifier, RobustClassifierCV
from unflip.audit import RobustnessCurveDisplay

RIVALS = {
    "RobustClassifierCV": RobustClassifierCV(),
    "KernelUnhingedClassifier": KernelUnhingedClassifier(bandwidth="loo"),
    "SVC": make_pipeline(StandardScaler(), SVC()),
    "random forest": RandomForestClassifier(random_state=0),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
}


def main() -> None:
    """Write the picture."""
    X, y = load_digits(return_X_y=True)
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    rates = np.linspace(0, 0.6, 7).round(1)
    RobustnessCurveDisplay.from_estimator(RIVALS, X, y, rates, repeats=3, ax=ax)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
