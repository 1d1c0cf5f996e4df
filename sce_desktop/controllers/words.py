"""How figures, times and progress are said in the window: one form of each, everywhere."""

from __future__ import annotations

from typing import NamedTuple

from sce_desktop.controllers.jobs import Job, JobState
from sce_desktop.core.text import duration


class Measure(NamedTuple):
    """A figure that says how good a model is: its heading, and what it means."""

    name: str
    tip: str


ACCURACY = Measure(
    "Accuracy", "How often its best label is the one given, on rows that have one of the labels"
)
INTERVAL = Measure(
    "95 % interval", "Where the accuracy lies on all rows like these, with 95 % certainty (Wilson)"
)
MACRO_F1 = Measure(
    "Macro-F1",
    "The mean of F1 over labels, rare ones counting as much as others; a label that only the model gives, "
    "and no row has, counts as 0",
)
ECE = Measure("ECE", "Expected calibration error: how far confidence is from being right; 0 is best")
PRECISION = "How much of what the model gives this label has it; –: it gives it to none"
RECALL = "How much of what has this label the model gives it; –: no row has it"
F1 = (
    "Precision and recall in one (their harmonic mean); 0: never right; –: no row has it and none is given it"
)
MEASURES = (ACCURACY, INTERVAL, MACRO_F1, ECE)


def share_done(job: Job) -> str:
    """How much of its current stage a job has done: "40 %"; empty where nobody knows."""
    return f"{min(100, 100 * job.done // job.total)} %" if job.total else ""  # 100 % is all of it


def step_text(job: Job) -> str:
    """What a job is at, where its title stands already and room is small: "Comparing… 40 %"."""
    stage = job.stage or job.title
    return f"{stage[:1].upper()}{stage[1:]}… {share_done(job)}".rstrip()


def progress_text(job: Job, *, title: bool = True) -> str:
    """What a job does, its share, rate and time left, as far as they are known."""
    stage = "stopping…" if job.state is JobState.CANCELLING else job.stage
    if title and not stage.startswith(job.title.lower()):  # "Scoring" and "scoring with SCE" say it twice
        stage = ": ".join(filter(None, (job.title, stage)))
    parts = [stage[:1].upper() + stage[1:]]
    if job.state is JobState.CANCELLING:
        return parts[0]
    if job.total:
        parts.append(share_done(job))
    elif job.done:
        parts.append(f"{job.done:,}")
    if job.rate:
        parts.append(f"{job.rate:,.0f}/s" if job.rate >= 10 else f"{job.rate:.1f}/s")
    if (left := job.seconds_left) is not None:
        parts.append(f"{duration(left)} left")
    return " · ".join(filter(None, parts))
