"""Is everything here and does it work: versions, devices, places, models, a trial of the default model."""

from __future__ import annotations

import importlib.metadata
import platform
import time
from dataclasses import asdict
from typing import Any

import sce_desktop
from sce_desktop import paths
from sce_desktop.core.annotations import Label
from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _
from sce_desktop.core.progress import Progress
from sce_desktop.tasks.scoring.models import DEFAULT_MODEL, open_session

_TRIAL = {"The team won the football match.": "Sports", "The bank raised its interest rate.": "Finance"}


def examine(progress: Progress) -> dict[str, Any]:
    """Return what was found as plain values; ``ok`` says whether all is well.

    A GPU that the installed torch cannot use is reported by its ``problem`` and is no failure: the CPU works.
    """
    from sce_desktop.ml.encoder.precision import cpu_instructions
    from sce_desktop.ml.hub import catalog
    from sce_desktop.ml.hub.session import devices

    models = []
    names = dict.fromkeys([DEFAULT_MODEL, *(entry.name for entry in catalog.list_models())])
    for done, name in enumerate(names):
        progress.report(done, len(names), stage=_("verifying models"))
        progress.check()
        try:
            models.append(asdict(catalog.verify(name)))
        except UserError as error:
            models.append({"name": name, "ok": False, "sha256": "", "problem": str(error)})
    progress.report(len(names), len(names), stage=_("verifying models"))
    trial = _try_default_model(progress)
    return {
        "version": sce_desktop.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "torch": _version("torch"),
        "qt": _version("PySide6-Essentials") or _version("PySide6"),
        "devices": [asdict(device) for device in devices()],
        "cpu_instructions": list(cpu_instructions()),
        "precision": _automatic_precision(),
        "paths": {name: str(path) for name, path in paths.user_dirs().items()},
        "models": models,
        "self_test": trial,
        "ok": trial["ok"] and all(model["ok"] for model in models),
    }


def _automatic_precision() -> dict[str, Any]:
    """Return what text embedders multiply in on the device that would be chosen, and what they could."""
    from sce_desktop.ml.encoder.precision import precisions

    session = open_session()
    return {
        "device": session.device.type,
        "used": session.precision,
        "possible": list(precisions(session.device)),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _try_default_model(progress: Progress) -> dict[str, Any]:
    """Classify two sentences on the device that would be chosen."""
    started = time.perf_counter()
    labels = [Label(name) for name in _TRIAL.values()]
    try:
        session = open_session()
        scores = session.model(DEFAULT_MODEL).probabilities(list(_TRIAL), labels, progress=progress)
    except UserError as error:
        return {"ok": False, "problem": str(error), "seconds": time.perf_counter() - started}
    right = scores.probabilities.argmax(axis=1).tolist() == [0, 1]
    return {
        "ok": right,
        "problem": "" if right else _("The default model mislabels two plain sentences: install it again."),
        "seconds": time.perf_counter() - started,
    }
