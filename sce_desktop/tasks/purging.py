"""Deleting for good: which rows go, and what is to be read before and after."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sce_desktop.core.errors import UserError
from sce_desktop.core.i18n import _, listed, ngettext, number
from sce_desktop.core.purging import PurgeEffect, PurgeReport
from sce_desktop.core.query import RowQuery
from sce_desktop.core.quoting import quoted
from sce_desktop.store.project import Project


def rows_named(project: Project, ranges: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return the rows with the numbers in ``ranges`` (first and last). UserError if there is none in one."""
    known = project.row_ids()
    found = []
    for first, last in ranges:
        some = known[(known >= first) & (known <= last)]
        if not len(some):
            shown = number(first) if first == last else f"{number(first)}–{number(last)}"
            raise UserError(_("There is no row {rows} in this project: check its number.", rows=shown))
        found.append(some)
    return tuple(np.unique(np.concatenate(found)).tolist()) if found else ()


def rows_labelled(project: Project, name: str) -> tuple[int, ...]:
    """Return the rows that the user labelled with the label of that name. UserError if there is none."""
    label_set = project.label_set()
    ids = [label.id for label in label_set.labels if label.name == name] if label_set else []
    rows = project.row_ids(RowQuery(label_ids=(ids[0] or 0,))) if ids else ()
    if not len(rows):
        raise UserError(_("No row is labelled “{label}”: check the name.", label=name))
    return tuple(map(int, rows))


def label_ids(project: Project, name: str) -> tuple[int, ...]:
    """Return the labels that bear that name, or bore it last. UserError if there is none."""
    used = project.label_set()
    sets = [*project.label_sets(), *((used,) if used else ())]
    latest = {label.id: label.name for one in sets for label in one.labels if label.id is not None}
    found = [label_id for label_id, latest_name in latest.items() if latest_name == name]
    if not found:
        raise UserError(_("There is no label “{label}” in this project: check the name.", label=name))
    return tuple(found)


def annotator_ids(project: Project, name: str) -> tuple[int, ...]:
    """Return the annotators of that name. UserError if there is none."""
    found = tuple(coder.id for coder in project.coders() if coder.name == name)
    if not found:
        raise UserError(_("There is no annotator “{name}” in this project: check the name.", name=name))
    return found


def describe(effect: PurgeEffect) -> list[str]:
    """Return what goes, a sentence each."""
    sentences = []
    if effect.rows:
        sentences.append(
            ngettext(
                "{count} row is deleted, with its cells and scores.",
                "{count} rows are deleted, with their cells and scores.",
                effect.rows,
            )
        )
    if effect.labels:
        names = _quoted(effect.labels)
        sentences.append(
            ngettext(
                "The label {names} is deleted.",
                "The labels {names} are deleted.",
                len(effect.labels),
                names=names,
            )
        )
    if effect.annotators:
        names = _quoted(effect.annotators)
        sentences.append(
            ngettext(
                "The annotator {names} is deleted.",
                "The annotators {names} are deleted.",
                len(effect.annotators),
                names=names,
            )
        )
    if effect.annotations:
        sentences.append(
            ngettext("{count} annotation is deleted.", "{count} annotations are deleted.", effect.annotations)
        )
    if effect.notes:
        sentences.append(ngettext("{count} note is deleted.", "{count} notes are deleted.", effect.notes))
    if effect.runs:
        sentences.append(
            ngettext(
                "The scores of {count} run are deleted: score the rows again.",
                "The scores of {count} runs are deleted: score the rows again.",
                effect.runs,
            )
        )
    sentences.append(
        ngettext(
            "The undo history is deleted, too ({count} step).",
            "The undo history is deleted, too ({count} steps).",
            effect.steps,
        )
        if effect.steps
        else _("The undo history is empty already.")
    )
    return sentences


def describe_copies(effect: PurgeEffect) -> str:
    """Return which copies were found, in one sentence; empty if there are none."""
    if not effect.copies:
        return ""
    return ngettext(
        "{count} copy of this project was found: {names}.",
        "{count} copies of this project were found: {names}.",
        len(effect.copies),
        names=_quoted(copy.name for copy in effect.copies),
    )


def describe_rest(effect: PurgeEffect) -> list[str]:
    """Return what remains whatever is done, a sentence each."""
    sentences = []
    if effect.repeated:
        sentences.append(
            ngettext(
                "{count} row that stays has the same text.",
                "{count} rows that stay have the same text.",
                effect.repeated,
            )
        )
    if effect.versions:
        sentences.append(
            ngettext(
                "The fine-tuned {names} learned from it and stays: delete it under Fine-tune.",
                "The fine-tuned {names} learned from it and stay: delete them under Fine-tune.",
                len(effect.versions),
                names=listed(list(effect.versions)),
            )
        )
    sentences.append(_("Exported files, the original table and copies in other folders are not changed."))
    return sentences


def describe_report(report: PurgeReport, *, with_copies: bool) -> list[str]:
    """Return what was done and what is left, a sentence each; the first one says that it is done."""
    sentences = [_("Deleted for good.")]
    if report.cleaned:
        sentences.append(
            ngettext(
                "{count} copy was cleaned, too.", "{count} copies were cleaned, too.", len(report.cleaned)
            )
        )
    if report.effect.copies and not with_copies:
        sentences.append(
            ngettext(
                "{count} copy still has it: {names}.",
                "{count} copies still have it: {names}.",
                len(report.effect.copies),
                names=_quoted(copy.name for copy in report.effect.copies),
            )
        )
    return [*sentences, *report.remains, *describe_rest(report.effect)]


def _quoted(names: Iterable[str]) -> str:
    return listed([quoted(name) for name in names])
