"""The first minutes: the start page, the steps of the tour, and what empty panels say."""

from __future__ import annotations

from pictures.material import sample_texts
from pictures.studio import Studio
from sce_desktop.core.query import RowQuery


def tour(studio: Studio) -> None:
    """Every step, from the start page on, at the usual size and in a small window."""
    window = studio.window
    window.tour.begin()
    studio.shot("tour-1")
    window.resize(1024, 700)
    studio.shot("tour-1-small")
    window.resize(1280, 800)
    studio.sample()  # labels rows, and whoever works has left the tour
    window.strip.hide()
    window.tour.begin()
    for step in (2, 3, 4, 5):
        window.tour.callout.next_button.click()
        studio.shot(f"tour-{step}")
        window.resize(1024, 700)
        studio.shot(f"tour-{step}-small")
        window.resize(1280, 800)


def empty(studio: Studio) -> None:
    """What each panel says before there is anything in it."""
    window = studio.window
    studio.shot("empty-start")
    studio.open_table(studio.table("Answers.csv", sample_texts()[:80]))
    for name in window.docks:
        studio.bring(name)
        studio.shot(f"empty-{name.lower().replace(' ', '-')}")
    window.close_panels()
    studio.controllers.navigation.set_query(RowQuery(search="no such words"))
    studio.shot("empty-search")


SCENES = {"tour": tour, "empty": empty}
