"""Which models are here, by name: the list of them, the folder of each, and whether its files are whole.

`model_places` says where they lie, `installing` brings others. Needs no torch.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.models import Entry, Verified
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.ml.hub import (
    folders,
    installing,
    manifest,
    model_packages,
    model_places,
)
from sce_desktop.ml.hub.known_models import MINILM, MINILM_SHA256, known
from sce_desktop.ml.hub.manifest import MANIFEST
from sce_desktop.ml.hub.model_places import entry_of


def list_models(models_dir: Path | None = None) -> tuple[Entry, ...]:
    """Return every model that is here: the program's, then those of packages, then the user's, by name."""
    own, bundled = model_places.own_models(models_dir), model_places.bundled_models()
    packages = {name: folder for name, folder in model_packages.installed().items() if name not in bundled}
    return (
        *(entry_of(name, folder, bundled=True) for name, folder in bundled.items() if name not in own),
        *(_package_entry(name, folder) for name, folder in packages.items() if name not in own),
        *(entry_of(name, folder, bundled=False) for name, folder in own.items()),
    )


def resolve(name: str | Path, *, allow_download: bool = False, models_dir: Path | None = None) -> Path:
    """Return the folder of the model ``name``: a name in the list, a folder, or a hub id.

    Raises:
        UserError: It is not here and may not, or cannot, be fetched.
    """
    text = str(name)
    here = model_places.all_models(models_dir)
    if text in here:
        if text == MINILM:
            _check_minilm(here[text])
        elif model_packages.installed().get(text) == here[text]:
            model_packages.check(text, here[text])
        return here[text]
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_file():
        raise UserError(_("{folder} is a file: give the folder of the model.", folder=folder))
    published = known(text)
    if published is None and not folders.is_hub_id(text):
        names = ", ".join(here) or "none"
        raise UserError(
            _(
                "There is no model “{text}”: give a folder or one of the installed models ({names}).",
                text=text,
                names=names,
            )
        )
    if not allow_download:
        raise UserError(
            _(
                "The model {text} is not installed: download it with `sce-desktop models get "
                "{text}` or give a folder.",
                text=text,
            )
        )
    return installing.get(text, models_dir=models_dir)


def load_options(name: str | Path, *, models_dir: Path | None = None) -> dict[str, Any]:
    """Return how an installed model is to be loaded (task adapter, code allowed), as kept when it came here.

    Never read from a folder that lies anywhere else: it could allow itself to run its own code.
    """
    folder = model_places.own_models(models_dir).get(str(name))
    return {} if folder is None else manifest.options(folder)


def verify(name: str, *, progress: Progress | None = None, models_dir: Path | None = None) -> Verified:
    """Read every file of a model again and compare its hashes with what they were.

    Raises:
        UserError: There is no model of that name.
        Cancelled: The user stopped.
    """
    progress = progress or SilentProgress()
    folder = model_places.installed(name, models_dir)
    if folder is None:
        raise UserError(_("There is no installed model “{name}”.", name=name))
    weights = folders.weight_files(folder)
    if (folder / MANIFEST).is_file():
        expected = manifest.hashes(folder)
    else:
        expected = dict.fromkeys(weights, "") | _expected_weights(name, folder)
    hashes: dict[str, str] = {}
    for file in (*weights, *expected):
        progress.report(len(hashes), len(expected), stage=_("reading {name}", name=name))
        progress.check()
        if file not in hashes and (folder / file).is_file():
            hashes[file] = folders.file_sha256(folder / file)
    sha = manifest.one_sha256([hashes[file] for file in weights if file in hashes])
    for file, right in expected.items():
        if file not in hashes:
            return Verified(name, False, sha, _("{file} is missing", file=file))
        if right and hashes[file] != right:
            return Verified(name, False, sha, _("{file} does not match its hash", file=file))
    return Verified(name, True, sha)


def _check_minilm(folder: Path) -> None:
    if folders.known_sha256(folder / folders.WEIGHTS) != MINILM_SHA256:
        raise UserError(
            _("The weights of {model} are not the published ones: reinstall SCE Desktop.", model=MINILM)
        )


def _package_entry(name: str, folder: Path) -> Entry:
    entry = entry_of(name, folder, bundled=False)
    try:
        problem = entry.problem or manifest.cut_file(folder)
    except UserError as error:
        problem = str(error)
    return replace(entry, package=model_packages.distribution_name(name), problem=problem)


def _expected_weights(name: str, folder: Path) -> dict[str, str]:
    if name == MINILM:
        return {folders.WEIGHTS: MINILM_SHA256}
    stated = folders.read_json(folder / folders.CONFIG).get("weights_sha256", "")
    return (
        {str(k): str(v) for k, v in stated.items()}
        if isinstance(stated, dict)
        else {folders.WEIGHTS: str(stated)}
    )
