"""The command `unflip`. This file needs nothing beyond Python, so that it can say what is missing."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TextIO

from unflip.cli.say import tell

_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def main() -> None:
    """Run the command with the arguments of the process, and leave with its exit code.

    0 on success, 1 when a check fails, 2 on bad usage or output that cannot be written (one sentence on
    stderr), 130 on Ctrl-C, 141 when the reader of a pipe has left.
    """
    _ready_streams()
    try:
        code = _run()
        if code == 130:
            _complain("unflip: stopped")
        sys.stdout.flush()  # here, where a full disk can still be reported
    except KeyboardInterrupt:
        _complain("unflip: stopped")
        code = 130
    except BrokenPipeError:
        code = 141  # as the shell names a process that the signal has ended
        _drop(sys.stdout)
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            raise
        _complain(f"unflip: the output cannot be written: {error.strerror}")
        code = 2
        _drop(sys.stdout)
    sys.exit(code)


def _run() -> int:
    try:
        import rich  # noqa: F401  # asked for here, so that a missing extra is named once
        import typer
    except ImportError as error:
        _complain(f'unflip needs {error.name} for its command: pip install "unflip[cli]"')
        return 2
    from unflip.cli.app import app
    from unflip.cli.refusal import Refusal

    try:
        # Not standalone: the library would print several lines where one sentence will do.
        return app(prog_name="unflip", standalone_mode=False) or 0
    except typer.Abort:
        return 130
    except SystemExit as left:
        # The library turns a broken pipe into exit code 1, which here means that a claim fails.
        if isinstance(left.__context__, BrokenPipeError):
            raise left.__context__ from None
        raise
    except Exception as error:
        if not hasattr(error, "format_message"):  # not about usage, so not ours to hide
            raise
        hint = "" if isinstance(error, Refusal) else " (see unflip --help)"
        said = " ".join(error.format_message().split()).rstrip(".")
        _complain(f"unflip: {said}{hint}")
        return 2


def _ready_streams() -> None:
    """Streams that take whatever is printed, and one that may be read.

    A process started with a closed stream (`>&-`) has None there; what is written then goes nowhere, and
    nothing is read. A stream that knows ASCII only, say, gets escapes for all other letters.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115  # open as long as the process
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # open as long as the process
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(sentence: str) -> None:
    """Say it on stderr; where that cannot be written, the exit code says enough."""
    try:
        tell(sentence, err=True)
    except OSError:
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    """Send what is still buffered nowhere, or Python would try once more at exit and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
