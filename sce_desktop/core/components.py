"""What the program consists of besides its own code: each part with its version, licence and licence text.

Python packages are read from their installed metadata (PEP 639 and what came before it), which the program
without Python carries too. What they do not tell stands in a folder of ``*.toml`` files: see
``resources/notices/notices.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROGRAM = "sce-desktop"
UNKNOWN = "unknown"
_LICENCE_FILES = ("licen", "copying", "notice", "authors")
_LONGEST_NAME = 80  # of a licence; some packages put its whole text there


@dataclass(frozen=True, slots=True)
class Component:
    """A part: a Python package, a library or a model."""

    name: str
    version: str
    licence: str  # an SPDX expression where the part states one
    files: tuple[Path, ...]  # licence texts, to be read one after the other

    def text(self) -> str:
        """Return the licence texts; a file that is gone is left out."""
        texts = [file.read_text(encoding="utf-8", errors="replace") for file in self.files if file.is_file()]
        return "\n\n".join(text.strip("\n") for text in dict.fromkeys(texts))


def components(notices: Path, models: Path) -> list[Component]:
    """Return every part, by name.

    Args:
        notices: The folder of ``*.toml`` files and the texts that they name.
        models: The folder of the bundled models.
    """
    stated = [tomllib.loads(file.read_text(encoding="utf-8")) for file in sorted(notices.glob("*.toml"))]
    packaged: dict[str, Mapping[str, Any]] = {
        canonicalize_name(name): facts for one in stated for name, facts in one.get("package", {}).items()
    }
    found = list(_packages(notices, packaged))
    for one in stated:
        found += _others(one.get("component", []), notices, models)
    return sorted(found, key=lambda part: part.name.lower())


def distributions(root: str = PROGRAM) -> list[metadata.Distribution]:
    """Return the package ``root`` and all that it needs, as far as they are installed, by name."""
    found: dict[str, metadata.Distribution] = {}
    wanted: dict[str, set[str]] = {}
    waiting: list[tuple[str, frozenset[str]]] = [(root, frozenset())]
    while waiting:
        name, extras = waiting.pop()
        key = canonicalize_name(name)
        if key in wanted and extras <= wanted[key]:
            continue
        wanted.setdefault(key, set()).update(extras)
        try:
            found[key] = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # an option of another system, or not there
            continue
        for line in found[key].requires or ():
            needed = Requirement(line)
            asked = [{"extra": extra} for extra in ("", *sorted(wanted[key]))]
            if needed.marker is None or any(needed.marker.evaluate(one) for one in asked):
                waiting.append((needed.name, frozenset(needed.extras)))
    return [found[key] for key in sorted(found)]


def licence_files(package: metadata.Distribution) -> list[Path]:
    """Return the licence texts that ``package`` installed, those in its metadata first."""
    named = [
        file
        for file in package.files or ()
        if file.name.lower().startswith(_LICENCE_FILES) and file.suffix.lower() not in (".py", ".pyc")
    ]
    named.sort(key=lambda file: (".dist-info" not in file.as_posix(), len(file.parts)))
    return [Path(str(package.locate_file(file))) for file in named]


def licence_name(package: metadata.Distribution) -> str:
    """Return the licence that the metadata of ``package`` names."""
    facts = package.metadata
    stated = _field(facts, "License-Expression")
    if not stated:
        stated = next(iter(_field(facts, "License").strip().splitlines()), "")
    kinds = [
        kind.split("::")[-1].strip()
        for kind in facts.get_all("Classifier") or ()
        if kind.startswith("License ::")
    ]
    if not stated or len(stated) > _LONGEST_NAME or stated.lower().startswith("copyright"):
        stated = ", ".join(kinds) or stated[:_LONGEST_NAME]
    return stated or UNKNOWN


def _field(facts: metadata.PackageMetadata, name: str) -> str:
    return str(next(iter(facts.get_all(name) or ()), ""))


def _packages(notices: Path, packaged: Mapping[str, Mapping[str, Any]]) -> Iterator[Component]:
    for package in distributions():
        name = str(package.metadata["Name"])
        files = [file for file in licence_files(package) if file.is_file()]
        part = Component(name, package.version, licence_name(package), tuple(files))
        if not files and (facts := packaged.get(canonicalize_name(name))):
            part = replace(part, files=_texts(notices, facts))
        yield part


def _others(stated: Iterable[Mapping[str, Any]], notices: Path, models: Path) -> Iterator[Component]:
    for facts in stated:
        files = _texts(notices, facts)
        if model := facts.get("model"):
            if not (models / model).is_dir():
                continue
            files = (*files, models / model / "README.md")
        yield Component(facts["name"], _version(str(facts.get("version", ""))), facts["licence"], files)


def _version(stated: str) -> str:
    if not stated.startswith("="):
        return stated
    try:
        return metadata.version(stated[1:])
    except metadata.PackageNotFoundError:
        return ""


def _texts(notices: Path, facts: Mapping[str, Any]) -> tuple[Path, ...]:
    return tuple(notices / name for name in facts.get("texts", ()))
