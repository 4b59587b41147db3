"""Forged archives: lies in the headers of files, members and arrays, bombs, paths and pickles."""

import copy
import io
import json
import pickle
import stat
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from benchmarks.faults.hostile_files import Case, Kind, content, deep_recursion, nested, npy, packed, sealed
from unflip import _files


def forged_archives(kind: Kind, canary: Path, unfolded: int) -> Iterator[Case]:
    header, (facts, arrays) = kind.header, content(kind.data)
    with zipfile.ZipFile(io.BytesIO(kind.data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    array = next(name for name in members if name != _files.HEADER)
    zipped = packed(members)

    def sound() -> Any:
        return facts, arrays

    def case(name: str, make: Callable[[], bytes], says: Callable[[], Any] | None = None) -> Case:
        return Case(kind, name, make, says)

    def with_array(data: bytes) -> bytes:
        return packed(members | {array: data})

    def with_header(text: str | bytes) -> bytes:
        return packed(members | {_files.HEADER: text.encode() if isinstance(text, str) else text})

    for name, descr, shape in LYING_SHAPES:
        yield case(f"shape: {name}", lambda d=descr, s=shape: with_array(lying(d, s, members[array][128:])))
    for name, raw in LYING_HEADERS.items():
        yield case(f"array header: {name}", lambda r=raw: with_array(raw_npy(r)))
    for version in ((0, 0), (2, 0), (3, 0), (9, 9)):
        changed = members[array][:6] + bytes(version) + members[array][8:]
        yield case(f"array format {version}", lambda c=changed: with_array(c))
    for name, objects in (("one", [Writes(canary)]), ("in a table", [[Writes(canary)]])):
        yield case(f"pickle: {name}", lambda o=objects: with_array(npy(np.array(o, dtype=object))))
    yield case("pickle: instead of the file", lambda: pickle.dumps(Writes(canary)))
    yield case("pickle: as header", lambda: with_header(pickle.dumps(Writes(canary))))
    yield case("pickle: as member", lambda: packed(members | {"data.pkl": pickle.dumps(Writes(canary))}))
    yield case("pickle: as array", lambda: with_array(pickle.dumps(Writes(canary))))

    for name, change in HEADERS.items():
        yield case(f"header: {name}", lambda c=change: with_header(c(copy.deepcopy(header))))
    yield case("header: a key more", lambda: sealed(header["kind"], facts, arrays, stranger=1), sound)
    yield case("header: spaces", lambda: with_header(" " * 10**6 + json.dumps(header)), sound)
    yield case("header: UTF-16", lambda: with_header(json.dumps(header).encode("utf-16")), sound)
    twice = json.dumps(header).replace('"facts"', '"facts": 1, "facts"', 1)
    yield case("header: a key twice", lambda: with_header(twice), sound)
    for name, piece in UNFOLDING.items():
        text = json.dumps(header | {"facts": {"history": ["@"]}})
        yield case(
            f"header: {name}", lambda t=text, p=piece: with_header(t.replace('"@"', p * unfolded + "0"))
        )
    for name, other in crowded(facts, unfolded):
        yield case(f"header: {name}", lambda o=other: with_header(compact(header, o, arrays)))
    yield case("header: 17 MiB", lambda: with_header(" " * (17 << 20) + json.dumps(header)))

    for name, method in (
        ("deflated", zipfile.ZIP_DEFLATED),
        ("bzip2", zipfile.ZIP_BZIP2),
        ("lzma", zipfile.ZIP_LZMA),
    ):
        yield case(f"zip: {name}", lambda m=method: packed(members, m))
    for name in (_files.HEADER, array):
        yield case(f"zip: a bomb as {name}", lambda n=name: bomb(n))
    yield case("zip: nested members", lambda: quoted(members, 100, 10**6))
    yield case("zip: 100,000 members", lambda: many_members(members, 100_000))
    yield case("zip: a member twice", lambda: duplicated(members, array, members[array]), sound)
    yield case(
        "zip: a member twice, first another", lambda: duplicated(members, array, npy(np.ones(3))), sound
    )
    for path in (
        "../escaped.npy",
        "/escaped.npy",
        "C:\\escaped.npy",
        "a/../../escaped.npy",
        "\0.npy",
        "x\x1b[2J.npy",
    ):
        yield case(f"zip: {path!r}", lambda p=path: packed(members | {p: npy(np.ones(3))}))
    yield case("zip: no suffix", lambda: packed(members | {array[:-4]: npy(np.ones(3))}), sound)
    yield case("zip: a folder", lambda: packed(members | {"folder/": b""}))
    yield case("zip: a symbolic link", lambda: linked(members, array))
    yield case("zip: a comment", lambda: commented(zipped, b"x" * 60_000), sound)
    yield case("zip: trailing data", lambda: zipped + b"x" * 1000, sound)
    yield case("zip: leading data", lambda: b"x" * 1000 + zipped, sound)
    yield case("zip: a second archive behind", lambda: zipped + packed({"x.npy": npy(np.ones(3))}))
    for name, place, local, size, value in LIES:
        for where in (array, _files.HEADER):
            yield case(
                f"zip: {name} of {where}",
                lambda w=where, p=place, lo=local, s=size, v=value: lie(
                    zipped, w, p, lo, v.to_bytes(s, "little")
                ),
                sound,
            )
    yield case("zip: 72 TiB in zip64", lambda: zip64_lie(zipped, array, 72 << 40))
    yield case("zip: no members", lambda: packed({}))
    yield case("zip: no header", lambda: packed({array: members[array]}))
    yield case("an empty file", lambda: b"")
    yield case("zeros", lambda: bytes(10**6))


LYING_SHAPES = [
    ("72 TiB", "<f8", (9 << 40,)),
    ("72 TiB in two", "<f8", (9 << 20, 1 << 20)),
    ("negative", "<f8", (-1,)),
    ("two negative", "<f8", (-2, -1)),
    ("negative and zero", "<f8", (-1, 0)),
    ("beyond all integers", "<f8", (1 << 4000,)),
    ("wraps around to nothing", "<f8", (1 << 32, 1 << 32)),
    ("zero times beyond", "<f8", (0, 1 << 70)),
    ("65 axes", "<f8", (1,) * 65),
    ("items of nothing", "|V0", (1 << 60,)),
    ("texts of nothing", "<U0", (1 << 60,)),
    ("items of 2 GiB", "|V2147483647", (0,)),
    ("items of 2 GiB, some", "|V2147483647", (4,)),
    ("objects", "|O", (1,)),
    ("no objects", "|O", (0,)),
    ("structures with objects", [("a", "|O")], (1,)),
    ("a structure", [("a", "<f8"), ("b", "<f8")], (1,)),
    ("arrays in arrays", [("a", "<f8", (1 << 30,))], (0,)),
    ("dates", "<M8[ns]", (2,)),
    ("no such type", "<q9", (1,)),
    ("many types", ",".join(["f8"] * 2000), (1,)),
    ("a float as length", "<f8", (2.0,)),
    ("a truth as length", "<f8", (True,)),
]
LYING_HEADERS = {
    "empty": b"",
    "not closed": b"{",
    "parentheses": b"(" * 9000,
    "minus signs": b"-" * 9000 + b"1",
    "lists": b"[" * 90 + b"]" * 90,
    "a call": b"__import__('os').system('true')",
    "a large power": b"{'descr': '<f8', 'fortran_order': False, 'shape': (9**9**9,)}",
    "digits": b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"9" * 9000 + b",)}",
    "a key more": b"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}",
    "Fortran": b"{'descr': '<f8', 'fortran_order': True, 'shape': (1, 1)}",
    "an old number": b"{'descr': '<f8', 'fortran_order': False, 'shape': (1L,)}",
    "too long": b" " * 60_000,
}
HEADERS = {
    "empty": lambda h: "",
    "a list": lambda h: "[]",
    "nothing": lambda h: "null",
    "text": lambda h: '"header"',
    "half": lambda h: json.dumps(h)[: len(json.dumps(h)) // 2],
    "no facts": lambda h: json.dumps({k: v for k, v in h.items() if k != "facts"}),
    "no checksum": lambda h: json.dumps({k: v for k, v in h.items() if k != "sha256"}),
    "an empty checksum": lambda h: json.dumps(h | {"sha256": ""}),
    "a checksum of nothing": lambda h: json.dumps(h | {"sha256": None}),
    "another format": lambda h: json.dumps(h | {"format": 2}),
    "a huge format": lambda h: json.dumps(h | {"format": 10**4000}),
    "an infinite format": lambda h: json.dumps(h | {"format": float("inf")}),
    "another kind": lambda h: json.dumps(h | {"kind": "x\x1b[2J" * 10**5}),
    "a list as kind": lambda h: json.dumps(h | {"kind": [h["kind"]]}),
    "a list as facts": lambda h: json.dumps(h | {"facts": [1]}),
    "facts of numbers": lambda h: json.dumps(h | {"facts": 10**400}),
    "digits": lambda h: '{"format": 1' + "0" * 10**6 + "}",
    "deep lists": lambda h: "[" * 10**6,
    "deep lists, closed": lambda h: '{"facts": ' + "[" * 10**5 + "]" * 10**5 + "}",
    "deep objects": lambda h: '{"facts": ' * 10**5,
    "no UTF-8": lambda h: b"\xff\xfe\xfd",
    "lone surrogates": lambda h: '{"kind": "\\ud800", "format": 1, "facts": {}, "sha256": ""}',
    "no number": lambda h: json.dumps(h).replace("1", "NaN", 1),
}
UNFOLDING = {"empty lists": "[],", "lists of lists": "[[]],", "objects": '{"":{}},', "texts": '"Āa",'}
LIES = [  # name, place in the central directory, place in the local header (None: leave it), bytes, value
    ("encrypted flag", 8, 6, 2, 1),
    ("strong encryption", 8, 6, 2, 0x41),
    ("UTF-8 flag", 8, 6, 2, 0x800),
    ("data descriptor flag", 8, 6, 2, 8),
    ("unknown method", 10, 8, 2, 77),
    ("deflate method", 10, 8, 2, 8),
    ("deflate method, centrally", 10, None, 2, 8),
    ("wrong CRC", 16, 14, 4, 1),
    ("size 0", 24, 22, 4, 0),
    ("packed size 0", 20, 18, 4, 0),
    ("size of 2 GiB", 24, 22, 4, 2**31 - 1),
    ("packed size of 2 GiB", 20, 18, 4, 2**31 - 1),
    ("size of 4 GiB", 24, 22, 4, 2**32 - 2),
    ("size of zip64 without it", 24, 22, 4, 2**32 - 1),
    ("long name", 28, 26, 2, 60_000),
    ("long extra field", 30, 28, 2, 60_000),
    ("long comment", 32, None, 2, 60_000),
    ("later version", 6, 4, 2, 99),
    ("other disk", 34, None, 2, 7),
    ("offset 0", 42, None, 4, 0),
    ("offset beyond the end", 42, None, 4, 2**31),
    ("date 0", 14, 12, 2, 0),
]


def crowded(facts: dict[str, Any], unfolded: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Facts that take far more than their bytes, as objects or as what they stand for."""
    yield "full of empty lists", facts | {"names": [[]] * (6 * unfolded)}
    yield "lists 900 deep", facts | {"names": [nested(900)] * (unfolded // 600)}
    if "table" in facts:
        columns = [{"kind": "levels", "levels": [], "buckets": 1000}] * (unfolded // 20)
        names = [str(j) for j in range(len(columns))]
        table = facts["table"] | {"columns": columns, "names": names, "kept": [-1]}
        yield "columns of 1000 buckets", facts | {"table": table}


def compact(header: dict[str, Any], facts: dict[str, Any], arrays: dict[str, Any]) -> str:
    """A header with other facts and their checksum, so that they are looked at, and without a space."""
    with deep_recursion():
        sha256 = _files._digest(header["kind"], facts, arrays)
        return json.dumps(header | {"facts": facts, "sha256": sha256}, separators=(",", ":"))


class Writes:
    """Whoever unpickles this writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def lying(descr: Any, shape: Any, data: bytes) -> bytes:
    return raw_npy(repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()) + data


def raw_npy(header: bytes) -> bytes:
    text = header + b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text


def entry(name: bytes, data: bytes, offset: int) -> tuple[bytes, bytes]:
    """The local and the central header of a stored member."""
    facts = struct.pack("<5H3L2H", 20, 0, 0, 0, 0, crc32(data), len(data), len(data), len(name), 0)
    local = b"PK\3\4" + facts + name
    central = b"PK\1\2" + struct.pack("<H", 20) + facts + struct.pack("<3H2L", 0, 0, 0, 0, offset) + name
    return local, central


def ended(body: bytes, entries: list[bytes]) -> bytes:
    directory = b"".join(entries)
    count = min(len(entries), 65_535)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(directory), len(body), 0)
    return body + directory + end


@cache
def bomb(name: str) -> bytes:
    """A member of 128 MB in a file of 128 kB."""
    return packed({name: b" " * (1 << 27)}, zipfile.ZIP_DEFLATED)


def quoted(members: dict[str, bytes], count: int, size: int) -> bytes:
    """Members each of which holds all that follow, so that a small archive has large content."""
    start, start_entry = entry(_files.HEADER.encode(), members[_files.HEADER], 0)
    body, layers = bytes(size), []
    for k in range(count, 0, -1):
        body = raw_npy(repr({"descr": "|u1", "fortran_order": False, "shape": (len(body),)}).encode()) + body
        local, central = entry(f"m{k}.npy".encode(), body, 0)
        body = local + body
        layers.append((central, len(body)))
    first = start + members[_files.HEADER]
    total = len(first) + len(body)
    entries = [c[:42] + struct.pack("<L", total - length) + c[46:] for c, length in layers]
    return ended(first + body, [start_entry, *entries])


def many_members(members: dict[str, bytes], count: int) -> bytes:
    """So many entries of empty members."""
    start, start_entry = entry(_files.HEADER.encode(), members[_files.HEADER], 0)
    return ended(
        start + members[_files.HEADER], [start_entry, *(entry(b"%d" % k, b"", 0)[1] for k in range(count))]
    )


def duplicated(members: dict[str, bytes], name: str, data: bytes) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")
        for each, content in ((name, data), *members.items()):
            archive.writestr(each, content)
    return buffer.getvalue()


def linked(members: dict[str, bytes], name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for each, content in members.items():
            info = zipfile.ZipInfo(each)
            if each == name:
                info.create_system, info.external_attr, content = (
                    3,
                    (stat.S_IFLNK | 0o777) << 16,
                    b"/etc/passwd",
                )
            archive.writestr(info, content)
    return buffer.getvalue()


def commented(data: bytes, comment: bytes) -> bytes:
    return data[:-2] + struct.pack("<H", len(comment)) + comment


def lie(data: bytes, name: str, central: int, local: int | None, value: bytes) -> bytes:
    """Other bytes in the two headers of a member."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        start = archive.getinfo(name).header_offset
    entry = data.index(name.encode(), data.rindex(b"PK\1\2", 0, data.rindex(name.encode()))) - 46
    changed = bytearray(data)
    changed[entry + central : entry + central + len(value)] = value
    if local is not None:
        changed[start + local : start + local + len(value)] = value
    return bytes(changed)


def zip64_lie(data: bytes, name: str, size: int) -> bytes:
    """The same archive with a size of its member in the fields for large files."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
    entries = []
    for info in infos:
        extra, shown = b"", info.file_size
        if info.filename == name:
            extra, shown = struct.pack("<2H2Q", 1, 16, size, size), 2**32 - 1
        raw = info.filename.encode()
        fixed = struct.pack(
            "<6H3L5H2L",
            45,
            45,
            0,
            0,
            0,
            0,
            info.CRC,
            shown,
            shown,
            len(raw),
            len(extra),
            0,
            0,
            0,
            0,
            info.header_offset,
        )
        entries.append(b"PK\1\2" + fixed + raw + extra)
    return ended(data[: data.index(b"PK\1\2")], entries)
