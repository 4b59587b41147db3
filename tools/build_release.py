"""Build sdist, wheel and SBOM of a commit, such that anybody who builds it again gets the same bytes.

python tools/build_release.py [--source CLONE] [--out dist]

Built is what git has of the commit, so that nothing else slips in; times are those of the commit; the
packages of tools/release.txt do the work, without isolation, so that their versions are known. The SBOM
(CycloneDX 1.6) holds what pip resolves for the wheel with the extra `all` in a fresh environment, with the
hashes of those files, and the bounds of extras that it leaves out. Beside the commit, it depends on the
index, the platform and the release of Python; the last two it names.
"""

import argparse
import email
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

RESOLVED = "all"
APART = ("gpu",)  # resolved by the user, who knows the GPU
Packages = dict[str, dict[str, Any]]  # what pip says of each, by name


def main() -> None:
    """Build, and print the hashes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1], help="a clone")
    parser.add_argument("--out", type=Path, default=Path("dist"))
    given = parser.parse_args()
    given.out.mkdir(parents=True)  # a new folder: what lies in it afterwards was built now
    epoch = int(_git(given.source, "log", "-1", "--format=%ct"))
    files = build(given.source, given.out, epoch)
    files.append(write_sbom(files, epoch))
    for file in files:
        print(_sha256(file), file.name)


def build(source: Path, out: Path, epoch: int) -> list[Path]:
    """The sdist, and the wheel that is built from it."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(_git(source, "archive", "HEAD"))) as archive:
            archive.extractall(folder, filter="data")
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", out.resolve(), folder]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch)}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return sorted([*out.glob("unflip-*.tar.gz"), *out.glob("unflip-*.whl")])


def write_sbom(files: list[Path], epoch: int) -> Path:
    """What the wheel needs, beside it. The serial number is a hash of the rest."""
    wheel = next(file for file in files if file.suffix == ".whl")
    packages = _resolved(wheel)
    about = _metadata(wheel)
    root_name, version = canonicalize_name(about["name"]), about["version"]
    needed = set(_edges(packages, root_name, [""]))
    edges = _edges(packages, root_name, ["", RESOLVED])
    parts = {name: _component(package, name in needed) for name, package in packages.items()}
    root = parts.pop(root_name)
    root.scope = None
    root.external_references.update(
        ExternalReference(
            type=ExternalReferenceType.DISTRIBUTION,
            url=XsUri(file.name),
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=_sha256(file))],
        )
        for file in files
    )
    bom = Bom(components=parts.values())
    bom.metadata.component = root
    bom.metadata.timestamp = datetime.fromtimestamp(epoch, UTC)
    machine = f"{sys.platform}, Python {sys.version_info.major}.{sys.version_info.minor}"
    bom.metadata.properties.add(Property(name="unflip:resolved-for", value=machine))
    for name, others in edges.items():
        part = root if name == root_name else parts[name]
        bom.register_dependency(part, [parts[other] for other in sorted(others)])
    for bound in _bounds_apart(about):
        part = _unresolved(bound)
        if part.name not in parts:
            bom.components.add(part)
            bom.register_dependency(root, [part])
    bom.serial_number = uuid5(NAMESPACE_URL, f"unflip {version}")  # the same for all, until the rest is known
    bom.serial_number = uuid5(NAMESPACE_URL, JsonV1Dot6(bom).output_as_string())
    target = wheel.with_name(f"{root_name}-{version}.cdx.json")
    target.write_text(JsonV1Dot6(bom).output_as_string(indent=1) + "\n")
    return target


def _resolved(wheel: Path) -> Packages:
    """What pip would install beside the wheel where nothing is."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    command = [*pip, "--report", "-", f"{wheel.resolve()}[{RESOLVED}]"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {canonicalize_name(each["metadata"]["name"]): each for each in report["install"]}


def _edges(packages: Packages, start: str, extras: list[str]) -> dict[str, set[str]]:
    """Who needs whom, from the start on."""
    edges: dict[str, set[str]] = {}
    todo, seen = [(start, extra) for extra in extras], set()
    while todo:
        name, extra = todo.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        edges.setdefault(name, set())
        for line in packages[name]["metadata"].get("requires_dist", []):
            other = Requirement(line)
            if other.marker is None or other.marker.evaluate({"extra": extra}):
                other_name = canonicalize_name(other.name)
                todo += [(other_name, each) for each in ("", *other.extras)]
                edges[name] |= {other_name} - {name}
    return edges


def _component(package: dict[str, Any], needed: bool) -> Component:
    about, archive = package["metadata"], package["download_info"].get("archive_info", {})
    name = canonicalize_name(about["name"])
    own = package["is_direct"]  # the wheel itself: its hash stands beside its name
    hashes = {} if own else archive.get("hashes", {})
    purl = PackageURL("pypi", name=name, version=about["version"])
    return Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=about["version"],
        bom_ref=str(purl),
        purl=purl,
        scope=ComponentScope.REQUIRED if needed else ComponentScope.OPTIONAL,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=hashes["sha256"])] if "sha256" in hashes else [],
    )


def _bounds_apart(about: Any) -> list[Requirement]:
    bounds = map(Requirement, about.get_all("requires-dist", []))
    return [b for b in bounds if b.marker is not None and any(b.marker.evaluate({"extra": e}) for e in APART)]


def _unresolved(bound: Requirement) -> Component:
    purl = PackageURL("pypi", name=canonicalize_name(bound.name))
    return Component(
        type=ComponentType.LIBRARY,
        name=canonicalize_name(bound.name),
        bom_ref=str(purl),
        purl=purl,
        scope=ComponentScope.OPTIONAL,
        properties=[Property(name="unflip:bound", value=str(bound.specifier))],
    )


def _metadata(wheel: Path) -> Any:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _git(source: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", source, *arguments], check=True, capture_output=True).stdout


if __name__ == "__main__":
    main()
