"""The paper's fits: one matrix, hundreds of label vectors, six losses at a penalty of 1e-16.

A trial of the paper is a fresh draw of flips over the same rows, so a split means one X and hundreds of label
vectors Y, one a column. The solvers of `unflip.solvers` take all columns at once; here is what only the paper
needs: coordinates for a penalty that vanishes, certificates without it, and errors of many scores.
"""

from unflip.experiments.batch.fit import CLOSED, fit
from unflip.experiments.batch.fits import Fits
from unflip.experiments.batch.metrics import auc, best_cuts, error_rates, grid_cuts
from unflip.experiments.batch.whitened import Whitened

__all__ = ["CLOSED", "Fits", "Whitened", "auc", "best_cuts", "error_rates", "fit", "grid_cuts"]
