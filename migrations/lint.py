"""`python -m migrations.lint`: squawk reads the SQL of every migration that a live service may have to bear.

Needs no database. Exits with 1 and squawk's findings if there are any. A migration for which a rule's concern has been
looked into, and found not to apply, says so: `HARMLESS = {"ban-drop-constraint": "it comes back, wider"}`.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from alembic import command
from alembic.script import ScriptDirectory

from app.db import migrate

SINCE = "0004"
"""Migrations up to this one make the base: they run on an empty database, where nobody waits for a lock."""

RULES = Path(__file__).parents[1] / ".squawk.toml"


def statements() -> dict[str, str]:
    """Return the SQL of each migration after `SINCE`, by the name of its file."""
    found: dict[str, str] = {}
    before = SINCE
    for script in reversed(list(ScriptDirectory(str(migrate.MIGRATIONS)).walk_revisions(SINCE, "head"))):
        if script.revision == SINCE:
            continue
        written = io.StringIO()
        configuration = migrate.configuration("")
        configuration.output_buffer = written
        command.upgrade(configuration, f"{before}:{script.revision}", sql=True)
        allowed = "".join(f"-- squawk-ignore-file {rule}\n" for rule in getattr(script.module, "HARMLESS", ()))
        found[Path(script.path).stem] = f"{allowed}\n{written.getvalue()}"
        before = script.revision
    return found


def main() -> int:
    """Check them all; return the exit code."""
    scripts = Path(sys.executable).parent
    squawk = shutil.which("squawk", path=os.pathsep.join((str(scripts), os.environ.get("PATH", os.defpath))))
    if squawk is None:
        print("squawk is not installed: run `make lint`, which installs it", file=sys.stderr)  # noqa: T201
        return 1
    found = statements()
    if not found:
        print(f"No migrations after {SINCE}.")  # noqa: T201
        return 0
    with tempfile.TemporaryDirectory(prefix="migrations-") as folder:
        for name, sql in found.items():
            Path(folder, f"{name}.sql").write_text(sql)
        files = sorted(path.name for path in Path(folder).iterdir())
        checked = subprocess.run([squawk, "--config", RULES, *files], cwd=folder, check=False)  # noqa: S603
    return checked.returncode


if __name__ == "__main__":
    sys.exit(main())
