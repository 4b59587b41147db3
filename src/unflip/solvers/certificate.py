"""A certificate says how far a fit may be from what it was looking for."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from sklearn.exceptions import ConvergenceWarning


@dataclass(frozen=True)
class Certificate:
    """A bound on what is left to gain.

    kind: "optimality" if `gap` bounds the objective minus its minimum, which needs a convex loss;
        "stationarity" if it is the norm of the gradient relative to that of the zero scorer or, for
        piecewise linear losses, what one more linearised step could gain.
    gap, tolerance: the fit is as good as promised if gap <= tolerance.
    method: how the fit was found; iterations: in how many steps.

    >>> Certificate("optimality", gap=1e-12, tolerance=1e-8, method="newton", iterations=7).met
    True
    """

    kind: str
    gap: float
    tolerance: float
    method: str
    iterations: int

    @property
    def met(self) -> bool:
        """Is the gap within the tolerance?"""
        return self.gap <= self.tolerance


def warn_unmet(certificate: Certificate) -> None:
    """Warn the caller of a `fit` that its certificate is not met."""
    warnings.warn(
        f"the fit stopped with a gap of {certificate.gap:.2g} ({certificate.kind}), above "
        f"{certificate.tolerance:.2g}; standardise the features or raise the regularization",
        ConvergenceWarning,
        stacklevel=4,  # past this function, `fit` and scikit-learn's wrapper around it
    )
