"""How figures, times and progress are said in the window: one form of each, everywhere."""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

from sce_desktop.controllers.jobs import Job, JobState


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


_ISOLATE, _END = "\u2068", "\u2069"  # Unicode: FIRST STRONG ISOLATE, POP DIRECTIONAL ISOLATE


def isolated(name: str) -> str:
    """A name in a sentence: one that is written from right to left draws no number beside it to its side."""
    if any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in name):
        return f"{_ISOLATE}{name}{_END}"
    return name


def menu_text(name: str) -> str:
    """A label's name as the text of a menu entry, where "&" would vanish."""
    return name.replace("&", "&&")


def per_cent(share: float) -> str:
    """A fraction as people say it: "52 %"; what is not zero is never shown as such."""
    if 0 < share <= 0.005:
        return "< 1 %"
    return f"{100 * share:.0f} %"


def share_text(share: float) -> str:
    """A measured fraction, with a digit behind the point: "81.2 %"."""
    return f"{100 * share:.1f} %"


def interval_text(interval: tuple[float, float]) -> str:
    """The ends of an interval: "46.3 to 66.2 %"."""
    low, high = interval
    return f"{100 * low:.1f} to {share_text(high)}"


def duration(seconds: float) -> str:
    """Seconds as people say them: "8 s", "3 min", "1 h 20 min"."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


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
