"""What people ask of their own lives, and the turns that tell it, in several languages."""

from __future__ import annotations

import pytest

from app.english.own_life import own_life_asked, own_life_told


@pytest.mark.parametrize(
    ("question", "told", "untold", "predicate"),
    [
        ("what's my address now", "we got the keys to the cottage on Friday", "the keys are rusty", "lives-in"),
        ("¿en qué ciudad vivo?", "ya nos mudamos a Gijón", "ayer llovió en Gijón", "lives-in"),
        ("In welcher Stadt wohne ich?", "der Umzug nach Bamberg ist vorbei", "Bamberg hat viele Brücken", "lives-in"),
        ("onde eu moro?", "mudei pra Recife mês passado", "Recife tem praias lindas", "lives-in"),
        ("где я теперь живу?", "мы переехали в Тулу", "в Туле жарко", "lives-in"),
        ("今どこに住んでる", "先週札幌に引っ越しました", "札幌は雪です", "lives-in"),
        ("我现在住哪儿?", "上个月搬家了 房租便宜", "昨天下雨了", "lives-in"),
        ("où est-ce que je travaille ?", "j'ai démissionné, je suis à mon compte", "il fait beau à Lyon", "works-at"),
        ("che lavoro faccio?", "mi hanno assunta in una libreria", "ho letto un libro", "works-at"),
        ("¿para qué editorial trabajo?", "me contrataron en marzo", "leo en marzo", "works-at"),
        ("can you tell me where I'm living", "got a room in Portswood", "the room is cold", "lives-in"),
        ("do you know what I do for a living?", "I used to be a stoker", "it used to be cold", "works-at"),
        ("what do I do?", "I'm retraining to be a welder", "the welder came", "works-at"),
        ("which part of the country do we live in", "Our curtains? Hung, here in Hitra.", "Hitra is windy", "lives-in"),
        ("what village does the user live in?", "Three nights in Molde, my bed creaks.", "my bed creaks", "lives-in"),
        ("dans quel quartier j'habite ?", "les voisins à Vaise sont gentils", "les voisins sont gentils", "lives-in"),
        ("w jakim mieście teraz mieszkam?", "sąsiad w Toruniu gra na tubie", "sąsiad gra na tubie", "lives-in"),
        ("kde bydlím?", "na zvonku v Brně je moje jméno", "na zvonku je moje jméno", "lives-in"),
        ("which shop do I work in", "I got hired on Monday", "the shop is closed", "works-at"),
        ("¿cómo me llamo?", "soy Ximena y tengo dos gatos", "tengo dos gatos", "has-name"),
        ("do you know my name?", "call me Tadhg", "her name's Saoirse", "has-name"),
    ],
)
def test_a_turn_tells_what_a_question_asks_of_the_askers_life(
    question: str, told: str, untold: str, predicate: str
) -> None:
    assert own_life_asked(question) == {predicate}
    assert predicate in own_life_told(told)
    assert predicate not in own_life_told(untold)


@pytest.mark.parametrize(
    "question", ["where does my aunt live?", "wo ist die Post?", "¿dónde trabaja Iker?", "他住在哪里"]
)
def test_nothing_is_asked_of_ones_own_life_where_the_question_is_about_others(question: str) -> None:
    assert own_life_asked(question) == frozenset()
