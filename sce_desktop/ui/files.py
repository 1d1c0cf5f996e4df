"""Which files can be opened or dropped, by their ending."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QMimeData, QUrl

PROJECT_SUFFIX = ".sce"
TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx", ".parquet", ".jsonl", ".json")
_TABLES = " ".join(f"*{suffix} *{suffix}.gz" for suffix in TABLE_SUFFIXES)
TABLE_FILTER = f"Tables ({_TABLES})"
PROJECT_FILTER = f"Projects (*{PROJECT_SUFFIX})"
OPEN_FILTERS = ";;".join(
    (f"Projects and tables (*{PROJECT_SUFFIX} {_TABLES})", PROJECT_FILTER, TABLE_FILTER, "All files (*)")
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
    urls: Iterable[QUrl] = data.urls() if data.hasUrls() else ()
    for url in urls:
        if url.isLocalFile() and _is_ours(url.fileName()):
            return Path(url.toLocalFile())
    return None
