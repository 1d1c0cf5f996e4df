"""Every text, mark and edge of the window is seen on what it is drawn on, in every theme (WCAG 2.2, AA).

4.5 for text (1.4.3), 3 for what tells a control and its state (1.4.11). Two ways: by a table of what is drawn
on what, and by pictures of real controls in each state. What is disabled is exempt in WCAG, and asked all the
same.
"""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from sce_desktop.controllers.controllers import Controllers
from sce_desktop.core.annotations import Decision
from sce_desktop.core.colours import contrast, label_colours
from sce_desktop.store.project import Project
from sce_desktop.ui.evaluate.confusion_view import STRONGEST
from sce_desktop.ui.kit.appearance import Theme
from sce_desktop.ui.kit.painting import draw_bar, draw_square
from sce_desktop.ui.kit.theme import set_role, tokens
from sce_desktop.ui.kit.tokens import (
    COMPACT_ROW_HEIGHTS,
    COMPACT_SPACES,
    ROW_HEIGHTS,
    THEMES,
    ThemeName,
    Tokens,
)
from sce_desktop.ui.rows.row_legend import grey
from sce_desktop.ui.rows.rows_model import Column
from sce_desktop.ui.rows.rows_view import RowsView
from sce_desktop.ui.rows.text_marks import TINT
from sce_desktop.ui.window.main_window import MainWindow
from tests.ui.conftest import MakeProject
from tests.ui.panels import LABELS, TEXTS, give_scores, open_in, settle

UI = Path(__file__).parents[2] / "sce_desktop" / "ui"
TEXT, MARK = 4.5, 3.0
GROUNDS = ("window", "pane", "hover", "selection")
TABLE: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("ink", (*GROUNDS, "selection_line", "hit", "line"), TEXT),
    ("muted", (*GROUNDS, "line"), TEXT),  # also what is disabled, a primary button among them
    ("accent", GROUNDS, TEXT),  # a chosen chip and tab, links
    ("on_accent", ("accent",), TEXT),
    ("good", GROUNDS, TEXT),
    ("warn", GROUNDS, TEXT),  # errors
    ("edge", ("window", "pane", "hover"), MARK),  # of buttons and fields, at rest and under the mouse
    ("accent", ("line", "selection_line"), MARK),  # a bar on its track, a focused edge beside what is empty
)
"""What is drawn in which token, on which grounds, and the least contrast."""


@pytest.mark.parametrize("t", THEMES.values(), ids=THEMES)
def test_every_pair_that_is_drawn_is_seen(t: Tokens) -> None:
    weak = [
        f"{front} on {ground}: {found:.2f}, not {least}"
        for front, grounds, least in TABLE
        for ground in grounds
        if (found := contrast(getattr(t, front), getattr(t, ground))) < least
    ]
    assert not weak, "\n".join(weak)


def mixed_over(front: str, ground: str, share: float) -> str:
    """The colour of ``front`` at an opacity over ``ground``."""
    pairs = zip(QColor(front).getRgb()[:3], QColor(ground).getRgb()[:3], strict=True)  # type: ignore[index]
    return QColor(*(round(b + (a - b) * share) for a, b in pairs)).name()


@pytest.mark.parametrize("t", THEMES.values(), ids=THEMES)
def test_label_colours_and_what_is_mixed_of_them_are_seen(t: Tokens) -> None:
    for colour in label_colours()[:64]:
        assert contrast(colour, t.pane) >= MARK, colour
        assert contrast(colour, t.window) >= MARK - 0.25, colour  # beside its name, never alone
        assert contrast(t.ink, mixed_over(colour, t.pane, TINT)) >= TEXT, colour  # a word that speaks for it
    assert contrast(t.ink, mixed_over(t.accent, t.pane, STRONGEST)) >= TEXT  # the confusion matrix
    for place in range(3):
        grey_of = grey(t, place)
        assert contrast(mixed_over(t.muted, t.pane, grey_of.alphaF()), t.pane) >= MARK, place


@pytest.mark.parametrize("ground", ["pane", "selection", "selection_line", "hover"])
def test_in_high_contrast_marks_have_an_edge_that_is_seen(restored: QApplication, ground: str) -> None:
    Theme(restored, "contrast")
    under = getattr(tokens(), ground)
    for colour in label_colours()[:8]:
        image = QImage(60, 20, QImage.Format.Format_RGB32)
        image.fill(QColor(under))
        painter = QPainter(image)
        draw_square(painter, 2, 10, colour)
        draw_bar(painter, QRectF(20, 6, 36, 8), 0.5, colour, under)
        painter.end()
        for left, right in ((0, 16), (18, 58)):
            seen = {image.pixelColor(x, 10).name() for x in range(left, right)}
            assert max(contrast(one, under) for one in seen) >= MARK, (colour, ground)
            assert colour in seen, "the colour of the label itself is there too"


COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")
NAMED = set(QColor.colorNames()) - {"transparent"}


def colours_in(source: str) -> list[str]:
    """What a module says of colours by itself: literals, names, numbers of red, green and blue."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value.strip()
            inside = re.findall(
                r"(?:color|background|border)[\w-]*:[^;{}]*?(#[0-9a-fA-F]{3,8})\b", node.value
            )
            found += [text] if COLOUR.fullmatch(text) else inside
            found += [f"rgb in {text[:30]!r}"] if re.search(r"\b(rgba?|hsva?|hsla?)\(\s*\d", text) else []
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in ("QColor", "fromRgb", "fromHsv", "fromHsl", "qRgb", "qRgba") and any(
                isinstance(one, ast.Constant)
                and (isinstance(one.value, int) or str(one.value).lower() in NAMED)
                for one in node.args
            ):
                found.append(ast.unparse(node))
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("GlobalColor"):
            found += [] if node.attr == "transparent" else [ast.unparse(node)]
    return found


def test_no_module_of_the_window_has_a_colour_of_its_own() -> None:
    assert colours_in('a = "#ff00aa"; QColor(1, 2, 3); QColor("red"); x = "color: rgb(1, 2, 3)"') != []
    assert len(colours_in("Qt.GlobalColor.red\nf = 'border: 1px solid #abc'")) == 2
    assert colours_in('a = "#add-labels"; QColor(t.ink); Qt.GlobalColor.transparent') == []
    wrong = {
        str(path.relative_to(UI)): found
        for path in sorted(UI.rglob("*.py"))
        if path.name != "tokens.py" and (found := colours_in(path.read_text(encoding="utf-8")))
    }
    assert not wrong
    assert colours_in((UI / "kit" / "tokens.py").read_text(encoding="utf-8"))


# --- pictures of real controls ---------------------------------------------------------------------------

SCALE = 3  # text has pixels that are all ink at this size


def picture_of(widget: QWidget) -> QImage:
    """A widget with what is behind it, three times as large."""
    top = widget.window()
    image = QImage(top.size() * SCALE, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(SCALE)
    top.render(image)
    corner = widget.mapTo(top, QPoint(0, 0))
    size = widget.size()
    return image.copy(corner.x() * SCALE, corner.y() * SCALE, size.width() * SCALE, size.height() * SCALE)


def text_contrast(image: QImage) -> float:
    """The contrast of the best seen colour that a few pixels have with that of most pixels."""
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)[:, : image.width()]
    values, counts = np.unique(pixels & 0xFFFFFF, return_counts=True)
    channels = np.stack([values >> 16 & 255, values >> 8 & 255, values & 255], axis=-1) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    light = linear @ (0.2126, 0.7152, 0.0722) + 0.05
    ground, others = light[counts.argmax()], light[counts >= 4]
    return float(np.maximum(others / ground, ground / others).max())


def test_contrast_is_measured_as_it_is_computed() -> None:
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(QColor("#ffffff"))
    assert text_contrast(image) == 1
    for x in range(6):
        image.setPixelColor(x, 3, QColor("#2560cf"))
    assert text_contrast(image) == pytest.approx(contrast("#2560cf", "#ffffff"))


STATES = ("rest", "hover", "pressed", "focus", "checked", "disabled")
ROLES_OF_BUTTONS = ("", "primary", "quiet", "chip")


def put(widget: QWidget, state: str) -> None:
    widget.setEnabled(state != "disabled")
    widget.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, state == "hover")
    if isinstance(widget, QAbstractButton):
        widget.setDown(state == "pressed")
        widget.setChecked(state == "checked")
    if state == "focus":
        widget.setFocus(Qt.FocusReason.TabFocusReason)
    else:
        widget.clearFocus()


@pytest.mark.parametrize("name", THEMES)
def test_controls_are_seen_in_every_state(qtbot: QtBot, restored: QApplication, name: ThemeName) -> None:
    font = QFont(restored.font())
    font.setPixelSize(13)
    restored.setFont(font)
    Theme(restored, name)
    t = tokens()
    assert t.name == name
    top = QWidget()
    qtbot.addWidget(top)
    set_role(top, "pane")
    top.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    layout = QVBoxLayout(top)
    first = QLineEdit("Somebody has the focus first")
    widgets: list[QWidget] = [first]
    for kind in (QPushButton, QToolButton):
        for role in ROLES_OF_BUTTONS:
            button = kind(top)
            button.setText("Hamburg Ill")
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            if role:
                set_role(button, role)
            widgets.append(button)
    for box in (QCheckBox("Hamburg"), QRadioButton("Hamburg")):
        box.setAutoExclusive(False)
        widgets.append(box)
    field, combo = QLineEdit("Hamburg"), QComboBox()
    combo.addItem("Hamburg")
    widgets += [field, combo]
    for role in ("heading", "muted", "good", "warn", "key", "title", "text"):
        label = QLabel("Hamburg Ill")
        set_role(label, role)
        widgets.append(label)
    for widget in widgets:
        layout.addWidget(widget)
    top.show()
    qtbot.waitExposed(top)
    weak = []
    for widget in widgets:
        for state in STATES if not isinstance(widget, QLabel) else ("rest", "disabled"):
            put(widget, state)
            picture = picture_of(widget)
            what = (type(widget).__name__, widget.property("role") or "", state)
            inner = picture.copy(
                6 * SCALE, 3 * SCALE, picture.width() - 12 * SCALE, picture.height() - 6 * SCALE
            )
            if (found := text_contrast(inner)) < TEXT:
                weak.append((*what, "text", round(found, 2)))
            framed = not isinstance(widget, QLabel | QCheckBox | QRadioButton) and what[1] != "quiet"
            if framed and state not in ("disabled",) and (what[1], state) != ("chip", "checked"):
                edge = QColor(picture.pixel(1, picture.height() // 2)).name()
                if (found := contrast(edge, t.pane)) < MARK:
                    weak.append((*what, f"edge {edge}", round(found, 2)))
        put(widget, "rest")
    assert not weak, "\n".join(map(str, weak))


def test_the_page_about_the_design_has_the_values_of_the_code() -> None:
    page = (UI.parents[1] / "docs" / "design.md").read_text(encoding="utf-8")
    names = [field.name for field in fields(Tokens) if field.name != "name"]
    for name in names:
        values = " | ".join(f"`{getattr(t, name)}`" for t in THEMES.values())
        assert re.search(rf"^\| `{name}` \| .+ \| {re.escape(values)} \|$", page, re.MULTILINE), name
    for wide, narrow in COMPACT_SPACES.items():
        assert f"| {wide} | {narrow} |" in page
    wide_rows, narrow_rows = (", ".join(map(str, one.values())) for one in (ROW_HEIGHTS, COMPACT_ROW_HEIGHTS))
    assert f"| {wide_rows} | {narrow_rows} |" in page


WORDS = (QLabel, QAbstractButton, QLineEdit, QComboBox)


@pytest.mark.parametrize("name", THEMES)
def test_texts_of_the_real_window_are_seen(
    qtbot: QtBot,
    controllers: Controllers,
    real_window: MainWindow,
    theme: Theme,
    make_project: MakeProject,
    name: ThemeName,
) -> None:
    """Measured in pictures of the window: its panels, the row, headings and cells of the table."""
    path = make_project(texts=TEXTS * 4, labels=LABELS)
    with Project.open(path) as project:
        give_scores(project, (0, 1, 2, 0))
        give_scores(project, (0, 1, 1, 0), alias="similarity", fingerprint="near")
    open_in(qtbot, controllers, path)
    controllers.edits.decide([1], Decision.LABEL, [controllers.workspace.labels[0].id or 0])
    controllers.navigation.set_current_row(2)
    theme.set_mode(name)
    settle(qtbot, controllers)
    weak, asked = [], 0
    whole = picture_of(real_window)
    boxes = {
        widget: QRect(widget.mapTo(real_window, QPoint(0, 0)), widget.size())
        for widget in real_window.findChildren(QWidget)
        if isinstance(widget, WORDS) and widget.isVisible() and has_words(widget)
    }
    (rows,) = real_window.findChildren(RowsView)
    table = rows.table
    for row in (0, 1, 3):  # the third has no text
        for column in (Column.NUMBER, Column.TEXT, Column.SCE):
            rect = table.visualRect(table.model().index(row, column)).adjusted(0, 0, 0, -1)
            boxes[(row, column)] = QRect(table.viewport().mapTo(real_window, rect.topLeft()), rect.size())
    for what, box in boxes.items():
        inner = box.intersected(real_window.rect()).adjusted(2, 2, -2, -2)
        if inner.width() < 8 or inner.height() < 8:
            continue
        asked += 1
        part = whole.copy(QRect(inner.topLeft() * SCALE, inner.size() * SCALE))
        if (found := text_contrast(part)) < TEXT:
            weak.append((str(what), round(found, 2)))
    assert asked > 40
    assert not weak, "\n".join(map(str, weak))


def has_words(widget: QWidget) -> bool:
    if isinstance(widget, QLineEdit):
        return bool(widget.text() or widget.placeholderText())
    if isinstance(widget, QComboBox):
        return bool(widget.currentText())
    return bool(widget.text().strip())  # type: ignore[attr-defined]
