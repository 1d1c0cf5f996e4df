"""``doctor``: is everything here and does it work."""

from __future__ import annotations

import argparse

from sce_desktop.commands import console, options
from sce_desktop.core.progress import Progress

EXIT_PROBLEMS = 2


def add_command(commands: options.Commands) -> None:
    """Add the command."""
    parser = options.add_parser(
        commands, "doctor", "check versions, devices, paths and models, and run a self-test"
    )
    options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, progress: Progress) -> int:
    """Print the findings; the exit code tells whether all is well."""
    from sce_desktop.tasks.doctor import examine

    found = examine(progress)
    if args.json:
        console.print_json(found)
    else:
        print(f"sce-desktop {found['version']}, python {found['python']}, torch {found['torch']}")
        print(f"window: {'Qt ' + found['qt'] if found['qt'] else 'PySide6 is not installed'}")
        for device in found["devices"]:
            use = "" if device["usable"] else f": cannot be used, {device['problem']}"
            print(f"device: {device['name']} ({device['description']}){use}")
        instructions = ", ".join(found["cpu_instructions"]) or "no instructions for lower precision"
        print(f"processor: {instructions}")
        used, possible = found["precision"]["used"], ", ".join(found["precision"]["possible"])
        print(f"precision: {used} on {found['precision']['device']} (possible: {possible})")
        for name, path in found["paths"].items():
            print(f"{name}: {path}")
        for model in found["models"]:
            print(f"model: {model['name']} {model['problem'] or 'ok'} {model['sha256']}")
        print(f"self-test: {found['self_test']['problem'] or 'ok'}")
        print("No problems found." if found["ok"] else "Problems found: see above.")
    return 0 if found["ok"] else EXIT_PROBLEMS
