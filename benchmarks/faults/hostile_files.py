"""Sound files of every kind, and hostile ones made of them: damaged, cut short, other facts and arrays.

A forger computes checksums too, so that only a look at the content can refuse what is forged.
"""

import copy
import io
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unflip import UnhingedClassifier, _files
from unflip.models import KernelModel, TableModel, load_model
from unflip.moments import Moments, accumulate
from unflip.moments.files import as_facts
from unflip.moments.privacy import Budget
from unflip.passes.checkpoint import Checkpoint

EDGE = 4096  # bytes at both ends of a large file, of which every truncation is tried
IDENTITY = "what is summed"
GONE = object()


@dataclass(frozen=True)
class Kind:
    """A kind of file: a sound one, how it is loaded, how it is saved again, and how it is used."""

    name: str
    data: bytes
    load: Callable[[Path], Any]
    save: Callable[[Any, Path], None]
    use: Callable[[Any], Any]

    @cached_property
    def header(self) -> dict[str, Any]:
        with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
            return json.loads(archive.read(_files.HEADER))


@dataclass(frozen=True)
class Case:
    """One hostile file. says: the facts and arrays in it, None if it must be refused."""

    kind: Kind
    name: str
    make: Callable[[], bytes]
    says: Callable[[], Any] | None


def frame(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    age = np.where(np.arange(n) % 9 == 0, np.nan, (40 + 10 * y + rng.normal(0, 8, n)).round(1))
    city = rng.choice(["A", "B"], n)
    return pd.DataFrame({"age": age, "city": city, "id": range(n), "label": np.where(y, "yes", "no")})


def kinds(folder: Path) -> list[Kind]:
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"]), np.arange(20) % 2
    path, rows = folder / "sound.npz", frame()

    private = replace(accumulate((X, y)), privacy=Budget(1.0, 1e-6, 0.02, 1.0))

    def made(name: str, thing: Any, load: Any, save: Any, use: Any) -> Kind:
        save(thing, path)
        return Kind(name, path.read_bytes(), load, save, use)

    def moments(name: str, **how: Any) -> Kind:
        return made(name, accumulate((X, y), **how), Moments.load, Moments.save, use_moments)

    def model(cls: Any) -> Kind:
        return made(cls.__name__, cls.fit(rows, "label"), load_model, cls.save, lambda m: m.predict(rows))

    return [
        moments("moments of degree 2", degree=2),
        moments("exact moments", summation="exact"),
        made("private moments", private, Moments.load, Moments.save, UnhingedClassifier().fit_moments),
        made(
            "checkpoint",
            (8, accumulate((X, y))),
            load_checkpoint,
            save_checkpoint,
            lambda m: use_moments(m[1]),
        ),
        model(KernelModel),
        moments("moments of degree 1"),
        model(TableModel),
    ]


def use_moments(moments: Moments) -> None:
    UnhingedClassifier().fit_moments(moments + moments - moments)


def load_checkpoint(path: Path) -> Any:
    return Checkpoint(path, IDENTITY).load()


def save_checkpoint(loaded: Any, path: Path) -> None:
    position, moments = loaded
    facts, arrays = as_facts(moments)
    _files.save_arrays(
        path, "checkpoint", {"identity": IDENTITY, "position": position, "moments": facts}, arrays
    )


def content(data: bytes) -> tuple[Any, dict[str, Any]]:
    """The facts and arrays of a sound file, read without the library."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        facts = json.loads(archive.read(_files.HEADER))["facts"]
        names = [name for name in archive.namelist() if name != _files.HEADER]
        return facts, {name[:-4]: np.load(io.BytesIO(archive.read(name))) for name in names}


def same(a: Any, b: Any) -> bool:
    """Equal facts, and arrays of equal types, shapes and numbers."""
    return trimmed(a[0]) == trimmed(b[0]) and _plain(a[1]) == _plain(b[1])


def _plain(arrays: dict[str, Any]) -> dict[str, Any]:
    native = {name: array.astype(array.dtype.newbyteorder("=")) for name, array in arrays.items()}
    return {name: (array.dtype.str, array.shape, array.tolist()) for name, array in native.items()}


def trimmed(facts: Any) -> Any:
    """Facts without those that older files do not have, where they say nothing."""
    if isinstance(facts, list):
        return [trimmed(value) for value in facts]
    if not isinstance(facts, dict):
        return facts
    nothing = (("probabilities", 0), ("outliers", 0))
    return {k: trimmed(v) for k, v in facts.items() if v is not None and (k, v) not in nothing}


def flipped(kind: Kind, number: int, seed: int) -> Iterator[Case]:
    """One flipped bit, or every fifth time a burst of up to 64 other bytes."""
    for k in range(number):

        def damaged(k: int = k) -> bytes:
            rng = np.random.default_rng([seed, k])
            data, at = bytearray(kind.data), int(rng.integers(len(kind.data)))
            if k % 5 == 4:
                burst = rng.bytes(int(rng.integers(1, 65)))
                data[at : at + len(burst)] = burst[: len(data) - at]
            else:
                data[at] ^= 1 << int(rng.integers(8))
            return bytes(data)

        yield Case(kind, f"damage {k}", damaged, lambda: content(kind.data))


def truncated(kind: Kind, most: int) -> Iterator[Case]:
    """Every one near both ends; between them and in all, at most so many."""
    size = len(kind.data)
    ends = [*range(min(EDGE, size)), *range(max(EDGE, size - EDGE), size)]
    between = range(EDGE, max(EDGE, size - EDGE))
    chosen = [*ends, *between[:: max(1, len(between) // 2000)]]
    for length in chosen[:: -(-len(chosen) // most)]:
        yield Case(kind, f"cut to {length} bytes", lambda n=length: kind.data[:n], None)


def sealed(kind: str, facts: Any, arrays: dict[str, Any], **header: Any) -> bytes:
    """A file with the checksum of its content."""
    with deep_recursion():
        sha256 = _files._digest(kind, facts, arrays)
        text = json.dumps({"format": 1, "kind": kind, "facts": facts, "sha256": sha256} | header)
    return packed(
        {_files.HEADER: text.encode()} | {f"{name}.npy": npy(array) for name, array in arrays.items()}
    )


def packed(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return buffer.getvalue()


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


@contextmanager
def deep_recursion() -> Iterator[None]:
    """What a forger needs to write deep nesting."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


ATOMS = [
    *(None, True, -1, 0, 2, 7, 1.5, 10**9, 10**15, 10**400, -(2**63), float("nan"), float("inf")),
    *("", "x", "x" * 100_000, "\x1b[2J\n\ud800", [], {}, [[]], [{}], {"a": 1}, [1, "1"], ["a", "a"]),
    *(["x"] * 3, nested(300), nested(940), nested(970), GONE),
]


def others(value: Any) -> list[Any]:
    """What may stand in the place of a fact."""
    found = list(ATOMS)
    if isinstance(value, list):
        found += [
            value + value[-1:],
            value[:-1],
            value[::-1],
            "abcdefghij"[: len(value)],
            dict.fromkeys("ab", 1),
        ]
        found += [[*value[:-1], atom] for atom in (None, 2, "x", 1.5, 10**400, float("nan"), [])]
    if isinstance(value, dict):
        found.append(value | {"stranger": 1})
    return found


def places(facts: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all facts, and of facts within facts."""
    yield here
    inner = facts.items() if isinstance(facts, dict) else enumerate(facts) if isinstance(facts, list) else ()
    for key, value in inner:
        yield from places(value, (*here, key))


def forged_facts(kind: Kind) -> Iterator[Case]:
    facts, arrays = content(kind.data)
    for place in list(places(facts))[1:]:
        *way, last = place
        old = at(facts, place)
        for k, new in enumerate(others(old)):

            def changed(way: Any = way, last: Any = last, new: Any = new) -> Any:
                found = copy.deepcopy(facts)
                if new is GONE:
                    del at(found, way)[last]
                else:
                    at(found, way)[last] = new
                return found

            yield Case(
                kind,
                f"fact {'.'.join(map(str, place))} number {k}",
                lambda changed=changed: sealed(kind.header["kind"], changed(), arrays),
                lambda changed=changed: (changed(), arrays),
            )


def at(facts: Any, place: Any) -> Any:
    for key in place:
        facts = facts[key]
    return facts


def forged_arrays(kind: Kind) -> Iterator[Case]:
    facts, arrays = content(kind.data)
    for name, array in arrays.items():
        for k, new in enumerate(other_arrays(array)):
            changed = {key: value for key, value in arrays.items() if key != name}
            changed |= {} if new is GONE else {name: new}
            yield Case(
                kind,
                f"array {name} number {k}",
                lambda changed=changed: sealed(kind.header["kind"], facts, changed),
                lambda changed=changed: (facts, changed),
            )
    more = arrays | {"stranger": np.ones(3)}
    yield Case(kind, "an array more", lambda: sealed(kind.header["kind"], facts, more), lambda: (facts, more))


def other_arrays(array: Any) -> Iterator[Any]:
    """What may stand in the place of an array."""
    yield GONE
    for value in (np.nan, np.inf, -np.inf, -1.0, 0.0, 1e308, 5e-324):
        yield np.full(array.shape, value)
        if array.size > 1:
            one = array.astype(np.float64)
            one.flat[-1] = value
            yield one
    whole = np.clip(array.astype(np.float64), -1e4, 1e4).round()
    for dtype in ("i8", "u1", "?", "c16", ">f8", "f2", "g", "M8[s]", "S8", "U9"):
        yield whole.astype(dtype)
    yield np.zeros(array.shape, dtype=[("a", "f8"), ("b", "S3")])
    yield np.full(array.shape, 2**62 if array.dtype.kind == "i" else 3, dtype=np.int64)
    yield np.full(array.shape, -(2**63), dtype=np.int64)
    yield from (array[..., None], array.ravel(), array.sum(), array[:0], array[..., :0], array[:1], array.T)
    yield np.concatenate([array, array])
    yield array[::-1]
    for shape in ((0, 10**7), (0, 10**10), (0, 10**15), (10**15, 0), (0,), (0, 0), (0, 10**7, 1)):
        yield np.empty(shape)


def contradictions(kind: Kind) -> Iterator[Case]:
    """Exact sums that are not those of the rounded ones: each sound, but not together."""
    facts, arrays = content(kind.data)
    if "limbs" not in arrays:
        return
    for k, limbs in enumerate((arrays["limbs"] + (arrays["limbs"] > 0), arrays["limbs"][:, :-1])):
        windows = arrays | {"limbs": limbs}
        yield Case(kind, f"contradiction {k}", lambda w=windows: sealed("moments", facts, w), None)
