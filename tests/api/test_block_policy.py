"""The policy of the context block over HTTP: what enters it, in which order, and what an answer must heed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.api.conftest import written

USER = "u1"


async def tell(client: httpx.AsyncClient, day: int, *said: str, session: str = "s", role: str = "user") -> None:
    """Tell the service turns of one day, a minute apart."""
    turns = [
        {"role": role, "content": text, "occurred_at": f"2026-03-{day:02}T09:{minute:02}:00Z"}
        for minute, text in enumerate(said)
    ]
    body = {"user_id": USER, "session_id": session, "turns": turns}
    answer = await client.post("/turns", params={"mode": "sync"}, json=body)
    assert answer.status_code == 200, answer.text


async def ask(client: httpx.AsyncClient, question: str, **fields: Any) -> dict[str, Any]:
    body = {"query": question, "user_id": USER, "now": "2026-03-28T12:00:00Z", **fields}
    answer = await client.post("/query", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def block(client: httpx.AsyncClient, question: str, **fields: Any) -> str:
    return str((await ask(client, question, **fields))["context"]["text"])


async def reasons(client: httpx.AsyncClient, question: str, **fields: Any) -> set[str]:
    answer = await ask(client, question, explain=True, **fields)
    return {one["why"] for one in answer["plan"]["cut"]}


async def test_what_only_asks_is_recalled_where_the_question_asks_what_was_asked(client: httpx.AsyncClient) -> None:
    await tell(client, 1, "My bike is a red Koga.", "where did i park the bike", "Which bike do I ride?")
    shown = await block(client, "Which bike do I ride?")
    assert "red Koga" in shown
    assert "park the bike" not in shown
    assert "Which bike" not in shown
    assert "only asks" in await reasons(client, "Which bike do I ride?")
    assert "park the bike" in await block(client, "What did I ask about the bike?")
    assert "park the bike" in await block(client, "Which bike do I ride?", min_relevance=0)


async def test_what_the_assistant_said_is_recalled_where_it_is_asked_for(client: httpx.AsyncClient) -> None:
    await tell(client, 1, "I play the oboe in an orchestra.")
    await tell(client, 1, "How nice that you play the oboe in an orchestra!", role="assistant", session="s")
    await tell(client, 2, "For reeds, try the shop of Mr. Lenz in the old town.", role="assistant", session="t")
    assert "assistant:" not in await block(client, "Which instrument do I play?")
    assert "Mr. Lenz" in await block(client, "What did you recommend for reeds?")


async def test_the_last_turns_of_the_session_that_asks_are_left_out(client: httpx.AsyncClient) -> None:
    await tell(client, 3, "The boiler man comes with a green van.", session="now")
    question = "What does the boiler man come with?"
    assert "green van" in await block(client, question)
    assert "green van" in await block(client, question, session_id="other")
    assert "green van" not in await block(client, question, session_id="now")
    assert "among the last turns of the session that asks" in await reasons(client, question, session_id="now")
    assert "green van" in await block(client, question, session_id="now", recent_turns=0)


@pytest.mark.parametrize(
    ("before", "after", "question", "old", "new"),
    [
        (
            "I live in Trondheim.",
            "Our house in Bergen has a garden at last.",
            "Where do I live?",
            "Trondheim",
            "Bergen",
        ),
        ("I take the tram to work.", "I cycle to work now.", "How do I get to work?", "tram", "cycle"),
        (
            "My cello teacher is Ilse.",
            "Ilse retired, the cello is taught by Bruno.",
            "Who teaches me cello?",
            "is Ilse",
            "Bruno",
        ),
    ],
)
async def test_a_change_told_in_other_words_leads_and_marks_what_it_may_have_replaced(
    client: httpx.AsyncClient, before: str, after: str, question: str, old: str, new: str
) -> None:
    await tell(client, 1, before)
    await tell(client, 9, after, session="t")
    lines = [line for line in (await block(client, question)).splitlines() if line.startswith("- ")]
    assert new in lines[0]
    assert all("perhaps replaced 2026-03-09" in line for line in lines if old in line and new not in line)


async def test_a_later_turn_that_no_arm_found_is_fetched(client: httpx.AsyncClient) -> None:
    await tell(client, 1, "I work at Meridian Optics.")
    await tell(client, 20, "Meridian Optics let me go, Quantor hired me the same day.", session="t")
    fillers = [f"where can i buy {number} kilos of plaster to work at a wall" for number in range(240)]
    for first in range(0, len(fillers), 48):
        await tell(client, 2, *fillers[first : first + 48], session=f"f{first}")
    shown = await block(client, "Where do I work?")
    assert shown.index("Quantor") < shown.index("is employed") if "is employed" in shown else "Quantor" in shown


async def test_history_comes_first_where_it_is_asked_for(client: httpx.AsyncClient) -> None:
    for month, value in (("01", "sepia"), ("02", "amber")):
        stated = f"2026-{month}-01T09:00:00Z"
        await written(
            client,
            "preference",
            user_id=USER,
            preference_key="reader.colour",
            preference_value=value,
            occurred_at=stated,
        )
    shown = await block(client, "Which reader colour did I previously prefer?")
    assert shown.index("sepia") < shown.index("amber")


async def test_what_is_asked_of_one_is_not_answered_by_another(client: httpx.AsyncClient) -> None:
    await written(client, subject="Runa", predicate="lives-in", object="Turku")
    await written(client, subject="Odd", predicate="has-role", object="tailor")
    assert "Turku" not in await block(client, "Where does Odd live?")
    assert "Turku" not in await block(client, "Where do I live?")
    assert "Turku" in await block(client, "Who lives in Turku?")


async def test_an_allergy_is_heeded_by_questions_about_food(client: httpx.AsyncClient) -> None:
    await tell(client, 1, "I'm allergic to sesame.")
    shown = await block(client, "Find us a place for brunch on Sunday.")
    assert shown.startswith("## Heed\n- (2026-03-01) user is allergic to sesame") or "sesame" in shown.splitlines()[1]
    assert "sesame" not in await block(client, "What is the square root of 289?")
    assert "sesame" not in await block(client, "Find us a place for brunch on Sunday.", heed="none")
    assert "sesame" in await block(client, "What is the square root of 289?", heed="all")


async def test_a_standing_instruction_is_heeded_by_tasks(client: httpx.AsyncClient) -> None:
    await tell(client, 1, "Always write dates in ISO format.", "My sister Tilda lives in Malmo.")
    assert "ISO format" in await block(client, "Draft a note to the landlord.")
    assert "ISO format" not in await block(client, "Where does my sister live?")


async def test_an_order_about_advice_is_heeded_where_advice_is_asked_for(client: httpx.AsyncClient) -> None:
    await tell(client, 1, "Don't recommend horror films, I can't stand them")
    assert "horror" in await block(client, "What should I watch tonight?")
    assert await block(client, "What is 12 times 14?") == ""
    assert await block(client, "thanks, that's all for today") == ""


async def test_a_severe_rule_is_heeded_by_questions_about_its_subject(client: httpx.AsyncClient) -> None:
    await written(
        client, "constraint", user_id=USER, predicate="may-not-fly", rule="with budget airlines", severity="high"
    )
    assert "budget airlines" in await block(client, "Compare airlines for the trip to Oslo.")
    assert "budget airlines" not in await block(client, "Write a poem about snow.")


@pytest.mark.parametrize(
    "greeting", ["Buongiorno!", "vielen dank, bis morgen", "¡Hola, qué tal?", "おはようございます"]
)
async def test_small_talk_gets_nothing_in_other_languages(client: httpx.AsyncClient, greeting: str) -> None:
    await tell(client, 1, "I'm allergic to sesame.", "Always write dates in ISO format.")
    assert not await block(client, greeting)


@pytest.mark.parametrize(
    ("told", "question"),
    [
        ("hab leider ne schlimme Walnussallergie", "Schlag mir einen Kuchen vor"),
        ("no puedo tomar nada con lactosa", "¿Qué postre preparo?"),
        ("花生过敏,严重的那种", "推荐一个甜品"),
        ("jag äter inte fisk längre", "Vad ska jag laga till middag?"),
        ("刺身は食べられないんです", "夕食に何がいい?"),
    ],
)
async def test_an_allergy_that_nothing_was_extracted_from_is_heeded_in_its_words(
    client: httpx.AsyncClient, told: str, question: str
) -> None:
    await tell(client, 1, told)
    await tell(client, 2, "Wer ist gegen Nüsse allergisch?", session="t")
    shown = await block(client, question)
    assert f"user: {told}" in shown
    assert "Wer ist" not in shown
    assert "## Heed" not in await block(client, question, heed="none")
    assert told not in await block(client, question, session_id="s")


async def test_a_turn_whose_belief_is_heeded_is_not_heeded_beside_it(client: httpx.AsyncClient) -> None:
    await tell(client, 1, "I am allergic to walnuts.")
    assert (await block(client, "Suggest a cake for Sunday.")).count("walnuts") == 1


@pytest.mark.parametrize(
    ("question", "shown", "hidden"),
    [
        ("Welche Schuhgröße habe ich?", "43", "Lada"),
        ("Quelle est ma couleur préférée ?", "teal", "43"),
        ("¿Qué coche tenía antes?", "Lada", "teal"),
        ("我以前开什么车", "Lada", "teal"),
    ],
)
async def test_a_typed_fact_answers_in_other_languages(
    client: httpx.AsyncClient, question: str, shown: str, hidden: str
) -> None:
    facts = (("shoe-size", "43"), ("favourite-colour", "teal"), ("drives", "Lada"), ("drives", "Fiat"))
    for day, (predicate, value) in enumerate(facts, start=1):
        at = f"2026-03-{day:02}T09:00:00Z"
        await written(client, subject="user", predicate=predicate, object=value, occurred_at=at, scope="user")
    answer = await ask(client, question)
    assert shown in answer["context"]["text"]
    assert hidden not in answer["context"]["text"]
    assert answer["understood"]["question"] == question


@pytest.mark.parametrize(
    ("told", "later", "question"),
    [
        ("I live in Vigo.", "My cousin has moved to a flat in Lugo.", "Where do I live?"),
        ("Ich wohne in Fürth.", "Mein Onkel hat jetzt eine Wohnung in Erlangen.", "Wo wohne ich?"),
    ],
)
async def test_what_is_told_of_ones_relatives_changes_nothing_of_oneself(
    client: httpx.AsyncClient, told: str, later: str, question: str
) -> None:
    await tell(client, 1, told, session="a")
    await tell(client, 9, later, session="b")
    shown = await block(client, question)
    assert told.rstrip(".").rpartition(" ")[2] in shown
    assert "perhaps replaced" not in shown
