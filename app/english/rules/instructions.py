"""Standing instructions to the assistant, and rules: `keep explanations short`, `call me Al`, `must not use X`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from app.english.names import is_language, is_no_name
from app.english.rules.clause import HIDDEN, Clause, SpeakerContext, Who
from app.english.rules.drafts import Draft, fact, preference
from app.english.rules.noun_phrases import in_third_person, slug, thing, value
from app.english.rules.preferences import AT_HAND, choice, kind_of_choice
from app.english.speech_acts import STANDING_ORDER
from app.english.verbs import form_of, gerund
from app.english.word_lists import FOODS, MEDICINES, REPLIES, SIZES, pattern, word_set, words
from app.memory import vocabulary

_KEEP: Final = pattern("instructions", "keep", re.IGNORECASE)
_GIVE: Final = pattern("instructions", "give", re.IGNORECASE)
_STANDING: Final = re.compile(r"\b(?:always|from now on|going forward|in (?:the )?future)\b", re.IGNORECASE)
_AT_HAND: Final = pattern("instructions", "at hand", re.IGNORECASE)
"""What is to be changed now, and not from now on: `make it shorter`, `make the intro shorter`."""
_LANGUAGE: Final = pattern("instructions", "language", re.IGNORECASE)
_CALL_ME: Final = pattern("instructions", "call me", re.IGNORECASE)
_RULE: Final = pattern("instructions", "rule", re.IGNORECASE)
_PLEASE: Final = re.compile(r"please|pls|kindly", re.IGNORECASE)
_PLEASE_LAST: Final = re.compile(r"[ ,]+(?:please|pls)$", re.IGNORECASE)
_ONE_OFF: Final = re.compile(r"\b(?:the|my|our)\b", re.IGNORECASE)
_STRICT: Final = frozenset({"always", "never", "don't ever", "dont ever", "do not ever"})
_REASON: Final = re.compile(r",|\s(?:because|since|so)\b|\u2014")
_FOR: Final = pattern("instructions", "for", re.IGNORECASE)
_TRIGGER: Final = pattern("instructions", "trigger", re.IGNORECASE)
_ORDER: Final = pattern("instructions", "order", re.IGNORECASE)
_LAW: Final = pattern("instructions", "law", re.IGNORECASE)
_BOUND: Final = pattern("instructions", "bound", re.IGNORECASE)
_BANNED: Final = pattern("instructions", "banned", re.IGNORECASE)
_NO_RULE: Final = word_set("forget miss let worry think say see wait help stand believe imagine complain")
"""Verbs of what is said rather than ruled: `I must not forget`, `I can't wait`."""
_NO_DEED: Final = _NO_RULE | word_set("be have know like love want mean need understand feel care give lose")
"""Verbs of what is guessed of somebody, or wished them: `you must not like it`, `you must never give up`."""
_WHY_NOT: Final = pattern("instructions", "why not", re.IGNORECASE)
"""What makes `cannot` a rule that stays, rather than a difficulty of today."""
_ONCE: Final = pattern("instructions", "once", re.IGNORECASE)
"""What makes a thing not to be eaten one of the moment."""
_GENERAL: Final = words("instructions", "general verbs")
_UNSAFE: Final = pattern("instructions", "unsafe", re.IGNORECASE)
"""What asks to be believed or obeyed is not taken for a wish; it stays in the turn, where it can be reviewed."""
_NONE: Final = pattern("instructions", "none", re.IGNORECASE)
_ONLY: Final = pattern("instructions", "only", re.IGNORECASE)
_OF_ME: Final = pattern("instructions", "of me", re.IGNORECASE)
"""What makes an order one about the speaker, who stays: `with me`, `, we're vegans`."""
_ANYTHING: Final = re.compile(r"anything (?:with|containing|made|from|about|that)\b", re.IGNORECASE)
"""What says something by what follows it."""
_IN_ANSWERS: Final = pattern("instructions", "in answers", re.IGNORECASE)
_ANSWER: Final = pattern("instructions", "answer", re.IGNORECASE)
_WHENEVER: Final = pattern("instructions", "whenever", re.IGNORECASE)
_NEEDED: Final = pattern("instructions", "needed", re.IGNORECASE)
_AS_TOLD: Final = re.compile(r"\bi (?:ask|say|tell you)\b", re.IGNORECASE)
_YOU_DO: Final = re.compile(r"\byou (?P<verb>[a-z]+)", re.IGNORECASE)
_ME: Final = re.compile(r"\s(?:(?:to|for|with)\s)?me\b", re.IGNORECASE)
_YOUR: Final = re.compile(r"\byour\s", re.IGNORECASE)
_DENYING: Final = frozenset({"never", "always", "don't", "dont", "only"})
_POINTING: Final = re.compile(r"\b(?:it|this|that|these|those|them|him|her|he|she|they|there|here)\b", re.IGNORECASE)


def instruction(text: str, clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Yield what the sentence asks for from now on; nothing for a request of the moment.

    `clause` says who speaks and how surely.
    """
    if HIDDEN in text or AT_HAND.search(text) or _UNSAFE.search(text):
        return
    for read in _READINGS:
        found = list(read(text, clause))
        if found:
            yield from found
            return


