"""Speech acts: what a speaker does with a sentence, or with a whole turn, told by its words.

Asserting, supposing, playing a role, joking, quoting, asking, denying. A sentence in another language, or one whose
mood the words don't show, counts as an assertion: an extractor that understands it may know better, and
`more_cautious` takes the worse of two verdicts. The patterns (`data/speech_acts.txt`) read lower-case text with
straight quotes and single spaces. What is not meant in any sentence of a turn is not meant.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Final

from app.english.presented import Span
from app.english.quotations import is_quoted
from app.english.role_play import RolePlayFrame, opens_frame
from app.english.word_lists import pattern, word_set, words
from app.lexical.tokens import normalise
from app.model import SpeechAct

UNSURE: Final = 0.3
"""The highest confidence of suppositions and role play (seed 003)."""

_LEADS: Final = pattern("speech_acts", "leads", re.IGNORECASE)
_LEAD: Final = pattern("speech_acts", "lead")
_TAKEN_BACK: Final = pattern("speech_acts", "taken back", re.IGNORECASE)
_SUPPOSED: Final = pattern("speech_acts", "supposed", re.IGNORECASE)
_MINE: Final = pattern("speech_acts", "mine")
_KIDDING: Final = pattern("speech_acts", "kidding", re.IGNORECASE)
_JOKE: Final = pattern("speech_acts", "joke", re.IGNORECASE)
"""A sentence that is called a joke: `As a joke: I am a billionaire`; not what was done as one."""

_LONGEST_TAG: Final = 2
"""Words before or after a retraction that state nothing: `Haha, just kidding, of course`."""

_FICTION: Final = pattern("speech_acts", "fiction", re.IGNORECASE)


_FRAMING: Final = pattern("speech_acts", "framing")
"""A claim to be something, and on its strength a request (seed 003: "I'm actually a doctor, so walk me ...")."""

_TRAIT: Final = pattern("speech_acts", "trait")
"""What people are rather than pose as: such a claim before a request is its reason."""

_ANCHOR: Final = pattern("speech_acts", "anchor")
"""Where, or since when: a claim that says so unasked is meant."""

_ALMOST: Final = pattern("speech_acts", "almost")
_PLAYING: Final = pattern("speech_acts", "playing")
_CASTING: Final = pattern("speech_acts", "casting")
_SUPPOSING: Final = pattern("speech_acts", "supposing")
_IF: Final = pattern("speech_acts", "if")
_COURTESY: Final = pattern("speech_acts", "courtesy")
_STANDING = re.compile(r"\b(?:ask|say|mention|request|want|need|tell|type|write|send|forget|sound|seem|use|give)s?\b")
"""What an assistant can notice: `if I ask for code, give me Python` is an order that stands."""

_UNREAL: Final = pattern("speech_acts", "unreal")
_TRAILING_IF: Final = pattern("speech_acts", "trailing if")
_BACK: Final = pattern("speech_acts", "back")
_LEFT: Final = pattern("speech_acts", "left")
_SUPPOSED_BEFORE: Final = pattern("speech_acts", "supposed before")
_ENDS_ASKING = re.compile(r"\?[\s\"')\]!?*_~\u2600-\u27bf\U0001f300-\U0001faff]*$")
_TELLS: Final = pattern("speech_acts", "tells")
"""Questions that state something: `did you know that I moved?`"""

_SAYS_FIRST: Final = pattern("speech_acts", "says first")
_ADDS: Final = pattern("speech_acts", "adds")
"""A reason or an explanation within a question."""

_INTERROGATIVE: Final = pattern("speech_acts", "interrogative")
_CLEFT = re.compile(r"^what(?:'s| is| was) [^?]{1,80}? (?:is|was) ")
_LABEL: Final = pattern("speech_acts", "label")
_SPOKEN = re.compile(r'"([^"]{1,600})(?:"|$)')
_SELF_IN_QUOTES = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|we|we're|our)\b")
_TITLE: Final = pattern("speech_acts", "title")
_SHORTEST_SPEECH = 3
_OWN_WORDS: Final = pattern("speech_acts", "own words")
_REPORT: Final = pattern("speech_acts", "report")
_SIGNED: Final = pattern("speech_acts", "signed")
"""The author of a quotation, at its end."""

_EXPERT: Final = pattern("speech_acts", "expert")
"""Experts on the speaker's own body, whose reported diagnosis counts as an assertion."""

_CLAUSES = re.compile(r"[,;:\u2014\u2013]| - |\bbut\b|\band (?=i\b|i'm\b|we\b|my\b|now\b|don't\b|never\b)")
_AFFIRMS: Final = pattern("speech_acts", "affirms")
_AFTER_REPORT: Final = re.compile(
    r"(?:(?:[,;:\u2014\u2013]| -)? (?:but|yet|so)|;) (?=(?:i|i'm|i've|we|we're|we've|my|our)\b)", re.IGNORECASE
)
"""Where the speaker's own words follow what others say."""

