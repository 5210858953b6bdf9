"""How long a question takes by the size of its scope, and what is done a second by so many clients; both drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from statistics import median

from bench.asking import post, questions
from bench.client import Post, load
from bench.figures import Book, Spread
from bench.scale.pictures import IMAGES, save
from bench.stage import Stage, seed_of, user_of
from bench.world import key_of

SIZES = (100, 1_000, 3_000, 10_000, 30_000)
CLIENTS = (1, 2, 4, 8, 16, 32)
ROUNDS = 3
SECONDS = 3.0
ASKED = 1_000
"""The size of the scope that many clients ask."""


async def curves(stage: Stage, book: Book) -> None:
    """Measure both in turns, so that what else runs on the machine slows all sizes and numbers alike."""
    times = await _by_size(stage)
    rates = await _by_clients(stage)
    book.table(
        "Questions by the size of their scope, one client",
        ("memories", "p50 ms", "p95 ms"),
        [(f"{size:,}", *(f"{one:.1f}" for one in found)) for size, found in times.items()],
    )
    book.table(
        "Requests a second by clients, one process",
        ("clients", *rates),
        [(str(clients), *(f"{found[place]:.1f}" for found in rates.values())) for place, clients in enumerate(CLIENTS)],
        f"Medians of {ROUNDS} rounds in turns; questions to a scope of {ASKED:,}, writes and turns to a user a client.",
    )
    draw(times, rates)


def draw(times: Mapping[int, Sequence[float]], rates: Mapping[str, Sequence[float]]) -> None:
    """Draw times by sizes as multiples of those of `ASKED`, and rates by clients as shares of the highest."""
    named = enumerate(("median", "95th percentile"))
    lines = {name: [found[place] / times[ASKED][place] for found in times.values()] for place, name in named}
    unit = f"times a question to {ASKED:,} memories"
    save(IMAGES / "curve-latency.svg", list(times), lines, unit, "memories in the scope")
    found = {what: [one / max(each) for one in each] for what, each in rates.items()}
    save(IMAGES / "curve-throughput.svg", CLIENTS, found, "share of the most requests a second", "clients")


async def _by_size(stage: Stage) -> dict[int, list[float]]:
    """Return the median and the 95th percentile of questions by the size of their scope."""
    await stage.have_scopes(SIZES)
    posts = {size: _questions(size) for size in SIZES}
    found: dict[int, list[Spread]] = {size: [] for size in SIZES}
    for turn in range(ROUNDS + 1):
        for size in SIZES:
            stage.progress(f"questions to {size:,} memories", turn, ROUNDS)
            found[size].append(await _loaded(stage, posts[size], 1))
    # In the first round scopes are loaded into memory.
    return {
        size: [median(one.p50 for one in rounds[1:]), median(one.p95 for one in rounds[1:])]
        for size, rounds in found.items()
    }


async def _by_clients(stage: Stage) -> dict[str, list[float]]:
    """Return the requests a second by kind, for each number of clients."""
    found: dict[str, dict[int, list[float]]] = {}
    numbers = count()
    for turn in range(ROUNDS):
        for clients in CLIENTS:
            stage.progress(f"{clients} clients", turn, ROUNDS)
            for what, made in _kinds(_questions(ASKED), numbers).items():
                spread = await _loaded(stage, made(clients), clients)
                found.setdefault(what, {}).setdefault(clients, []).append(spread.per_second)
    return {what: [median(rounds[clients]) for clients in CLIENTS] for what, rounds in found.items()}


def _questions(size: int) -> list[Post]:
    user = user_of(size)
    return [post(one, user, key_of(0)) for one in questions(seed_of(0, user), size, 60)]


def _kinds(asked: Sequence[Post], numbers: count[int]) -> dict[str, Callable[[int], Sequence[Post]]]:
    """Return what makes the requests of so many clients, by their kind."""

    def facts(clients: int) -> list[Post]:
        made = ({"predicate": "bought", "object": f"thing {next(numbers)}"} for _ in range(_MOST))
        return [
            Post.of("/memories/typed/fact", {**one, "user_id": f"writer {place % clients}"}, key_of(0))
            for place, one in enumerate(made)
        ]

    def turns(clients: int) -> list[Post]:
        made = (f"I bought thing {next(numbers)} in Rome." for _ in range(_MOST))
        return [
            Post.of("/turns", {"content": one, "user_id": f"speaker {place % clients}"}, key_of(0))
            for place, one in enumerate(made)
        ]

    return {"POST /query": lambda _clients: asked, "POST /memories/typed/fact": facts, "POST /turns": turns}


_MOST = 3_000
"""Requests made for a round, more than are done in its time."""


async def _loaded(stage: Stage, posts: Sequence[Post], clients: int) -> Spread:
    return await load(stage.service.port, posts, clients=clients, count=_MOST, seconds=SECONDS)
