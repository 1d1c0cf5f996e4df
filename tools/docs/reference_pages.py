"""The pages of the reference that the program itself dictates: shortcuts, command line, settings."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sce_desktop.ui.window.main_window import MainWindow

_MADE = "<!-- Made by tools/docs/generate.py: change the program, then run `make docs`. -->\n"


@dataclass(frozen=True, slots=True)
class MenuKey:
    """An entry of a menu with its keys."""

    menu: str
    words: str
    keys: str


def keys_page(menu_keys: Sequence[MenuKey]) -> str:
    """Return the page of all keyboard shortcuts."""
    from sce_desktop.controllers.keymap import COMMANDS

    lines = [
        "# Keyboard shortcuts\n",
        _MADE,
        "**Help › Keyboard shortcuts…** shows this list in the program. There you can change the single",
        "keys of the first table. See also [Review](../guide/review.md).\n",
        "## While you label\n",
        "They work while the table or the row panel has the focus. In a text field they are letters.\n",
        *_table(("Key", "What it does"), [(_key(c.key), c.words) for c in COMMANDS]),
        "",
        f"{_key('1')} to {_key('9')} choose a label: by rank the likeliest labels of the row, or fixed the",
        "first labels of the list (**Review › Fixed digit keys**). A label may have a key of its own.\n",
        "## Menus\n",
        *_table(
            ("Key", "Menu", "What it does"), [(_key(one.keys), one.menu, one.words) for one in menu_keys]
        ),
        "",
        "## Everywhere\n",
        *_table(
            ("Key", "What it does"),
            [
                (f"{_key('Tab')}, {_key('Shift+Tab')}", "Next and previous control"),
                (_key("Esc"), "Close a dialog, leave a field"),
                (f"{_key('Up')}, {_key('Down')}", "Previous and next row"),
                (f"{_key('Home')}, {_key('End')}", "First and last row"),
                (_key("Menu"), "Menu of the row, and of its column"),
                (f"{_key('Left')}, {_key('Right')}", "Previous and next column, fold and unfold a group"),
                (_key("Alt+Down"), "Filter by the current column"),
            ],
        ),
    ]
    return "\n".join(lines) + "\n"


def _key(keys: str) -> str:
    return f"`{keys}`"


def menu_keys(window: MainWindow) -> list[MenuKey]:
    """Return the entries of the window's menus that have keys."""
    from PySide6.QtGui import QKeySequence

    return [
        MenuKey(
            str(action.property("menu_name") or ""),
            action.text().replace("&", "").rstrip("…"),
            action.shortcut().toString(QKeySequence.SequenceFormat.PortableText),
        )
        for action in window.menus.all_actions()
        if not action.shortcut().isEmpty()
    ]


@contextmanager
def real_window() -> Iterator[MainWindow]:
    """Build the program's window offscreen, in a home of its own; it is never shown."""
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"QT_QPA_PLATFORM": "offscreen", "SCE_DESKTOP_HOME": home, "HF_HUB_OFFLINE": "1"}
        from sce_desktop.app import make_application, make_window
        from sce_desktop.controllers.controllers import Controllers
        from sce_desktop.controllers.jobs import WorkerQueues
        from sce_desktop.settings import Settings
        from sce_desktop.ui.kit.appearance import Theme

        app = make_application()
        with WorkerQueues() as workers:
            window = make_window(Controllers(workers, Settings.load()), Theme(app, "light"))
            yield window
            window.deleteLater()


def command_line_page(parser: argparse.ArgumentParser) -> str:
    """Return the page of all commands and options of ``parser``."""
    lines = [
        "# Commands and options\n",
        _MADE,
        "Every command explains itself with `--help`. For examples and exit codes see",
        "[Command line](../guide/command-line.md).\n",
    ]
    for name, help_, command in _commands(parser):
        inner = list(_commands(command))
        lines += [f"## {name}\n", f"{_sentence(help_)}\n"]
        if not inner:
            lines += _options(f"sce-desktop {name}", command)
        for action, action_help, one in inner:
            lines += [f"### {name} {action}\n", f"{_sentence(action_help)}\n"]
            lines += _options(f"sce-desktop {name} {action}", one)
    return "\n".join(lines).rstrip() + "\n"


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    for group in parser._actions:
        if isinstance(group, argparse._SubParsersAction):
            for choice in group._choices_actions:
                yield choice.dest, str(choice.help or ""), group.choices[choice.dest]


def options_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments that a user can see, without ``--help`` and without commands."""
    return [
        action
        for action in parser._actions
        if action.help != argparse.SUPPRESS
        and not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
    ]


def all_parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield ``parser`` and the parsers of its commands."""
    yield parser
    for _, _, inner in _commands(parser):
        yield from all_parsers(inner)


def option_name(action: argparse.Action) -> str:
    """Return an argument as it is typed."""
    if not action.option_strings:
        return str(action.metavar or action.dest)
    names = ", ".join(action.option_strings)
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        return names
    value = action.metavar or (f"{{{','.join(map(str, action.choices))}}}" if action.choices else None)
    return f"{names} {value or action.dest.upper()}"


def _options(name: str, parser: argparse.ArgumentParser) -> list[str]:
    actions = options_of(parser)
    typed = [name]
    for action in actions:
        if not action.option_strings:
            typed.append(option_name(action) if action.required else f"[{option_name(action)}]")
        elif action.required:
            typed.append(f"{action.option_strings[0]} {action.metavar or action.dest.upper()}")
    if any(action.option_strings and not action.required for action in actions):
        typed.append("[options]")
    rows = [(f"`{option_name(a)}`", "yes" if a.required else "", str(a.help or "")) for a in actions]
    return [f"`{' '.join(typed)}`\n", *_table(("Argument", "Required", "What it does"), rows), ""]


def _sentence(text: str) -> str:
    text = text.strip()
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""


def settings_page() -> str:
    """Return the page of all settings."""
    from sce_desktop import settings

    rows = []
    for one in settings.SETTINGS:
        if not one.shown:
            continue
        values = ", ".join(one.choices)
        if one.least is not None:
            values = f"{one.least:g} to {one.most:g}" if one.most is not None else f"{one.least:g} or more"
        default = str(one.default) or "empty"
        if one.type is bool:
            default = "on" if one.default else "off"
        rows.append((f"**{one.label}**", one.help, default, values, f"`{one.key}`"))
    lines = [
        "# Settings\n",
        _MADE,
        "**File › Settings…** (`Ctrl+,`) shows them. What differs from the default is kept in a file in",
        "the folder `config` that `sce-desktop doctor` prints. A value that is not allowed is ignored,",
        "and the default is used.\n",
        *_table(("Setting", "What it does", "Default", "Values", "Key in the file"), rows),
        "",
        "The confidence threshold, joint prediction and versions of the model are kept in the project.",
    ]
    return "\n".join(lines) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(head), "|" + "---|" * len(head), *map(line, rows)]
