"""How figures, times and progress are written in the window: one form of each, everywhere."""

from __future__ import annotations

from typing import NamedTuple

from sce_desktop.controllers.jobs import Job, JobState
from sce_desktop.core.i18n import _, number, percent
from sce_desktop.core.text import duration


class Measure(NamedTuple):
    """A figure that says how good a model is: its heading, and what it means."""

    name: str
    tip: str


ACCURACY = Measure(_("Accuracy"), _("Share of rows whose predicted label is correct"))
INTERVAL = Measure(_("95% interval"), _("95% confidence interval of the accuracy (Wilson)"))
MACRO_F1 = Measure(_("Macro-F1"), _("Mean F1 over labels, each with equal weight; 0 if only predicted"))
ECE = Measure(_("ECE"), _("Calibration error: mean gap between confidence and accuracy; 0 is best"))
PRECISION = _("Share of rows predicted as this label that have it; –: never predicted")
RECALL = _("Share of rows with this label that are predicted as it; –: no rows")
F1 = _("Harmonic mean of precision and recall; –: no rows and never predicted")
MEASURES = (ACCURACY, INTERVAL, MACRO_F1, ECE)
_FEW_STEPS = 20  # a rate of so few, models to load or files to check, says nothing


def share_done(job: Job) -> str:
    """How much of its current stage a job has done: "40%"; empty where nobody knows."""
    return percent(min(100, 100 * job.done // job.total) / 100) if job.total else ""  # 100% is all of it


def step_text(job: Job) -> str:
    """What a job is at, where its title stands already and room is small: "Comparing… 40%"."""
    stage = _as_sentence(job.stage or job.title)
    share = share_done(job)
    return _("{stage}… {share}", stage=stage, share=share) if share else _("{stage}…", stage=stage)


def progress_text(job: Job, *, title: bool = True) -> str:
    """What a job does, its share, rate and time left, as far as they are known."""
    if job.state is JobState.CANCELLING:
        return _("{title}: stopping…", title=job.title) if title else _("Stopping…")
    parts = [_titled_stage(job) if title else _as_sentence(job.stage)]
    if job.total:
        parts.append(share_done(job))
    elif job.done:
        parts.append(number(job.done))
    counts = job.total is None or job.total > _FEW_STEPS
    if job.rate and counts:
        parts.append(_("{rate}/s", rate=number(job.rate, 0 if job.rate >= 10 else 1)))
    if left := job.seconds_left:  # none where this stage is done and another follows
        parts.append(_("{time} left", time=duration(left)))
    return " · ".join(filter(None, parts))


def _titled_stage(job: Job) -> str:
    if not job.stage:
        return job.title
    if job.stage.casefold().startswith(job.title.casefold()):  # "Scoring" and "scoring with SCE"
        return _as_sentence(job.stage)
    return _("{title}: {stage}", title=job.title, stage=job.stage)


def _as_sentence(stage: str) -> str:
    return stage[:1].upper() + stage[1:]
