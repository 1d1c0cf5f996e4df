"""What the import dialog tells before anything is imported: numbers, warnings, problems by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from sce_desktop.core.i18n import N_, _, ngettext, number, percent
from sce_desktop.core.languages import LEAST_SHARE, READS_ALL, Reads, language_name, language_names, listed
from sce_desktop.core.quoting import and_more, quoted
from sce_desktop.core.tables import TableProblem
from sce_desktop.core.text import rounded
from sce_desktop.ui.kit.motion import ProgressBar
from sce_desktop.ui.kit.plain_label import unbroken
from sce_desktop.ui.kit.theme import SPACE_S, SPACE_XS, px, set_role

if TYPE_CHECKING:
    from sce_desktop.tasks.tables.scan import TableScan

METHOD = _("Scripts are detected in all rows. Languages are estimated from a sample.")
_NAMED = 5
_UNREAD = "unread"  # a warning that says how it was found
_PROBLEMS_SHOWN = 4
MOST_LABELS = 200  # more than people can choose from


def sentences(
    scan: TableScan, *, append: bool, lists: bool = True, model: str = "", reads: Reads = READS_ALL
) -> list[tuple[str, str]]:
    """What there is to say about a table, each with "muted", "warn" or "unread".

    ``lists`` are taken apart; ``model`` is to score the rows, and ``reads`` what it reads.
    """
    facts: list[tuple[str, str]] = [(note, "muted") for note in scan.notes]
    if append and scan.known:
        new = scan.rows - scan.blank - scan.known
        facts.append(
            (
                " ".join(
                    (
                        ngettext("{count} new row.", "{count} new rows.", new),
                        ngettext(
                            "{count} row repeats a text of the project (added too).",
                            "{count} rows repeat a text of the project (added too).",
                            scan.known,
                        ),
                    )
                ),
                "muted" if new else "warn",
            )
        )
    elif append:
        facts.append((_("All texts are new to the project."), "muted"))
    if scan.blank:
        facts.append(
            (
                ngettext(
                    "{count} row without text: kept, not scored.",
                    "{count} rows without text: kept, not scored.",
                    scan.blank,
                ),
                "warn",
            )
        )
    if scan.duplicates:
        repeats = ngettext(
            "{count} row repeats an earlier text: kept.",
            "{count} rows repeat an earlier text: all kept.",
            scan.duplicates,
        )
        facts.append((repeats, "muted"))
    facts += [(sentence, _UNREAD) for sentence in _unread(scan, model, reads)]
    if scan.lists and lists:
        facts.append((_("The label column has lists of labels: a row may have several."), "muted"))
    elif scan.lists:
        facts.append((_("The label column has lists: each list is one label."), "warn"))
    if scan.label_values > MOST_LABELS:
        facts.append(
            (
                _(
                    "The label column has {count} different values. Check that it holds labels.",
                    count=number(scan.label_values),
                ),
                "warn",
            )
        )
    elif scan.labels:
        named = [f"{quoted(name)} {number(count)}" for name, count in scan.labels[:_NAMED]]
        labels = ngettext(
            "{count} label: {labels}.",
            "{count} labels: {labels}.",
            scan.label_values,
            labels=and_more(named, _NAMED, scan.label_values),
        )
        facts.append((labels, "muted"))
    return facts


def _unread(scan: TableScan, model: str, reads: Reads) -> list[str]:
    """Say which rows and labels ``model`` cannot read."""
    facts = []
    if scan.foreign and reads.scripts is not None:
        facts.append(
            ngettext(
                "{count} row in {scripts} script, which {model} cannot read.",
                "{count} rows in {scripts} script, which {model} cannot read.",
                scan.foreign,
                scripts=listed(scan.scripts),
                model=model,
            )
        )
    found = scan.choice.languages
    unread = reads.unread_latin(found)
    if (share := sum(unread.values())) >= LEAST_SHARE:
        message = (
            N_("About {share} of the rows are in {languages}, which {model} cannot read.")
            if share < 0.99
            else N_("The rows are in {languages}, which {model} cannot read.")
        )
        facts.append(_(message, share=percent(share), languages=language_names(unread), model=model))
    if not reads.reads_labels(found):
        facts.append(
            _(
                "The labels are in {language}, which {model} cannot read.",
                language=language_name(found.labels),
                model=model,
            )
        )
    return facts


class FactsPane(QWidget):
    """Below the preview."""

    quotesAsText = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.headline = QLabel()
        self.headline.setAccessibleName(_("Number of rows"))
        set_role(self.headline, "title")
        self.bar = ProgressBar(textVisible=False)
        self.bar.setAccessibleName(_("Counting"))
        self.bar.setMaximumWidth(px(180))
        head = QHBoxLayout()
        head.addWidget(self.headline)
        head.addWidget(self.bar)
        head.addStretch()
        self.lines = QVBoxLayout()
        self.lines.setSpacing(px(SPACE_XS))
        self.problem_words = QLabel()
        self.problem_words.setAccessibleName(_("Problems in the table"))
        set_role(self.problem_words, "warn")
        self.quotes_button = QPushButton(_("Treat quotes as plain text"))
        self.quotes_button.setAccessibleName(self.quotes_button.text())
        self.quotes_button.clicked.connect(self.quotesAsText)
        self.problems = QListWidget()
        self.problems.setAccessibleName(_("Problems by line"))
        self.problems.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        problem_head = QHBoxLayout()
        problem_head.addWidget(self.problem_words)
        problem_head.addStretch()
        problem_head.addWidget(self.quotes_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(px(SPACE_S))
        layout.addLayout(head)
        layout.addLayout(self.lines)
        layout.addLayout(problem_head)
        layout.addWidget(self.problems)
        self.clear()

    def clear(self) -> None:
        """Show nothing."""
        self.headline.setText("")
        self.bar.hide()
        self._show_sentences([])
        self._show_problems((), 0)

    def show_counting(self, estimated: int | None, problems: Sequence[TableProblem], count: int) -> None:
        """Show what the head of the table shows, and that the rest is being counted."""
        self.headline.setText(
            _("Counting…")
            if estimated is None
            else ngettext("About {count} row, counting…", "About {count} rows, counting…", rounded(estimated))
        )
        self.bar.setRange(0, 0)
        self.bar.show()
        self._show_sentences([])
        self._show_problems(problems, count)

    @Slot(object, object)
    def show_progress(self, done: int, total: int | None) -> None:
        """Show how far counting is."""
        if total:
            self.bar.setRange(0, 1000)
            self.bar.setValue(min(1000, round(1000 * done / total)))

    def show_scan(
        self, scan: TableScan, *, append: bool, lists: bool, model: str, reads: Reads, room: str = ""
    ) -> None:
        """Show what was counted; ``room`` says what it takes on disk."""
        self.bar.hide()
        self.headline.setText(ngettext("{count} row", "{count} rows", scan.rows))
        facts = sentences(scan, append=append, lists=lists, model=model, reads=reads)
        self._show_sentences([*facts, *([(unbroken(room), "muted")] if room else [])])
        self._show_problems(scan.problems, scan.problem_count)

    def show_failure(self, sentence: str) -> None:
        """Show why the table could not be counted to its end."""
        self.bar.hide()
        self.headline.setText("")
        self._show_sentences([(sentence, "warn")])

    def texts(self) -> list[str]:
        """The sentences shown, for tests and screen readers."""
        return [label.text() for label in self._labels()]

    def _labels(self) -> list[QLabel]:
        items = (self.lines.itemAt(place) for place in range(self.lines.count()))
        return [label for item in items if item is not None and isinstance(label := item.widget(), QLabel)]

    def _show_sentences(self, facts: list[tuple[str, str]]) -> None:
        for label in self._labels():
            self.lines.removeWidget(label)
            label.deleteLater()
        for sentence, role in facts:
            label = QLabel(sentence, wordWrap=True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAccessibleName(sentence)
            if role == _UNREAD:
                label.setToolTip(METHOD)
                label.setAccessibleDescription(METHOD)
            set_role(label, "warn" if role == _UNREAD else role)
            self.lines.addWidget(label)

    def _show_problems(self, problems: Sequence[TableProblem], count: int) -> None:
        self.problems.clear()
        self.problems.addItems(
            [
                _("Line {line}: {problem}", line=number(problem.line), problem=problem.message)
                for problem in problems
            ]
        )
        if count > len(problems) > 0:
            self.problems.addItem(ngettext("and {count} more", "and {count} more", count - len(problems)))
        height = self.problems.sizeHintForRow(0) if self.problems.count() else 0
        self.problems.setFixedHeight(height * min(self.problems.count(), _PROBLEMS_SHOWN) + px(4))
        self.problem_words.setText(ngettext("{count} problem", "{count} problems", count))
        quotes = any(problem.option in ("quoting", "escape") for problem in problems)
        self.problem_words.setVisible(count > 0)
        self.problems.setVisible(count > 0)
        self.quotes_button.setVisible(quotes)