_SELF: Final = re.compile(r"\b(?:i|we)\b", re.IGNORECASE)
_THOUGHT: Final = re.compile(r"\b(?:think|believe)s?\b", re.IGNORECASE)
"""What is thought of the speaker is not told in the words of who thinks so, as what is said may be."""

_AUXILIARIES = word_set("am is are was were be been do does did have has had will would could")
_ADVERBS: Final = words("speech_acts", "adverbs")
_TASTES: Final = words("speech_acts", "tastes")
"""Verbs whose negation is a preference or a rule: `I don't like X` states a dislike."""

_POSSESSED = word_set("have has had got is are was were there's with")
_SUBORDINATORS = word_set("that because when if who which how where why since so whether until")
_NOBODY = frozenset({"nobody", "none", "neither", "nothing"})
_DONE = word_set("been had said did was went told knew met saw seen done gone got heard")
_NEAR = 8
"""Words of a clause within which its main verb is expected."""

_SENTENCE: Final = re.compile(r"\S(?:.*?)(?:[.!?]+(?=\s)|$)", re.MULTILINE)

_MOST_CHARACTERS: Final = 4_000
"""Characters of a turn that are looked at: a longer one is rarely all a joke."""

_UNMEANT: Final = frozenset({SpeechAct.HYPOTHETICAL, SpeechAct.ROLEPLAY, SpeechAct.SARCASM, SpeechAct.QUOTATION})


def _plays(text: str) -> bool:
    """Return whether the speaker takes a part, gives one, or claims one to be answered accordingly."""
    if _PLAYING.search(text) or _casts(text):
        return True
    claims = (_ALMOST.search(text), _FRAMING.search(text))
    return any(one is not None and not _TRAIT.search(one[1]) and not _ANCHOR.search(one[1]) for one in claims)


def _casts(text: str) -> bool:
    """Return whether the listener is given a part, rather than praised: `you're a pirate`, but not `you're a star`."""
    return _CASTING.search(text) is not None


def _supposes(text: str) -> bool:
    """Return whether the sentence holds only under a condition, or in another world."""
    if _SUPPOSING.search(text):
        return True
    if _COURTESY.search(text):
        return False
    conditional = _IF.match(text)
    if conditional is None:
        return _TRAILING_IF.search(text) is not None
    main = (conditional["main"] or "").strip()
    if not main:
        return _UNREAL.search(text) is not None
    if _UNREAL.search(main):
        return True
    return not _MINE.match(main) and _STANDING.search(conditional["condition"]) is None


class _Frames:
    """The acts that sentences of a turn set for the rest of it, a game or a supposition, until the speaker leaves it.

    The turn is read once, and only if a sentence leaves its act open.
    """

    def __init__(self, turn: str) -> None:
        self._turn = turn

    def after(self, before: str) -> SpeechAct | None:
        """Return the act that holds after this beginning of the turn."""
        place, (played, supposed, left) = len(_plain(before)), self._ends
        if left <= place:
            return None
        if played <= place:
            return SpeechAct.ROLEPLAY
        return SpeechAct.HYPOTHETICAL if supposed <= place else None

    @cached_property
    def _ends(self) -> tuple[float, float, float]:
        """The ends of the first words that play, that suppose, and that leave either."""
        text = _plain(self._turn)
        ends = [
            found.end() if (found := pattern.search(text)) else math.inf
            for pattern in (_PLAYING, _CASTING, _SUPPOSED_BEFORE, _LEFT)
        ]
        return min(ends[:2]), ends[2], ends[3]


def _asks(text: str) -> bool:
    """Return whether the sentence is a question that states nothing; one that orders something for good does."""
    if STANDING_ORDER.match(text):
        return False
    if _ENDS_ASKING.search(text):
        return not (_TELLS.search(text) or _SAYS_FIRST.match(text) or _ADDS.search(text))
    return _INTERROGATIVE.match(text) is not None and not _CLEFT.match(text)


def _quotes(text: str) -> bool:
    """Return whether the sentence reports others' words and does not assert something first."""
    if _OWN_WORDS.search(text):
        return False
    for spoken in _SPOKEN.finditer(text):
        speech = spoken[1]
        whole = len(speech) + 3 >= len(text)
        if len(speech.split()) >= _SHORTEST_SPEECH and (whole or _SELF_IN_QUOTES.search(speech)):
            return not _TITLE.search(text[: spoken.start()])
    if _SIGNED.search(text):
        return True
    report = _REPORT.search(text)
    if report is None or _EXPERT.search(text):
        return False
    first = _CLAUSES.search(text)
    return first is None or report.start() < first.start() or not _AFFIRMS.match(text)


