"""What is shipped: the same bytes from any clone, nothing that does not belong there, and honest bounds.

At full size the commit is built twice by tools/build_release.py, in folders of other names, with other masks
and time zones, and the wheel is installed where nothing else is. The small size builds the wheel of the
working tree once, in place, and compares the bounds of pyproject.toml with tests/lowest.txt, which
`make test-lowest` installs. Data that may not be shipped is looked for if UNFLIP_DATA names its folder.
"""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from benchmarks.faults.promise import Found, main

ROOT = Path(__file__).parents[2]
KEPT_BACK = os.environ.get("UNFLIP_DATA")  # a folder of data that may not be shipped
DEVELOPERS = ("test", "docs", "bench")
BY_GPU = "gpu"  # its lower bounds are tried where there is one, not by `make test-lowest`
SMALL = {"builds": 0}
FULL = {"builds": 2}
VALIDATE = """
import sys
from pathlib import Path
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
print(JsonStrictValidator(SchemaVersion.V1_6).validate_str(Path(sys.argv[1]).read_text()) or "valid")
"""
FIT = """
import unflip
model = unflip.UnhingedClassifier().fit([[0.0], [1.0], [5.0]], ["no", "no", "yes"])
print(unflip.__version__, model.predict([[4.0]])[0])
"""


def requirements(extras: Iterable[str] | None = None, root: Path = ROOT) -> list[Requirement]:
    """What pyproject.toml asks for in some extras, or in all of them and without; not the package itself."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    chosen = project["optional-dependencies"]
    lines = [line for name in (chosen if extras is None else extras) for line in chosen[name]]
    found = [Requirement(line) for line in (project["dependencies"] if extras is None else []) + lines]
    return [each for each in found if each.name != project["name"]]


def lower_bound(requirement: Requirement) -> Version | None:
    bounds = [Version(s.version) for s in requirement.specifier if s.operator in (">=", "==")]
    return max(bounds, default=None)


def bounds() -> Found:
    """Every lower bound is a version that is tried."""
    lines = (ROOT / "tests" / "lowest.txt").read_text().splitlines()
    pins = {
        canonicalize_name(pin.name): lower_bound(pin)
        for pin in (Requirement(line) for line in lines if line and not line.startswith("#"))
    }
    apart = requirements([BY_GPU])
    asked = [each for each in requirements() if each not in apart]
    wrong = [
        f"{each} against {pins.get(canonicalize_name(each.name))}"
        for each in asked
        if lower_bound(each) is None or pins.get(canonicalize_name(each.name)) != lower_bound(each)
    ]
    said = f"{len(asked) - len(wrong)} equal, {len(wrong)} not{': ' if wrong else ''}{'; '.join(wrong)}"
    return Found(
        "lower bounds are the versions of make test-lowest",
        f"{len(asked)} bounds, {len(pins)} versions",
        f"{said}; {len(apart)} of the extra {BY_GPU} apart",
        not wrong,
    )


def members(file: Path) -> dict[str, bytes]:
    """The files in a wheel or an sdist, those of an sdist without its outer folder."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    with tarfile.open(file) as archive:
        found = {each.name: archive.extractfile(each) for each in archive.getmembers() if each.isfile()}
        return {name.partition("/")[2]: data.read() for name, data in found.items() if data is not None}


def private_parts(content: dict[str, bytes], folders: Iterable[Path]) -> list[str]:
    """Paths of this machine, and data that may not be shipped."""
    paths = {str(path).encode() for path in (ROOT, Path(sys.prefix), *folders)}
    found = [f"{name} names a path" for name, data in content.items() if any(path in data for path in paths)]
    kept_back = [each for each in Path(KEPT_BACK).iterdir() if each.is_file()] if KEPT_BACK else []
    names, hashes = {each.name for each in kept_back}, {plain_hash(each.read_bytes()) for each in kept_back}
    for name, data in content.items():
        if Path(name).name in names or plain_hash(data) in hashes:
            found.append(f"{name} may not be shipped")
    return found


def in_words(wrong: list[str]) -> str:
    unsought = (
        "" if KEPT_BACK else " (data that may not be shipped was not looked for: UNFLIP_DATA is not set)"
    )
    return f"{len(wrong)} faults{': ' if wrong else ''}{'; '.join(wrong[:5])}{unsought}"


def plain_hash(data: bytes) -> str:
    """Of what is inside, if it is compressed."""
    return hashlib.sha256(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).hexdigest()


def wheel_content(wheel: Path, folders: Iterable[Path]) -> Found:
    content = members(wheel)
    wrong = private_parts(content, folders)
    for part in ("unflip/py.typed", ".dist-info/licenses/LICENSE", ".dist-info/METADATA"):
        if not any(name.endswith(part) for name in content):
            wrong.append(f"no {part}")
    for name in content:
        parts = Path(name).parts
        if parts[0] != "unflip" and not parts[0].endswith(".dist-info"):
            wrong.append(f"{name} is outside of the package")
        if "tests" in parts or parts[-1].startswith("test_") or "__pycache__" in parts:
            wrong.append(f"{name} does not belong here")
    return Found(
        "the wheel holds what it should, and nothing else",
        f"{len(content)} files, {sum(map(len, content.values())) / 1e6:.1f} MB",
        in_words(wrong),
        not wrong,
    )


