"""What the command says: labels, names and values of any file are quoted in it, and may hold anything."""

from __future__ import annotations

import sys

FIRST, LAST = 700, 300  # characters of a line that are kept: how it begins, and the way out at its end


def tell(line: str, err: bool = False) -> None:
    """Print one line for people, on stdout or on stderr."""
    print(one_line(line), file=sys.stderr if err else sys.stdout)


def give(content: bytes) -> None:
    """Write a result in UTF-8 to stdout, as it is; on a terminal, as far as it is printable."""
    if sys.stdout.isatty():
        sys.stdout.write(_printable(content.decode()))
    else:
        sys.stdout.flush()
        left = memoryview(content)
        while left:  # without a buffer (PYTHONUNBUFFERED) a part may be written, as to a pipe that breaks
            left = left[sys.stdout.buffer.write(left) :]


def one_line(text: str) -> str:
    r"""A text as a line that a terminal only shows, and that is not too long.

    >>> one_line("the label \x1b[2J\n")
    'the label \\x1b[2J\\n'
    >>> len(one_line("x" * 3_000_000))
    1005
    """
    whole = len(text) <= FIRST + LAST
    return _printable(text if whole else f"{text[:FIRST]} ... {text[-LAST:]}").replace("\n", "\\n")


def _printable(text: str) -> str:
    """Escapes for all that is not printable but the ends of lines."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
