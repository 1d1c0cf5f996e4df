"""Which model is proposed for a table, by the script and language of its rows and labels, and why.

The rule, the same in the window and on the command line: `sce-multi` where a fifth of the rows, or the label
names, are in a language other than English; else `sce-mini`, which is faster. What a person chose is never
proposed against: whoever asks here has looked whether somebody did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sce_desktop.core.annotations import Label
from sce_desktop.core.blank import is_blank
from sce_desktop.core.i18n import N_, _, percent
from sce_desktop.core.languages import ENGLISH, UNKNOWN, Languages, language_name, language_names
from sce_desktop.core.progress import Progress, SilentProgress
from sce_desktop.core.query import RowQuery
from sce_desktop.core.tables import TableOptions
from sce_desktop.data.tables import open_table
from sce_desktop.store.content.rows import Shape
from sce_desktop.store.project import Project
from sce_desktop.tasks.scoring.languages import EvenSample, languages_of
from sce_desktop.tasks.scoring.models import DEFAULT_MODEL, MULTILINGUAL_MODEL, is_here
from sce_desktop.tasks.tables.columns import elsewhere, find_column, find_columns

FOREIGN_FROM = 0.2  # share of rows in other languages; see docs/adr/0020
READ_ROWS = 100_000  # rows from which the sample is taken, so that huge tables need not be read twice
MOST_VALUES = 1000  # of a column of labels; more are none
DOWNLOAD_BY_COMMAND = N_("download it with `sce-desktop models get {model}`")


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


def choose(
    languages: Languages, *, installed: bool | None = None, get_it: str = DOWNLOAD_BY_COMMAND
) -> Choice:
    """Return the model for rows and labels in these ``languages``.

    Args:
        languages: As `languages_of` finds them.
        installed: Whether the multilingual model is; None: look.
        get_it: How to get it, for the reason where it is not; not translated yet.
    """
    here = is_here(MULTILINGUAL_MODEL) if installed is None else installed
    foreign = languages.foreign >= FOREIGN_FROM
    labels = languages.labels not in (ENGLISH, UNKNOWN)
    if not (foreign or labels):
        return Choice(DEFAULT_MODEL, _why_english(languages, here), languages, installed=here)
    how = "" if here else _(get_it, model=MULTILINGUAL_MODEL)
    reason = _why_multilingual(languages, get_it=how, rows=foreign)
    return Choice(
        MULTILINGUAL_MODEL if here else DEFAULT_MODEL, reason, languages, foreign=True, installed=here
    )


def _why_english(languages: Languages, here: bool) -> str:
    names = {"mini": DEFAULT_MODEL, "multi": MULTILINGUAL_MODEL}
    if languages.shares.get(ENGLISH, 0) >= 0.5:
        if here:
            return _("Most rows are in English: {mini} reads English and is faster than {multi}.", **names)
        return _("Most rows are in English: {mini} reads English.", **names)
    if languages.foreign:
        if here:
            return _(
                "Few rows are in another language: {mini} reads English and is faster than {multi}.", **names
            )
        return _("Few rows are in another language: {mini} reads English.", **names)
    if here:
        return _(
            "The rows are too short to tell their language: {mini} reads English and is faster than {multi}.",
            **names,
        )
    return _("The rows are too short to tell their language: {mini} reads English.", **names)


def _why_multilingual(languages: Languages, *, get_it: str, rows: bool) -> str:
    """Say which rows, or else the labels, are in other languages; ``get_it``: the model is not installed."""
    found = {"mini": DEFAULT_MODEL, "multi": MULTILINGUAL_MODEL, "get_it": get_it}
    if not rows:
        found["language"] = language_name(languages.labels)
        if get_it:
            return _(
                "The labels are in {language}, which {mini} cannot read: {multi} reads 100 languages but is "
                "not installed; {get_it}.",
                **found,
            )
        return _("The labels are in {language}: {multi} reads 100 languages; {mini} reads English.", **found)
    share = languages.foreign
    found |= {"languages": language_names(_spoken(languages)), "share": percent(share)}
    if share >= 0.5:
        if get_it:
            return _(
                "Most rows are in {languages}, which {mini} cannot read: {multi} reads 100 languages but is "
                "not installed; {get_it}.",
                **found,
            )
        return _("Most rows are in {languages}: {multi} reads 100 languages; {mini} reads English.", **found)
    if get_it:
        return _(
            "About {share} of the rows are in {languages}, which {mini} cannot read: {multi} reads 100 "
            "languages but is not installed; {get_it}.",
            **found,
        )
    return _(
        "About {share} of the rows are in {languages}: {multi} reads 100 languages; {mini} reads English.",
        **found,
    )


def _spoken(languages: Languages) -> tuple[str, ...]:
    """Return the other languages to name: together they are what is said of them.

    That is most rows, or about the share of all other languages.
    """
    codes, share = languages.foreign_codes, languages.foreign
    if languages.shares[codes[0]] >= 0.5:
        return codes[:1]
    spoken = tuple(code for code in codes if languages.shares[code] >= share / 5)
    named = sum(languages.shares[code] for code in spoken)
    return spoken if named >= (0.5 if share >= 0.5 else 0.8 * share) else codes


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
