"""Recognition of chit-chat, of short turns that state something all the same, and of questions, in English."""

from __future__ import annotations

import re
from typing import Final

from app.english.word_lists import entries
from app.lexical.tokens import SPACELESS, normalise

_PHRASES: Final = frozenset(entries("chitchat"))
_LONGEST_PHRASE: Final = max(len(phrase.split()) for phrase in _PHRASES)
_MOST_WORDS: Final = 24
_MOST_CHARACTERS: Final = 200
"""Most characters of chit-chat."""

_WORD: Final = re.compile(rf"[{SPACELESS}]+|[^\W_]+(?:'[^\W_]+)*")
_LAUGHTER: Final = re.compile(
    r"a?(?:ha)+h?|(?:he)+h?|lo+l|lmf?a+o+|x+d+|(?:ja)+|o+h+|a+h+|h*m{2,}|y+e+s+|no+|o?k+|th?a?n?x+"
)

_LEAD: Final = (
    r"^(?:(?:so|and|but|also|yes|yeah|well|oh|hi|hey|hello|btw|by the way|no|actually|sorry|fyi|now|then)[,.!:]? ){0,3}"
)
_PASSING: Final = (
    r"(?:(?:so|very|really|just|a bit|a little|pretty|still|not|now|all|feeling|too) )*(?:tired|hungry|thirsty|bored|"
    r"busy|sleepy|"
    r"sad|happy|glad|good|great|fine|ok|okay|done|back|here|home|ready|sure|sorry|stuck|lost|confused|curious|afraid|"
    r"excited|"
    r"late|early|listening|thinking|wondering|kidding|joking|asking|trying|looking|waiting|impressed|unsure|wrong|"
    r"right|cold|"
    r"hot|sick|exhausted|stressed|set|with|in|on it|off)\b"
)
"""Moods of the moment (seed 003: "I'm tired today" is skipped)."""

_STATEMENT: Final = re.compile(
    rf"{_LEAD}(?:i|we)(?:'m|'re| am| are)(?: (?:actually|also))? (?!{_PASSING})\w|"
    r"\b(?:i|we|i've|we've|i'd|we'd)(?: (?:really|also|always|never|usually|only|mostly|no longer|just|already|often|"
    r"don't|do not|"
    r"can't|cannot|have|had|used to))* "
    r"(?!(?:agree|see|know|think|guess|hope|understand|mean|wonder|doubt|suppose|believe|bet|wish|forgot|tried|get|"
    r"need (?:help|more)|"
    r"have (?:to|an? (?:question|idea|problem|issue|doubt))|really|also|always|just|am|are|will|would|could|should|"
    r"can|did|do)\b)"
    r"[a-z]{2,}|"
    rf"{_LEAD}(?:my|our) (?!(?:bad|pleasure|god|goodness|apologies|mistake|point|question)\b)[\w'-]+ \w|"
    rf"{_LEAD}(?:please )?(?:call me|remember|note that|use|always|never|avoid|don't (?:call|use|send|ever)|"
    r"do not|keep|stop|skip|(?:answer|reply|respond|write|speak|talk)(?: to me)? (?:in|with|like)) \S|"
    rf"{_LEAD}please (?:be|answer|reply|respond|write|speak|address|include|format) \S|"
    rf"{_LEAD}(?:he|she|they)(?:'s|'re| (?:is|are|was|has|lives?|works?|left|moved|died|likes?|prefers?|hates?|got)) \w"
)
_THIRD_PERSON: Final = re.compile(
    r"^(?!(?:It|That|This|There|These|Those|What|Who|Where|When|Why|How|Which|Here|Everything|Nothing|Something)\b)"
    r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)? (?:is|are|was|were|has|had|lives?|works?|likes?|loves?|hates?|prefers?|manages?|"
    r"owns?|"
    r"reports?|leads?|moved|joined|left|quit|died|married|uses|got|starts?) \w|"
    r"^(?!(?:It|That|This|Everything|Nothing|He|She|They)\b)[A-Z][\w'-]+(?: [A-Z][\w'-]+)? (?:(?:just |has )?died|"
    r"(?:just |has )?passed away|quit|resigned|retired)[.!\u2026]*$|"
    r"^(?:It|That|He|She)(?:['\u2019]s| is) [A-Z][a-z]"
)
_POINTING: Final = re.compile(
    r"\b(?:it|that|this|them|you|one|so|here|there|what you mean|(?:i|we|you|he|she|they|it)(?:'ve| (?:have|has|had|"
    r"was|were|am|are|is|do|does|did|will|would|can|could)))$"
)
"""Words that refer to another turn, without which there is nothing to remember: `I love that`, `I was too`."""