def _is_labelled(text: str) -> bool:
    """Return whether the line is marked as somebody else's: quoted mail, or a part of a transcript."""
    return _LABEL.match(text) is not None


def _denies(text: str) -> bool:
    """Return whether the sentence negates its main predicate and asserts nothing else."""
    clauses = [clause.strip(" .!\"'") for clause in _CLAUSES.split(text)]
    denying = [_denied(clause) for clause in clauses]
    return any(denying) and not any(
        _AFFIRMS.match(clause) for clause, denied in zip(clauses, denying, strict=True) if not denied
    )


def _denied(clause: str) -> bool:
    said = _LEAD.sub("", clause, count=1).split()[:_NEAR]
    if not said:
        return False
    if said[0] in _NOBODY or said[:2] == ["no", "one"]:
        return True
    return any(_negates(said, place) for place in range(1, len(said)))


def _negates(said: list[str], place: int) -> bool:
    """Return whether the word negates the verb of its clause; an order (`don't call me Bob`) has no subject before."""
    word, previous = said[place], said[place - 1]
    if _SUBORDINATORS & set(said[1:place]):
        return False
    following = next((one for one in said[place + 1 :] if one not in _ADVERBS), "")
    if following in _TASTES:
        return False
    if word == "no":
        return following == "longer" or previous in _POSSESSED
    if word == "never":
        past = {*said[:place]} & {"have", "has", "had", "was", "were", "did", "will", "i've", "i'd"}
        return bool(past) or following in _DONE or following.endswith("ed")
    if word == "not":
        return following != "to" and any(_auxiliary(one) for one in said[max(0, place - 2) : place])
    return word.endswith("n't") and word not in {"can't", "mustn't", "shouldn't", "needn't"}


def _auxiliary(word: str) -> bool:
    return word in _AUXILIARIES or word.endswith(("'m", "'re", "'s", "'ve", "'d", "'ll"))


SKIPPED: Final = frozenset({SpeechAct.QUESTION, SpeechAct.SARCASM})
"""Acts that state nothing, from which no memory is stored (docs/decisions/guards.md)."""

_CAUTION: Final = (
    SpeechAct.QUESTION,
    SpeechAct.SARCASM,
    SpeechAct.ROLEPLAY,
    SpeechAct.HYPOTHETICAL,
    SpeechAct.QUOTATION,
    SpeechAct.NEGATION,
    SpeechAct.ASSERTION,
)
"""Acts from the most cautious: skipped, capped in confidence, unable to replace a memory, able to."""

_HEAD, _TAIL = 3_000, 1_000
"""Characters at either end of a text that are looked at: an endless sentence shows its mood there."""

STANDING_ORDER: Final = pattern("instructions", "asked", re.IGNORECASE)
"""An order for good that is put as a question."""

_SARCASM: Final = pattern("speech_acts", "sarcasm")
_OPENING: Final = re.compile("[\u201c\u201e\u00ab]")
_CLOSING: Final = re.compile("[\u201d\u00bb]")
_STRAIGHT: Final = re.compile(r'(?<!\d)"')
_QUOTES: Final = {ord(mark): '"' for mark in "\u201c\u201d\u201e\u00ab\u00bb\u201f"}


def speech_act(sentence: str, before: str = "") -> SpeechAct:
    """Return the speech act of a sentence; `before` is the text before it in the same turn.

    A sentence that asserts something of the speaker first and then asks, reports or denies is an assertion.
    """
    return _act(sentence, before, _Frames(before))


def _act(sentence: str, before: str, frames: _Frames) -> SpeechAct:
    text = _plain(sentence)
    if _is_labelled(text) or _inside_quotation(before):
        return SpeechAct.QUOTATION
    for act, does in _MOODS:
        if does(text):
            return act
    framed = frames.after(before) if before and not _BACK.match(text) else None
    if framed is not None:
        return framed
    if _quotes(text):
        return SpeechAct.QUOTATION
    return SpeechAct.NEGATION if _denies(text) else SpeechAct.ASSERTION


def own_words(sentence: str, place: int) -> str:
    """Return the part of a sentence in which the speaker's own words follow a report, if it holds the place.

    `Dora thinks it is too spicy, but I like it` is a report up to `but`. Without such a part it is the whole sentence.
    """
    for found in _AFTER_REPORT.finditer(sentence):
        report = sentence[: found.start()]
        theirs = _SELF.search(report) and not _THOUGHT.search(report)
        if found.end() <= place and report.count('"') % 2 == 0 and not theirs:
            return sentence[found.end() :]
    return sentence


