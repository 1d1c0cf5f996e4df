"""Which model is proposed for a table, by the script and language of its rows and labels, and why.

The rule, the same in the window and on the command line: `sce-multi` where a fifth of the rows, or the label
names, are in a language other than English; else `sce-mini`, which is faster. What a person chose is never
proposed against: whoever asks here has looked whether somebody did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sce_desktop.core.blank import is_blank
from sce_desktop.core.languages import ENGLISH, UNKNOWN, Languages, language_name, language_names
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.types import Label, TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.store.project import Project
from sce_desktop.store.query import RowQuery
from sce_desktop.store.rows import Shape
from sce_desktop.tasks.columns import elsewhere, find_column, find_columns
from sce_desktop.tasks.languages import EvenSample, languages_of
from sce_desktop.tasks.models import DEFAULT_MODEL, MULTILINGUAL_MODEL, is_here

FOREIGN_FROM = 0.2  # share of rows in other languages; see docs/adr/0020
READ_ROWS = 100_000  # rows from which the sample is taken, so that huge tables need not be read twice
MOST_VALUES = 1000  # of a column of labels; more are none
GET_IT = f"get it with `sce-desktop models get {MULTILINGUAL_MODEL}`"
_MINI = f"{DEFAULT_MODEL} reads English"
_MULTI = f"{MULTILINGUAL_MODEL} reads 100 languages"


@dataclass(frozen=True, slots=True)
class Choice:
    """The model that is proposed, with the reason in one sentence.

    ``foreign``: rows or labels ask for the multilingual model, whether or not it is ``installed``.
    """

    model: str
    reason: str
    languages: Languages
    foreign: bool = False
    installed: bool = True

    @property
    def missing(self) -> str:
        """The model that would be proposed if it were installed; empty if there is none."""
        return "" if self.installed or not self.foreign else MULTILINGUAL_MODEL


def choose(languages: Languages, *, installed: bool | None = None, get_it: str = GET_IT) -> Choice:
    """Return the model for rows and labels in these ``languages``.

    Args:
        languages: As `languages_of` finds them.
        installed: Whether the multilingual model is; None: look.
        get_it: How to get it, for the reason where it is not.
    """
    here = is_here(MULTILINGUAL_MODEL) if installed is None else installed
    foreign = languages.foreign >= FOREIGN_FROM
    labels = languages.labels not in (ENGLISH, UNKNOWN)
    if not (foreign or labels):
        return Choice(DEFAULT_MODEL, _why_english(languages, here), languages, installed=here)
    what = _rows_in(languages) if foreign else f"The labels are in {language_name(languages.labels)}"
    if here:
        return Choice(MULTILINGUAL_MODEL, f"{what}: {_MULTI}; {_MINI}.", languages, foreign=True)
    reason = f"{what}, which {DEFAULT_MODEL} cannot read: {_MULTI} but is not installed; {get_it}."
    return Choice(DEFAULT_MODEL, reason, languages, foreign=True, installed=False)


def _why_english(languages: Languages, here: bool) -> str:
    faster = f" and is faster than {MULTILINGUAL_MODEL}" if here else ""
    if languages.shares.get(ENGLISH, 0) >= 0.5:
        return f"Most rows are in English: {_MINI}{faster}."
    if languages.foreign:
        return f"Few rows are in another language: {_MINI}{faster}."
    return f"The rows are too short to tell their language: {_MINI}{faster}."


def _rows_in(languages: Languages) -> str:
    """Say how many rows are in which other languages."""
    codes = languages.foreign_codes
    first = languages.shares[codes[0]]
    if first >= 0.5:
        return f"Most rows are in {language_name(codes[0])}"
    share = languages.foreign
    many = "Most" if share >= 0.5 else f"About {share:.0%} of the"
    spoken = [code for code in codes if languages.shares[code] >= share / 5] or codes[:1]
    return f"{many} rows are in {language_names(spoken)}"


def sample_of(texts: Iterable[str]) -> list[str]:
    """Return the texts, of the first `READ_ROWS` with some text, from which the languages are told."""
    sample, seen = EvenSample(), 0
    for text in texts:
        if is_blank(text):
            continue
        sample.add((text,))
        seen += 1
        if seen == READ_ROWS:
            break
    return sample.texts


def choose_for_table(
    path: Path,
    text_columns: Sequence[str | int],
    *,
    labels: Sequence[Label] | None = None,
    label_column: str | None = None,
    options: TableOptions,
    progress: Progress,
) -> Choice:
    """Return the model for the table at ``path``, whose text is in ``text_columns``.

    Without ``labels`` the values of ``label_column``, of the rows that are read, are the label names.

    Raises:
        UserError: The table cannot be read, or lacks a column.
        Cancelled: The user stopped.
    """
    table, silent = open_table(path, options), SilentProgress()
    hint = elsewhere(table)
    shape = Shape(table.columns, find_columns(table.columns, text_columns, silent, hint=hint))
    place = None
    if label_column is not None and not labels:
        place = find_column(table.columns, label_column, silent, hint=hint)
    values: dict[str, None] = {}

    def texts() -> Iterable[str]:
        for batch in table.batches():
            progress.check()
            if place is not None and len(values) < MOST_VALUES:
                values.update(dict.fromkeys(cell for cells in batch if (cell := cells[place])))
            yield from map(shape.text_of, batch)

    sample = sample_of(texts())
    return choose(languages_of(sample, [label.name for label in labels] if labels else list(values)))


def choose_for_project(project: Project, labels: Sequence[Label] | None = None) -> Choice:
    """Return the model for the rows and labels of ``project``; ``labels``: those to come."""
    return choose(languages_in(project, labels))


def languages_in(project: Project, labels: Sequence[Label] | None = None) -> Languages:
    """Return the languages of the rows and labels of ``project``; ``labels``: those to come."""
    label_set = project.label_set()
    present = label_set.labels if label_set is not None else ()
    ids = project.row_ids(RowQuery(blank=False))[:READ_ROWS]
    step = EvenSample.step_for(len(ids))
    return languages_of(project.texts(ids[::step]), [label.name for label in labels or present])
