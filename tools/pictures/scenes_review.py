"""What reviewers open beside the table: focus mode, reasons, final labels, filters in headings."""

from __future__ import annotations

from pictures.studio import Studio
from tests.ui.wiring import wired

SECONDS_A_ROW = 14


def _as_by_hand(studio: Studio) -> None:
    """Give the labels of the script the times of somebody who reads: else they all come within a second."""
    from datetime import UTC, datetime, timedelta

    import sqlalchemy as sa

    project, now = studio.controllers.workspace.project, datetime.now(UTC)
    assert project is not None
    with project._database.write() as connection:
        ids = connection.execute(sa.text("SELECT row_id FROM annotations ORDER BY row_id DESC")).scalars()
        for place, row_id in enumerate(ids.all(), 1):
            at = (now - timedelta(seconds=place * SECONDS_A_ROW)).isoformat(timespec="milliseconds")
            connection.execute(
                sa.text("UPDATE annotations SET decided_at = :at WHERE row_id = :row"),
                {"at": at, "row": row_id},
            )
    studio.controllers.workspace.annotationsChanged.emit(None)


def focus(studio: Studio) -> None:
    """One text alone, with its labels; then with the evidence."""
    studio.sample()
    _as_by_hand(studio)
    studio.controllers.navigation.set_current_row(19)
    studio.window.focus.enter()
    studio.rest(1)
    studio.shot("focus")
    view = studio.window.focus.view
    assert view is not None
    view.row.toggle_evidence()
    studio.rest(2)
    studio.shot("focus-evidence")


def reasons(studio: Studio) -> None:
    """The row panel with the words that speak for a label, and similar rows."""
    from sce_desktop.ui.rows.row_panel import RowPanel

    studio.sample()
    panel = studio.window.findChild(RowPanel)
    assert panel is not None
    studio.controllers.navigation.set_current_row(19)
    studio.rest()
    if not panel.reasons.button.isChecked():
        panel.reasons.button.click()
    studio.until(lambda: panel.reasons.words.text())
    studio.rest(1.5)
    studio.shot("reasons")


def final(studio: Studio) -> None:
    """Final labels without evidence, and with an audit sample of a hundred and fifty rows."""
    from sce_desktop.core.query import RowQuery
    from sce_desktop.ui.evaluate.final_dialog import FinalDialog

    studio.sample()
    controllers = studio.controllers
    controllers.audit.draw(150)
    studio.until(lambda: controllers.audit.shown)
    studio.decide_rightly(controllers.navigation.query.given)
    controllers.navigation.set_query(RowQuery())
    controllers.navigation.set_current_row(12)
    studio.rest(1)
    studio.window.strip.hide()
    dialog = wired(FinalDialog, controllers)(studio.window)
    dialog.open()
    studio.until(lambda: dialog.facts is not None)
    dialog.max_error.setValue(25)
    dialog.choose.click()
    studio.rest()
    studio.shot("final-labels", dialog)
    dialog.accept()
    studio.rest(1)
    studio.shot("final-column")


def columns(studio: Studio) -> None:
    """Columns of the user's table beside the text, and the filter of one of them."""
    from sce_desktop.controllers.own_columns import OwnColumn
    from sce_desktop.ui.rows.column_filter import ColumnFilterDialog

    studio.sample()
    navigation = studio.controllers.navigation
    assert studio.controllers.workspace.project is not None
    names = studio.controllers.workspace.project.columns
    navigation.show_columns([OwnColumn(names.index(name)) for name in ("date", "channel")])
    studio.rest(1)
    for place in range(2):
        dialog = ColumnFilterDialog(
            studio.controllers.workspace,
            navigation,
            studio.window,
            target=names.index("channel") if not place else names.index("date"),
        )
        dialog.open()
        studio.rest(1)
        studio.shot("column-filter-date" if place else "column-filter", dialog)
        dialog.reject()


SCENES = {"focus": focus, "reasons": reasons, "final": final, "columns": columns}
