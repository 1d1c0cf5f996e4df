"""What a screen reader knows of a program, by AT-SPI: its tree, the focus, and what is announced.

Runs under the system's Python, where the bindings are (Debian: python3-gi, gir1.2-atspi-2.0); these are the
calls that Orca makes. It needs nothing else: no Qt, none of the program's packages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

MOST_CHILDREN = 400  # of one object: of a longer list the first ones are looked at
DEEP = 40
TIMEOUT_MS = 20_000  # of one call: the window may be loading a model
PATIENCE = 4  # times what a wait may take: a limit is for what never comes, not for a machine that is busy
# Roles that say nothing of what a control does; nothing with one of them may take the focus.
MUTE_ROLES = frozenset({"unknown", "invalid", "filler", "panel", "redundant object", "extended"})
EVENTS = (
    "object:state-changed:focused",
    "object:announcement",
    "object:active-descendant-changed",
    "window:activate",
)


@dataclass(frozen=True)
class Seen:
    """An object at the time that it was looked at; ``size``: width and height in pixels."""

    name: str
    role: str
    description: str
    focusable: bool
    focused: bool
    showing: bool
    sensitive: bool
    size: tuple[int, int]

    def __str__(self) -> str:
        words = f"{self.name!r}, {self.role}"
        return f"{words} ({self.description})" if self.description else words


class Reader:
    """Listens to the program with one process id."""

    def __init__(self, process_id: int) -> None:
        import gi

        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi, GLib

        self.atspi: Any = Atspi
        self._context: Any = GLib.MainContext.default()
        self._process_id = process_id
        self._app: Any = None
        self._focus: Any = None
        self.announced: list[str] = []
        self._new = 0  # announcements that were asked for already
        Atspi.init()
        Atspi.set_timeout(TIMEOUT_MS, TIMEOUT_MS)
        self._listener: Any = Atspi.EventListener.new(self._on_event)
        for event in EVENTS:
            self._listener.register(event)

    def close(self) -> None:
        """Listen no more."""
        for event in EVENTS:
            self._listener.deregister(event)

    # --- what happens --------------------------------------------------------------------------------------

    def _on_event(self, event: Any) -> None:
        try:
            if event.source.get_process_id() != self._process_id:
                return
        except Exception:  # it is gone by now
            return
        if event.type.startswith("object:state-changed:focused"):
            if event.detail1:
                self._focus = event.source
        elif event.type.startswith("object:active-descendant-changed"):
            self._focus = event.any_data or event.source
        elif event.type.startswith("object:announcement"):
            self.announced.append(str(event.any_data))

    def pump(self, seconds: float = 0.0) -> None:
        """Take in what has happened."""
        end = time.monotonic() + seconds
        while True:
            while self._context.iteration(False):
                pass
            if time.monotonic() >= end:
                return
            time.sleep(0.01)

    def until(self, what: str, ready: Callable[[], Any], seconds: float = 30.0) -> Any:
        """Ask ``ready`` until it returns something true, and return that.

        Raises:
            TimeoutError: It has not; says ``what``, where the focus is and what was announced last.
        """
        seconds *= PATIENCE
        end = time.monotonic() + seconds
        while True:
            self.pump()
            try:
                if found := ready():
                    return found
            except self.atspi_errors:
                pass
            if time.monotonic() > end:
                focus = self.focused()
                raise TimeoutError(
                    f"{what}: not within {seconds:g} s. Focus: {focus}. Announced: {self.announced[-5:]}"
                )
            time.sleep(0.05)

    @property
    def atspi_errors(self) -> type[Exception]:
        """What is raised where an object is gone, or does not answer."""
        from gi.repository import GLib

        return GLib.Error

    def hear(self, part: str, seconds: float = 15.0) -> str:
        """Wait until something with ``part`` in it is announced that was not asked for yet; return it."""

        def heard() -> str:
            for place in range(self._new, len(self.announced)):
                if part.casefold() in self.announced[place].casefold():
                    self._new = place + 1
                    return self.announced[place]
            return ""

        return str(self.until(f"announcement of {part!r}", heard, seconds))

    # --- what is there -------------------------------------------------------------------------------------

    def app(self) -> Any:
        """Return the program's root; None while it is not there."""
        if self._app is None:
            desktop = self.atspi.get_desktop(0)
            for place in range(desktop.get_child_count()):
                child = desktop.get_child_at_index(place)
                if child is not None and child.get_process_id() == self._process_id:
                    child.set_cache_mask(self.atspi.Cache.NONE)
                    self._app = child
        return self._app

    def windows(self) -> list[Any]:
        """Return what is on the screen: windows and dialogs, the newest last."""
        app = self.app()
        found = [] if app is None else [app.get_child_at_index(n) for n in range(app.get_child_count())]
        return [window for window in found if window is not None and self._is(window, "SHOWING")]

    def window(self, title: str) -> Any:
        """Return the window whose name contains ``title``; None if there is none."""
        return next((w for w in reversed(self.windows()) if title in (w.get_name() or "")), None)

    def walk(self, top: Any, *, depth: int = DEEP) -> Iterator[Any]:
        """Yield all that is showing below ``top``, in order; cells of a table are not walked."""
        for place in range(min(top.get_child_count(), MOST_CHILDREN)):
            child = top.get_child_at_index(place)
            if child is None or not self._is(child, "SHOWING"):
                continue
            yield child
            if depth and child.get_role_name() not in ("table", "tree table", "tree"):
                yield from self.walk(child, depth=depth - 1)

    def find(self, role: str, name: str = "", *, within: Any = None, described: str = "") -> Any:
        """Return the first object on the screen of this role and name; None if there is none."""
        for top in [within] if within is not None else reversed(self.windows()):
            for one in self.walk(top):
                if one.get_role_name() != role or (name and one.get_name() != name):
                    continue
                if described in (one.get_description() or ""):
                    return one
        return None

    def all(self, role: str, *, within: Any = None) -> list[Any]:
        """Return all objects on the screen of this role."""
        tops = [within] if within is not None else self.windows()
        return [one for top in tops for one in self.walk(top) if one.get_role_name() == role]

    def focused(self) -> Seen | None:
        """Return what has the focus, by its state."""
        self.pump()
        try:
            if self._focus is not None and self._is(self._focus, "FOCUSED"):
                return self.see(self._focus)
            for window in reversed(self.windows()):
                for one in self.walk(window):
                    if self._is(one, "FOCUSED"):
                        self._focus = one
                        return self.see(one)
        except self.atspi_errors:
            pass
        return None

    @property
    def focus(self) -> Any:
        """The object that had the focus when `focused` was asked last."""
        return self._focus

    def see(self, one: Any) -> Seen:
        """Return what is said of an object."""
        states = one.get_state_set()
        state = self.atspi.StateType
        box = one.get_extents(self.atspi.CoordType.SCREEN)
        return Seen(
            one.get_name() or "",
            one.get_role_name() or "unknown",
            one.get_description() or "",
            states.contains(state.FOCUSABLE),
            states.contains(state.FOCUSED),
            states.contains(state.SHOWING),
            states.contains(state.SENSITIVE),
            (box.width, box.height),
        )

    def text(self, one: Any) -> str:
        """Return what stands in a field."""
        length = self.atspi.Text.get_character_count(one)
        return str(self.atspi.Text.get_text(one, 0, length))

    def cell(self, table: Any, row: int, column: int) -> Seen:
        """Return a cell of a table."""
        return self.see(self.atspi.Table.get_accessible_at(table, row, column))

    def headings(self, table: Any) -> list[str]:
        """Return what the columns of a table are called."""
        count = self.atspi.Table.get_n_columns(table)
        found = [self.atspi.Table.get_column_header(table, column) for column in range(count)]
        return ["" if one is None else one.get_name() for one in found]

    def rows(self, table: Any) -> int:
        """Return how many rows a table has."""
        return int(self.atspi.Table.get_n_rows(table))

    def _is(self, one: Any, state: str) -> bool:
        return bool(one.get_state_set().contains(getattr(self.atspi.StateType, state)))

    # --- what is wrong -------------------------------------------------------------------------------------

    def problems(self, top: Any) -> list[str]:
        """Return what somebody who cannot see would not be told of the controls below ``top``."""
        found = []
        for one in self.walk(top):
            seen = self.see(one)
            if not seen.focusable:
                continue
            if not seen.name.strip():
                found.append(f"no name: {seen} {self.path(one)}")
            if seen.role in MUTE_ROLES and not self._has_tabs(one):
                found.append(f"no role: {seen} {self.path(one)}")
        return found

    def _has_tabs(self, one: Any) -> bool:
        """Whether the tabs in an object take the focus in its place."""
        children = (one.get_child_at_index(n) for n in range(min(one.get_child_count(), MOST_CHILDREN)))
        return any(child is not None and child.get_role_name() == "page tab list" for child in children)

    def tree(self) -> list[str]:
        """Return what is on the screen, a line each: for who looks into a failure."""

        def lines(one: Any, depth: int) -> Iterator[str]:
            yield f"{'  ' * depth}{self.see(one)}"
            if depth < DEEP and one.get_role_name() not in ("table", "tree table", "tree"):
                for place in range(min(one.get_child_count(), MOST_CHILDREN)):
                    child = one.get_child_at_index(place)
                    if child is not None and self._is(child, "SHOWING"):
                        yield from lines(child, depth + 1)

        found: list[str] = []
        try:
            for window in self.windows():
                found += lines(window, 0)
        except self.atspi_errors as error:
            found.append(str(error))
        return found

    def path(self, one: Any) -> str:
        """Return where an object is, for who looks for it."""
        names: list[str] = []
        while one is not None and len(names) < DEEP:
            names.append(f"{one.get_role_name()} {one.get_name()!r}")
            one = one.get_parent()
        return " < ".join(names[1:5])
