"""What a question about the program needs to be answered: versions, the machine, sizes, the newest log lines.

It is English, for whoever answers, and made by an allow-list: no text of a row, no name of a label, a file, a
folder or a person. A setting that is free text says only that it is set.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import qVersion
from PySide6.QtGui import QGuiApplication

from sce_desktop import __version__, paths
from sce_desktop.core.i18n import language
from sce_desktop.core.log_tail import newest_lines
from sce_desktop.settings import SETTINGS, Setting, Settings
from sce_desktop.tasks.scoring.models import Baseline

if TYPE_CHECKING:
    from sce_desktop.controllers.jobs import WorkerQueue
    from sce_desktop.controllers.preferences import Preferences
    from sce_desktop.controllers.scoring import Scorer
    from sce_desktop.controllers.workspace import Workspace

_LIBRARIES: Final = ("PySide6-Essentials", "torch", "transformers", "numpy", "SQLAlchemy")
_LOG_LINES: Final = 100


def versions() -> str:
    """Return the versions of what matters, from package metadata: nothing is imported for it."""
    from importlib import metadata  # brings a parser of mails

    lines = [f"SCE Desktop {__version__}{' (packaged)' if getattr(sys, 'frozen', False) else ''}"]
    lines.append(f"{platform.system()} {platform.release()} {platform.machine()}")
    lines.append(f"Python {platform.python_version()}, Qt {qVersion()}, {QGuiApplication.platformName()}")
    for name in _LIBRARIES:
        try:
            lines.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            lines.append(f"{name} is not installed")
    return "\n".join(lines)


def diagnostics(workspace: Workspace, scorer: Scorer, preferences: Preferences) -> str:
    """Return everything, in sections."""
    sections = (
        ("SCE Desktop diagnostics", versions().splitlines()),
        ("Machine", _machine()),
        ("Settings that differ from their defaults", _settings(preferences.settings)),
        ("Models", _models(scorer)),
        ("Project", _project(workspace, scorer)),
        ("Work", _work(workspace.workers)),
        ("Log", newest_lines()[-_LOG_LINES:]),
    )
    return "\n\n".join("\n".join((title, *(lines or ["none"]))) for title, lines in sections) + "\n"


def _machine() -> list[str]:
    import psutil  # not needed to open the window

    memory, ours = psutil.virtual_memory(), psutil.Process().memory_info()
    screens = ", ".join(
        f"{screen.size().width()}x{screen.size().height()} at {screen.devicePixelRatio():.0%}"
        for screen in QGuiApplication.screens()
    )
    return [
        f"{os.cpu_count()} processor cores, {_gigabytes(memory.total)} memory, {_gigabytes(memory.available)}"
        f" of it free, {_gigabytes(ours.rss)} used by SCE Desktop",
        f"Free disk: {_free(paths.data_dir())} for projects, {_free(paths.cache_dir())} for the vector cache",
        f"Screens: {screens or 'none'}",
        f"Desktop: {os.environ.get('XDG_CURRENT_DESKTOP') or 'not named'}, language {language()}",
    ]


def _settings(settings: Settings) -> list[str]:
    return [
        f"{setting.key}: {_value(setting, settings)}"
        for setting in SETTINGS
        if settings[setting.key] != setting.default
    ]


def _value(setting: Setting, settings: Settings) -> object:
    value = settings[setting.key]
    if setting.type is not str or setting.choices:
        return value
    return _model_name(str(value)) if setting.key in ("model", "baseline") else "set"


def _models(scorer: Scorer) -> list[str]:
    version = "the base model" if scorer.version is None else f"version {scorer.version.number}"
    baselines = ", ".join(Baseline.parse(one).kind for one in scorer.baselines) or "none"
    return [
        f"{_model_name(scorer.model)}, {version}, {'loaded' if scorer.ready else 'not loaded'}",
        f"Baselines: {baselines}",
        f"Device: {scorer.device_text}; precision {scorer.precision}",
        f"Joint prediction: {'on' if scorer.table.used else 'off'}",
    ]


def _model_name(name: str) -> str:
    """Return the name of a model that comes with the program; that of another one may say anything."""
    try:
        bundled = {folder.name for folder in paths.bundled_models_dir().iterdir()}
    except OSError:
        bundled = set()
    return name if name in bundled | {"similarity", "llm", ""} else "a model that was added"


def _project(workspace: Workspace, scorer: Scorer) -> list[str]:
    project, counts = workspace.project, workspace.counts
    if project is None:
        return []
    lines = [f"{project.row_count()} rows, {len(project.columns)} columns, {_size(project.path)}"]
    if project.read_only:
        lines.append("Read-only")
    several = workspace.label_set is not None and workspace.label_set.multi_label
    lines.append(f"{len(workspace.labels)} labels, {'several' if several else 'one'} per row")
    if counts is not None:
        lines.append(f"{counts.labelled} labelled, {counts.scored} scored, {counts.blank} without text")
    runs = ", ".join(f"{run.kind} with {run.scored} scores" for run in workspace.runs)
    lines.append(f"Runs: {runs or 'none'}{'; scoring now' if scorer.job is not None else ''}")
    return lines


def _work(workers: Iterable[WorkerQueue]) -> list[str]:
    return [
        f"{worker.name}: {', '.join(f'{count} {state}' for state, count in states.items())}"
        for worker in workers
        if (states := Counter(str(job.state) for job in worker.jobs))
    ]


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:.1f} GB"


def _free(folder: Path) -> str:
    places: Sequence[Path] = (folder, *folder.parents)
    there = next((place for place in places if place.exists()), None)
    try:
        return "unknown" if there is None else _gigabytes(shutil.disk_usage(there).free)
    except OSError:
        return "unknown"


def _size(path: Path) -> str:
    try:
        return f"{path.stat().st_size / 1e6:.1f} MB"
    except OSError:
        return "its file cannot be read"