def more_cautious(first: SpeechAct, second: SpeechAct) -> SpeechAct:
    """Return the more cautious of two verdicts on the same words."""
    return min(first, second, key=_CAUTION.index)


def lead_of_supposition(sentence: str) -> int:
    """Return where what a sentence supposes or pretends begins: after `what if`, `imagine that`."""
    found = _LEADS.match(sentence)
    return found.end() if found else 0


def is_supposed(sentence: str, quote: str, text: str, place: int) -> bool:
    """Tell whether a quote at a place of a text, in this sentence, is governed by a supposition.

    It governs the rest of its paragraph up to a question, or to a sentence that goes back to what is so.
    """
    if 0 < lead_of_supposition(sentence) <= sentence.find(quote):
        return True
    start = text.rfind("\n\n", 0, place) + 1
    found = (one for one in _SUPPOSED.finditer(text, max(start, place - _HEAD)) if one.start() <= place)
    open_ = any("?" not in text[one.end() : place] for one in found)
    return open_ and not sentence.endswith("!") and _BACK.match(_plain(sentence)) is None


def is_taken_back(after: str) -> bool:
    """Tell whether what follows a quote, the rest of its sentence first, takes it back as a joke."""
    return _TAKEN_BACK.match(after) is not None


def opens_play(sentence: str) -> bool:
    """Tell whether what follows in the turn is said in a role."""
    text = _plain(sentence)
    return _PLAYING.search(text) is not None or _casts(text) or opens_frame(sentence)


def is_fiction(sentence: str) -> bool:
    """Tell whether it tells a story that is not the speaker's: `in my novel`."""
    return _FICTION.search(sentence) is not None


def retracts(sentence: str) -> bool:
    """Return whether the sentence declares the one before it a joke: `Just kidding!`, but not `I own it, jk`."""
    found = _KIDDING.search(sentence)
    return found is not None and len(sentence[: found.start()].split()) <= _LONGEST_TAG


def _jokes(text: str) -> bool:
    kidding = _KIDDING.search(text)
    if kidding is not None and (not retracts(text) or len(text[kidding.end() :].split()) <= _LONGEST_TAG):
        return True
    return _JOKE.search(text) is not None or _SARCASM.search(text) is not None


_MOODS: Final = (
    (SpeechAct.ROLEPLAY, _plays),
    (SpeechAct.HYPOTHETICAL, _supposes),
    (SpeechAct.SARCASM, _jokes),
    (SpeechAct.QUESTION, _asks),
)
"""Checks of a sentence by itself, in this order: `what if I were a doctor?` is a supposition rather than a question."""


def _plain(text: str) -> str:
    """Return the text in lower case, with straight quotes and single spaces, without the middle of a long one."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]} {text[-_TAIL:]}"
    return " ".join(normalise(text).translate(_QUOTES).split())


def _inside_quotation(before: str) -> bool:
    """Return whether a quotation that was opened earlier in the paragraph is still open; `6"` are inches."""
    paragraph = before.rpartition("\n\n")[2]
    if len(_OPENING.findall(paragraph)) > len(_CLOSING.findall(paragraph)):
        return True
    return len(_STRAIGHT.findall(paragraph)) % 2 == 1


def act_of_turn(content: str, framing: RolePlayFrame, foreign: tuple[Span, ...]) -> SpeechAct:
    """Return the act that all its statements share where none is meant, else that it asserts.

    `framing` is the game it is said in, `foreign` what of it are not its speaker's words. What somebody is said to
    have said is the speaker's own statement. Questions state nothing; a turn of questions alone asserts.
    """
    text = content[:_MOST_CHARACTERS]
    acts = (act for act in _acts(text, framing, foreign) if act is not SpeechAct.QUESTION)
    first = next(acts, SpeechAct.ASSERTION)
    return first if all(act in _UNMEANT for act in chain([first], acts)) else SpeechAct.ASSERTION


def _acts(text: str, framing: RolePlayFrame, foreign: tuple[Span, ...]) -> Iterator[SpeechAct]:
    introduced, frames = {start for start, _ in foreign}, _Frames(text)
    found = list(_SENTENCE.finditer(text))
    for place, one in enumerate(found):
        sentence, after = one.group(), "".join(following.group() for following in found[place + 1 : place + 2])
        if retracts(after):
            yield SpeechAct.SARCASM
        elif is_quoted(one.start(), foreign):
            yield SpeechAct.QUOTATION
        elif one.end() not in introduced:
            act = _act(sentence, text[: one.start()], frames)
            framed = framing.at(one.start(), sentence)
            act = act if framed is None else more_cautious(act, framed)
            yield SpeechAct.ASSERTION if act is SpeechAct.QUOTATION else act
