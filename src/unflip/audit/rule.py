"""Whether a short rule over columns says what the labels say: then mistakes of that rule cannot show.

Labels that a rule made are a function of the row. A model of the row learns the rule, mistakes and all, and
agrees with them. A sign of that is that a small tree does as well as the robust fit, and hardly ever errs.
"""

from __future__ import annotations

import numpy as np

from unflip.border.arrays import Array
from unflip.noise.caveats import Caveat

LEAVES, TREE_FOLDS = 24, 3
MOST_ERRORS, TIMES_THE_ERRORS = 0.07, 1.4  # of a tree: in all, and beside the robust fit
OF_GUESSING = 0.25  # of the errors of always naming the most frequent class: more is no rule
TREE_ROWS, TREE_COLUMNS = 5000, 500  # rows that trees are grown on; wider tables have no short rule
RULE = Caveat(
    "rule",
    "a rule of a few columns says what these labels say; if it made them, its own mistakes do not show here, "
    "and only reviewed rows tell them",
)


def follows_a_rule(X: Array, codes: Array, missed: float) -> bool:
    """Whether a small tree matches labels that it did not see nearly as often as a robust fit.

    X: (n, d), numbers; codes: (n,), the class of each row; missed: the share that the robust fit misses.

    >>> X = np.arange(200.0)[:, None] % 10
    >>> follows_a_rule(X, (X[:, 0] > 4).astype(int), 0.0)
    True
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    n, d = X.shape
    sizes = np.bincount(codes)
    if d > TREE_COLUMNS or sizes[sizes > 0].min() < TREE_FOLDS:
        return False
    some = np.random.default_rng(0).permutation(n)[:TREE_ROWS]
    tree = DecisionTreeClassifier(max_leaf_nodes=LEAVES, random_state=0)
    folds = StratifiedKFold(TREE_FOLDS, shuffle=True, random_state=0)
    if np.bincount(codes[some])[np.unique(codes[some])].min() < TREE_FOLDS:
        return False
    errs = 1 - float(cross_val_score(tree, X[some], codes[some], cv=folds).mean())
    guessing = 1 - sizes.max() / n
    few, near = min(MOST_ERRORS, OF_GUESSING * guessing), TIMES_THE_ERRORS * max(missed, 1 / n)
    return bool(errs <= few and errs <= near)
