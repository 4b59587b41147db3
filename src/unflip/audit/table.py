"""The audit of a whole table: one fit, and every answer from it.

How noisy are the labels, what accuracy would clean ones show, which learner to use and why, which rows are
probably wrong, what tells the classes apart, and what of all this is guaranteed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unflip.audit.compare import Learner, Recommended, compare, recommend
from unflip.audit.differences import Difference, differences
from unflip.audit.honest import honest_of_many
from unflip.audit.suspects import Suspects, find_suspects
from unflip.noise import NoiseEstimate
from unflip.noise.estimate import NO_SIGNAL
from unflip.noise.intervals import ScoreEstimate
from unflip.robust.guarantee import Guarantee
from unflip.tables.column_kinds import NUMBERED, OWN_VALUES
from unflip.tables.labels import TableLabels, feature_columns, labels_to_learn
from unflip.tables.tabular import Tabular

AUDIT_STEPS = 4


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found; `as_html`, `as_markdown` and `as_text` of `unflip.report.audit` show it.

    labels: the target and its classes; table: how columns were read; noise: the rate and how well it is
    known; noisy_accuracy: the leave-one-out accuracy on the labels as they are; clean_accuracy: what it
    would be on clean ones, None where the labels do not tell; learners: compared on held-out rows, and
    which of them is recommended; suspects: all rows, the most doubtful first; differences: what tells the
    classes apart. Where the columns predict the labels no better than guessing, there are no learners and
    no differences. ids: what the rows are called, if some column does; settings: how to repeat it.
    """

    source: str
    labels: TableLabels
    table: Tabular
    noise: NoiseEstimate
    noisy_accuracy: float
    clean_accuracy: ScoreEstimate | None
    learners: tuple[Learner, ...]
    recommended: Recommended | None
    suspects: Suspects
    differences: tuple[Difference, ...]
    guarantee: Guarantee
    ids: tuple[str, tuple[Any, ...]] | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def informative(self) -> bool:
        """Whether the columns predict the labels better than guessing does; if not, nothing can be said."""
        return NO_SIGNAL not in self.noise.warnings

    @property
    def rows(self) -> int:
        """How many rows have a label."""
        return len(self.labels.y)

    @property
    def clean_bounds(self) -> tuple[float, float]:
        """Where the accuracy on clean labels is if no kind of row is labelled wrong more often than right.

        A wrong label moves the accuracy by at most one row, and at most `noise.outer` of them are wrong. What
        holds on an assumption may hold without it.
        """
        away, clean = self.noise.outer, self.clean_accuracy
        low, high = max(0.0, self.noisy_accuracy - away), min(1.0, self.noisy_accuracy + away)
        return (low, high) if clean is None else (min(low, clean.low), max(high, clean.high))

    @property
    def guess(self) -> float:
        """The share of the most frequent label: what is right without looking at any column."""
        weight = np.ones(self.rows) if self.labels.weight is None else self.labels.weight
        shares = [weight[self.labels.y == label].sum() for label in self.labels.classes]
        return float(max(shares) / weight.sum())


def audit_table(
    frame: Any,
    target: str,
    *,
    weight: str | None = None,
    positive: Any = None,
    against: Any = None,
    source: str = "a table",
    seed: int = 0,
    settings: dict[str, Any] | None = None,
    progress: Callable[[float, float], None] = lambda done, total: None,
) -> Audit:
    """Audit a pandas or polars frame of any columns, whose column `target` holds labels that may be wrong.

    weight: a column that counts rows. positive: a label; all others become one class. against: a
    scikit-learn classifier to compare with. progress: told how many steps of how many are done.

    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(50, 10, 400)
    >>> wrong = rng.random(400) < 0.1
    >>> frame = pl.DataFrame({"age": age, "old": (age > 50) ^ wrong})
    >>> found = audit_table(frame, "old")
    >>> bool(found.noise.low < wrong.mean() < found.noise.high), bool(wrong[found.suspects.rows[0]])
    (True, True)
    """
    labels, _ = labels_to_learn(frame, target, positive, weight)
    rows = labels.of_rows(feature_columns(frame, target, weight))
    table = Tabular.of_files().fit(rows)
    X = table.transform(rows)
    progress(1, AUDIT_STEPS)
    model, scores = honest_of_many(X, labels.y, labels.weight, seed)
    progress(2, AUDIT_STEPS)
    ways: dict[str, Any] = {"scores": scores, "sample_weight": labels.weight, "random_state": seed}
    suspects = find_suspects(X, labels.y, **ways)
    noise = suspects.noise
    informative = NO_SIGNAL not in noise.warnings
    progress(3, AUDIT_STEPS)
    learners = compare(X, labels.y, noise, seed, against) if informative else ()
    progress(4, AUDIT_STEPS)
    clean = model.report_.clean_error(noise)
    names = table.get_feature_names_out().tolist()
    return Audit(
        source=source,
        labels=labels,
        table=table,
        noise=noise,
        noisy_accuracy=1 - model.noisy_error_,
        clean_accuracy=None
        if clean is None
        else ScoreEstimate(1 - clean.estimate, 1 - clean.high, 1 - clean.low, 1 - clean.noisy),
        learners=learners,
        recommended=recommend(learners) if learners else None,
        suspects=suspects,
        differences=differences(X, names, labels.y, labels.weight) if informative else (),
        guarantee=model.report_.guarantee(noise),
        ids=_ids(rows, table),
        settings=settings or {},
    )


def _ids(rows: Any, table: Tabular) -> tuple[str, tuple[Any, ...]] | None:
    """The first column that was left out because it names rows."""
    names = (NUMBERED, OWN_VALUES)
    found = next((column for column, reason in table.left_out_.items() if reason.startswith(names)), None)
    if found is None:
        return None
    values = rows[found]
    return found, tuple(values.to_list() if hasattr(values, "to_list") else list(values))
