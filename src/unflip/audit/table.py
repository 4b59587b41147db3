"""The audit of a whole table: one fit, and every answer from it.

How noisy are the labels, what accuracy would clean ones show, which learner to use and why, which rows are
probably wrong, what tells the classes apart, and what of all this is guaranteed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from scipy.stats import beta

from unflip._atomic import write_atomically
from unflip.audit.compare import Learner, Recommended, compare, recommend
from unflip.audit.differences import Difference, differences
from unflip.audit.honest import honest_of_many
from unflip.audit.rows import as_frame, as_mask, of_column
from unflip.audit.suspects import Suspects, find_suspects
from unflip.border.arrays import Array
from unflip.noise import NoiseEstimate
from unflip.noise.estimate import CONFIDENCE, NO_SIGNAL
from unflip.noise.intervals import ScoreEstimate
from unflip.robust.guarantee import Guarantee
from unflip.tables.column_kinds import NUMBERED, OWN_VALUES
from unflip.tables.labels import TableLabels, feature_columns, labels_to_learn
from unflip.tables.tabular import Tabular

AUDIT_STEPS = 4


@dataclass(frozen=True, eq=False)
class Audit:
    """What an audit found; `print` shows it, a notebook shows its page, `to_html` writes that.

    labels: the target and its classes; table: how columns were read; noise: the rate and how well it is
    known; noisy_accuracy: the leave-one-out accuracy on the labels as they are; clean_accuracy: what it
    would be on clean ones, None where the labels do not tell; learners: compared on held-out rows, and
    which of them is recommended; suspects: all rows, the most doubtful first; differences: what tells the
    classes apart. Where the columns predict the labels no better than guessing, there are no learners and
    no differences. ids: what the rows are called, if some column does; trusted: how many rows are known to
    be right, of which the rate says nothing, and which tell the accuracy on clean labels; settings: how to
    repeat it.
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
    trusted: int = 0
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
    def doubted(self) -> int:
        """How many of these are not known to be right: those that the rate speaks of."""
        return self.rows - self.trusted

    @property
    def clean_bounds(self) -> tuple[float, float]:
        """Where the accuracy on clean labels is if no kind of row is labelled wrong more often than right.

        A wrong label moves the accuracy by at most one row, and at most `noise.outer` of those that are not
        trusted are wrong. What holds on an assumption may hold without it.
        """
        away, clean = self.noise.outer * self.doubted / self.rows, self.clean_accuracy
        low, high = max(0.0, self.noisy_accuracy - away), min(1.0, self.noisy_accuracy + away)
        return (low, high) if clean is None else (min(low, clean.low), max(high, clean.high))

    @property
    def guess(self) -> float:
        """The share of the most frequent label: what is right without looking at any column."""
        weight = np.ones(self.rows) if self.labels.weight is None else self.labels.weight
        shares = [weight[self.labels.y == label].sum() for label in self.labels.classes]
        return float(max(shares) / weight.sum())

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The page, which needs no network; written to a file if there is a path (extra `report`)."""
        from unflip.report.audit import as_html

        page = as_html(self)
        if path is not None:
            write_atomically(path, lambda file: file.write(page.encode()))
        return page

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, as `unflip audit --json` prints them."""
        from unflip.report.audit import as_plain

        return as_plain(self)

    def __str__(self) -> str:
        from unflip.report.audit import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither it nor the notebook changes the other."""
        page = escape(self.to_html())
        return f'<iframe srcdoc="{page}" style="width:100%;height:40rem;border:0"></iframe>'


def audit_table(
    frame: Any,
    target: Any,
    *,
    weight: str | None = None,
    positive: Any = None,
    against: Any = None,
    noise: str = "auto",
    level: float = CONFIDENCE,
    trusted: Any = None,
    groups: Any = None,
    source: str = "a table",
    seed: int = 0,
    settings: dict[str, Any] | None = None,
    progress: Callable[[float, float], None] = lambda done, total: None,
) -> Audit:
    """Audit labels that may be wrong: how many, which, and what can be learned from them all the same.

    Parameters
    ----------
    frame : data frame of pandas or polars, or array-like of shape (n_samples, n_features)
        The rows, of any columns.
    target : str or array-like of shape (n_samples,)
        The column of labels, or the labels.
    weight : str, optional
        A column that counts rows.
    positive : label, optional
        All other labels become one class.
    against : classifier, optional
        One of scikit-learn's to compare with.
    noise : {"auto", "symmetric", "class_conditional"}, default="auto"
        What the labels went through, as for `estimate_noise`.
    level : float, default=0.9
        Of the intervals.
    trusted : str or array-like, optional
        Rows known to be right: a column of yes and no, a mask, or numbers of rows.
    groups : str or array-like, optional
        Rows that belong together: a column, or a value for each row.
    source : str, default="a table"
        What the report calls the table.
    seed : int, default=0
        Of everything that is drawn.
    settings : dict, optional
        How to repeat it, for the report.
    progress : callable, optional
        Told how many steps of how many are done.

    Returns
    -------
    Audit
        `print` shows it, `to_html(path)` writes its page, `to_dict()` gives plain values.

    Examples
    --------
    >>> import polars as pl
    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(50, 10, 400)
    >>> wrong = rng.random(400) < 0.1
    >>> frame = pl.DataFrame({"age": age, "old": (age > 50) ^ wrong})
    >>> found = audit_table(frame, "old")
    >>> bool(found.noise.low < wrong.mean() < found.noise.high), bool(wrong[found.suspects.rows[0]])
    (True, True)
    """
    frame, target = as_frame(frame, target)
    labels, _ = labels_to_learn(frame, target, positive, weight)
    known, together = as_mask(of_column(frame, trusted), len(frame)), of_column(frame, groups)
    for what, given in (("trusted", known), ("groups", together)):
        if given is not None and given.shape != (len(frame),):
            raise ValueError(f"{what} has the shape {given.shape} for {len(frame)} rows")
    apart = [name for name in (trusted, groups) if isinstance(name, str)]
    if target in apart:
        raise ValueError(f"the target {target!r} cannot be trusted or groups at once")
    rows = labels.of_rows(feature_columns(frame, target, weight, *apart))
    known, together = (None if given is None else given[labels.rows] for given in (known, together))
    table = Tabular.of_files().fit(rows)
    X = table.transform(rows)
    progress(1, AUDIT_STEPS)
    model, scores, judged = honest_of_many(X, labels.y, labels.weight, seed, together)
    progress(2, AUDIT_STEPS)
    ways: dict[str, Any] = {"scores": scores, "sample_weight": labels.weight, "random_state": seed}
    suspects = find_suspects(X, labels.y, trusted=known, noise=noise, level=level, **ways)
    found = suspects.noise
    informative = NO_SIGNAL not in found.warnings
    progress(3, AUDIT_STEPS)
    learners = compare(X, labels.y, found, seed, against) if informative else ()
    progress(4, AUDIT_STEPS)
    clean = (
        model.report_.clean_error(found)
        if known is None
        else _seen_error(model, np.flatnonzero(known[judged]), level)
    )
    names = table.get_feature_names_out().tolist()
    return Audit(
        source=source,
        labels=labels,
        table=table,
        noise=found,
        noisy_accuracy=1 - model.noisy_error_,
        clean_accuracy=None
        if clean is None
        else ScoreEstimate(1 - clean.estimate, 1 - clean.high, 1 - clean.low, 1 - clean.noisy),
        learners=learners,
        recommended=recommend(learners) if learners else None,
        suspects=suspects,
        differences=differences(X, names, labels.y, labels.weight) if informative else (),
        guarantee=model.report_.guarantee(found),
        ids=_ids(rows, table),
        trusted=0 if known is None else int(known.sum()),
        settings=settings or {},
    )


def _seen_error(model: Any, trusted: Array, level: float) -> ScoreEstimate | None:
    """The error on rows that are known to be right, each judged by a fit without it; with its interval."""
    if not len(trusted):
        return None
    fit = model.report_.fit
    wrong = float(np.sum(fit.likely[trusted] != fit.masses[trusted].argmax(axis=1)))
    right = len(trusted) - wrong
    low, high = beta.ppf([(1 - level) / 2, (1 + level) / 2], wrong + 0.5, right + 0.5).tolist()
    return ScoreEstimate(wrong / len(trusted), low, high, model.noisy_error_)


def _ids(rows: Any, table: Tabular) -> tuple[str, tuple[Any, ...]] | None:
    """The first column that was left out because it names rows."""
    names = (NUMBERED, OWN_VALUES)
    found = next((column for column, reason in table.left_out_.items() if reason.startswith(names)), None)
    if found is None:
        return None
    values = rows[found]
    return found, tuple(values.to_list() if hasattr(values, "to_list") else list(values))
