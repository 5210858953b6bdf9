"""Preferences and choices: likes, dislikes, tools used by choice, decisions between known tools, and their keys.

The same choice made anew comes to the same key.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.english.rules.clause import HIDDEN, Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, decision, ending, fact, preference
from app.english.rules.noun_phrases import in_third_person, list_items, slug, thing, value, without_article
from app.english.rules.rows import CHOSEN
from app.english.rules.tastes import OFFERED, is_taste, taste, things, way_of_own
from app.english.verbs import gerund
from app.english.word_lists import AMBIGUOUS, GENERAL, REPLIES, SIZES, TOOLS, ToolKind, pattern, word_set

_OVER: Final = pattern("preferences", "over", re.IGNORECASE)
_INSTEAD: Final = re.compile(r"\s+(?:instead of|rather than|over)\s+(?P<other>[^.;:!?()]+)")
_FOR: Final = pattern("preferences", "for", re.IGNORECASE)
_TIMED: Final = pattern("preferences", "timed", re.IGNORECASE)
_JOINED: Final = re.compile(r"\s+(?:and|or|but|&)\s+(?=\w)|,\s*(?!(?:not|rather|instead)\b)(?=\w)", re.IGNORECASE)
_HALVES: Final = re.compile(r"\s+(?:and|but)\s+(?!(?:in|on|at|for|when|while)\b)", re.IGNORECASE)
"""Between choices, each for a purpose of its own: `tea in the morning and coffee at night`."""
_DOING: Final = re.compile(
    r"\s+(?:(?:not\s+)?to\s+\w+|(?!morning|evening|string|nothing|something|everything)[a-z]+ing)\b"
)
_TO_DO: Final = re.compile(r"\s+(?P<denied>not\s+)?to\s+", re.IGNORECASE)
_ADDRESSED: Final = re.compile(r"\b(?:you|your|i|it|this|that|these|those)\b", re.IGNORECASE)
"""Words of who is spoken to, or of what is at hand."""
_DONE: Final = re.compile(r"[.;:!?(\u2014]|\s-\s|,\s")
_WAY: Final = re.compile(r"\s+(?:on|in|at|by|with|via|from|to|over|before|after)\s")
_NOW: Final = re.compile(r"\b(?:now|these days|by default|from now on)\b")
_TO: Final = pattern("preferences", "to", re.IGNORECASE)
_NARROWING: Final = re.compile(r"\s+(?:with|without|that|which|who|where|when|especially)\b", re.IGNORECASE)
_INSIDE: Final = frozenset({"of", "the"})
_FOR_WORK: Final = frozenset({"test framework", "similarity measure", "OCR engine"})
"""Kinds one decides on for a piece of work rather than by taste."""

_LONGEST: Final = 12

_SHORTER: Final = re.compile(r"-(?:work|apis?|code|projects?|development|programming|stuff|tasks?|services?|things)$")
_MODE: Final = re.compile(r"\s+(?:(?:editor|ide|terminal)\s+)?(?:mode|themes?)$", re.IGNORECASE)
_CONTEXTUAL: Final = frozenset(
    {
        "programming language", "database", "web framework", "frontend framework", "channel", "drink", "editor",
        "test framework",
    }
)  # fmt: skip
"""Kinds of which what a choice is for makes it another choice."""
_BY_NAME: Final = frozenset({"language", "browser", "editor", "os"})
"""Domains whose ambiguous words count only when they are written as names: Go, not go."""
_PLATFORM: Final = re.compile(r"^(?:in|on|for)\s+", re.IGNORECASE)
_SMALL: Final = frozenset({"of", "to", "in", "on", "for", "with", "and"})
_PHRASE: Final = range(2, 5)


def prefers(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `prefer dark mode`, `prefers Python for backend work over Go`, `prefers receiving reports on Mondays`."""
    if not clause.holds or clause.subject.name == "it" or AT_HAND.search(clause.rest):
        return
    if is_taste(clause) or way_of_own(clause):
        return
    if _DOING.match(clause.rest) and not kind_of_choice(clause.rest.strip()):
        yield from _done(clause)
        return
    halves = _HALVES.split(clause.rest)
    if len(halves) > 1 and all(_FOR.search(half) for half in halves):
        for half in halves:
            yield from prefers(replace(clause, rest=f" {half.strip()}"), _said)
        return
    found = thing(clause.rest, through=_INSIDE)
    if found is None:
        return
    after = clause.rest[found.end :]
    over, timed = _OVER.search(after), _TIMED.match(after)
    purpose = _FOR.match(after) or (_FOR.search(after) if over else None)
    if _JOINED.match(after):
        yield from _joined(clause, clause.rest[: found.end + over.start()] if over else clause.rest)
        return
    text = found.text + (timed.group() if timed and kind_of_choice(found.name) is None else "")
    yield from _chosen(clause, text, purpose["what"] if purpose else None, list_items(over["other"]) if over else ())


