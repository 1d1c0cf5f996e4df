"""The manifest of an installed model: where it came from, and the size and SHA-256 of each of its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.ml.hub import folders

MANIFEST = "sce-manifest.json"


def describe(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the SHA-256 (``files``) and the bytes (``sizes``) of every file below ``folder``."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != MANIFEST)
    names = [file.relative_to(folder).as_posix() for file in files]
    return {
        "files": {name: folders.file_sha256(file) for name, file in zip(names, files, strict=True)},
        "sizes": {name: file.stat().st_size for name, file in zip(names, files, strict=True)},
    }


def write(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write the manifest of the files in ``folder`` with ``facts`` about the model before them."""
    text = json.dumps({**facts, **describe(folder)}, indent=2, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def options(folder: Path) -> dict[str, Any]:
    """Return how the model is to be loaded; nothing without a manifest. UserError if that is damaged."""
    if not (folder / MANIFEST).is_file():
        return {}
    found = folders.read_json(folder / MANIFEST).get("options", {})
    if not isinstance(found, dict):
        raise UserError(_("{file} is damaged: copy or download the model again.", file=folder / MANIFEST))
    return dict(found)


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 that each file should have, by name.

    Raises:
        UserError: The manifest is missing or damaged.
    """
    return _table(folder, "files", str)


def cut_file(folder: Path) -> str:
    """Return which file is missing or not as long as it was, in a sentence's words; empty if all is well.

    Quick, as no file is read; `hashes` find the rest. Raises UserError if the manifest is damaged.
    """
    sizes = _table(folder, "sizes", int)
    for name in hashes(folder):
        if not (folder / name).is_file():
            return _("{file} is missing", file=name)
        if (folder / name).stat().st_size != sizes.get(name):
            return _("{file} is cut or damaged", file=name)
    return ""


def one_sha256(hashes: Sequence[str]) -> str:
    """Return the hash of the weights: of their only file, or of the hashes of several."""
    if len(hashes) < 2:
        return "".join(hashes)
    return hashlib.sha256("".join(hashes).encode()).hexdigest()


def _table(folder: Path, key: str, kind: type) -> dict[str, Any]:
    found = folders.read_json(folder / MANIFEST).get(key, {})
    if not isinstance(found, dict) or not all(type(value) is kind for value in found.values()):
        raise UserError(_("{file} is damaged: copy or download the model again.", file=folder / MANIFEST))
    return found