def run_quietly(*command: Any, **options: Any) -> str:
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr[-2000:]}")
    return done.stdout.strip()


def new_python(folder: Path, *install: Any) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run_quietly(python, "-m", "pip", "install", "--quiet", *install)
    return python


def build_twice(folder: Path, builder: Path, builds: int) -> tuple[list[Path], Found]:
    """The files of the first build, and whether the others are the same."""
    commit = run_quietly("git", "-C", ROOT, "rev-parse", "HEAD")
    outs = []
    for number in range(builds):
        clone, out = folder / ("clone" + " of another name" * number), folder / f"out{number}"
        run_quietly("git", "clone", "--quiet", "--no-hardlinks", ROOT, clone)
        run_quietly("git", "-C", clone, "checkout", "--quiet", commit)  # HEAD may have moved on
        environment = {**os.environ, "TZ": ("UTC", "Asia/Tokyo")[number % 2], "PYTHONHASHSEED": str(number)}
        build = (builder, ROOT / "tools" / "build_release.py", "--source", clone, "--out", out)
        run_quietly(*build, cwd=clone, env=environment, umask=(0o022, 0o077)[number % 2])
        print(f"build {number + 1} of {builds} done", file=sys.stderr)
        outs.append({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in out.iterdir()})
    same = [name for name in outs[0] if len({each.get(name) for each in outs}) == 1]
    row = Found(
        "builds are byte-identical",
        f"commit {commit[:7]}, {builds} clones in folders of different names, masks and time zones",
        f"{len(same)} of {len(outs[0])} files the same: {', '.join(sorted(same))}",
        len(same) == len(outs[0]) == 3 and all(len(each) == 3 for each in outs),
    )
    return sorted((folder / "out0").iterdir()), row


def sbom(file: Path, others: list[Path], builder: Path, clone: Path) -> Found:
    """It keeps to the schema, names what pyproject.toml names, and knows the files beside it."""
    verdict = run_quietly(builder, "-c", VALIDATE, file)
    bom = json.loads(file.read_text())
    named = {part["name"] for part in bom["components"]}
    for_developers = requirements(DEVELOPERS, clone)
    runtime = [each for each in requirements(root=clone) if each not in for_developers]
    missing = sorted({canonicalize_name(each.name) for each in runtime} - named)
    beside = {
        each["url"]: each["hashes"][0]["content"]
        for each in bom["metadata"]["component"]["externalReferences"]
    }
    hashed = beside == {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in others}
    resolved = sum("version" in part for part in bom["components"])
    return Found(
        "SBOM, CycloneDX 1.6",
        f"{len(named)} components, {resolved} of them resolved, for {len(runtime)} bounds",
        f"{verdict}; {len(missing)} bounds without a component {' '.join(missing)}; "
        f"hashes of {len(beside)} files {'right' if hashed else 'wrong'}",
        verdict == "valid" and not missing and hashed,
    )


def installed(wheel: Path, folder: Path) -> Found:
    python = new_python(folder, wheel)
    said = run_quietly(python, "-c", FIT, cwd=folder)
    packages = json.loads(run_quietly(python, "-m", "pip", "list", "--format", "json"))
    return Found(
        "the wheel alone installs, imports and fits",
        f"a new environment without extras, {len(packages)} packages",
        f"version and prediction: {said}",
        said.endswith(" yes"),
    )


def sdist_content(sdist: Path, folders: Iterable[Path]) -> Found:
    content = members(sdist)
    wrong = private_parts(content, folders)
    needed = ("pyproject.toml", "LICENSE", "SECURITY.md", "Makefile", "conftest.py", "tools/build_release.py")
    wrong += [f"no {name}" for name in needed if name not in content]
    return Found(
        "the sdist holds what a test needs, and nothing private",
        f"{len(content)} files",
        in_words(wrong),
        not wrong,
    )


def run(builds: int) -> list[Found]:
    found = [bounds()]
    with TemporaryDirectory() as name:
        folder = Path(name)
        if not builds:
            run_quietly(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
            return [*found, wheel_content(next(folder.glob("*.whl")), [folder])]
        builder = new_python(folder / "builder", "--requirement", ROOT / "tools" / "release.txt")
        (wheel, bom, sdist), same = build_twice(folder, builder, builds)
        found += [same, sbom(bom, [wheel, sdist], builder, folder / "clone")]
        found += [wheel_content(wheel, [folder]), sdist_content(sdist, [folder])]
        return [*found, installed(wheel, folder / "user")]


if __name__ == "__main__":
    main(run, SMALL, FULL)
