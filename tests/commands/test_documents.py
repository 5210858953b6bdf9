"""`typed-memory documents`: a folder is stored, listed, stored again and erased."""

from __future__ import annotations

from pathlib import Path

from tests.commands.program import Served


def test_a_folder_is_stored_listed_and_erased(service: Served, user: str, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "tea.md").write_text("# Tea\n\nThe kettle is descaled on Mondays.\n")
    (tmp_path / "plain.txt").write_text("The gate opens at seven.\n")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / ".hidden.txt").write_text("nobody reads this")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    first = service.command("documents", "add", str(tmp_path), "--user-id", user)
    assert "3 files: 2 added; 2 sections" in first.stdout
    assert "it has no text" in first.stderr
    assert first.returncode == 1
    (tmp_path / "empty.txt").unlink()
    (tmp_path / "plain.txt").write_text("The gate opens at eight.\n")
    again = service.command("documents", "add", str(tmp_path), "--user-id", user)
    assert (again.returncode, again.stdout) == (0, "2 files: 1 replaced, 1 unchanged; 2 sections\n")
    told = service.command("documents", "list", "--user-id", user).stdout
    assert "deep/tea.md" in told
    assert "Tea" in told
    answered = service.command("recall", "When does the gate open?", "--user-id", user).stdout
    assert "eight" in answered
    gone = service.command("documents", "erase", "deep/tea.md", "--user-id", user, "--yes")
    assert "erased deep/tea.md: 1 memory (era_" in gone.stdout
    assert "tea.md" not in service.command("documents", "list", "--user-id", user).stdout
    missing = service.command("documents", "add", str(tmp_path / "none"))
    assert "there is no such file or folder" in missing.stderr