def _joined(clause: Clause, rest: str) -> Iterator[Draft]:
    """Read several things that are preferred: each by itself, or together what shares a word."""
    found = things(rest)
    for one in found:
        if len(found) > 1 and (chosen := choice(one)) is not None:
            yield preference(clause, chosen.key, chosen.value, topic=chosen.topic)
        else:
            yield taste(clause, one, "likes")


def _chosen(clause: Clause, text: str, purpose: str | None, instead: Sequence[str]) -> Iterator[Draft]:
    """Yield the preference for something, under the key of its kind; under its own name when it has none."""
    chosen = value(text)
    if chosen is None or chosen.lower().startswith(("not ", "no ", "to ")) or OFFERED.search(chosen):
        return
    found = choice(chosen, purpose=purpose, instead=[value(one) or one for one in instead])
    narrowed = _NARROWING.match(clause.rest.partition(chosen)[2])  # "routes with low traffic" are not all routes
    if found is not None:
        yield preference(clause, found.key, found.value, topic=found.topic)
    elif narrowed:
        yield from (taste(clause, one, "likes") for one in things(clause.rest))
    elif key := slug(chosen, 8, whole=True):
        yield preference(clause, f"likes.{key}", "likes", importance=0.8, topic="personal")


def _done(clause: Clause) -> Iterator[Draft]:
    """Read `prefers receiving reports on Monday mornings, not Friday afternoons`: the whole of it is the value."""
    lead = _TO_DO.match(clause.rest)
    way = value(_DONE.split(clause.rest[lead.end() :] if lead else clause.rest)[0])
    way = in_third_person(way) if way else None
    if way and _ADDRESSED.search(way):
        return
    if way and lead:
        first, _, others = way.partition(" ")
        way = f"{gerund(first)} {others}".rstrip()
    key = slug(_WAY.split(way)[0]) if way else ""
    if not way or not key or len(way.split()) > _LONGEST:
        return
    if lead and lead["denied"]:
        if " " in way:  # "I prefer not to say" tells nothing
            yield preference(clause, f"{key}.way", f"not {way}", topic="personal")
    elif _WAY.search(way):
        yield preference(clause, f"{key}.way", way, topic="personal")
    else:
        yield preference(clause, f"likes.{slug(way, 8, whole=True)}", "likes", importance=0.8, topic="personal")


