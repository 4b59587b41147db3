"""One file format for all we keep: an .npz of plain arrays with a JSON header and a checksum.

Nothing in such a file is code. Members are stored uncompressed, so a file cannot unfold into more
than its own size, and shapes are checked against sizes before anything is allocated. Any damage
raises `ValueError`.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

Array = np.ndarray[Any, Any]
FORMAT = 1
HEADER = "header.json"


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], Any]) -> None:
    """Write to a temporary file beside `path`, then rename it: a reader sees the old or the new, whole.

    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_atomically(target, lambda file: file.write(b"all or nothing"))
    >>> target.read_text()
    'all or nothing'
    """
    target = Path(path)
    with _naming(target):
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with _naming(target):
            with os.fdopen(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def save_arrays(
    path: str | os.PathLike[str], kind: str, facts: dict[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write named arrays and JSON facts as one checked file of the given kind."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype.hasobject:
            raise ValueError(f"{name!r} holds Python objects, which this format does not keep")
    header = {"format": FORMAT, "kind": kind, "facts": facts, "sha256": _digest(kind, facts, plain)}

    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(HEADER, json.dumps(header))
            for name, array in plain.items():
                member = BytesIO()
                np.lib.format.write_array(member, array, allow_pickle=False)
                archive.writestr(f"{name}.npy", member.getvalue())

    write_atomically(path, write)


def load_arrays(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read what `save_arrays` wrote; `ValueError` for any other file, `OSError` for none."""
    data = Path(path).read_bytes()
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = {info.filename: info for info in archive.infolist()}
            if any(info.compress_type != zipfile.ZIP_STORED for info in members.values()):
                raise ValueError("it is compressed")
            header = json.loads(archive.read(HEADER))
            arrays = {
                name.removesuffix(".npy"): _read_array(archive.read(info), name)
                for name, info in members.items()
                if name != HEADER
            }
        if header["format"] != FORMAT:
            raise ValueError(f"it has format {header['format']}, this version reads {FORMAT}")
        if header["kind"] != kind:
            raise ValueError(f"it holds {header['kind']}, not {kind}")
        facts = header["facts"]
        if not isinstance(facts, dict):
            raise ValueError(f"its facts are a {type(facts).__name__}")
        if header["sha256"] != _digest(kind, facts, arrays):
            raise ValueError("its checksum does not match its content")
    except Exception as error:  # a damaged file makes its readers raise almost anything
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__} {error}"
        raise ValueError(f"{path} is not a sound {kind} file: {reason}") from None
    return facts, arrays


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a file says that it holds, which may be untrue until it is loaded; "" if it is none of ours.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/numbers.npz"
    >>> save_arrays(path, "numbers", {}, {"a": np.ones(1)})
    >>> kind_of(path)
    'numbers'
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return str(json.loads(archive.read(HEADER))["kind"])
    except FileNotFoundError:
        raise
    except Exception:  # a damaged file makes its readers raise almost anything
        return ""


def _read_array(data: bytes, name: str) -> Array:
    file = BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"{name} has an array format of version {version}")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    size = int(np.prod([int(length) for length in shape], dtype=object)) * dtype.itemsize
    if dtype.hasobject or fortran or size != len(data) - file.tell():
        raise ValueError(f"the size of {name} does not match its shape")
    return np.frombuffer(data, dtype=dtype, offset=file.tell()).reshape(shape).copy()


def _digest(kind: str, facts: dict[str, Any], arrays: Mapping[str, Array]) -> str:
    digest = hashlib.sha256(json.dumps([FORMAT, kind, facts], sort_keys=True).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


@contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Let errors name the file that was asked for, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(target)) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
