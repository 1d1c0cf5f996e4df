"""What may be replaced by a file or folder of the same name: only what a run of the program makes again.

Scripts run again: an older output of the very same command may go. Everything else must be asked for, by
``--force`` on the command line and by a question in the window.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from sce_desktop.core.errors import UserError, already_there
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import SilentProgress
from sce_desktop.core.tables import Cell, TableOptions
from sce_desktop.data.csv.excel_safe import unprotect
from sce_desktop.data.tables import open_table
from sce_desktop.data.writers import written_columns
from sce_desktop.store.file.placing import is_open
from sce_desktop.store.project import Project
from sce_desktop.tasks.tables.columns import beside
from sce_desktop.tasks.tables.decided import DECISION_COLUMNS, ORIGIN_COLUMN
from sce_desktop.tasks.tables.export import HOLD_ABOUT, columns_to_export, delimiter_of
from sce_desktop.tasks.tables.provenance import about_path, is_about

_OBJECTS = (".jsonl",)


def check_output(
    output: Path, *, force: bool = False, ours: Callable[[], bool] | None = None, what: str = ""
) -> bool:
    """Refuse to replace a file that nobody asked to replace. The one rule of everything that writes a file.

    Args:
        output: Where to.
        force: The user asked for it: then any file may be replaced, but for a project that is open.
        ours: Whether the file is an older output of what is to be written, and nothing else. An empty file
            passes for one; without ``ours`` there is none that may go.
        what: What it would have to be then.

    Returns:
        Whether there is something that may be replaced: pass it on, as a file may come meanwhile.

    Raises:
        UserError: There is another file, a folder, or one that is write-protected or open.
    """
    if output.is_dir():
        raise UserError(_("{path} is a folder: give a file name.", path=output))
    if not os.path.lexists(output):
        return False
    if not output.exists():  # what it leads to is nobody's to make
        raise UserError(
            _("{path} is a link to a file that does not exist: choose another name.", path=output)
        )
    if not output.is_file():
        raise UserError(_("{path} is not a file that can be replaced: choose another name.", path=output))
    if is_open(output):
        raise UserError(_("{path} is open: close it there, or choose another name.", path=output))
    if force:
        return True
    if ours is None:
        raise already_there(output)
    if not is_writable(output):
        raise already_there(output, "is write-protected")
    if output.stat().st_size and not ours():
        raise already_there(output, f"is not {what}")
    return True


def is_writable(path: Path) -> bool:
    """Whether ``path`` may be written, as its owner sees it: to the administrator every file is writable."""
    return bool(path.stat().st_mode & 0o222) and os.access(path, os.W_OK)


def header_of(output: Path, delimiter: str) -> tuple[str, ...]:
    """Return the columns of a table that we wrote; none if it is no table, or we wrote it otherwise."""
    try:
        return tuple(open_table(output, _as_written(output, delimiter)).columns)
    except UserError:
        return ()


def _as_written(output: Path, delimiter: str) -> TableOptions:
    ending = output.suffix.lower()
    if ending not in (".csv", ".tsv"):
        return TableOptions()
    return TableOptions(encoding="utf-8", delimiter="\t" if ending == ".tsv" else delimiter, header_row=1)


def has_only_rows_of(
    output: Path, columns: Sequence[str], batches: Iterable[Sequence[Sequence[Cell]]], delimiter: str
) -> bool:
    """Whether every row of the table ``output`` is, in ``columns``, one of those that would be written again.

    Rows that somebody added or whose text somebody changed, and those of another table, are not.
    """
    known = {hash(tuple(map(_as_told_again, cells))) for batch in batches for cells in batch}
    try:
        table = open_table(output, _as_written(output, delimiter))
        wanted = written_columns(output, columns)
        if output.suffix.lower() in _OBJECTS:  # their keys come in any order, and some may be absent
            places = [table.columns.index(name) if name in table.columns else -1 for name in wanted]
        else:
            places = list(range(len(wanted)))
        for batch in table.batches():
            for cells in batch:
                row = tuple(_as_told_again(cells[place]) if place >= 0 else "" for place in places)
                if hash(row) not in known:
                    return False
    except UserError:
        return False
    return True


def _as_told_again(cell: Cell) -> str:
    """Return a cell without what a format may change in it: its line ends, a mark before a formula."""
    return unprotect(cell or "").replace("\r\n", "\n").replace("\r", "\n")


def is_result(output: Path, columns: Sequence[str], delimiter: str, *, more: bool = False) -> bool:
    """Whether ``output`` is a table with exactly ``columns``, as they are written there; or with ``more``.

    Objects name their columns each, some of them not all: their order says nothing.
    """
    found, wanted = list(header_of(output, delimiter)), written_columns(output, columns)
    if output.suffix.lower() in _OBJECTS:
        found = [*(name for name in wanted if name in found), *(name for name in found if name not in wanted)]
    return (found[: len(wanted)] if more else found) == wanted


def is_export(output: Path, original: Sequence[str], ours: Sequence[str], delimiter: str) -> bool:
    """Whether ``output`` is an older export of a project, which has gained columns at most since then.

    ``original`` columns are those of its table, ``ours`` what an export writes beside them now. An export
    that has a column which would not come again is not passed over: somebody may have worked in it.
    """
    now = written_columns(output, [*original, *ours])
    decided, origin = (
        beside(original, names, SilentProgress()) for names in (DECISION_COLUMNS, [ORIGIN_COLUMN])
    )
    width = len(original)
    if not is_result(output, [*original, *decided], delimiter, more=True):
        return False
    added = Counter(header_of(output, delimiter)) - Counter(now[:width])
    return set(added) <= {*now[width:], *origin} and max(added.values()) == 1


def check_export(project: Project, output: Path, *, force: bool = False) -> bool:
    """Refuse to replace what is no older export of ``project``; see `check_output`."""
    original, *ours = (columns for _, columns in columns_to_export(project))
    added = [name for group in ours for name in group]

    def rows() -> Iterator[list[Sequence[Cell]]]:
        return ([row.cells for row in batch] for batch in project.iter_rows())

    return check_output(
        output,
        force=force,
        ours=lambda: (
            is_export(output, original, added, delimiter_of(project))
            and has_only_rows_of(output, original, rows(), delimiter_of(project))
        ),
        what="an earlier export of this project",
    )


def check_note(output: Path, *, force: bool = False) -> None:
    """Refuse to replace what is no note of an export beside the table ``output``."""
    if output.suffix.lower() not in HOLD_ABOUT:
        about = about_path(output)
        check_output(about, force=force, ours=lambda: is_about(about), what="a note of an export")


def check_tuned(folder: Path, base: str, *, adapter: bool = False, force: bool = False) -> None:
    """Refuse to put the result of a fine-tune over another model. Scripts run again: an older result may go.

    Args:
        folder: Where to.
        base: Name or folder of the model that is fine-tuned.
        adapter: The result is the adapter of a language model.
        force: The user asked for it: then it may be any model of the same kind, but for the ``base`` itself
            and those that are installed.

    Raises:
        UserError: There is another model, other files, or a file.
    """
    from sce_desktop.ml.hub import folders, model_places

    folder = folder.expanduser()
    if adapter:
        folders.check_free(folder, folders.ADAPTER, folders.ADAPTER_TYPE)
    else:
        folders.check_free(folder, folders.CONFIG, folders.SCE_TYPE)
    if not folder.is_dir() or not any(file.name != "README.md" for file in folder.iterdir()):
        return
    if _is_folder_of(base, folder):
        raise UserError(_("{folder} is the model to fine-tune: choose another name.", folder=folder))
    model_places.check_not_installed(folder)
    if force:
        return
    config = folder / (folders.ADAPTER if adapter else folders.CONFIG)
    if not all(is_writable(path) for path in (folder, config) if path.exists()):
        raise already_there(folder, "is write-protected")
    if not _is_tuned(folder, adapter=adapter):
        raise already_there(folder, "is not the result of a fine-tune")


def _is_folder_of(model: str, folder: Path) -> bool:
    from sce_desktop.ml.hub import catalog

    with suppress(UserError):  # it is not here: whoever loads it says so
        return catalog.resolve(model).samefile(folder)
    return False


def _is_tuned(folder: Path, *, adapter: bool) -> bool:
    """Whether a fine-tune wrote ``folder``."""
    from sce_desktop.ml.hub import folders

    try:
        config = folders.read_json(folder / folders.CONFIG)
    except UserError:
        return False
    if adapter:
        return config.get("model_type") == folders.ADAPTER_TYPE
    return config.get("model_type") == folders.SCE_TYPE and bool(config.get("corrected"))
