"""One file format for all we keep: an .npz of plain arrays with a JSON header and a checksum.

Nothing in such a file is code. Members are stored uncompressed and are together no larger than the file,
shapes are checked against sizes before anything is allocated, and the header, which JSON unfolds, has a
largest size. Any damage raises `ValueError`.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from unflip._atomic import write_atomically
from unflip.border.arrays import Array

FORMAT = 1
HEADER = "header.json"
# Bytes of a header: as Python objects (lists in lists) it takes up to fifty times as many, 0.9 GB. Half of it
# would be too little for honest tables: 5,000 columns of 100 levels each make a header of 10 MB.
LONGEST = 1 << 24
MOST_MEMBERS = 1000  # members
SENTENCE = 300  # characters of what is said about a file, which may be its own words


def save_arrays(
    path: str | os.PathLike[str], kind: str, facts: dict[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write named arrays and JSON facts as one checked file of the given kind."""
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype.hasobject:
            raise ValueError(f"{name!r} holds Python objects, which this format does not keep")
    header = {"format": FORMAT, "kind": kind, "facts": facts, "sha256": _digest(kind, facts, plain)}
    text = json.dumps(header).encode()
    if len(text) > LONGEST:
        raise ValueError(f"the names and other facts take {len(text)} bytes; files keep {LONGEST}")

    def write(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(_member(HEADER), text)
            for name, array in plain.items():
                member = BytesIO()
                np.lib.format.write_array(member, array, allow_pickle=False)
                archive.writestr(_member(f"{name}.npy"), member.getvalue())

    write_atomically(path, write)


def load_arrays(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read what `save_arrays` wrote; `ValueError` for any other file, `OSError` for none."""
    data = content_of(path)
    try:
        archive, members = _members(data)
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
        if set(header) != {"format", "kind", "facts", "sha256"}:
            raise ValueError("its header has other parts than it should")
        facts = header["facts"]
        if not isinstance(facts, dict):
            raise ValueError(f"its facts are a {type(facts).__name__}")
        if header["sha256"] != _digest(kind, facts, arrays):
            raise ValueError("its checksum does not match its content")
    except Exception as error:  # a damaged file makes its readers raise almost anything
        name = "" if isinstance(error, ValueError) else f"{type(error).__name__} "
        raise ValueError(f"{path} is not a sound {kind} file: {name}{brief(error)}") from None
    return facts, arrays


def content_of(path: str | os.PathLike[str]) -> bytes:
    """All of a file or a pipe, which have an end; an error names the file, also one of reading.

    >>> content_of(os.devnull)
    Traceback (most recent call last):
    ValueError: ... is a device, which may have no end; name a file or a pipe
    """
    try:
        kind = os.stat(path).st_mode
        if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
            raise ValueError(f"{path} is a device, which may have no end; name a file or a pipe")
        return Path(path).read_bytes()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def kind_of(path: str | os.PathLike[str]) -> str:
    """What a file says that it holds, which may be untrue until it is loaded; "" if it is none of ours.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/numbers.npz"
    >>> save_arrays(path, "numbers", {}, {"a": np.ones(1)})
    >>> kind_of(path)
    'numbers'
    """
    data = content_of(path)
    try:
        return str(json.loads(_members(data)[0].read(HEADER))["kind"])
    except Exception:  # a damaged file makes its readers raise almost anything
        return ""


def brief(error: Exception) -> str:
    """What an error says, in one line that can be printed: it may quote a hostile file at any length.

    >>> brief(ValueError("the key is \\x1b[2J" + "x" * 1000))[:16], len(brief(ValueError("x" * 1000)))
    ('the key is ?[2Jx', 303)
    """
    said = " ".join(str(error)[: 10 * SENTENCE].split())
    shown = "".join(c if c.isprintable() else "?" for c in said[:SENTENCE])
    return shown if len(said) <= SENTENCE else f"{shown}..."


def _members(data: bytes) -> tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]]:
    """An archive whose members, in all that it says of them, take no more than the file itself."""
    if (
        data.count(b"PK\1\2") > MOST_MEMBERS
    ):  # each member has an entry that starts so, and takes many times its size
        raise ValueError("it has too many members")
    archive = zipfile.ZipFile(BytesIO(data))
    listed = archive.infolist()
    members = {info.filename: info for info in listed}
    if len(members) < len(listed):
        raise ValueError("two of its members have the same name")
    for name, info in members.items():
        if name != HEADER and not name.endswith(".npy"):
            raise ValueError(f"{name!r} is out of place")
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ValueError("it is compressed")
    if sum(info.file_size for info in listed) > len(data):
        raise ValueError("its members are larger than itself")
    if members[HEADER].file_size > LONGEST:
        raise ValueError(f"its header is longer than {LONGEST} bytes")
    return archive, members


def _read_array(data: bytes, name: str) -> Array:
    file = BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"{name} has an array format of version {version}")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(file, max_header_size=1000)
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


def _member(name: str) -> zipfile.ZipInfo:
    """Without a time, so that equal content is equal bytes."""
    member = zipfile.ZipInfo(name)
    member.create_system, member.external_attr = 3, 0o600 << 16
    return member
