"""Which files can be opened or dropped, by their ending."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QUrl

from sce_desktop.core.i18n import _

PROJECT_SUFFIX = ".sce"
TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx", ".parquet", ".jsonl", ".json", ".qdpx", ".qde")
KINDS = _("CSV, TSV, TXT, XLSX, Parquet or JSONL")
_TABLES = " ".join(f"*{suffix} *{suffix}.gz" for suffix in TABLE_SUFFIXES)
TABLE_FILTER = _("Tables ({endings})", endings=_TABLES)
PROJECT_FILTER = _("Projects ({endings})", endings=f"*{PROJECT_SUFFIX}")
OPEN_FILTERS = ";;".join(
    (
        _("Projects and tables ({endings})", endings=f"*{PROJECT_SUFFIX} {_TABLES}"),
        PROJECT_FILTER,
        TABLE_FILTER,
        _("All files ({endings})", endings="*"),
    )
)


def is_project(path: Path) -> bool:
    """Whether ``path`` is called like a project."""
    return path.suffix.lower() == PROJECT_SUFFIX


def _is_ours(name: str) -> bool:
    name = name.lower().removesuffix(".gz")
    return name.endswith((*TABLE_SUFFIXES, PROJECT_SUFFIX))


def dropped_file(data: QMimeData) -> Path | None:
    """The first local file of a drag that we can open, judged by its ending alone.

    The formats that a drag offers differ between desktops, and the file may not be there before the drop.
    """
    return next((Path(url.toLocalFile()) for url in _urls(data) if _fits(url)), None)


def why_not_dropped(data: QMimeData) -> str:
    """Why nothing of a drag can be opened, in one sentence; empty if something can, or it has no files."""
    urls = _urls(data)
    if not urls or any(_fits(url) for url in urls):
        return ""
    first = urls[0]
    if not first.isLocalFile():
        return _("What you dropped is not a file on this computer: save it first, then drop the file.")
    path = Path(first.toLocalFile())
    if path.is_dir():
        return _("“{name}” is a folder: drop a table or a project (.sce).", name=path.name)
    return _(
        "“{name}” cannot be opened: drop a table ({kinds}) or a project (.sce).", name=path.name, kinds=KINDS
    )


def left_out(data: QMimeData) -> int:
    """How many files of a drag are not opened, beside the one that is."""
    return max(0, len(_urls(data)) - 1)


def _urls(data: QMimeData) -> list[QUrl]:
    return data.urls() if data.hasUrls() else []


def _fits(url: QUrl) -> bool:
    return url.isLocalFile() and _is_ours(url.fileName())
