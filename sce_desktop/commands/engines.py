"""``--engine ray``: the same commands on a Ray cluster."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sce_desktop.commands import console, number_types
from sce_desktop.core.errors import UserError
from sce_desktop.core.progress import Progress
from sce_desktop.core.text import plural

if TYPE_CHECKING:
    from sce_desktop.core.annotations import Label
    from sce_desktop.core.runs import VectorCache
    from sce_desktop.core.tables import TableOptions
    from sce_desktop.tasks.cluster.ray_pool import RayWish
    from sce_desktop.tasks.scoring.classify import ClassifySettings
    from sce_desktop.tasks.scoring.models import ModelSource

ENGINES = ("local", "ray")
_OF_RAY = ("ray_address", "workers", "worker_cpus", "worker_gpus")


def place(text: str) -> Any:
    """Read a path, or an address such as s3://bucket/texts, which stays as it is."""
    return text if "://" in text else Path(text)


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add ``--engine`` and what goes with it."""
    group = parser.add_argument_group("cluster")
    group.add_argument(
        "--engine", choices=ENGINES, default="local", help="local (default), or ray: workers on a Ray cluster"
    )
    group.add_argument(
        "--ray-address",
        metavar="ADDRESS",
        help="of an existing cluster, such as auto or ray://host:10001; without it this machine's cores work",
    )
    group.add_argument(
        "--workers", type=number_types.whole_number(1), metavar="N", help="how many (default: as many as fit)"
    )
    group.add_argument(
        "--worker-cpus", type=number_types.above_zero, metavar="N", help="CPUs of each worker (default: 1)"
    )
    group.add_argument(
        "--worker-gpus",
        type=number_types.above_zero,
        metavar="N",
        help="GPUs of each worker, such as 1 or 0.25 (default: none, it works on CPUs)",
    )


def check(args: argparse.Namespace) -> None:
    """Refuse options that do not go together.

    Raises:
        UserError: Cluster options or addresses without ``--engine ray``, or a device with it.
    """
    if args.engine == "ray":
        if args.device != "auto":
            raise UserError(
                "--engine ray places workers by --worker-cpus and --worker-gpus: leave --device out."
            )
        from sce_desktop.tasks.cluster.ray_pool import check_installed

        check_installed()
        return
    for name in _OF_RAY:
        if getattr(args, name) is not None:
            raise UserError(f"--{name.replace('_', '-')} is about clusters: add --engine ray.")
    for where in (args.table, getattr(args, "output", None)):
        if isinstance(where, str):
            raise UserError(f"{where} is an address, which only --engine ray can open.")


def _wish(args: argparse.Namespace) -> RayWish:
    from sce_desktop.tasks.cluster.ray_pool import RayWish

    return RayWish(
        address=args.ray_address or "",
        workers=args.workers or 0,
        cpus=args.worker_cpus or 1.0,
        gpus=args.worker_gpus or 0.0,
    )


def classify(
    args: argparse.Namespace,
    settings: ClassifySettings,
    labels: tuple[Label, ...] | None,
    source: ModelSource,
    cache: VectorCache,
    table_options: TableOptions,
    progress: Progress,
) -> int:
    """Classify on a cluster and say how it went."""
    from sce_desktop.tasks.cluster.classify import check_wanted, classify_on_cluster
    from sce_desktop.tasks.cluster.ray_pool import RayCluster

    check_wanted(str(args.output), settings)  # a cluster takes half a minute to start
    with (
        console.if_stopped("Finished parts are kept: the same command goes on from there."),
        RayCluster(_wish(args)) as cluster,
    ):
        report = classify_on_cluster(
            str(args.table),
            str(args.output),
            settings,
            text_columns=args.text,
            labels=labels,
            source=source,
            start_pool=cluster.pool,
            workers=cluster.workers,
            options=table_options,
            force=args.force,
            cache=cache,
            progress=progress,
        )
    if args.json:
        facts = {**asdict(report), "model": settings.model, "warnings": console.warnings(progress)}
        console.print_json(facts)
        return 0
    kept = f", {report.resumed:,} of {plural(report.parts, 'part')} from before" if report.resumed else ""
    print(
        f"{report.scored:,} of {plural(report.rows, 'row')} classified into "
        f"{plural(len(report.labels), 'label')} in {report.seconds['total']:.1f} s "
        f"({report.skipped_blank:,} without text{kept}): {report.output}"
    )
    return 0


@contextlib.contextmanager
def spread(args: argparse.Namespace, source: ModelSource) -> Iterator[ModelSource]:
    """Give ``source``, whose texts are read by the cluster while the block lasts if that was asked for."""
    if args.engine != "ray":
        yield source
        return
    from sce_desktop.tasks.cluster.ray_pool import RayCluster

    lazy: Any = source
    with RayCluster(_wish(args)) as cluster:
        lazy.use(cluster.pool)
        try:
            yield source
        finally:
            lazy.rest()
