"""Tables of plain text: certificates, datasets, findings, the numbers behind a figure, settings, errata."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from unflip.experiments.result import Certified, Comparison, Finding
from unflip.report.words import METRICS, loss_label, plain, plus_minus, span, words

LONGEST = 100  # rows of a table behind a figure; longer series are thinned


@dataclass(frozen=True)
class Plain:
    """A title, the names of the columns, and rows of text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns hold numbers only, and so belong at the right.

        >>> Plain("", ("name", "rows"), (("iris", "150"), ("car", "–"))).numeric
        (False, True)
        """
        return tuple(all(_is_number(row[k]) for row in self.rows) for k in range(len(self.columns)))


def records(title: str, rows: Sequence[dict[str, Any]]) -> Plain:
    """A table of records, with every key that any of them has.

    >>> records("sizes", [{"name": "iris", "rows": 150}, {"name": "car", "available": True}])
    Plain(title='sizes', columns=('name', 'rows', 'available'),
        rows=(('iris', '150', '–'), ('car', '–', 'yes')))
    """
    keys = list(dict.fromkeys(key for row in rows for key in row))
    values = tuple(tuple(plain(row.get(key)) for key in keys) for row in rows)
    return Plain(title, tuple(map(words, keys)), values)


def series_table(name: str, rows: Sequence[dict[str, Any]]) -> Plain:
    """The numbers behind a figure; of a long series every so many rows.

    >>> series_table("curve", [{"v": v} for v in range(1000)]).title
    'curve, every 10th of 1000 rows'
    """
    step = -(-len(rows) // LONGEST)
    title = words(name) if step <= 1 else f"{words(name)}, every {step}th of {len(rows)} rows"
    return records(title, rows[:: max(step, 1)])


def finding_table(finding: Finding) -> Plain:
    """The rows of a finding."""
    rows = tuple(tuple(map(plain, row)) for row in finding.rows)
    return Plain(finding.title, tuple(map(words, finding.columns)), rows)


def certificates_table(certificates: Sequence[Certified]) -> Plain:
    """One row for each loss on each dataset; the columns on Hessians only where there are any."""
    curved = any(row.smallest_eigenvalue is not None for row in certificates)
    columns = ["dataset", "loss", "certificate", "fits", "met", "separable", "worst", "limit"]
    rows = []
    for row in certificates:
        near = (None, None) if row.kind == "closed form" else (f"{row.worst:.1e}", f"{row.limit:.0e}")
        numbers: tuple[Any, ...] = (row.fits, row.met, row.separable, *near)
        if curved:
            numbers += (row.smallest_eigenvalue, row.flat, row.negative)
        label = loss_label(row.loss, row.solver)
        rows.append((row.dataset, label, row.kind, *map(plain, numbers)))
    if curved:
        columns += ["smallest eigenvalue", "flat", "negative"]
    return Plain("Certificates", tuple(columns), tuple(rows))


def disagreements_table(cells: Sequence[Comparison]) -> Plain:
    """The printed numbers that do not agree for one reason."""
    columns = ("dataset", "loss", "metric", "noise rate", "printed", "ours", "range of ours")
    rows = tuple(
        (
            cell.dataset,
            loss_label(cell.loss, cell.solver),
            METRICS.get(cell.metric, cell.metric),
            plain(cell.noise_rate),
            plus_minus(cell.published_mean, cell.published_std, 2),
            plus_minus(cell.mean, cell.std, 3),
            span(cell.low, cell.high),
        )
        for cell in cells
    )
    return Plain("Numbers that differ", columns, rows)


def settings_table(settings: dict[str, Any]) -> Plain:
    """The settings of a run, one a row; those inside others under both names.

    >>> settings_table({"seed": 0, "versions": {"numpy": "2.4"}}).rows
    (('seed', '0'), ('versions: numpy', '2.4'))
    """
    rows: list[tuple[str, str]] = []
    for name, value in settings.items():
        if isinstance(value, dict):
            rows += [(f"{words(name)}: {inner}", plain(one)) for inner, one in value.items()]
        else:
            rows.append((words(name), plain(value)))
    return Plain("Settings", ("setting", "value"), tuple(rows))


def errata_table() -> Plain:
    """Where the paper and the arithmetic differ: the entries of docs/errata.md that matter most.

    >>> errata_table().columns
    ('where', 'printed', 'right', 'check')
    """
    entries = tomllib.loads(files("unflip.report").joinpath("errata.toml").read_text("utf-8"))["erratum"]
    return records("Errata of the paper", entries)


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "").removesuffix(" %"))
    except ValueError:
        return text == "–"
    return True
