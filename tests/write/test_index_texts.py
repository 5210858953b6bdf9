"""Which texts a turn is found by: its own words, and, where they need it, those with the end of the turn before."""

from __future__ import annotations

import pytest

from app.write import rows
from app.write.embed import CONTEXT_FOR, prepare
from tests.support.stores import Store

SHORT = "The one by the river, I think."
LONG = " ".join(f"word{place}" for place in range(CONTEXT_FOR + 1))
BEFORE = "Which of the two flats did you like better?"


async def test_a_long_text_is_read_once_for_all_of_its_parts(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def asks(content: str) -> bool:
        read.append(content)
        return False

    monkeypatch.setattr(rows, "ends_as_question", asks)
    await store.write("episodic", session_id="flats", content="The flat has a view of the river. " * 300)
    [parts] = await store.sql("SELECT count(*) FROM memory_index WHERE tenant_id = $1", store.tenant)
    assert parts["count"] > 10
    assert len(read) == 1


@pytest.mark.parametrize(
    ("text", "speaker", "before", "kinds"),
    [
        (SHORT, None, BEFORE, {"content", "context"}),
        (SHORT, "assistant", BEFORE, {"content", "context"}),
        (SHORT, None, None, {"both"}),
        (LONG, None, BEFORE, {"both"}),
        (LONG, "Nadja", BEFORE, {"both"}),
        (LONG, "assistant", BEFORE, {"content"}),
        (LONG, "tool", None, {"content"}),
    ],
)
async def test_a_long_turn_stands_alone_where_a_person_says_it(
    store: Store, text: str, speaker: str | None, before: str | None, kinds: set[str]
) -> None:
    about = {"session_id": "flats", "context": before}
    turn = store.candidate("episodic", about=about, text=text, speaker=speaker, session_id="flats")
    [prepared] = await prepare([turn], embedder=store.pipeline.embedder, now=store.pipeline.clock(), language="english")
    assert {one.kind for one in prepared.texts} == kinds
