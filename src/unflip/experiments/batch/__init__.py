"""One matrix, many label vectors: fits and scores for all of them in lockstep.

A trial of the paper is a fresh draw of flips over the same rows, so a split means one X and hundreds of label
vectors Y, one a column. Scores are X W, and every step is a matrix product for all columns at once.
"""

from unflip.experiments.batch.closed import fit_square, fit_unhinged
from unflip.experiments.batch.hinge import HingeFit, fit_hinge
from unflip.experiments.batch.metrics import auc, best_cuts, error_rates
from unflip.experiments.batch.smooth import BatchFit, fit_smooth
from unflip.experiments.batch.whitened import Whitened

__all__ = [
    "BatchFit",
    "HingeFit",
    "Whitened",
    "auc",
    "best_cuts",
    "error_rates",
    "fit_hinge",
    "fit_smooth",
    "fit_square",
    "fit_unhinged",
]
