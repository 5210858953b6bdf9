"""Runs one system: takes commands as JSON lines on standard input and answers each with a line.

    python driver.py SYSTEM CONFIG

It runs in the peers' environment and imports nothing of the service.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

from systems import SYSTEMS, System  # the folder of this file is on the path


def main() -> None:
    """Answer commands until the end of the input."""
    output = sys.stdout
    sys.stdout = sys.stderr  # libraries print notices
    system = SYSTEMS[sys.argv[1]](json.loads(sys.argv[2]))
    for line in sys.stdin:
        command = json.loads(line)
        output.write(json.dumps(_done(system, command)) + "\n")
        output.flush()


def _done(system: System, command: Mapping[str, Any]) -> dict[str, Any]:
    user, clients = command.get("user", ""), command.get("clients", 1)
    match command["do"]:
        case "add":
            return _timed(lambda item: system.add(user, item), command["items"], clients)[0]
        case "add many":
            return _timed(lambda items: system.add_many(user, items), command["batches"], clients)[0]
        case "search":
            spread, found = _timed(lambda query: system.search(user, query), command["queries"], clients)
            return {**spread, "found": found}
        case _:
            return {"kilobytes": _resident()}


def _timed(do: Callable[[Any], Any], items: Sequence[Any], clients: int) -> tuple[dict[str, Any], list[Any]]:
    """Run the calls by so many threads; return the seconds of each, of all together, and the results in order."""
    seconds, results = [0.0] * len(items), [None] * len(items)
    turns = count()

    def work() -> None:
        while (place := next(turns)) < len(items):
            before = perf_counter()
            results[place] = do(items[place])
            seconds[place] = perf_counter() - before

    started = perf_counter()
    threads = [threading.Thread(target=work) for _ in range(clients)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    if 0.0 in seconds:
        raise RuntimeError("a call failed: see above")
    return {"seconds": seconds, "wall": perf_counter() - started}, results


def _resident() -> int:
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0])


if __name__ == "__main__":
    main()
