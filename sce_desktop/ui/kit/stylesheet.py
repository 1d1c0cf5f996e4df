"""The one style sheet, made from design tokens. Looks by purpose come from `theme.set_role`."""

from __future__ import annotations

from PySide6.QtGui import QFontInfo, QFontMetrics, QGuiApplication

from sce_desktop.ui.kit.icons import svg_file
from sce_desktop.ui.kit.theme import RADIUS, SPACE_M, SPACE_S, SPACE_XS, Tokens, px


def _image(name: str, colour: str) -> str:
    return f"image: {_url(name, colour)};"


def _url(name: str, colour: str) -> str:
    """An icon as a value; Qt complains about a url that leads nowhere."""
    path = svg_file(name, colour)
    return f'url("{path}")' if path else "none"


def style_sheet(t: Tokens) -> str:
    """The style sheet for the tokens ``t`` at the present font size."""
    gap, pad, wide = px(SPACE_XS), px(SPACE_S), px(SPACE_M)
    radius, round_ = px(RADIUS), px(13)
    body = QFontInfo(QGuiApplication.font()).pixelSize()
    line = QFontMetrics(QGuiApplication.font()).height()
    return f"""
QMainWindow, QDialog {{ background: {t.window}; }}
QDialogButtonBox {{ dialogbuttonbox-buttons-have-icons: 0; }}
QWidget[role="pane"] {{ background: {t.pane}; }}
QMainWindow::separator {{ background: {t.line}; width: 1px; height: 1px; }}
QSplitter::handle {{ background: {t.line}; }}
QSplitter::handle:horizontal {{ width: 1px; }}
QSplitter::handle:vertical {{ height: 1px; }}
QToolTip {{ background: {t.pane}; color: {t.ink}; border: 1px solid {t.edge}; padding: {gap}px; }}

QLabel[role="heading"], QLabel[role="muted"] {{ color: {t.muted}; }}
QLabel[role="good"] {{ color: {t.good}; }}
QLabel[role="warn"] {{ color: {t.warn}; }}
QLineEdit[wrong="true"] {{ border-color: {t.warn}; }}
QLabel[role="key"] {{ color: {t.muted}; background: {t.window}; border: 1px solid {t.line};
    border-radius: 3px; padding: 0 {gap}px; }}
QFrame[role="strip"] {{ background: {t.pane}; border: 1px solid {t.warn}; border-radius: {radius}px; }}
QFrame[role="strip"][tone="info"] {{ border-color: {t.accent}; }}
QFrame[role="card"] {{ background: {t.window}; border: 1px solid {t.muted}; border-radius: {radius}px; }}
QFrame[role="drop"] {{ background: {t.pane}; border: 2px dashed {t.edge}; border-radius: {2 * radius}px; }}
QFrame[role="drop"][over="true"] {{ border-color: {t.accent}; background: {t.selection}; }}
QFrame[role="drop"][over="true"] QLabel {{ background: transparent; }}

QPushButton, QToolButton {{ background: {t.pane}; color: {t.ink}; border: 1px solid {t.edge};
    border-radius: {radius}px; padding: {gap}px {wide}px; min-height: {px(18)}px; }}
QPushButton:hover, QToolButton:hover {{ background: {t.hover}; }}
QPushButton:pressed, QToolButton:pressed, QToolButton:checked, QPushButton:checked {{
    background: {t.selection}; border-color: {t.accent}; }}
QPushButton:focus, QToolButton:focus {{ border-color: {t.accent}; }}
QPushButton:checked:focus, QToolButton:checked:focus {{ border-color: {t.ink}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {t.muted}; background: {t.window}; }}
QPushButton[role="primary"] {{ background: {t.accent}; color: {t.on_accent}; border-color: {t.accent};
    font-weight: 600; }}
QPushButton[role="primary"]:hover, QPushButton[role="primary"]:pressed {{ border-color: {t.ink}; }}
QPushButton[role="primary"]:focus {{ border-color: {t.ink}; }}
QPushButton[role="primary"]:disabled {{ background: {t.line}; color: {t.muted}; border-color: {t.line}; }}
QPushButton[role="quiet"], QToolButton[role="quiet"] {{ background: transparent; border-color: transparent;
    padding: {gap}px {pad}px; }}
QPushButton[role="quiet"]:hover, QToolButton[role="quiet"]:hover {{ background: {t.hover}; }}
QPushButton[role="quiet"]:focus, QToolButton[role="quiet"]:focus {{ border-color: {t.accent}; }}
QPushButton[role="quiet"]:disabled, QToolButton[role="quiet"]:disabled {{ background: transparent; }}
QPushButton[role="quiet"]:checked, QToolButton[role="quiet"]:checked {{ background: {t.selection};
    color: {t.accent}; border-color: {t.accent}; }}
QPushButton[role="chip"], QToolButton[role="chip"] {{ color: {t.muted}; border-radius: {round_}px;
    padding: {px(3)}px {wide}px; }}
QPushButton[role="chip"]:checked, QToolButton[role="chip"]:checked {{ background: {t.selection};
    color: {t.accent}; border-color: {t.selection}; font-weight: 600; }}
QPushButton[role="chip"]:focus, QToolButton[role="chip"]:focus {{ border-color: {t.accent}; }}
QPushButton::menu-indicator, QToolButton::menu-indicator {{ {_image("down", t.muted)}
    width: {px(12)}px; height: {px(12)}px; subcontrol-origin: padding; subcontrol-position: center right;
    right: {gap}px; }}
QPushButton[menu="true"], QToolButton[menu="true"] {{ padding-right: {px(22)}px; }}

QLineEdit, QPlainTextEdit, QTextEdit, QSpinBox, QDoubleSpinBox, QComboBox {{ background: {t.pane};
    color: {t.ink}; border: 1px solid {t.edge}; border-radius: {radius}px; padding: {gap}px {pad}px;
    selection-background-color: {t.accent}; selection-color: {t.on_accent};
    placeholder-text-color: {t.muted}; }}
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus
    {{ border-color: {t.accent}; }}
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled {{ color: {t.muted};
    background: {t.window}; }}
QPlainTextEdit[role="plain"] {{ border: 1px solid transparent; border-radius: 0; padding: 0; }}
QPlainTextEdit[role="plain"]:focus {{ border-color: {t.accent}; }}
QTextEdit[role="plain"] {{ border: none; border-radius: 0; padding: 0; }}
QLineEdit {{ lineedit-clear-button-icon: {_url("close", t.muted)}; }}
QLineEdit > QToolButton {{ background: transparent; border: none; padding: 0; min-height: 0; }}
QLineEdit[role="quiet"] {{ border: 1px dashed {t.muted}; background: transparent; }}
QLineEdit[role="quiet"]:focus {{ border: 1px solid {t.accent}; background: {t.pane}; }}
QComboBox {{ padding-right: {px(22)}px; min-height: {px(18)}px; }}
QComboBox::drop-down {{ border: none; width: {px(20)}px; subcontrol-origin: padding;
    subcontrol-position: center right; }}
QComboBox::down-arrow {{ {_image("down", t.muted)} width: {px(12)}px; height: {px(12)}px; }}
QComboBox QAbstractItemView {{ background: {t.pane}; border: 1px solid {t.edge}; }}
QSpinBox, QDoubleSpinBox {{ padding: {px(2)}px; }}
QSpinBox::up-button, QSpinBox::down-button, QDoubleSpinBox::up-button, QDoubleSpinBox::down-button {{
    border: none; background: transparent; width: {px(18)}px; }}
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow {{ {_image("up", t.muted)} width: {px(10)}px;
    height: {px(10)}px; }}
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow {{ {_image("down", t.muted)} width: {px(10)}px;
    height: {px(10)}px; }}
QSlider {{ min-height: {px(20)}px; background: transparent; }}
QSlider::groove:horizontal {{ height: {px(4)}px; border-radius: {px(4) // 2}px; background: {t.muted}; }}
QSlider::sub-page:horizontal {{ height: {px(4)}px; border-radius: {px(4) // 2}px; background: {t.accent}; }}
QSlider::handle:horizontal {{ width: {px(14)}px; margin: -{px(6)}px 0; border: 1px solid {t.pane};
    border-radius: {px(16) // 2}px; background: {t.accent}; }}
QSlider::handle:horizontal:focus, QSlider::handle:horizontal:hover {{ border-color: {t.ink}; }}
QCheckBox, QRadioButton {{ spacing: {pad}px; min-height: {line}px; border: 1px solid transparent;
    border-radius: 3px; }}
QCheckBox:focus, QRadioButton:focus {{ border-color: {t.accent}; }}
QCheckBox::indicator, QAbstractItemView::indicator {{ width: {px(14)}px; height: {px(14)}px;
    border: 1px solid {t.muted}; border-radius: 3px; background: {t.pane}; }}
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked {{ background: {t.accent};
    border-color: {t.accent}; {_image("check", t.on_accent)} }}
QRadioButton::indicator {{ width: {px(14)}px; height: {px(14)}px; border: 1px solid {t.muted};
    border-radius: {px(14) // 2 + 1}px; background: {t.pane}; }}
QRadioButton::indicator:checked {{ width: {px(6)}px; height: {px(6)}px; border: {px(5)}px solid {t.accent};
    background: {t.pane}; }}
QRadioButton::indicator:disabled {{ border-color: {t.edge}; }}
QRadioButton::indicator:focus, QRadioButton::indicator:hover {{ border-color: {t.accent}; }}
QCheckBox::indicator:focus, QCheckBox::indicator:hover {{ border-color: {t.accent}; }}
QCheckBox:disabled, QRadioButton:disabled {{ color: {t.muted}; }}

QAbstractItemView {{ background: {t.pane}; color: {t.ink}; border: 1px solid transparent; outline: none;
    selection-background-color: {t.selection}; selection-color: {t.ink}; gridline-color: {t.line}; }}
QAbstractItemView:focus {{ border-color: {t.accent}; }}
QListView::item {{ padding: {gap}px {pad}px; border-radius: {radius}px; }}
QTreeView::item {{ padding: {gap}px; }}
QTableView::item {{ padding: 0 {px(3)}px; }}
QListView::item:hover, QTreeView::item:hover {{ background: {t.hover}; }}
QListView::item:selected, QTreeView::item:selected {{ background: {t.selection}; color: {t.ink}; }}
QHeaderView {{ background: {t.pane}; border: none; }}
QHeaderView::section {{ background: {t.pane}; color: {t.muted}; border: none;
    border-bottom: 1px solid {t.line}; padding: {px(6)}px {px(6)}px; font-weight: 600;
    font-size: {max(10, px(11))}px; }}
QHeaderView[role="names"]::section {{ color: {t.ink}; border: none; font-weight: 400;
    font-size: {body}px; padding: 0 {px(6)}px 0 {wide}px; }}
QTableCornerButton::section {{ background: {t.pane}; border: none; }}

QToolBar {{ background: {t.pane}; border: none; border-bottom: 1px solid {t.line}; spacing: {pad}px;
    padding: {px(7)}px {wide}px; }}
QToolBar QPushButton, QToolBar QToolButton, QToolBar QLineEdit {{ min-height: {px(20)}px;
    max-height: {px(20)}px; }}
QToolBar QPushButton[role="chip"] {{ padding: {gap}px {wide}px; border-radius: {px(14)}px; }}
QToolBar::separator {{ background: transparent; width: {pad}px; }}
QMenuBar {{ background: {t.pane}; color: {t.ink}; }}
QMenuBar::item {{ padding: {gap}px {pad}px; background: transparent; border-radius: {radius}px; }}
QMenuBar::item:selected {{ background: {t.hover}; }}
QMenu {{ background: {t.pane}; color: {t.ink}; border: 1px solid {t.edge}; padding: {gap}px; }}
QMenu::item {{ padding: {gap}px {px(24)}px {gap}px {wide}px; border-radius: {gap}px; }}
QMenu::icon {{ padding-left: {pad}px; }}
QMenu::item:selected {{ background: {t.selection}; color: {t.ink}; }}
QMenu::item:disabled {{ color: {t.muted}; }}
QMenu::separator {{ height: 1px; background: {t.line}; margin: {gap}px {pad}px; }}

QStatusBar {{ background: {t.window}; color: {t.muted}; border-top: 1px solid {t.line}; }}
QStatusBar::item {{ border: none; }}
QStatusBar QLabel {{ color: {t.muted}; }}
QProgressBar {{ background: {t.line}; border: none; border-radius: 3px; min-height: 6px; max-height: 6px; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: 3px; }}
QProgressBar[still="true"]::chunk {{ background: qlineargradient(spread: repeat, x1: 0, y1: 0, x2: 0.1, y2: 0,
    stop: 0 {t.accent}, stop: 0.49 {t.accent}, stop: 0.5 {t.line}, stop: 1 {t.line}); }}

QFileDialog QToolButton {{ padding: {px(3)}px; min-height: 0; }}
QWidget[role="dock"] {{ background: {t.pane}; border-bottom: 1px solid {t.line}; }}
QWidget[role="dock"] > QToolButton {{ padding: 0; min-height: 0; }}
QTabWidget::pane {{ border: none; border-top: 1px solid {t.line}; background: {t.pane}; }}
QTabBar {{ background: {t.pane}; qproperty-drawBase: 0; }}
QTabBar::tab {{ background: {t.pane}; color: {t.muted}; border: none; border-bottom: 2px solid transparent;
    padding: {px(7)}px {wide}px; }}
QTabBar::tab:selected {{ color: {t.accent}; border-bottom-color: {t.accent}; font-weight: 600; }}
QTabBar::tab:hover {{ color: {t.ink}; }}
QTabBar::tab:focus {{ color: {t.ink}; background: {t.hover}; }}
QTabBar[role="dense"]::tab {{ padding: {px(7)}px {px(8)}px; }}
QWidget[role="dock"] > QTabBar::tab {{ padding: {px(4)}px {px(10)}px; }}

QScrollArea {{ background: transparent; border: 1px solid transparent; }}
QScrollArea:focus {{ border-color: {t.accent}; }}
QScrollBar {{ background: transparent; border: none; margin: 0; }}
QScrollBar:vertical {{ width: {px(10)}px; }}
QScrollBar:horizontal {{ height: {px(10)}px; }}
QScrollBar::handle {{ background: {t.edge}; border-radius: {px(3)}px; margin: {px(2)}px; }}
QScrollBar::handle:hover {{ background: {t.ink}; }}
QScrollBar::handle:disabled {{ background: transparent; }}
QScrollBar::handle:vertical {{ min-height: {px(28)}px; }}
QScrollBar::handle:horizontal {{ min-width: {px(28)}px; }}
QAbstractScrollArea::corner {{ background: transparent; border: none; }}
QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
"""
