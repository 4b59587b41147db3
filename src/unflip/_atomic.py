"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

OPEN_FILES = Path("/proc/self/fd")  # where Linux shows files, also those without a name


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], Any]) -> None:
    """Write to a temporary file, then put it in the place of `path`: a reader sees the old or the new, whole.

    The rights of a file that was there are kept. Devices and pipes are no files that could be replaced; what
    is written goes straight into them.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_atomically(target, lambda file: file.write(b"all or nothing"))
    >>> target.read_text()
    'all or nothing'
    """
    with _naming(path):
        old = os.stat(path).st_mode if os.path.exists(path) else None
        if old is None or stat.S_ISREG(old) or stat.S_ISDIR(old):
            _replace(Path(os.path.realpath(path)), write, old)  # what a link points to, not the link
        else:
            with open(path, "wb") as file:
                write(file)


def _replace(place: Path, write: Callable[[IO[bytes]], Any], old: int | None) -> None:
    temporary = place.parent / f".{secrets.token_hex(8)}.part"
    try:
        with _new_file(temporary) as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
            if old is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), stat.S_IMODE(old))
            if not temporary.exists():
                _name(file, temporary)
        os.replace(temporary, place)
    except BaseException:
        with suppress(FileNotFoundError):  # it never had this name, or has its last one
            temporary.unlink()
        raise


def _new_file(temporary: Path) -> IO[bytes]:
    """A file without a name where there is such a thing, so that kill -9 leaves nothing behind.

    Its rights are those that the user's mask gives: to ask for the mask, as `tempfile` would need, is to
    change it, which other threads would see.
    """
    if OPEN_FILES.exists():
        with suppress(OSError, AttributeError):  # Linux has it, but not on every file system
            return os.fdopen(os.open(temporary.parent, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(temporary, flags, 0o666), "wb")


def _name(file: IO[bytes], name: Path) -> None:
    """Give a file its first name. With a folder that is open, `os.link` follows the link in /proc."""
    folder = os.open(name.parent, os.O_PATH)  # it need not be listed
    try:
        os.link(OPEN_FILES / str(file.fileno()), name.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors that name the file that was asked for, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(Path(path))) from None
