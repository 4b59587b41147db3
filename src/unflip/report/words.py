"""How names, numbers and texts of files are written, the same on a page, in Markdown and in a terminal."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

LONGEST_NAME = 80  # characters of a label, a name or an identifier
LOSS_NAMES = {"t_logistic": "t-logistic", "tangent_boost": "TangentBoost"}
METRIC_NAMES = {"error": "0-1 error", "one_minus_auc": "1 − AUC"}
MAIN_TABLES = {
    "long-matlab": "Table 1: Long and Servedio's dataset",
    "uci-matlab": "Table 2: UCI datasets",
}


def loss_label(loss: str, solver: str = "exact") -> str:
    """The name of a column; the hinge has two, by its solver.

    >>> loss_label("t_logistic"), loss_label("hinge"), loss_label("hinge", "liblinear")
    ('t-logistic', 'hinge, exact', 'hinge, stopped early')
    """
    if loss == "hinge":
        return "hinge, stopped early" if solver == "liblinear" else "hinge, exact"
    return LOSS_NAMES.get(loss, loss)


def table_title(table: str) -> str:
    """The paper's name for a table of its source.

    >>> table_title("long-matlab"), table_title("full-iris-matlab")
    ("Table 1: Long and Servedio's dataset", 'Appendix: iris')
    """
    return MAIN_TABLES.get(table) or "Appendix: " + table.removeprefix("full-").removesuffix("-matlab")


def plus_minus(mean: float, std: float, digits: int) -> str:
    """A mean and its standard deviation.

    >>> plus_minus(0.25, 0.023, 2), plus_minus(0.25, float("nan"), 3)
    ('0.25 ± 0.02', '0.250 ± –')
    """
    return f"{fixed(mean, digits)} ± {fixed(std, digits)}"


def span(low: float, high: float) -> str:
    """A range.

    >>> span(0.25, 0.3)
    '0.250 to 0.300'
    """
    return f"{fixed(low, 3)} to {fixed(high, 3)}"


def fixed(value: float, digits: int) -> str:
    """A number with so many decimals, or a dash where there is none.

    >>> fixed(-0.0001, 2), fixed(float("nan"), 2)
    ('0.00', '–')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}" if isfinite(value) else "–"


def percent(part: int, whole: int) -> str:
    """A share in whole percent, which says 0 % and 100 % only where that is exact.

    >>> percent(1, 3), percent(999, 1000), percent(0, 0)
    ('33 %', '99 %', '–')
    """
    if not whole:
        return "–"
    rounded = round(100 * part / whole)
    return f"{min(max(rounded, int(part > 0)), 100 - int(part < whole))} %"


def plain(value: Any) -> str:
    """Any value of a table for a reader: numbers short, truth as yes or no, nothing as a dash.

    >>> [plain(value) for value in (0.123456, 2e-9, 12, True, None, {"a": 1, "b": [2, 3]}, 1.0)]
    ['0.1235', '2e-09', '12', 'yes', '–', 'a 1, b 2, 3', '1']
    """
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if isfinite(value) else "–"
    if isinstance(value, dict):
        return ", ".join(f"{name} {plain(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    return str(value)


def words(name: str) -> str:
    """A key as words.

    >>> words("smallest_eigenvalue")
    'smallest eigenvalue'
    """
    return name.replace("_", " ")


def shown(value: Any, most: int = LONGEST_NAME) -> str:
    """Any value as one line that can be read: no control characters, not too long.

    >>> shown("two\\nlines"), shown("\\x1b[31mred"), shown("abcdef", 4), shown(None)
    ('two lines', '\ufffd[31mred', 'abc…', '–')
    """
    if value is None:
        return "–"
    text = " ".join(str(value)[: 10 * most].split())
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    return text if len(text) <= most else text[: most - 1] + "…"


def counted(count: int, one: str, many: str = "") -> str:
    """A number and its noun.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def unbroken(text: str) -> str:
    """No line ends between a number and its percent sign.

    >>> unbroken("20 %") == "20\u00a0%"
    True
    """
    return re.sub(r"(?<=\d) %", "\u00a0%", text)
