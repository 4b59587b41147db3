"""`unflip audit`: how far can the labels of a table be trusted?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from unflip.cli.options import (
    AsJson,
    Category,
    Decimal,
    Delimiter,
    Drop,
    File,
    Positive,
    Quiet,
    Seed,
    Target,
    Text,
    Weight,
    labelled_table,
    writable,
)
from unflip.cli.pages import page_writable, save_text, write_page
from unflip.cli.progress import with_progress
from unflip.cli.refusal import Refusal, refusing
from unflip.cli.say import tell

RIVALS = {
    "forest": ("sklearn.ensemble", "RandomForestClassifier"),
    "boosting": ("sklearn.ensemble", "HistGradientBoostingClassifier"),
    "neighbours": ("sklearn.neighbors", "KNeighborsClassifier"),
    "svm": ("sklearn.svm", "SVC"),
    "tree": ("sklearn.tree", "DecisionTreeClassifier"),
    "bayes": ("sklearn.naive_bayes", "GaussianNB"),
}


def audit(
    file: File,
    target: Target = None,
    out: Annotated[
        Path | None, typer.Option(help="Write this page (.html); beside it .md and .json.")
    ] = None,
    suspects: Annotated[
        Path | None, typer.Option(help="Write all rows here (.csv), the most doubtful first.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help=f"A learner to compare with: {', '.join(RIVALS)}.")
    ] = None,
    weight: Weight = None,
    positive: Positive = None,
    noise: Annotated[
        str, typer.Option(help="What the labels went through: auto, symmetric or class_conditional.")
    ] = "auto",
    level: Annotated[float, typer.Option(help="Of the intervals.")] = 0.9,
    trusted: Annotated[
        str | None, typer.Option(help="A column that says yes where a label is known to be right.")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="A column that is equal for rows that belong together.")
    ] = None,
    drop: Drop = None,
    text: Text = None,
    category: Category = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    seed: Seed = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Audit the labels of a table: how many are wrong, which, and what can be learned from them all the same.

    Rows are numbered from zero, without the header. Everything is computed from the one file.
    """
    if out is not None:
        page_writable(out, inputs=(file,))
    if suspects is not None:
        writable(suspects, (".csv",), "--suspects", inputs=(file,))
    with refusing():
        import json

        # Before much is imported: what is wrong with a file is said at once.
        frame, target, _ = labelled_table(file, target, drop, text, delimiter, decimal, category, positive)

        from unflip.audit.table import audit_table
        from unflip.report import audit as shown
        from unflip.report.audit.sections import document
        from unflip.report.text import as_text

        if out is not None:
            shown.require_page()
        with _warnings_on_one_line(quiet):
            found = with_progress(
                lambda progress: audit_table(
                    frame,
                    target,
                    weight=weight,
                    positive=positive,
                    against=_rival(against, seed),
                    noise=noise,
                    level=level,
                    trusted=trusted,
                    groups=groups,
                    source=file,
                    seed=seed,
                    settings=_settings(seed),
                    progress=progress,
                )
            )
        content = json.dumps(shown.as_plain(found), indent=1, allow_nan=False)
        report = document(found)
        if out is not None:
            write_page(out, report, content)
        if suspects is not None:
            save_text(suspects, shown.as_csv(found))
    if as_json:
        print(content)
    elif not quiet:
        print(as_text(report))
        for written in (out, suspects):
            if written is not None:
                tell(f"written: {written}")


def _rival(name: str | None, seed: int) -> Any:
    from importlib import import_module

    if name is None:
        return None
    if name not in RIVALS:
        raise Refusal(f"--against is one of {', '.join(RIVALS)}, got {name}")
    module, kind = RIVALS[name]
    rival = getattr(import_module(module), kind)()
    return rival.set_params(random_state=seed) if "random_state" in rival.get_params() else rival


def _settings(seed: int) -> dict[str, Any]:
    import platform
    import shlex
    import sys
    from importlib.metadata import version

    packages = ("unflip", "numpy", "scipy", "scikit-learn", "polars")
    return {
        "command": shlex.join(["unflip", *sys.argv[1:]]),
        "seed": seed,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
    }


@contextmanager
def _warnings_on_one_line(quiet: bool) -> Iterator[None]:
    """Warnings of the library, each a sentence on stderr, without the line of code that they come from."""
    import warnings

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", UserWarning)
        yield
    for words in dict.fromkeys(str(warning.message) for warning in seen):
        if not quiet:
            tell(f"unflip: note: {words}", err=True)