def asked_of_assistant(text: str, clause: Clause, said: SpeakerContext) -> Iterator[Draft]:
    """Read an order that stands and is put as a question: `could you always quote sources?`, `can you stop joking?`."""
    found = STANDING_ORDER.match(text)
    if found is not None:
        yield from instruction(f"please {text[found.start('order') :]}", clause, said)


def constraint(clause: Clause, _said: SpeakerContext) -> Iterator[Draft]:
    """Read `must not use external APIs`, `required to encrypt backups`, `prohibited from sharing`, `can't eat nuts`.

    What must not be is a rule; what cannot be may be a state, so it needs a reason, or to be of use or food.
    """
    if clause.subject.who is Who.PRONOUN or _ONCE.search(clause.rest):
        return
    ruled = _ruled_by_modal(clause) if clause.modal else _ruled_by_law(clause)
    if ruled is None:
        return
    what = (ruled[1] if _WHY_NOT.search(ruled[1]) else _REASON.split(ruled[1])[0]).strip(" ,.")
    topic = "health" if clause.lemma in {"eat", "drink", "take"} else "work"
    if not _POINTING.search(what):
        yield fact(clause, ruled[0], in_third_person(what), stateful=False, importance=0.9, topic=topic)


def _ruled_by_modal(clause: Clause) -> tuple[str, str] | None:
    """Return the predicate and the object of a rule that a modal states."""
    verb, rest = clause.lemma, clause.rest
    if clause.copula or verb in _NO_RULE:
        return None
    if clause.modal == "must" and not clause.negated:
        return (f"must-{verb}", rest) if "always" in clause.adverbs else None
    if not clause.negated or clause.modal not in {"can", "must", "may"}:
        return None
    can = clause.modal == "can"
    food = thing(rest) if verb in {"eat", "drink"} or (verb == "take" and can) else None
    if food is not None:
        return (f"{'cannot' if can else 'must-not'}-{verb}", food.name) if food.last in FOODS | MEDICINES else None
    ruled = _WHY_NOT.search(rest) or (verb == "use" and not clause.adverbs if can else clause.modal == "must")
    return (f"{'cannot' if can else 'must-not'}-{verb}", rest) if ruled else None


def _ruled_by_law(clause: Clause) -> tuple[str, str] | None:
    """Return the predicate and the object of what is required, forbidden or not allowed."""
    if not clause.present or not (clause.copula or clause.passive):
        return None
    found = _LAW.match(clause.rest if clause.copula else f"{clause.verb}{clause.rest}")
    if found is None or bool(found["allowed"]) != clause.negated:
        return None
    how = "not-allowed-to" if found["allowed"] else "required-to" if found["required"] else "prohibited-from"
    return f"{how}-{found['verb'].lower()}", found["what"]


def _kept(text: str, clause: Clause) -> Iterator[Draft]:
    found = _KEEP.match(text) or _GIVE.match(text)
    if found and (_STANDING.search(text) or not _AT_HAND.match(text, *found.span())):
        what, how = found["what"].lower(), found["how"].lower()
        head = "responses" if _POINTING.match(what) else what
        domain = REPLIES.get(head.split()[-1], slug(head))
        yield preference(clause, f"{domain}.{SIZES.get(how, 'style')}", how, topic="personal")


def _language(text: str, clause: Clause) -> Iterator[Draft]:
    found = _LANGUAGE.match(text) if _STANDING.search(text) else None
    if found and is_language(found["what"]):
        yield preference(clause, "language.replies", found["what"].capitalize(), topic="personal")


def _called(text: str, clause: Clause) -> Iterator[Draft]:
    found = _CALL_ME.match(text)
    if found and not is_no_name(found["name"].split(maxsplit=1)[0]):
        yield preference(clause, "name.preferred", found["name"], topic="personal")


def _triggered(text: str, clause: Clause) -> Iterator[Draft]:
    """Read `when I say 'run the usual deploy,' do: check CI, merge to main, notify the team`."""
    found = _TRIGGER.match(text)
    if found:
        yield preference(clause, f"commands.{slug(found['trigger'], 8)}", found["steps"].strip(" ."), topic="work")


def _for_each(text: str, clause: Clause) -> Iterator[Draft]:
    """Read `for API pagination, use cursor-based approach`."""
    found = _FOR.match(text)
    chosen = value(found["chosen"]) if found else None
    if found and chosen:
        yield preference(clause, f"{slug(found['what'])}.choice", chosen, topic="tech")


