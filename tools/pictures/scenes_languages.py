"""Tables in German, Korean and Arabic, each taken through the window from import to export by sce-multi."""

from __future__ import annotations

import csv
from pathlib import Path

from pictures.material import ROOT
from pictures.studio import Studio

TABLES = ROOT / "tests" / "e2e" / "languages"
REVIEWED = 24


def german(studio: Studio) -> None:
    """A German table."""
    _from_import_to_export(studio, "german", ";")


def korean(studio: Studio) -> None:
    """A Korean table."""
    _from_import_to_export(studio, "korean", ",")


def arabic(studio: Studio) -> None:
    """An Arabic table, from right to left."""
    _from_import_to_export(studio, "arabic", ",")


def _from_import_to_export(studio: Studio, name: str, delimiter: str) -> None:
    """Import a table with gold labels, score, review by keys, fine-tune and export; check what came of it."""
    from sce_desktop.core.training import FinetuneSettings
    from sce_desktop.ui.transfer.import_dialog import ImportDialog

    controllers = studio.controllers
    controllers.scorer.set_model("sce-multi")
    path = TABLES / f"{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=delimiter))
    gold = list(rows[0])[-1]

    with studio.importing(path) as dialog:
        assert isinstance(dialog, ImportDialog)
        columns = dialog.columns
        columns.label_column.setCurrentText(gold)
        columns.label_column.activated.emit(columns.label_column.currentIndex())
        columns.use.setCurrentIndex(1)
        studio.until(lambda: dialog.reader.scan is not None)
        studio.shot(f"{name}-import", dialog)
        dialog.accept()
    studio.until(lambda: controllers.workspace.project is not None and controllers.workspace.labels)
    studio.until(
        lambda: controllers.workspace.counts is not None and not controllers.workspace.workers.reads.busy
    )
    studio.score()
    assert [run.title for run in controllers.workspace.runs] == [
        "sce-multi",
        "sce-multi",
    ]  # similarity by its vectors
    _print_accuracy(studio, name, [row[gold] for row in rows])
    studio.shot(f"{name}-scores")

    _review_by_keys(studio, [row[gold] for row in rows])
    studio.shot(f"{name}-review")

    studio.bring("Fine-tune")
    before = len(controllers.tuner.versions)
    controllers.tuner.start(FinetuneSettings())
    studio.until(lambda: controllers.tuner.job is None and len(controllers.tuner.versions) > before)
    studio.window.strip.hide()
    studio.shot(f"{name}-finetune", rest=0.8)
    controllers.scorer.use_version(controllers.tuner.versions[-1].id)
    studio.until(lambda: controllers.scorer.job is None)

    _export(studio, name, rows, delimiter)


def _print_accuracy(studio: Studio, name: str, gold: list[str]) -> None:
    controllers, project = studio.controllers, studio.controllers.workspace.project
    assert project is not None
    for run in controllers.workspace.runs:
        tops = project.run_arrays(run.id)
        names = [controllers.workspace.labels[top].name for top in tops.top.tolist()]
        right = sum(gold[row_id - 1] == said for row_id, said in zip(tops.row_ids, names, strict=True))
        print(f"{name}: {run.alias} {right} of {len(gold)} right", flush=True)


def _review_by_keys(studio: Studio, gold: list[str]) -> None:
    """Label rows with the digit keys, which go by the rank of a label in the row."""
    import numpy as np
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    from sce_desktop.ui.rows.rows_view import RowsView

    controllers, project = studio.controllers, studio.controllers.workspace.project
    assert project is not None
    table = studio.window.findChildren(RowsView)[0].table
    studio.window.activateWindow()
    controllers.navigation.rowAsked.emit(1)
    studio.until(lambda: controllers.navigation.current_row == 1)
    table.setFocus()
    studio.until(table.hasFocus)
    names = [label.name for label in controllers.workspace.labels]
    for _ in range(REVIEWED):
        row_id = controllers.navigation.current_row
        assert row_id is not None
        probabilities = project.scores(controllers.workspace.runs[0].id, [row_id])[row_id].probabilities
        rank = np.argsort(-probabilities, kind="stable").tolist().index(names.index(gold[row_id - 1]))
        QTest.keyClick(table, Qt.Key(Qt.Key.Key_1 + rank))
        studio.until(lambda row_id=row_id: controllers.navigation.current_row != row_id)
    studio.until(
        lambda: controllers.workspace.counts is not None and controllers.workspace.counts.labelled == REVIEWED
    )


def _export(studio: Studio, name: str, rows: list[dict[str, str]], delimiter: str) -> None:
    """Export by the dialog, and compare the file with the table."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest

    from sce_desktop.ui.transfer.export_dialog import ExportDialog

    out = studio.home / f"{name} labelled.csv"
    studio.window.file_commands.ask_export()
    dialog = studio.window.findChildren(ExportDialog)[-1]
    dialog.target.path.setText(str(out))
    studio.until(dialog.export_button.isEnabled)
    studio.shot(f"{name}-export", dialog)
    QTest.keyClick(dialog.target.path, Qt.Key.Key_Return)
    studio.until(out.exists)
    _check(out, rows, delimiter)
    print(f"{name}: exported as it should be", flush=True)


def _check(out: Path, rows: list[dict[str, str]], delimiter: str) -> None:
    with out.open(encoding="utf-8-sig", newline="") as file:
        exported = list(csv.DictReader(file, delimiter=delimiter))
    header = list(rows[0])
    gold = header[-1]
    if [{key: row[key] for key in header} for row in exported] != rows:
        raise ValueError("the original cells are not what they were")
    labelled = [row for row in exported if row["decided"] == "hand"]
    if len(labelled) != REVIEWED or any(row["label"] != row[gold] for row in labelled):
        raise ValueError("the labels are not those that were given")
    names = {row[gold] for row in rows}
    for row in exported:
        shares = [float(row[f"sce_p:{one}"]) for one in names]
        if abs(sum(shares) - 1) > 1e-4 or float(row["sce_confidence"]) != max(shares):
            raise ValueError("the probabilities do not fit together")


SCENES = {"german": german, "korean": korean, "arabic": arabic}
