"""`unflip verify`: run every claim of the paper and print both sides of each."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from math import isfinite, nan
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unflip.cli.progress import progress_bar

if TYPE_CHECKING:
    from unflip.theory import Evidence

_INDENT = " " * len("holds  ")


def verify(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")] = False,
) -> None:
    """Check every proposition, equation and example of the paper by computing both of its sides.

    Exits with 1 if any of them fails; a check that breaks down fails, and the others go on.
    """
    import json

    from unflip.theory import propositions

    found = []
    for evidence in _with_progress(list(propositions())):
        found.append(evidence)
        if not as_json:
            print(as_text(evidence, _width()), flush=True)
    if as_json:
        print(json.dumps({"claims": [as_plain(evidence) for evidence in found]}, indent=2, allow_nan=False))
    else:
        print(summary(found))
    raise typer.Exit(0 if all(evidence.holds for evidence in found) else 1)


def as_text(evidence: Evidence, width: int | None = None) -> str:
    """One line a claim; on a terminal of known width, broken between words but not between numbers.

    >>> from unflip.theory import Evidence
    >>> as_text(Evidence("Equation 0: two is two", 2.0, 2.0, 0.0, True))
    'holds  Equation 0: two is two  [left 2, right 2, gap 0]'
    """
    claim = f"{'holds' if evidence.holds else 'FAILS'}  {evidence.claim}"
    numbers = f"[left {evidence.left:.6g}, right {evidence.right:.6g}, gap {evidence.gap:.2g}]"
    if width is None:
        return f"{claim}  {numbers}"
    *first, last = textwrap.wrap(claim, width, subsequent_indent=_INDENT)
    fits = len(last) + 2 + len(numbers) <= width
    return "\n".join([*first, f"{last}  {numbers}"] if fits else [*first, last, _INDENT + numbers])


def as_plain(evidence: Evidence) -> dict[str, Any]:
    """Evidence for JSON, which knows neither NaN nor infinity: both are null there.

    >>> from unflip.theory import Evidence
    >>> as_plain(Evidence("Lemma 0", 1.0, float("nan"), float("inf"), False))
    {'claim': 'Lemma 0', 'left': 1.0, 'right': None, 'gap': None, 'holds': False}
    """
    entries = asdict(evidence).items()
    return {name: None if isinstance(v, float) and not isfinite(v) else v for name, v in entries}


def summary(found: Sequence[Evidence]) -> str:
    """How many claims were tried and how many hold.

    >>> summary([])
    '0 claims: 0 hold, 0 fail'
    """
    holding = sum(evidence.holds for evidence in found)
    return f"{len(found)} claims: {holding} hold, {len(found) - holding} fail"


def _width() -> int | None:
    """The width of the terminal that stdout is, or None if it is none: files keep one line a claim."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _tried(check: Callable[[], Evidence]) -> Evidence:
    """The evidence of a check, or that it broke down, and why."""
    from unflip.theory import Evidence

    try:
        return check()
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return Evidence(f"{check.__name__} broke down, {reason}", nan, nan, nan, False)


def _with_progress(checks: Sequence[Callable[[], Evidence]]) -> Iterator[Evidence]:
    """The evidence of each check in turn, with a bar and the time left on stderr if that is a terminal."""
    bar = progress_bar()
    if bar is None:
        yield from map(_tried, checks)
        return
    with bar:
        yield from map(_tried, bar.track(checks))
