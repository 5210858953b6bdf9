"""Pictures of how a store's figures grow with its memories, for the documents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

IMAGES = Path(__file__).parents[2] / "docs" / "images"

ALONG = "memories in the store"


def draw(results: Path, folder: Path = IMAGES) -> None:
    """Draw the growth curves of a run's results."""
    found = sorted(json.loads(results.read_text(encoding="utf-8")), key=lambda one: one["memories"])
    memories = [one["memories"] for one in found]
    kinds = dict.fromkeys(kind for one in found for kind in one["questions"])
    times = {kind: [one["questions"].get(kind, {}).get("p50") for one in found] for kind in kinds}
    times["a typed write"] = [one["write"] for one in found]
    times["an event to the largest scope"] = [one.get("event_to_largest") for one in found]
    save(folder / "scale-times.svg", memories, times, "milliseconds, median")
    rates = {
        "bulk import": [one["import_per_second"] for one in found],
        "batches of 250": [one["batch_per_second"] for one in found],
    }
    save(folder / "scale-rates.svg", memories, rates, "memories a second")
    save(folder / "scale-bytes.svg", memories, _by_table(found), "bytes a memory")


def _by_table(found: Sequence[Mapping[str, Any]]) -> dict[str, list[float | None]]:
    """Return the bytes of the largest tables, and of all."""
    last = found[-1]["bytes_by_table"]
    most = sorted(last, key=last.__getitem__, reverse=True)[:5]
    return {"all": [one["bytes_per_memory"] for one in found]} | {
        name: [one["bytes_by_table"].get(name) for one in found] for name in most
    }


def save(
    path: Path, places: Sequence[int], lines: Mapping[str, Sequence[float | None]], unit: str, along: str = ALONG
) -> None:
    """Draw lines over places on a logarithmic axis, which is named for what is `along` it."""
    mpl.rcParams["svg.hashsalt"] = "typed-memory"  # the same figures, the same file
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for name, values in lines.items():
        pairs = [(at, value) for at, value in zip(places, values, strict=True) if value is not None]
        axes.plot([at for at, _ in pairs], [value for _, value in pairs], marker="o", label=name)
    axes.set_xscale("log")
    axes.set_xticks(places, [f"{one:,}" for one in places])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel(along)
    axes.set_ylabel(unit)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})
