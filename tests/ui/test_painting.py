"""How names of labels are cut, and on which side "…" then stands."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QImage, QPainter
from pytestqt.qtbot import QtBot

from sce_desktop.ui.kit.painting import draw_name, elided_name, name_on_two_lines

ARABIC = "تأخير في تسليم الشحنة إلى العنوان الجديد"


def test_a_short_cut_is_at_the_end_and_a_long_one_in_the_middle(qtbot: QtBot) -> None:
    metrics = QFontMetrics(QFont())
    name = "Parcel damaged, contents complete and usable"
    width = metrics.horizontalAdvance(name)
    assert elided_name(metrics, name, width + 1) == name
    assert elided_name(metrics, name, int(width * 0.8)).endswith("…")
    short = elided_name(metrics, name, int(width * 0.45))
    assert short.startswith("Par")
    assert short.endswith("ble")
    assert elided_name(metrics, name, 60).startswith("Parc")  # too little room for both ends
    assert elided_name(metrics, name, 60).endswith("…")
    assert elided_name(metrics, "two\nlines", 500) == "two lines"


def test_a_name_in_a_group_loses_its_parent_first(qtbot: QtBot) -> None:
    metrics = QFontMetrics(QFont())
    name = "Delivery > Lost parcel"
    width = metrics.horizontalAdvance(name)
    assert elided_name(metrics, name, width) == name
    assert elided_name(metrics, name, width - 1) == "… > Lost parcel"
    image = QImage(width, 40, QImage.Format.Format_Grayscale8)
    drawn = []
    for mark in ("", "✓ "):  # the mark of a decision goes with no parent
        image.fill(255)
        painter = QPainter(image)
        painter.setFont(QFont())
        draw_name(painter, image.rect().adjusted(0, 0, -1, 0), name, mark=mark)
        painter.end()
        drawn.append(image.copy())
    assert drawn[0] != drawn[1]
    room = metrics.horizontalAdvance("… > Lost") - 1  # "… > L…" would tell less than the name alone
    assert elided_name(metrics, "Delivery > Lost", room) == "Lost"
    assert elided_name(metrics, name, room).startswith("Lost")
    assert elided_name(metrics, name, room).endswith("…")


def test_two_lines_are_broken_between_words(qtbot: QtBot) -> None:
    metrics = QFontMetrics(QFont())
    width = metrics.horizontalAdvance("Customer serv")
    assert name_on_two_lines(metrics, "Late  parcel", width) == "Late parcel"
    assert name_on_two_lines(metrics, "Customer service", width) == "Customer\nservice"
    assert name_on_two_lines(metrics, "Customer > Unfriendliness", width).startswith("Customer >\nUnfr")
    assert name_on_two_lines(metrics, "x" * 40, width).endswith("x…")
    assert name_on_two_lines(metrics, f"Late {'x' * 40}", width).startswith("Late\nxx")


@pytest.mark.parametrize(("name", "side"), [(ARABIC, "left"), ("Delivery came late " * 2, "right")])
def test_the_dots_stand_where_the_name_goes_on(qtbot: QtBot, name: str, side: str) -> None:
    """The end of a name from right to left is at its left: there are dots."""
    font = QFont()
    font.setPixelSize(40)
    width = int(QFontMetrics(font).horizontalAdvance(name) * 0.7)
    image = QImage(width, 80, QImage.Format.Format_Grayscale8)
    image.fill(255)
    painter = QPainter(image)
    painter.setFont(font)
    painter.setPen(Qt.GlobalColor.black)
    draw_name(painter, QRect(0, 0, width, 80), name)
    painter.end()
    dark = np.asarray(image.constBits(), np.uint8).reshape(80, image.bytesPerLine())[:, :width] < 128
    inked = np.flatnonzero(dark.any(axis=0))
    edge = dark[:, inked[0] : inked[0] + 6] if side == "left" else dark[:, inked[-1] - 5 : inked[-1] + 1]
    other = dark[:, inked[-1] - 5 : inked[-1] + 1] if side == "left" else dark[:, inked[0] : inked[0] + 6]
    assert np.ptp(np.flatnonzero(edge.any(axis=1))) < 8  # a dot
    assert np.ptp(np.flatnonzero(other.any(axis=1))) > 8  # a letter
