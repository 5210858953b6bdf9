"""What the quickstart promises a newcomer: plain sentences about oneself become beliefs, and questions find them."""

from __future__ import annotations

import re

import httpx

EVERYDAY = (
    ("My cat is called Pixel.", "What is my cat's name?", "Pixel"),
    ("I live in Ghent.", "Where do I live?", "Ghent"),
    ("I work as a carpenter.", "What is my job?", "carpenter"),
    ("My wife's name is Ines.", "What is my wife called?", "Ines"),
    ("I'm allergic to penicillin.", "What am I allergic to?", "penicillin"),
    ("I don't eat pork.", "What don't I eat?", "pork"),
    ("I drive an old Volvo.", "Which car do I drive?", "Volvo"),
    ("My birthday is on 12 August.", "When is my birthday?", "12 August"),
    ("I gave up sugar in January.", "What did I give up?", "sugar"),
    ("I'm learning Greek.", "Which language am I learning?", "Greek"),
    ("I play the trumpet in a brass band.", "Which instrument do I play?", "trumpet"),
    ("My sister lives in Toronto.", "Where does my sister live?", "Toronto"),
    ("I have two sons, Jonas and Emil.", "What are my sons called?", "Jonas.*Emil"),
    ("I have a dentist appointment on Thursday at 8.", "When is my dentist appointment?", "dentist"),
    ("I prefer window seats.", "Which seats do I prefer?", "window"),
    ("I hate coriander.", "Which herb do I hate?", "coriander"),
    ("We're getting married in June.", "When are we getting married?", "June"),
    ("I take metformin every morning.", "Which medicine do I take?", "metformin"),
    ("My favourite colour is green.", "What is my favourite colour?", "green"),
    ("I use Neovim on Fedora.", "Which editor do I use?", "Neovim"),
    ("I was born in Split.", "Where was I born?", "Split"),
    ("My boss is called Henrik.", "Who is my boss?", "Henrik"),
    ("I'm vegetarian.", "What is my diet?", "vegetarian"),
    ("I ran my first marathon last autumn.", "When did I run my first marathon?", "marathon"),
)
"""What somebody says first, what they ask then, and what the context has to say."""

BELIEFS, ANSWERS, MOST_LINES = 22, 24, 48


async def test_plain_sentences_become_beliefs_and_are_found(client: httpx.AsyncClient) -> None:
    silent = []
    for said, _, _ in EVERYDAY:
        answer = await client.post("/turns", params={"mode": "sync"}, json={"user_id": "newcomer", "content": said})
        [turn] = answer.json()["turns"]
        kinds = {one["type"] for one in turn["candidates"] if one["decision"] != "rejected"}
        silent.extend([said] if kinds <= {"episodic"} else [])
    blocks = {}
    for _, asked, _ in EVERYDAY:
        answer = await client.post("/query", json={"user_id": "newcomer", "query": asked})
        blocks[asked] = answer.json()["context"]["text"]
    missing = [asked for _, asked, expected in EVERYDAY if not re.search(expected, blocks[asked], re.DOTALL)]
    assert len(EVERYDAY) - len(silent) >= BELIEFS, silent
    assert len(EVERYDAY) - len(missing) >= ANSWERS, missing
    assert sum(block.count("\n- ") + block.startswith("- ") for block in blocks.values()) <= MOST_LINES
