"""``models``: which models are here, and bringing in others."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from sce_desktop.commands import options
from sce_desktop.core.progress import Progress

EXIT_PROBLEMS = 2


def add_command(commands: options.Commands) -> None:
    """Add ``models`` and what can be done with them."""
    parser = options.add_parser(commands, "models", "list, fetch, add, remove and check models")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    action = options.add_parser(actions, "list", "say which models are here")
    options.add_json(action)
    action.set_defaults(run=list_models)

    action = options.add_parser(actions, "get", "fetch a model from the hub (nothing else asks the network)")
    action.add_argument("name", metavar="NAME", help="owner/model")
    action.set_defaults(run=get, network=True)

    action = options.add_parser(actions, "add", "copy a model folder into your models")
    action.add_argument("folder", type=Path, metavar="DIR", help="a model folder")
    action.add_argument("--name", default="", help="what to call it (default: as the folder)")
    action.set_defaults(run=add)

    action = options.add_parser(actions, "remove", "delete one of your models")
    action.add_argument("name", metavar="NAME", help="as models list shows it")
    action.set_defaults(run=remove)

    action = options.add_parser(actions, "verify", "compare models with their hashes")
    action.add_argument("name", nargs="?", metavar="NAME", help="this model alone")
    options.add_json(action)
    action.set_defaults(run=verify)


def list_models(args: argparse.Namespace, progress: Progress) -> int:
    """Print one line a model."""
    from sce_desktop.ml import catalog

    entries = catalog.list()
    if args.json:
        options.print_json({"models": [asdict(entry) for entry in entries]})
        return 0
    for entry in entries:
        whose = "bundled" if entry.bundled else str(entry.folder)
        print(f"{entry.name:24} {entry.kind:10} {entry.size / 1e6:6.0f} MB  {entry.licence:12} {whose}")
    return 0


def get(args: argparse.Namespace, progress: Progress) -> int:
    """Fetch the model."""
    from sce_desktop.ml import catalog

    print(f"{args.name} is in {catalog.get(args.name)}.")
    return 0


def add(args: argparse.Namespace, progress: Progress) -> int:
    """Copy the folder."""
    from sce_desktop.ml import catalog

    entry = catalog.add(args.folder, name=args.name)
    print(f"{entry.name} is in {entry.folder}.")
    return 0


def remove(args: argparse.Namespace, progress: Progress) -> int:
    """Delete the model."""
    from sce_desktop.ml import catalog

    catalog.remove(args.name)
    print(f"{args.name} is removed.")
    return 0


def verify(args: argparse.Namespace, progress: Progress) -> int:
    """Print what is wrong with the models; the exit code tells too."""
    from sce_desktop.ml import catalog

    names = [args.name] if args.name else [entry.name for entry in catalog.list()]
    checked = []
    for done, name in enumerate(names):
        progress.report(done, len(names), stage="verifying")
        progress.check()
        checked.append(catalog.verify(name))
    ok = all(one.ok for one in checked)
    if args.json:
        options.print_json({"ok": ok, "models": [asdict(one) for one in checked]})
    else:
        for one in checked:
            print(f"{one.name:24} {'ok' if one.ok else one.problem}  {one.sha256}")
    return 0 if ok else EXIT_PROBLEMS
