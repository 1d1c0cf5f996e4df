"""What a folder of results is made of: settings, files and parts. It is what a later call resumes by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.tasks.cluster.parts import Part, Source, is_local, opened

NAME = "_manifest.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """``settings`` is a fingerprint of all that changes a result; ``header`` the columns of every part."""

    settings: str
    files: tuple[Source, ...]
    parts: tuple[Part, ...]
    header: tuple[str, ...]


def fingerprint(*settings: object) -> str:
    """Return a hash of ``settings``, which must have a `repr` that says all of them."""
    return hashlib.sha256(repr(settings).encode("utf-8", "surrogatepass")).hexdigest()


class ResultFolder:
    """The folder of parts and their manifest, wherever fsspec finds it; ``ending`` is that of the parts."""

    def __init__(self, place: str, ending: str) -> None:
        self.place, self.ending = place.rstrip("/"), ending
        self._system, self.path = opened(self.place)

    def check(self, *, force: bool) -> Manifest | None:
        """Return the manifest that is there; None: the folder is new, or made empty by ``force``.

        Raises:
            UserError: Something else is there.
        """
        system = self._system
        if not system.exists(self.path):
            return None
        if system.isfile(self.path):
            raise UserError(_("{place} is a file: name a folder for the parts.", place=self.place))
        names = [name.rsplit("/", 1)[-1] for name in system.ls(self.path, detail=False)]
        if NAME not in names:
            if names:
                raise UserError(
                    _("{place} already exists and holds other files: choose another name.", place=self.place)
                )
            return None
        if force:
            for name in names:
                if name == NAME or name.startswith("part-"):
                    system.rm_file(f"{self.path}/{name}")
            return None
        return self._read()

    def _read(self) -> Manifest:
        try:
            with self._system.open(f"{self.path}/{NAME}", "rb") as file:
                facts = json.loads(file.read())
            return Manifest(
                facts["settings"],
                tuple(Source(**one) for one in facts["files"]),
                tuple(Part(**one) for one in facts["parts"]),
                tuple(facts["header"]),
            )
        except (ValueError, KeyError, TypeError):
            raise UserError(
                _("{name} is damaged: add --force to make all parts again.", name=f"{self.place}/{NAME}")
            ) from None

    def write(self, manifest: Manifest) -> None:
        """Keep ``manifest``, before the first part."""
        facts: dict[str, Any] = {"format": _FORMAT, **asdict(manifest)}
        text = json.dumps(facts, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass")
        self._system.makedirs(self.path, exist_ok=True)
        self._put(text, NAME)

    def _put(self, content: bytes, name: str) -> None:
        if not is_local(self._system):
            self._system.pipe_file(f"{self.path}/{name}", content)
            return
        target = Path(self.path) / name
        aside = target.with_name(f".{name}.part")
        aside.write_bytes(content)
        aside.replace(target)

    def finished(self, parts: Sequence[Part]) -> set[int]:
        """Return the numbers of the ``parts`` that are there: a part is written whole or not at all."""
        if not self._system.exists(self.path):
            return set()
        there = {name.rsplit("/", 1)[-1] for name in self._system.ls(self.path, detail=False, refresh=True)}
        return {part.number for part in parts if f"{part.name}{self.ending}" in there}

    def keep(self, part: Part, file: Path) -> None:
        """Put ``file`` in the place of the result of ``part``; on this machine it is there already."""
        if not is_local(self._system):
            self._system.put_file(str(file), f"{self.path}/{part.name}{self.ending}")

    def target(self, part: Part, folder: Path) -> Path:
        """Return where to write the result of ``part``, before `keep`: ``folder`` is a temporary one."""
        return (Path(self.path) if is_local(self._system) else folder) / f"{part.name}{self.ending}"
