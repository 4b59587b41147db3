"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Any

OPEN_FILES = Path("/proc/self/fd")  # where Linux shows files, also those without a name


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], Any]) -> None:
    """Write to a temporary file, then put it in the place of `path`: a reader sees the old or the new, whole.

    A file that was there is replaced: its rights are kept, and its owner and group as far as the user may
    give files away; other hard links go on naming the old one. Devices, pipes and open files (/dev/stdout,
    /dev/fd/3) cannot be replaced; what is written goes straight into them.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_atomically(target, lambda file: file.write(b"all or nothing"))
    >>> target.read_text()
    'all or nothing'
    """
    with _naming(path):
        try:
            old = os.stat(path)  # which also refuses links that lead in a circle
        except FileNotFoundError:
            old = None
        if os.fspath(path).endswith(("/", os.sep)) or (old is not None and stat.S_ISDIR(old.st_mode)):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        place = _end_of_links(Path(path))
        if place.is_relative_to("/proc") or (old is not None and not stat.S_ISREG(old.st_mode)):
            _write_into(place, write)
        else:
            _replace(place, write, old)


def _end_of_links(place: Path) -> Path:
    """What a link points to, but for links in /proc: their text is no path where the file has no name."""
    while True:
        place = Path(os.path.realpath(place.parent)) / place.name
        if place.is_relative_to("/proc") or not place.is_symlink():
            return place
        place = place.parent / os.readlink(place)


def _write_into(place: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write at once and in order, for writers of archives go back, which a pipe or `>>` does not allow."""
    content = BytesIO()
    write(content)
    with _opened(place) as file:
        file.write(content.getbuffer())


def _opened(place: Path) -> IO[bytes]:
    """Of our own open files a second handle, which goes on where the first one stands.

    To open them again would empty them, and write over what was printed before.
    """
    if place.parent == Path(os.path.realpath(OPEN_FILES)) and place.is_symlink():
        return os.fdopen(os.dup(int(place.name)), "wb")
    return open(place, "wb")


def _replace(place: Path, write: Callable[[IO[bytes]], Any], old: os.stat_result | None) -> None:
    temporary = place.parent / f".{secrets.token_hex(8)}.part"
    try:
        if not _written_without_a_name(temporary, write, old):
            with _new_file(temporary, old) as file:
                _fill(file, write, old)
        os.replace(temporary, place)
    except BaseException:
        with suppress(FileNotFoundError):  # it never had this name, or has its last one
            temporary.unlink()
        raise


def _written_without_a_name(
    temporary: Path, write: Callable[[IO[bytes]], Any], old: os.stat_result | None
) -> bool:
    """Whether there is such a thing as a file that gets its name at the end: kill -9 leaves nothing behind.

    Linux has it, but not on every file system, and on some of these it cannot be named.
    """
    if not OPEN_FILES.exists():
        return False
    try:
        file = os.fdopen(os.open(temporary.parent, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb")
    except (OSError, AttributeError):
        return False
    with file:
        _fill(file, write, old)
        with suppress(OSError):
            _name(file, temporary)
            return True
    return False


def _new_file(temporary: Path, old: os.stat_result | None) -> IO[bytes]:
    """A file with a name, for the user alone while it is to take the place of one with rights of its own.

    The rights of any other are those that the user's mask gives: to ask for the mask, as `tempfile` would
    need, is to change it, which other threads would see.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(temporary, flags, 0o666 if old is None else 0o600), "wb")


def _fill(file: IO[bytes], write: Callable[[IO[bytes]], Any], old: os.stat_result | None) -> None:
    write(file)
    file.flush()
    os.fsync(file.fileno())
    if old is not None and hasattr(os, "fchmod"):
        for owner, group in ((old.st_uid, -1), (-1, old.st_gid)):
            with suppress(OSError):  # only root gives files away, and others only to groups of their own
                os.fchown(file.fileno(), owner, group)
        os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))


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
