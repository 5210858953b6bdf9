"""The start of `typed-memory`: a hook of an agent runs at once, without the imports of the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the requested command."""
    if sys.argv[1:2] == ["hook"] and not {"--help", "-h"} & set(sys.argv):
        from app.features.agent_hooks.hook import main as run  # noqa: PLC0415

        run(sys.argv[2:])
        return
    from app.cli import main as run_command  # noqa: PLC0415

    run_command()


if __name__ == "__main__":
    main()
