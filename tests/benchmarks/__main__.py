"""``python -m tests.benchmarks [PART ...]``: measure this machine and print; nothing is asserted.

Parts: embed, score, import, encodings, store, window, finetune, epochs, review, edits, adding (these if none
is named), start, repair, relabel, columns, soak, million, ten-million, ray (with the extra [ray]), ray-files;
and findings, final, queues, languages, why, clusters, draft, embed-gpu, gpus, large-finetune, half-vectors,
which need ``--data``, the labelled sets; embed-gpu and gpus NVIDIA GPUs too. With ``--data FILE``, a labelled
set, review is one in focus mode.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

PARTS = (
    *("embed", "score", "import", "encodings", "store", "window", "finetune", "epochs", "review", "edits"),
    "adding",
)
DATA_PARTS = (
    *("findings", "final", "queues", "languages", "why", "clusters", "draft", "embed-gpu", "gpus"),
    "large-finetune",
    "half-vectors",
)
OWN_PARTS = (
    *("start", "repair", "relabel", "columns", "soak", "million", "ten-million"),
    *("ray", "ray-files"),
)  # run when they are named


def main() -> None:
    """Run the parts that were asked for."""
    from tests.benchmarks import gpus, tables

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS + OWN_PARTS + DATA_PARTS))
    parser.add_argument("--model", default="sce-mini", help="name or folder of the model to score with")
    parser.add_argument(
        "--labels", type=int, nargs="+", default=[4, 10, 50, 200], help="label counts to score"
    )
    parser.add_argument(
        "--seconds", type=float, default=4.0, help="of one measurement (embed, embed-gpu, score)"
    )
    parser.add_argument("--texts", type=int, default=256, help="texts a call (embed)")
    parser.add_argument(
        "--rows",
        type=int,
        default=1_000_000,
        help="rows of the generated table (import, columns, gpus, ray, ray-files)",
    )
    parser.add_argument("--steps", nargs="+", default=(), choices=tables.STEPS, help="of them (import)")
    parser.add_argument(
        "--folder", type=Path, help="its table and projects are kept, and used again (import)"
    )
    parser.add_argument("--files", type=int, default=40, help="tables of each kind (encodings)")
    parser.add_argument("--window-rows", type=int, default=20_000, help="rows of the table (window)")
    parser.add_argument("--tune-rows", type=int, default=300, help="labelled rows (finetune)")
    parser.add_argument("--window-seconds", type=float, default=20.0, help="of scoring (window)")
    parser.add_argument(
        "--review-rows", type=int, default=100_000, help="rows of the project (store, review, edits, adding)"
    )
    parser.add_argument(
        "--review-labels", type=int, default=200, help="labels of the project (store, review)"
    )
    parser.add_argument("--repair-rows", type=int, default=300_000, help="rows of the project (repair)")
    parser.add_argument("--relabel-rows", type=int, default=2_000, help="rows of the project (relabel)")
    parser.add_argument("--soak-rows", type=int, default=150_000, help="rows of the table (soak)")
    parser.add_argument(
        "--large-rows",
        type=int,
        help="rows instead of 40,000 or of millions (large-finetune, million, ten-million)",
    )
    parser.add_argument("--large-labels", type=int, default=20, help="labels (million, ten-million)")
    parser.add_argument("--several", action="store_true", help="several labels a row (million, ten-million)")
    parser.add_argument("--times", type=int, default=5, help="of each (start, million, ten-million)")
    parser.add_argument("--project", type=Path, help="made before, or to be kept (million, ten-million)")
    parser.add_argument("--pictures", type=Path, help="folder for screenshots (million, ten-million)")
    parser.add_argument("--minutes", type=float, default=10.0, help="of labelling (soak)")
    parser.add_argument(
        "--alternate", action="store_true", help="every other 10 seconds no worker gives way (soak)"
    )
    parser.add_argument(
        "--data", type=Path, help="folder of labelled sets (findings, queues, embed-gpu, ray)"
    )
    parser.add_argument("--sets", nargs="+", help="names of sets (findings, queues, why, embed-gpu)")
    parser.add_argument("--set-rows", type=int, default=4000, help="of a set at most (findings, queues)")
    parser.add_argument("--draws", type=int, default=100, help="random samples (findings, final)")
    parser.add_argument("--sample", type=int, default=200, help="rows of a random sample (findings, final)")
    parser.add_argument("--seeds", type=int, default=5, help="users that are played (queues)")
    parser.add_argument("--plot", type=Path, help="SVG file to draw (queues)")
    parser.add_argument(
        "--vectors", type=Path, help="file that keeps text vectors for the next time (findings, queues)"
    )
    parser.add_argument("--why-rows", type=int, default=500, help="of each set (why)")
    parser.add_argument("--why-labelled", type=int, default=10_000, help="labelled rows to look among (why)")
    parser.add_argument("--why-threads", type=int, default=1, help="of the processor (why)")
    parser.add_argument(
        "--methods",
        nargs="+",
        default=["pooled"],
        choices=["pooled", "occlusion", "gradient"],
        help="how words are weighed (why)",
    )
    parser.add_argument("--ray-workers", type=int, default=2, help="of the cluster (ray)")
    parser.add_argument("--words", type=int, default=0, help="of a text at most; 0: all (ray)")
    gpus.add_options(parser)
    args = parser.parse_args()
    known = PARTS + OWN_PARTS + DATA_PARTS
    if wrong := set(args.parts) - set(known):
        parser.error(f"no part is named {', '.join(sorted(wrong))}; there are {', '.join(known)}")
    if args.data is None and set(args.parts) & set(DATA_PARTS):
        parser.error(f"{', '.join(DATA_PARTS)} need --data, the folder of labelled sets")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from tests.benchmarks import (
        adding,
        clusters,
        columns,
        draft,
        edits,
        embed,
        embed_gpu,
        encodings,
        epochs,
        focus,
        half_vectors,
        languages,
        large_finetune,
        large_window,
        ray_files,
        relabel,
        repair,
        review,
        score,
        soak,
        start,
        store,
        why,
        window,
    )
    from tests.benchmarks.measure import machine

    print(machine())
    for part in args.parts or PARTS:
        if part == "embed":
            embed.run(rows=args.texts, seconds=args.seconds)
        elif part == "score":
            score.run(model=args.model, label_counts=args.labels, seconds=args.seconds)
        elif part == "import":
            tables.run(rows=args.rows, steps=args.steps, folder=args.folder)
        elif part == "encodings":
            encodings.run(files=args.files)
        elif part == "store":
            store.run(rows=args.review_rows, labels=args.review_labels)
        elif part == "languages":
            languages.run(args.data)
        elif part == "why":
            why.run(
                model=args.model,
                data=args.data,
                names=args.sets or ["us_congress_bills"],
                rows=args.why_rows,
                threads=args.why_threads,
                methods=args.methods,
            )
            why.run_neighbours(rows=args.why_labelled)
        elif part == "large-finetune":
            large_finetune.main(args.data, args.sets or [], args.model, args.large_rows or 40_000)
        elif part == "half-vectors":
            half_vectors.run(args.data, args.sets, model=args.model, rows=args.set_rows)
        elif part == "clusters":
            run_clusters(clusters.run, args)
        elif part == "ray":
            from tests.benchmarks import ray_cluster  # it needs the extra

            ray_cluster.run(
                rows=args.rows,
                workers=args.ray_workers,
                model=args.model,
                data=args.data,
                words=args.words,
            )
        elif part == "ray-files":
            ray_files.run(rows=args.rows, labels=args.labels, model=args.model, data=args.data)
        elif part == "draft":
            draft.run(model=args.model, data=args.data, names=args.sets, rows=args.set_rows)
        elif part == "embed-gpu":
            embed_gpu.run(model=args.model, data=args.data, names=args.sets, seconds=args.seconds)
        elif part == "gpus":
            gpus.run_all(args)
        elif part in DATA_PARTS:
            run_on_sets(part, args)
        elif part == "review" and args.data is not None:
            focus.run(args.data)
        elif part == "review":
            review.run(rows=args.review_rows, labels=args.review_labels)
        elif part == "edits":
            edits.run(rows=args.review_rows)
        elif part == "repair":
            repair.run(rows=args.repair_rows)
        elif part == "start":
            start.run(times=args.times)
        elif part == "relabel":
            relabel.run(rows=args.relabel_rows)
        elif part == "soak":
            soak.run(rows=args.soak_rows, minutes=args.minutes, alternate=args.alternate)
        elif part == "columns":
            columns.run(rows=args.rows)
        elif part in ("million", "ten-million"):
            large_window.run(
                rows=args.large_rows or (1_000_000 if part == "million" else 10_000_000),
                labels=args.large_labels,
                multi_label=args.several,
                project=args.project,
                pictures=args.pictures,
                times=args.times,
            )
        elif part == "adding":
            adding.run(rows=args.review_rows)
        elif part == "epochs":
            epochs.run()
        elif part == "finetune":
            window.run_finetune(rows=args.tune_rows)
        else:
            window.run(rows=args.window_rows, seconds=args.window_seconds)


def run_clusters(run: Callable[..., None], args: argparse.Namespace) -> None:
    """Run the part "clusters", whose sets default to those that the documents report."""
    import tempfile

    from tests.benchmarks.clusters import SETS

    with tempfile.TemporaryDirectory() as folder:
        run(
            data=args.data,
            names=args.sets or SETS,
            model=args.model,
            rows=args.set_rows,
            cache_file=args.vectors or Path(folder) / "vectors.db",
        )


def run_on_sets(part: str, args: argparse.Namespace) -> None:
    """Run a part that needs labelled sets; their names and number default to what the documents report."""
    import tempfile

    from tests.benchmarks import final_labels, findings, queues
    from tests.benchmarks.labelled import scored_sets

    names = args.sets or ["us_congress_bills", "search_snippets"]
    if part == "queues" and not args.sets:
        names.append("book_titles")
    if part == "final" and not args.sets:
        names.append("dbpedia14")
    with tempfile.TemporaryDirectory() as folder:
        sets = scored_sets(
            args.data,
            names,
            model=args.model,
            rows=args.set_rows,
            cache_file=args.vectors or Path(folder) / "vectors.db",
        )
    if part == "findings":
        findings.run(sets, sample=args.sample, draws=args.draws)
    elif part == "final":
        final_labels.run(sets, sample=args.sample, draws=args.draws)
    else:
        queues.run(sets, seeds=args.seeds, plot=args.plot)


if __name__ == "__main__":
    main()
