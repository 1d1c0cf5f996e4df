"""Writes the bill of materials, CycloneDX 1.6: ``python packaging/sbom.py -o dist/sce-desktop.cdx.json``.

Every Python package that the program needs with its version, licence and package URL, what needs what, Qt,
and the bundled models with the SHA-256 of their weights. With ``--folder dist/sce-desktop`` also the Python
and the libraries of the system that the program without Python holds, and the hash of every library. Checked
by CycloneDX's own schema; the same input gives the same bytes.

Needs cyclonedx-python-lib[validation].
"""

from __future__ import annotations

import argparse
import hashlib
import runpy
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sce_desktop import __version__  # noqa: E402 - of the checkout that this lies in
from sce_desktop.core import components  # noqa: E402

NOTICES = runpy.run_path(str(ROOT / "packaging" / "notices.py"))
DEB = runpy.run_path(str(ROOT / "packaging" / "deb.py"))


def make(folder: Path | None) -> Bom:
    """Return the bill of the checkout's environment, and of the built program in ``folder``."""
    bom = Bom()
    program = Component(
        name="sce-desktop",
        version=__version__,
        type=ComponentType.APPLICATION,
        bom_ref="sce-desktop",
        purl=PackageURL("pypi", name="sce-desktop", version=__version__),
        licenses=[LicenseFactory().make_from_string("Apache-2.0")],
    )
    bom.metadata.component = program
    bom.metadata.timestamp = datetime.fromtimestamp(DEB["epoch"](), UTC)
    bom.serial_number = uuid5(NAMESPACE_URL, f"sce-desktop {__version__} {folder is not None}")
    packages = add_packages(bom, program)
    notices = ROOT / "resources" / "notices"
    if folder is not None:
        (notices,) = folder.rglob("_bundled/resources/notices")
    for part in components.components(notices, ROOT / "models"):
        if canonicalize_name(part.name) not in packages:
            bom.register_dependency(program, [add_part(bom, part)])
    if folder is not None:
        for file in DEB["elf_files"](folder):
            bom.components.add(
                Component(
                    name=file.relative_to(folder).as_posix(),
                    type=ComponentType.FILE,
                    bom_ref=f"file:{file.relative_to(folder).as_posix()}",
                    hashes=[sha256(file)],
                )
            )
    return bom


def add_packages(bom: Bom, program: Component) -> dict[str, Component]:
    """Add the Python packages with what each needs, and return them by name."""
    found: dict[str, Component] = {"sce-desktop": program}
    there = {canonicalize_name(str(one.metadata["Name"])): one for one in components.distributions()}
    there = {name: one for name, one in there.items() if name not in NOTICES["NOT_SHIPPED"]}
    for name, one in there.items():
        if name in found:
            continue
        found[name] = Component(
            name=name,
            version=one.version,
            type=ComponentType.LIBRARY,
            bom_ref=f"pkg:{name}",
            purl=PackageURL("pypi", name=name, version=one.version.split("+")[0]),
            licenses=[LicenseFactory().make_from_string(components.licence_name(one))],
        )
        bom.components.add(found[name])
    for name, one in there.items():
        asked = [Requirement(line) for line in one.requires or ()]
        needed = {
            canonicalize_name(other.name)
            for other in asked
            if other.marker is None or other.marker.evaluate({"extra": ""})
        }
        bom.register_dependency(found[name], [found[other] for other in sorted(needed) if other in found])
    return found


def add_part(bom: Bom, part: components.Component) -> Component:
    """Add Qt, a model, or a library of the system."""
    folder = ROOT / "models" / part.name
    weights = sorted(folder.glob("model*.safetensors"))
    model = bool(weights) or part.name.endswith((".ftz", "-L6-v2"))
    component = Component(
        name=part.name,
        version=part.version or None,
        type=ComponentType.MACHINE_LEARNING_MODEL if model else ComponentType.LIBRARY,
        bom_ref=f"part:{part.name}",
        licenses=[LicenseFactory().make_from_string(part.licence)],
        hashes=[sha256(weights[0])] if len(weights) == 1 else [],
        components=[
            Component(
                name=file.name,
                type=ComponentType.FILE,
                bom_ref=f"part:{part.name}/{file.name}",
                hashes=[sha256(file)],
            )
            for file in (weights if len(weights) > 1 else ())
        ],
    )
    bom.components.add(component)
    return component


def sha256(file: Path) -> HashType:
    """Return the hash of a file."""
    with file.open("rb") as opened:
        return HashType(alg=HashAlgorithm.SHA_256, content=hashlib.file_digest(opened, "sha256").hexdigest())


def main() -> None:
    """Write the bill, checked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--folder", type=Path, help="of the built program")
    args = parser.parse_args()
    bom = make(args.folder)
    text = JsonV1Dot6(bom).output_as_string(indent=1)
    if (problem := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)) is not None:
        sys.exit(f"this is no CycloneDX 1.6: {problem}")
    args.out.write_text(text + "\n", encoding="utf-8", newline="\n")
    print(f"{args.out}: {len(bom.components)} components, CycloneDX 1.6, checked against its schema")


if __name__ == "__main__":
    main()
