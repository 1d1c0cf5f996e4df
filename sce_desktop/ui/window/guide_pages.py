"""Which page of the guide explains what: F1 looks from the focus upward for the first that is listed here."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

START = "index.md"

PAGES = {
    # zones and panels
    "StartPage": "quick-start.md",
    "Callout": "quick-start.md",
    "RunBar": "guide/score.md",
    "LabelsPanel": "guide/labels.md",
    "FilterBar": "guide/review.md#filters",
    "RowsView": "guide/review.md",
    "RowPanel": "guide/review.md#one-row",
    "RowReasons": "guide/review.md#why-this-label",
    "FocusView": "guide/focus-mode.md",
    "FocusRow": "guide/focus-mode.md",
    "FineTunePanel": "guide/fine-tune.md",
    "EvaluatePanel": "guide/evaluate.md",
    "FindingsPanel": "guide/findings.md",
    "MapPanel": "guide/map.md",
    "DuplicatesPanel": "guide/duplicates.md",
    "JobsPanel": "guide/projects.md#jobs-and-log",
    # dialogs
    "ImportDialog": "guide/import.md",
    "ExportDialog": "guide/export.md",
    "AddLabelsDialog": "guide/labels.md#add-labels",
    "DiscoverDialog": "guide/suggest-labels.md",
    "LabelEditor": "guide/labels.md#describe-a-label",
    "LabelSetsDialog": "guide/labels.md#versions-of-the-label-set",
    "LabelsDialog": "guide/labels.md#merge-split-remove",
    "SplitDialog": "guide/labels.md#merge-split-remove",
    "ColumnFilterDialog": "guide/columns.md#filter",
    "ColumnsDialog": "guide/columns.md#choose-columns",
    "AcceptDialog": "guide/review.md#accept-predictions-in-bulk",
    "ThresholdDialog": "concepts/confidence.md#the-confidence-threshold",
    "FinalDialog": "guide/final-labels.md",
    "PurgeDialog": "guide/delete-for-good.md",
    "AuditDialog": "guide/evaluate.md#draw-an-audit-sample",
    "AgreementDialog": "guide/several-people.md#inter-annotator-agreement",
    "AnnotatorDialog": "guide/several-people.md#import-another-annotators-labels",
    "ModelsDialog": "guide/models.md",
    "_Question": "guide/models.md",
    "SettingsDialog": "reference/settings.md",
    "KeysDialog": "reference/keys.md",
    "CrashDialog": "troubleshooting.md#the-program-reports-a-bug",
}


def page_for(widget: QWidget | None) -> str:
    """Return the page about ``widget``, or about what it lies in; the overview where none is."""
    while widget is not None:
        for kind in type(widget).__mro__:
            if page := PAGES.get(kind.__name__):
                return page
        widget = widget.parentWidget()
    return START
