"""What may be replaced by an output of the same name: an older output of the same kind, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from sce_desktop.core.errors import UserError
from sce_desktop.core.types import TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.tasks.carried import our_columns
from sce_desktop.tasks.export import HOLD_ABOUT
from sce_desktop.tasks.provenance import about_path, is_about


def is_export(columns: Sequence[str]) -> bool:
    """Whether a table with ``columns`` was exported from a project."""
    return our_columns(columns) is not None


def check_replaceable(output: Path, ours: Callable[[Sequence[str]], bool], kind: str) -> None:
    """Refuse to replace what no run could bring back. Scripts run again: an older output of ours may go.

    ``ours`` tells by its columns whether a table is one of the ``kind`` that is to be written.
    """
    if not _has_content(output):
        return
    try:
        columns = open_table(output, TableOptions()).columns
    except UserError:  # no table at all
        columns = ()
    if not ours(columns):
        raise _refusal(output, kind)


def check_export(output: Path, *, note: bool) -> None:
    """Refuse to replace what is no export of a project, or, beside it, no note of one.

    Raises:
        UserError: There is another file.
    """
    check_replaceable(output, is_export, "export of a project")
    about = about_path(output)
    if note and output.suffix.lower() not in HOLD_ABOUT and _has_content(about) and not is_about(about):
        raise _refusal(about, "note of an export")


def check_tuned(folder: Path, base: str, *, adapter: bool = False) -> None:
    """Refuse to put the result of a fine-tune over another model. Scripts run again: an older result may go.

    Args:
        folder: Where to.
        base: Name or folder of the model that is fine-tuned.
        adapter: The result is the adapter of a language model.

    Raises:
        UserError: There is another model, other files, or a file.
    """
    from sce_desktop.ml import catalog, folders

    folder = folder.expanduser()
    if adapter:
        folders.check_free(folder, folders.ADAPTER, folders.ADAPTER_TYPE)
    else:
        folders.check_free(folder, folders.CONFIG, folders.SCE_TYPE)
    if not folder.is_dir() or not any(file.name != "README.md" for file in folder.iterdir()):
        return
    if _is_folder_of(base, folder):
        raise UserError(f"{folder} is the model that is to be fine-tuned: choose another name.")
    catalog.check_not_installed(folder)
    if not _is_tuned(folder, adapter=adapter):
        raise _refusal(folder, "result of a fine-tune")


def _is_folder_of(model: str, folder: Path) -> bool:
    from sce_desktop.ml import catalog

    with suppress(UserError):  # it is not here: whoever loads it says so
        return catalog.resolve(model).samefile(folder)
    return False


def _is_tuned(folder: Path, *, adapter: bool) -> bool:
    """Whether a fine-tune wrote ``folder``."""
    from sce_desktop.ml import folders

    try:
        config = folders.read_json(folder / folders.CONFIG)
    except UserError:
        return False
    if adapter:
        return config.get("model_type") == folders.ADAPTER_TYPE
    return config.get("model_type") == folders.SCE_TYPE and bool(config.get("corrected"))


def _has_content(path: Path) -> bool:
    """Whether there is a file that is not empty; what is no file is refused where it is written."""
    return path.is_file() and path.stat().st_size > 0


def _refusal(path: Path, kind: str) -> UserError:
    return UserError(f"{path} is there already and no {kind}: choose another name, or remove it first.")
