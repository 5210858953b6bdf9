"""`python -m bench.scale`: fill stores of growing sizes over many tenants, measure each, and draw the growth."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from time import monotonic

from bench import importing, report
from bench.scale import filling, measure, pictures
from bench.scale.measure import ScaleResult
from bench.scale.shape import shapes
from bench.world import new_world, serving

RESULTS = Path(__file__).parents[1] / "results" / "scale.json"
TENANTS = 10_000
SIZES = (10_000, 100_000, 1_000_000)


def main() -> int:
    """Measure stores of these sizes, keep the figures, and draw them."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.scale",
        description="Measure stores of growing sizes over 10,000 tenants, the largest with a tenth of all memories. "
        "A million memories take some 6 GB of disk and ten minutes on idle cores.",
    )
    parser.add_argument("--memories", nargs="+", type=int, default=SIZES)
    parser.add_argument("--tenants", type=int, default=TENANTS)
    parser.add_argument(
        "--largest", type=int, default=0, help="memories of the largest tenant, where more than its share"
    )
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    started = monotonic()
    known = _known(given.output)
    for memories in sorted(given.memories):
        measured = asyncio.run(_measured(memories, given.tenants, given.largest))
        run = report.describe(postgres="", quick=False, seconds=monotonic() - started)
        result = {"date": run.date, "commit": run.commit, "machine": run.machine, **measured.as_json()}
        known[measured.memories] = result
        given.output.write_text(json.dumps(list(known.values()), indent=2) + "\n", encoding="utf-8")
    pictures.draw(given.output)
    return 0


def _known(path: Path) -> dict[int, dict[str, object]]:
    """Return the figures of earlier runs, by size."""
    if not path.exists():
        return {}
    return {one["memories"]: one for one in json.loads(path.read_text(encoding="utf-8"))}


async def _measured(memories: int, tenants: int, largest: int) -> ScaleResult:
    planned = shapes(memories, tenants, largest)
    done = 0
    began = monotonic()

    def progress(count: int) -> None:
        nonlocal done
        done += count
        sys.stderr.write(f"\rfill {memories:,}: {done:,}  ")

    async with new_world() as world:
        model = await filling.fill(world, planned, progress)
        filled = monotonic() - began
        await world.add_tenants([model + 1])
        stored = int(await world.owner.fetchval("SELECT count(*) FROM memories"))
        sizes = await measure.sizes(world, stored)
        await measure.quiet(world)
        async with serving(world) as service:
            questions = await measure.every_question(world, service, planned, model)
            write, batch = await measure.written(service, planned)
            event = await measure.event_to_largest(service) if planned[0].large else None
            content = await importing.exported(world, model, next(planned[1].users()))
            bulk = await importing.imported(service, content, model + 1)
        found, missing = await measure.recall(world, planned[0]) if planned[0].large else (1.0, 0)
        vacuum = await measure.vacuumed(world, 1)
    return ScaleResult(
        memories=stored,
        tenants=tenants,
        largest_scope=planned[0].large,
        fill_seconds=filled,
        questions=questions,
        write=write,
        event_to_largest=event,
        batch_per_second=batch,
        import_per_second=bulk,
        recall=found,
        rows_missing=missing,
        vacuum_seconds=vacuum,
        **sizes,
    )


if __name__ == "__main__":
    sys.exit(main())