def uses(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `always use dark mode`, `now using Go for new projects`, `use pytest not unittest`, `don't use Windows`."""
    found = thing(clause.rest, through=_INSIDE)
    if found is None or not clause.present or clause.perfect or clause.subject.name == "it":
        return
    kind = kind_of_choice(found.name)
    if clause.negated:
        if clause.subject.own and (kind or found.capital):
            yield fact(clause, "does-not-use", found.name)
        return
    after = clause.rest[found.end :]
    over, purpose = _OVER.match(after), _FOR.match(after)
    if over is None or over.group().lstrip(", ").startswith("to "):  # "use Notion to track" contrasts nothing
        over = _INSTEAD.search(after)
    deliberate = clause.adverbs & CHOSEN or over or _NOW.search(after)
    if deliberate and (kind or over or "always" in clause.adverbs):
        other = list_items(over["other"]) if over else ()
        yield from _chosen(clause, found.text, purpose["what"] if purpose else None, other)


def switches(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `switched to light mode`, `moved from Vim to VS Code`: a choice among things of one kind."""
    lead = _TO.match(clause.rest)
    found = thing(clause.rest, lead.end()) if lead else None
    if lead is None or found is None or not (clause.happened or (clause.progressive and clause.holds)):
        return
    kind = kind_of_choice(found.name) or kind_of_choice(lead["source"] or "")
    if kind is not None and kind.noun not in _FOR_WORK:
        purpose = _FOR.match(clause.rest[found.end :])
        source = [lead["source"]] if lead["source"] else []
        yield from _chosen(clause, found.text, purpose["what"] if purpose else None, source)


def abstains(clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read `don't eat meat`, `never drink alcohol`, `don't smoke`; `eat meat again` ends it."""
    again = clause.holds and _AGAIN.search(clause.rest) is not None
    if not (clause.negated or again) or not clause.present or clause.perfect or clause.progressive:
        return
    found = _abstained(clause)
    yield from (ending(clause, said, one) for one in found) if again else found


def stops_smoking(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `quit smoking`."""
    if clause.happened and clause.rest.lstrip().startswith("smoking"):
        yield preference(clause, "smoking.habit", "does not smoke", topic="health")


def _abstained(clause: Clause) -> Iterator[Draft]:
    if clause.lemma == "smoke":
        yield preference(clause, "smoking.habit", "does not smoke", topic="health")
        return
    found = thing(clause.rest)
    if found is not None and _LIMITED.match(clause.rest, found.end):
        return
    more = found is not None and _OR.match(clause.rest, found.end)
    for one in list_items(clause.rest if more else found.text) if found else ():
        name = value(one)
        if name and len(name.split()) <= _LONGEST_FOOD:
            yield preference(clause, f"diet.{slug(name)}", f"no {name}", topic="food")


_OR: Final = re.compile(r"\s+(?:or|and)\s")
_LONGEST_FOOD: Final = 3
_LIMITED: Final = pattern("preferences", "limited", re.IGNORECASE)
"""When, where or how much one goes without: at other times one does not."""

_AGAIN: Final = re.compile(r"\bagain\s*[.!]?$", re.IGNORECASE)
_FAVOURITE: Final = pattern("preferences", "favourite", re.IGNORECASE)
_MY_FAVOURITE: Final = pattern("preferences", "my favourite", re.IGNORECASE)
_NO_FAVOURITE: Final = word_set("thing things part parts memory memories ones one moment way of")
_NO_CHOICE: Final = ("when", "how", "that", "because", "so ", "the one")
_INSIDE_NAME: Final = frozenset({"of", "the", "and", "in", "to", "with"})
_SPELLING: Final = {"color": "colour", "flavor": "flavour", "movie": "film"}


def favourite_of(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `my favourite colour is blue`, `my sister's least favourite food is tripe`."""
    theirs = clause.subject.noun or "" if clause.subject.who is Who.POSSESSED else ""
    noun = _FAVOURITE.fullmatch(theirs) if clause.copula and clause.holds else None
    if noun is None or clause.rest.lower().startswith(_NO_CHOICE):
        return
    chosen = thing(clause.rest, through=_INSIDE_NAME)
    if chosen is not None:
        yield from _favourite(clause, clause.subject.owner or "", noun, chosen.name)


def favourite_told(text: str, clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `Harry Potter is my favourite book`, `mango is my favourite fruit`."""
    found = _MY_FAVOURITE.match(text)
    chosen = found["chosen"] if found is not None else ""
    if found is not None and (chosen.istitle() or things(f" {chosen}") == [chosen]):
        yield from _favourite(clause, clause.subject.name, found, chosen)


def _favourite(clause: Clause, owner: str, said: re.Match[str], chosen: str) -> Iterator[Draft]:
    words = [_SPELLING.get(word, word) for word in said["what"].lower().split()]
    key = slug(" ".join(words))
    if not key or words[0] in _NO_FAVOURITE:
        return
    key, how = (f"likes.{slug(chosen, whole=True)}", "dislikes") if said["least"] else (f"favourite.{key}", chosen)
    yield preference(clause, key, how, subject=owner, topic="personal")


AT_HAND: Final = pattern("preferences", "at hand", re.IGNORECASE)
"""A decision for the work at hand is no memory (seed 003: working memory)."""

_CHOOSING: Final = {
    **dict.fromkeys(("choose", "pick", "select"), re.compile(r"\s+")),
    "go": re.compile(r"\s+(?:with|for)\s+"),
    "change": re.compile(r"\s+(?:my|our) minds?\s*[:,]\s*(?:(?:we're|i'm) going with\s+)?"),
    "settle": re.compile(r"\s+(?:with|on|for)\s+"),
    "opt": re.compile(r"\s+for\s+"),
    "decide": re.compile(r"\s+(?:(?:on|upon)|to (?:go with|go for|use|pick|choose|adopt)|using)\s+"),
}
_BECAUSE: Final = pattern("preferences", "because", re.IGNORECASE)
_CHOSEN_OVER: Final = pattern("preferences", "chosen over", re.IGNORECASE)
_AS_FOR: Final = pattern("preferences", "as for", re.IGNORECASE)


def chooses(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read the choice of a tool or habit of a known kind; anything else that is decided stays in the turn."""
    lead = _CHOOSING[clause.lemma].match(clause.rest)
    told = clause.subject.who is not Who.PRONOUN and AT_HAND.search(clause.text) is None
    if lead is None or not told or not (clause.happened or (clause.progressive and clause.holds)):
        return
    rest = clause.rest[lead.end() :]
    found = thing(rest)
    if found is None:
        return
    after = rest[found.end :]
    over = _CHOSEN_OVER.search(after)
    purpose = _AS_FOR.match(after) or (_AS_FOR.search(after) if over else None)
    others = [name for one in (list_items(over["other"]) if over else ()) if (name := value(one))]
    kind = next((one for name in (found.name, *others) if (one := kind_of_choice(name))), None)
    if kind is not None:
        what = value(purpose["what"]) if purpose else None
        subject = f"{kind.noun} for {what}" if what and purpose_slug(what) else kind.noun
        yield decision(clause, subject, found.name, rationale=_reason(after), alternatives=others, topic=kind.topic)


def _reason(text: str) -> str | None:
    found = _BECAUSE.search(text)
    reason = found["why"].strip() if found else ""
    named = reason and reason.split()[0].lower() not in {"this", "that", "these", "those", "you", "your", "he", "she"}
    return reason if named and HIDDEN not in reason else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceChoice:
    """A key, the value as it is stored, and a broad topic."""

    key: str
    value: str
    topic: str


def choice(chosen: str, *, purpose: str | None = None, instead: Sequence[str] = ()) -> PreferenceChoice | None:
    """Return the key of something chosen, for a purpose, rather than others; None when only its like could tell.

    A known kind gives the key (`editor.theme`); an adjective of size or style (`responses.length`); what is
    chosen for (`routine-questions.choice`); the head of the phrase (`seats.flights`).
    """
    kind = kind_of_choice(chosen) or next((one for other in instead if (one := kind_of_choice(other))), None)
    if kind is not None and not (kind.domain == "contact" and " " in chosen and purpose is None):
        return PreferenceChoice(key=_of_kind(kind, purpose), value=_short(chosen, kind), topic=kind.topic)
    return _described(chosen, purpose) or _purposed(chosen, purpose) or _headed(chosen, purpose)


def kind_of_choice(text: str) -> ToolKind | None:
    """Return the kind of tool or habit the words name; an ambiguous word counts only as a name."""
    word = without_article(text.strip())
    low = word.lower()
    kind = TOOLS.get(low)
    if kind is None and _MODE.search(low) and low.startswith(("dark ", "light ", "night ")):
        return TOOLS["dark mode"]
    ambiguous = kind is not None and low in AMBIGUOUS and kind.domain in _BY_NAME
    return None if ambiguous and not word[:1].isupper() else kind


def purpose_slug(purpose: str) -> str:
    """Return what a choice is for as a part of a key; nothing when it is for everything."""
    low = _PLATFORM.sub("", purpose.lower().strip())
    if low in GENERAL:
        return ""
    return _SHORTER.sub("", slug(low))


def _of_kind(kind: ToolKind, purpose: str | None) -> str:
    narrowed = purpose_slug(purpose) if purpose and kind.noun in _CONTEXTUAL else ""
    return f"{kind.domain}.{narrowed or kind.attribute}"


def _short(chosen: str, kind: ToolKind) -> str:
    """Return `dark` of `dark mode`: the key says the rest."""
    return _MODE.sub("", chosen) if kind.domain == "editor" else chosen


def _described(chosen: str, purpose: str | None) -> PreferenceChoice | None:
    """Read `concise explanations`, `short answers`."""
    words = without_article(chosen).lower().split()
    if len(words) not in _PHRASE or words[0] not in SIZES:
        return None
    head = words[-1]
    domain = REPLIES.get(head, slug(" ".join(words[1:])))
    narrowed = f"-{purpose_slug(purpose)}" if purpose and purpose_slug(purpose) else ""
    return PreferenceChoice(key=f"{domain}.{SIZES[words[0]]}{narrowed}", value=words[0], topic="personal")


def _purposed(chosen: str, purpose: str | None) -> PreferenceChoice | None:
    narrowed = purpose_slug(purpose) if purpose else ""
    if not narrowed or len(without_article(chosen).split()) > 1:
        return None
    return PreferenceChoice(key=f"{narrowed}.choice", value=chosen, topic="personal")


def _headed(chosen: str, purpose: str | None) -> PreferenceChoice | None:
    """Read `window seats` on flights, `dark roast coffee`."""
    words = without_article(chosen).split()
    if len(words) not in _PHRASE or _SMALL.intersection(word.lower() for word in words):
        return None
    head = slug(words[-1]) if words[-1].lower() != "instructions" else ""
    narrowed = purpose_slug(purpose) if purpose else ""
    return PreferenceChoice(key=f"{head}.{narrowed or 'kind'}", value=chosen, topic="personal") if head else None
