"""A bar with the time left, on stderr, for work that takes more than a moment."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress


def progress_bar() -> Progress | None:
    """A bar to be entered as a context, or None where stderr is no terminal."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    return Progress(
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),  # lines and bar share a screen only if both are on it
    )


def with_progress(run: Callable[[Callable[[float, float], None]], Any]) -> Any:
    """What `run` returns; it is given a function to tell how much is done, of how much.

    >>> with_progress(lambda progress: progress(1, 2) or "done")
    'done'
    """
    bar = progress_bar()
    if bar is None:
        return run(lambda done, total: None)
    with bar:
        task = bar.add_task("", total=None)
        return run(lambda done, total: bar.update(task, completed=done, total=total))
