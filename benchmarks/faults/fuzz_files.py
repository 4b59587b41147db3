"""Files under a fuzzer that watches which lines are reached: python -m benchmarks.faults.fuzz_files [RUNS].

Atheris changes sound files of every kind: any of their bytes, the bytes of a member with a right CRC, or the
facts with a right checksum. A file must be refused with `ValueError`, or what is loaded must be saved as what
was read.
"""

import io
import json
import random
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["unflip._files", "unflip.models", "unflip.moments", "zipfile"]):
    from benchmarks.faults import hostile_files as files
    from unflip import _files

MOST = 40_000  # bytes of a file


def mutated(data: bytes, most: int, seed: int) -> bytes:
    """The bytes, a member or the facts changed; whatever cannot be read as a file is changed as bytes."""
    rng = random.Random(seed)
    how = rng.choice(["bytes", "member", "facts"])
    try:
        if how == "bytes":
            raise ValueError
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        if how == "member":
            name = rng.choice(sorted(members))
            members[name] = atheris.Mutate(members[name], most)
        else:
            members[_files.HEADER] = resealed(members, rng, most)
        return files.packed(members)[:most]
    except Exception:  # it is no sound archive any more
        return atheris.Mutate(data, most)


def resealed(members: dict[str, bytes], rng: random.Random, most: int) -> bytes:
    """The header with one fact changed, as text, and the checksum of that."""
    header = json.loads(members[_files.HEADER])
    arrays = {
        name[:-4]: _files._read_array(data, name) for name, data in members.items() if name != _files.HEADER
    }
    *way, last = rng.choice(list(files.places(header["facts"]))[1:])
    inside = files.at(header["facts"], way)
    try:
        inside[last] = json.loads(atheris.Mutate(json.dumps(inside[last]).encode(), most))
    except ValueError:  # it is no JSON any more
        inside[last] = rng.choice([atom for atom in files.ATOMS if atom is not files.GONE])
    header["sha256"] = _files._digest(header["kind"], header["facts"], arrays)
    return json.dumps(header).encode()


def harness(folder: Path) -> Any:
    path, again = folder / "case.npz", folder / "again.npz"
    known = {kind.name: kind for kind in files.kinds(folder)}
    corpus = folder / "corpus"
    corpus.mkdir()
    for name, kind in known.items():
        (corpus / name).write_bytes(kind.data)

    def one(data: bytes) -> None:
        path.write_bytes(data)
        for name in ("exact moments", "checkpoint", "TableModel"):
            try:
                loaded = known[name].load(path)
            except ValueError:
                continue
            cls = type(loaded).__name__
            known.get(cls, known[name]).save(loaded, again)
            if not files.same(files.content(again.read_bytes()), files.content(data)):
                raise AssertionError(f"{cls} was loaded altered")

    return one


def main() -> None:
    runs = sys.argv[1] if len(sys.argv) > 1 else "-1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = harness(folder)
        options = [f"-runs={runs}", f"-max_len={MOST}", "-rss_limit_mb=2048", "-timeout=20", "-seed=1"]
        options += [f"-artifact_prefix={folder}/", str(folder / "corpus")]
        atheris.Setup([sys.argv[0], *options], one, custom_mutator=mutated)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