def _ruled(text: str, clause: Clause) -> Iterator[Draft]:
    """Read `never use range() for pagination`, `stop adding emojis to your answers`, `from now on use tabs`."""
    found = _RULE.match(text) or _NONE.match(text) or _ORDER.match(text) or _ONLY.match(text)
    first = _YOUR.sub("", _REASON.split(found["what"])[0]).strip() if found else ""
    whole = first if _ANYTHING.match(first) else value(first)
    if found is None or whole is None or _POINTING.search(_IN_ANSWERS.sub("", whole)):
        return
    said, how, lead = ((found.groupdict().get(name) or "").lower() for name in ("verb", "how", "lead"))
    form = form_of(said)
    verb = (said or "use") if form is None else form.lemma
    tool = thing(whole) if verb == "use" and not how else None
    known = choice(tool.name) if tool and kind_of_choice(tool.name) else None
    please = _PLEASE.search(f"{lead} {text[found.end() :]}")
    lasting = please or how == "only" or _OF_ME.search(found["what"])
    asked = (lasting and not _ONE_OFF.search(_IN_ANSWERS.sub("", first))) or _IN_ANSWERS.search(whole)
    general = (how == "always" and please) or (verb in _GENERAL and (how in _STRICT or asked or not how))
    if known:
        yield preference(clause, known.key, known.value, topic=known.topic)
    elif asked if found.re is _ONLY else general:
        yield _standing(clause, f"{verb} {whole}", (how if how in {"always", "only"} else "never") if how else "")


def _bound(text: str, clause: Clause) -> Iterator[Draft]:
    """Read prohibitions for the assistant: `you must never email clients`, `you are not allowed to quote me`."""
    found = _BOUND.match(text)
    yield from _forbidden(clause, found["verb"].lower(), found["what"], "assistant") if found else ()


def _banned(text: str, clause: Clause) -> Iterator[Draft]:
    """Read `the use of eval is forbidden`, `sharing keys is not allowed`, `scripts must not be loaded`."""
    found = _BANNED.match(text)
    if found and not (found["done"] and form_of(found["done"].lower()) is None):
        verb = found["verb"] or found["done"] or found["act"]
        parts = (found[name] or "" for name in ("what", "object", "rest", "thing", "how", "where"))
        yield from _forbidden(clause, verb.lower(), "".join(parts), vocabulary.USER)


def _forbidden(clause: Clause, verb: str, what: str, whom: str) -> Iterator[Draft]:
    """Yield the rule against doing something; a verb that is not known is taken as it stands."""
    known, what = form_of(verb), what.strip(" ,")
    deed = verb if known is None else known.lemma
    if deed not in _NO_DEED:
        rule = f"prohibited-from-{deed}" if known is None and verb.endswith("ing") else f"must-not-{deed}"
        yield fact(clause, rule, in_third_person(what), stateful=False, subject=whom, importance=0.9, topic="work")


def _standing(clause: Clause, order: str, word: str = "") -> Draft:
    """Return what is to be done from now on, `always` or `never`."""
    said = in_third_person(_ME.sub("", _YOUR.sub("", order))).strip()
    said = _PLEASE_LAST.sub("", said)
    return preference(clause, f"instructions.{slug(said, 8)}", f"{word} {said}".lstrip(), topic="work")


def _answered(text: str, clause: Clause) -> Iterator[Draft]:
    """Read how the user wants to be answered, whatever they ask: `please reply in plain text`, `answer briefly`."""
    found = _ANSWER.match(text)
    how = value(_REASON.split(found["how"])[0]) if found else None
    if found and how and not _ONE_OFF.search(how):
        what = f"{found['what']} " if found["what"] else ""
        yield _standing(clause, f"{found['verb'].lower()} {what}{found['only'] or ''}{how}")


def _whenever(text: str, clause: Clause) -> Iterator[Draft]:
    """Read what is to be done each time: `use metric units when you give me recipes`, `when I ask for code, add tests`.

    It is kept whole: what is to be done, and when.
    """
    found = _WHENEVER.match(text)
    order = "" if found is None else (found["order"] or found["then"]).strip(" ,")
    first = order.split(maxsplit=1)[0].lower() if order else ""
    form = form_of(first)
    bare = (form is not None and "base" in form.kinds) or first in _DENYING
    needed = _NEEDED.search(text)
    if needed is not None:
        found, order, bare = needed, needed["order"].strip(" ,"), True
    if found is not None and bare:
        when = (found["after"] or found["when"]).strip(" ,")
        doing = _YOU_DO.sub(lambda done: gerund(done["verb"].lower()), _AS_TOLD.sub("asked", when))
        yield _standing(clause, f"{order} {doing[:1].lower()}{doing[1:]}")


_READINGS: Final[tuple[Callable[[str, Clause], Iterator[Draft]], ...]] = (
    _kept, _language, _called, _triggered, _whenever, _for_each, _ruled, _bound, _banned, _answered,
)  # fmt: skip
