"""Bad input ends a command with one sentence and exit code 2; nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Refusal(Exception):
    """Why a command cannot go on, in a sentence."""

    def format_message(self) -> str:
        """The sentence."""
        return str(self)


@contextmanager
def refusing() -> Iterator[None]:
    """What the library says of bad input, files and missing extras, as a refusal.

    >>> with refusing():
    ...     raise ValueError("row 3 has no label")
    Traceback (most recent call last):
    unflip.cli.refusal.Refusal: row 3 has no label
    """
    try:
        yield
    except OSError as error:
        if error.filename is None or isinstance(error, BrokenPipeError):
            raise  # the output, which is full or has no reader any more
        raise Refusal(f"{error.filename}: {error.strerror}") from None
    except (ValueError, ImportError, TypeError) as error:
        raise Refusal(str(error)) from None
    except MemoryError:
        raise Refusal("there is not enough memory for this table") from None
