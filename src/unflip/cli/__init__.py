"""The command `unflip`. This file needs nothing beyond Python, so that it can say what is missing."""

from __future__ import annotations

import errno
import io
import os
import sys

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
            print("unflip: stopped", file=sys.stderr)
        sys.stdout.flush()  # here, where a full disk can still be reported
    except KeyboardInterrupt:
        print("unflip: stopped", file=sys.stderr)
        code = 130
    except BrokenPipeError:
        code = 141  # as the shell names a process that the signal has ended
        _drop_output()
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            raise
        print(f"unflip: the output cannot be written: {error.strerror}", file=sys.stderr)
        code = 2
        _drop_output()
    sys.exit(code)


def _run() -> int:
    try:
        import rich  # noqa: F401  # asked for here, so that a missing extra is named once
        import typer
    except ImportError as error:
        print(f'unflip needs {error.name} for its command: pip install "unflip[cli]"', file=sys.stderr)
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
        tell(f"unflip: {said}{hint}", err=True)
        return 2


def _ready_streams() -> None:
    """Streams that take whatever is printed.

    A process started with a closed stream (`>&-`) has None there; what is written then goes nowhere. A stream
    that knows ASCII only, say, gets escapes for all other letters.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # open as long as the process
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Send what is still buffered nowhere, or Python would try once more at exit and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
