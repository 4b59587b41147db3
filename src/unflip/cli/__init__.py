"""The command `unflip`. This file needs nothing beyond Python, so that it can say what is missing."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command with the arguments of the process, and leave with its exit code.

    0 on success, 1 when a check fails, 2 on bad usage (one sentence on stderr), 130 on Ctrl-C.
    """
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        sys.exit(130)


def _run() -> int:
    try:
        import rich  # noqa: F401  # asked for here, so that a missing extra is named once
        import typer
    except ImportError as error:
        print(f'unflip needs {error.name} for its command: pip install "unflip[cli]"', file=sys.stderr)
        return 2
    from unflip.cli.app import app

    try:
        # Not standalone: the library would print several lines where one sentence will do.
        return app(prog_name="unflip", standalone_mode=False) or 0
    except typer.Abort:
        return 130
    except Exception as error:
        if not hasattr(error, "format_message"):  # not about usage, so not ours to hide
            raise
        print(f"unflip: {error.format_message().rstrip('.')} (see unflip --help)", file=sys.stderr)
        return 2