_TAILS: Final = ("too", "again", "as well", "though", "now", "either", "anymore", "any more")
"""Words that may end any statement and add no content: `I eat meat again`."""
_MOST_TAILS: Final = 3
_STOPS: Final = ".!,\u2026 "

_CORRECTION: Final = re.compile(
    r"^(?:no|nope|actually|correction|wait|sorry|not)[,:.\u2014-] ?(?!(?:no|way|again|what|yet|really|sure)\b)[\w(]"
)
_SPEAKER: Final = re.compile(rf"^(?:[我私僕俺]|わたし|ぼく|저는|나는|제|내|ฉัน|ผม)[{SPACELESS}]{{3,}}")
"""First-person subjects in scripts without spaces."""

_LETTERS: Final = re.compile(r"[^\W\d_]+")
_OTHER_LANGUAGES: Final = frozenset(entries("other_languages"))

_LONGEST_END: Final = 40
_LONGEST_QUESTION: Final = 300
_ASKS: Final = re.compile(r"[?\uff1f\u061f][^\w?\uff1f\u061f]*$")
_SENTENCE: Final = re.compile(r"(?<=[.!?\uff1f]) (?=\w)|\n")
_OF_YOU: Final = re.compile(r"\b(?:do|did|are|were|have|had|is|was|does|has) (?:you|your)\b")
_OFFER: Final = re.compile(
    r"\b(?:want|need|mind|mean|ready|sure|ok|okay|done|think|see|know|agree|understand|hear|remember|questions?|"
    r"like (?:me|to|some|another|more)|else|anything|finished|there|looking|interested|happy with|satisfied)\b"
)
"""Words of a question about the conversation rather than about the person: `do you need help?`."""
_YES_OR_NO: Final = re.compile(r"(?:well |oh |um |uh )?(?:yes|yeah|yep|yup|no|nope|nah|of course|not yet)\b")


def is_chit_chat(text: str) -> bool:
    """Return whether the text consists of phrases of greeting, thanks, assent or leave."""
    if len(text) > _MOST_CHARACTERS:
        return False
    words = _WORD.findall(normalise(text))
    if len(words) > _MOST_WORDS:
        return False
    place = 0
    while place < len(words):
        taken = _phrase_at(words, place)
        if not taken:
            return False
        place += taken
    return True


def is_foreign(text: str) -> bool:
    """Return whether a text seems to be in a language other than English, by its letters or function words."""
    words = _LETTERS.findall(text.casefold())
    return any(not word.isascii() or word in _OTHER_LANGUAGES for word in words)


def states_something(text: str) -> bool:
    """Return whether a short text states something about its speaker or a named person, or corrects a statement."""
    plain = " ".join(text.split())
    folded = normalise(plain)
    if _SPEAKER.match(folded):
        return True
    if folded.endswith("?") or _POINTING.search(_without_tail(folded)):
        return False
    return any((_STATEMENT.search(folded), _CORRECTION.match(folded), _THIRD_PERSON.match(plain)))


def _without_tail(text: str) -> str:
    text = text.rstrip(_STOPS)
    for _ in range(_MOST_TAILS):
        tail = next((one for one in _TAILS if text.endswith(f" {one}")), None)
        if tail is None:
            break
        text = text.removesuffix(tail).rstrip(_STOPS)
    return text


def asks(text: str) -> bool:
    """Return whether the text ends in a question mark, whatever emoji or quotes follow it."""
    return _ASKS.search(text[-_LONGEST_END:]) is not None


def asks_of_you(text: str) -> bool:
    """Return whether the text ends with a question about the listener, so that a bare yes or no is an answer."""
    if not asks(text):
        return False
    last = _SENTENCE.split(normalise(text[-_LONGEST_QUESTION:].rstrip()))[-1]
    return _OF_YOU.search(last) is not None and _OFFER.search(last) is None


def is_yes_or_no(text: str) -> bool:
    """Return whether the text begins with yes or no."""
    return _YES_OR_NO.match(normalise(text)) is not None


def _phrase_at(words: list[str], place: int) -> int:
    """Return the number of words of the longest phrase that begins here, 0 if none does."""
    for length in range(min(_LONGEST_PHRASE, len(words) - place), 0, -1):
        if " ".join(words[place : place + length]) in _PHRASES:
            return length
    return 1 if _LAUGHTER.fullmatch(words[place]) else 0
