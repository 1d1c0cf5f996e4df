"""The panels with figures: Findings and Evaluate, and the audit sample."""

from __future__ import annotations

from typing import Any

from pictures.material import many_grouped_labels, sample_labels, sample_texts
from pictures.studio import Studio


def _findings(studio: Studio, view: str = "shares", *, table: bool = False) -> Any:
    """Show the findings of the sample, a hundred rows of which were drawn at random and decided."""
    from sce_desktop.core.query import RowQuery

    studio.sample()
    controllers = studio.controllers
    controllers.audit.draw(100)
    studio.until(lambda: controllers.audit.shown)
    studio.decide_rightly(controllers.navigation.query.given)
    controllers.navigation.set_query(RowQuery())
    panel = studio.bring("Findings")
    panel.bar.table.setChecked(table)
    panel.bar.choose(view)
    studio.until(lambda: panel.answer is not None and panel.answer.wanted.view == view and not panel._dirty)
    studio.rest(0.5)
    return panel


def findings(studio: Studio) -> None:
    """How often each label fits, and rows behind a figure."""
    _findings(studio).shares.choose(4, -1)
    studio.rest()
    studio.shot("findings")


def findings_crosstab(studio: Studio) -> None:
    """Shares by a column."""
    _findings(studio, "column").parts.choose(0, 1)
    studio.rest()
    studio.shot("findings-crosstab")


def findings_time(studio: Studio) -> None:
    """Shares over time, as lines."""
    panel = _findings(studio, "time")
    studio.shot("findings-time")
    panel.bar.counts.click()
    studio.until(lambda: panel.answer is not None and panel.answer.wanted.counts)
    studio.shot("findings-time-counts")
    panel.bar.choose("shares")
    studio.until(lambda: panel.answer is not None and panel.answer.wanted.view == "shares")
    studio.shot("findings-counts")


def findings_empty(studio: Studio) -> None:
    """Nothing to find yet."""
    studio.open_table(studio.table("Nothing yet.csv", sample_texts()[:40]), sample_labels())
    studio.controllers.scorer.stop()
    studio.bring("Findings")
    studio.shot("findings-empty")


def evaluate_empty(studio: Studio) -> None:
    """Nothing to measure yet: no scores, then no decisions."""
    studio.open_table(studio.table("Nothing decided.csv", sample_texts()[:60]), sample_labels())
    studio.bring("Evaluate")
    studio.shot("evaluate-unscored")
    studio.score()
    studio.rest(1)
    studio.shot("evaluate-empty")


def evaluate(studio: Studio) -> None:
    """The sample with an audit of a hundred rows, decided as its gold labels say; every tab of the panel."""
    from sce_desktop.core.query import RowQuery

    studio.sample()
    controllers = studio.controllers
    controllers.audit.draw(100)
    studio.until(lambda: controllers.audit.shown)
    studio.decide_rightly(controllers.navigation.query.given[:95])
    controllers.navigation.set_query(RowQuery())  # while one decides blindly nothing is told
    panel = _measured(studio)
    studio.shot("evaluate")
    for place, name in enumerate(("labels", "confusions", "charts", "doubts")):
        panel.tabs.setCurrentIndex(place)
        if name == "doubts":
            panel.doubts.look()
            studio.until(lambda: panel.doubts.found is not None)
        if place:
            studio.shot(f"evaluate-{name}")


def evaluate_gold(studio: Studio) -> None:
    """The sample with its column of right answers, which are not the answers of a person."""
    from sce_desktop.core.progress import SilentProgress
    from sce_desktop.tasks.evaluation.annotators import column_as_annotator

    studio.sample()
    assert studio.controllers.workspace.project is not None
    column_as_annotator(studio.controllers.workspace.project, "gold", SilentProgress())
    studio.controllers.workspace.annotationsChanged.emit(None)
    _measured(studio)
    studio.shot("evaluate-gold")


def evaluate_many(studio: Studio) -> None:
    """Two hundred labels, some nested, and names in many scripts."""
    import numpy as np

    from sce_desktop.core.annotations import Decision

    controllers = studio.controllers
    studio.open_table(studio.table("Many labels.csv", sample_texts()[:120]), many_grouped_labels())
    studio.score()
    assert controllers.workspace.project is not None
    tops = controllers.workspace.project.run_arrays(controllers.workspace.runs[0].id)
    chance = np.random.default_rng(0)
    for row_id, top in list(zip(tops.row_ids.tolist(), tops.top.tolist(), strict=True))[:115]:
        place = top if chance.random() < 0.7 else int(chance.integers(len(controllers.workspace.labels)))
        controllers.workspace.project.decide(
            [row_id], Decision.LABEL, [controllers.workspace.labels[place].id or 0]
        )
    controllers.workspace.annotationsChanged.emit(None)
    panel = _measured(studio)
    studio.shot("evaluate-many")
    panel.tabs.setCurrentIndex(1)
    studio.shot("evaluate-many-confusions")
    panel.bar.rolled.setChecked(True)
    studio.until(lambda: panel.found is not None)
    studio.shot("evaluate-rolled-up")


def audit(studio: Studio) -> None:
    """Drawing a random sample, and the review of its rows."""
    from sce_desktop.core.annotations import Decision
    from sce_desktop.ui.evaluate.audit_dialog import AuditDialog

    studio.sample()
    controllers, window = studio.controllers, studio.window
    studio.bring("Evaluate").ask_sample()
    dialog = window.findChildren(AuditDialog)[-1]
    studio.until(lambda: dialog.plan is not None)
    studio.shot("audit-dialog", dialog)
    dialog.accept()
    studio.until(lambda: controllers.audit.shown)
    studio.rest()
    assert controllers.audit.state is not None
    for row_id in controllers.audit.state.row_ids[:12].tolist():
        controllers.edits.decide([row_id], Decision.LABEL, [controllers.workspace.labels[row_id % 5].id or 0])
    controllers.navigation.set_current_row(int(controllers.audit.state.row_ids[12]))
    window.strip.hide()
    studio.rest(2)
    studio.shot("audit")


def _measured(studio: Studio) -> Any:
    """Show what is measured, and return the panel."""
    panel = studio.bring("Evaluate")
    studio.until(lambda: panel.found is not None and panel.found.quality.parts)
    studio.window.strip.hide()
    studio.rest(1)
    return panel


SCENES = {
    "findings": findings,
    "findings_crosstab": findings_crosstab,
    "findings_time": findings_time,
    "findings_empty": findings_empty,
    "evaluate_empty": evaluate_empty,
    "evaluate": evaluate,
    "evaluate_gold": evaluate_gold,
    "evaluate_many": evaluate_many,
    "audit": audit,
}
