"""One matrix, many label vectors: fits and scores for all of them in lockstep.

A trial of the paper is a fresh draw of flips over the same rows, so a split means one X and hundreds of label
vectors Y, one a column. Scores are X W, and every step is a matrix product for all columns at once. The code
speaks the array API, so it runs wherever its arrays live.
"""

from unflip.experiments.batch.arrays import blocks
from unflip.experiments.batch.closed import fit_square, fit_unhinged
from unflip.experiments.batch.fit import CLOSED, fit
from unflip.experiments.batch.fits import Fits
from unflip.experiments.batch.hinge import fit_hinge
from unflip.experiments.batch.metrics import auc, best_cuts, error_rates, grid_cuts
from unflip.experiments.batch.smooth import fit_smooth
from unflip.experiments.batch.whitened import Whitened

__all__ = [
    "CLOSED",
    "Fits",
    "Whitened",
    "auc",
    "best_cuts",
    "blocks",
    "error_rates",
    "fit",
    "fit_hinge",
    "fit_smooth",
    "fit_square",
    "fit_unhinged",
    "grid_cuts",
]
