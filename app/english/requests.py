"""Turns that only ask or request something, and tell nothing: questions, with a mark or without, tasks, and small talk.

People leave question marks out. Question words and tasks are those of English and of some other languages.
"""

from __future__ import annotations

import re
from typing import Final

from app.english.chitchat import after_chit_chat, is_chit_chat
from app.english.verbs import form_of
from app.english.word_lists import listed, pattern, words
from app.lexical.bm25 import STOP_WORDS, text_language
from app.lexical.tokens import normalise

_MARKS: Final = ("?", "\uff1f", "\u061f")
_SENTENCE: Final = re.compile(r"[^.!?\u3002\uff01\uff1f\u061f\n]+[.!?\u3002\uff01\uff1f\u061f\n]*")
_ASKING: Final = pattern("requests", "asking")
_WITHIN: Final = re.compile("|".join(listed("requests", "asking within")))
_POLITE: Final = pattern("requests", "polite")
_TELLING: Final = pattern("requests", "telling")
_THANKING: Final = pattern("requests", "thanking")
_LONGEST_THANKS: Final = 80
_TASKS: Final = words("requests", "tasks")
_STANDING: Final = words("requests", "standing")
_STANDING_WORDS: Final = pattern("requests", "standing words")
_QUOTED: Final = re.compile('["\u201c\u201e\u00ab\u300c][^"\u201d\u201c\u00bb\u300d]*["\u201d\u201c\u00bb\u300d]')
_ABROAD: Final = pattern("requests", "abroad")
_ABROAD_TELLING: Final = pattern("requests", "abroad telling")
_SPEAKER: Final = pattern("requests", "speaker")
_BESIDE: Final = pattern("requests", "told beside")
_NEW: Final = re.compile(r"(?: (?!(?:i|my|our|the|wh\w+)\b)[a-z']+){0,3}? (?:an?|another|some) ")
"""What a task makes, after its verb: `come up with a name for my cat`."""

_WORD: Final = re.compile(r"[a-z']+")
_FINITE: Final = words("requests", "finite")
_MOST_OF_A_NOUN: Final = 6
"""Words of the longest noun that is looked for at the beginning, with the verb or the colon after it."""


def only_asks(text: str) -> bool:
    """Tell whether every sentence of a text, but for small talk, asks or requests; small talk alone does not."""
    rest = [one for one in _SENTENCE.findall(text) if one.strip() and not is_chit_chat(one)]
    return bool(rest) and all(asks(one) or requests(one) for one in rest)


def only_greets(text: str) -> bool:
    """Tell whether a text greets, thanks or takes leave, in phrases known for it or around words without content.

    What thanks may say more, of nobody: `thank you, that will be all`.
    """
    if is_chit_chat(text):
        return True
    said = normalise(text).strip()
    if said.endswith(_MARKS) or _SPEAKER.search(said) or _ABROAD_TELLING.search(said):
        return False
    thanked = _THANKING.match(said)
    rest = said[thanked.end() :] if thanked else after_chit_chat(said)
    if rest is None or len(said) > _LONGEST_THANKS:
        return False
    if any(asks(one.strip(" ,!.")) or requests(one.strip(" ,!.")) for one in _SENTENCE.findall(rest)):
        return False
    empty = STOP_WORDS.get(text_language(said), frozenset())
    return thanked is not None or all(word in empty or len(word) == 1 for word in rest.split())


def asks(sentence: str) -> bool:
    """Tell whether a sentence is a question: by its mark, or by the words that it begins with.

    A task to note something of its speaker, put as a question, is none.
    """
    said = normalise(sentence).strip()
    if _TELLING.search(said) and _SPEAKER.search(said):
        return False
    return said.endswith(_MARKS) or _ASKING.match(said) is not None or _WITHIN.search(said) is not None


def told_beside(question: str) -> str:
    """Return what a question tells beside what it asks: a reason, or what is so of who asks; empty where nothing.

    `what can I bake, given that nuts make me ill?`, `which paint is best, I'm asthmatic?`
    """
    found = _BESIDE.search(normalise(question))
    return found[0] if found else ""


def makes(sentence: str) -> bool:
    """Tell whether a sentence gives the task to make something, also for its speaker: `write a letter to my bank`."""
    said, verb = _task(sentence)
    return verb is not None and _NEW.match(said, verb.end()) is not None


def requests(sentence: str) -> bool:
    """Tell whether a sentence gives a task (`translate this`), and no order that stands nor anything of its speaker.

    The verbs are those of English: `die` begins many a statement in German, and `rent is due` has a noun.
    """
    said = normalise(sentence).strip()
    if _ABROAD.match(said):
        return _ABROAD_TELLING.search(_QUOTED.sub("", said)) is None
    said, verb = _task(sentence)
    return verb is not None and _SPEAKER.search(said) is None


def _task(sentence: str) -> tuple[str, re.Match[str] | None]:
    """Return an English sentence from its first verb on, and that verb; None unless it gives a task that ends."""
    said = normalise(sentence).strip()
    said = said[_POLITE.match(said).end() :] if _POLITE.match(said) else said  # type: ignore[union-attr]
    first = _WORD.match(said)
    if first is None or first.group() in _STANDING or text_language(said) != "english":
        return said, None
    form = form_of(first.group())
    if first.group() not in _TASKS and (form is None or "base" not in form.kinds):
        return said, None
    return said, None if _begins_with_noun(said) or _STANDING_WORDS.search(said) else first


def _begins_with_noun(said: str) -> bool:
    """Tell whether a sentence begins with a noun that looks like a verb: `smoke alarms need ...`, `paint colour: ...`.

    No small word parts such a noun from its verb; in a label one follows its second word at the earliest.
    """
    small = STOP_WORDS["english"]
    label, colon, _ = said.partition(": ")
    if colon and 1 < len(named := label.split()) <= _MOST_OF_A_NOUN and named[1] not in small:
        return named[0] not in _TASKS
    told = _QUOTED.sub('"', said).split()[:_MOST_OF_A_NOUN]
    for place, word in enumerate(told[1:], 1):
        if word in small and word not in _FINITE:
            return False
        verb = form_of(word)
        if word in _FINITE or (place > 1 and told[place - 1].endswith("s") and verb and "base" in verb.kinds):
            return True
    return False
