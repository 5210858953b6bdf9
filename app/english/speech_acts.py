"""The speech act of a sentence, by rules over English wording: assertion, question, quotation, role play and others.

A sentence in another language, or without such cues, counts as an assertion: an extractor that understands it may know
better, and `more_cautious` combines two verdicts. A sentence that first asserts something about the speaker is an
assertion. All functions but `speech_act` take text as `tokens.normalise` returns it, with straight quotes and single
spaces.
"""

from __future__ import annotations

import re
from typing import Final

from app.english.hypotheticals import in_effect, is_role_play, is_supposition
from app.english.patterns import LEAD, MINE, words
from app.lexical.tokens import normalise
from app.model import SpeechAct

UNSURE: Final = 0.3
"""The highest confidence of suppositions and role play (seed 003)."""

_PLAY: Final = r"(?:story|scenario|game|role-?\ ?play)"

_SUPPOSED: Final = re.compile(
    rf"""^\W*(?:(?:so|but|and|ok|okay|well|now|hey|just)\W+)*
    (?:(?P<suppose>what\ if|suppose(?:\ that)?|supposing|hypothetically(?:\ speaking)?
        |let(?:'s|\ us)\ (?:say|suppose|assume)(?:\ that)?|assum(?:e|ing)(?:\ that)?|say\ (?=i\b)
        |if\ (?=(?:i|we)\ (?:were|was|worked|lived|had|became|owned)\b)
        |i\ wish\ (?:that\ )?|imagine(?:\ (?:that|if))?|picture\ this)
      |(?P<pretend>(?:let's\ )?pretend(?:ing)?(?:\ (?:that|to\ be))?|act\ as\ (?:if|though)
        |let's\ (?:role-?\ ?play|play\ a\ game)|(?:in|for)\ this\ {_PLAY}|role-?play
        |(?:i'm|i\ am|i\ was)\ (?:just\ )?pretending(?:\ to\ be|\ that)?|you\ are\ now))
    \b[\s,:.-]*""",
    re.IGNORECASE | re.VERBOSE,
)

_LASTING: Final = re.compile(
    rf"\b(?:let's\ (?:role-?\s?play|pretend)|role-?\s?play(?:ing)?|in\ this\ {_PLAY}|you\ are\ now)\b",
    re.IGNORECASE | re.VERBOSE,
)

_SARCASTIC_CLAUSE: Final = re.compile(
    r"""^\W*oh,?\ (?:great|good|wonderful|fantastic|lovely|perfect|joy|brilliant|fun)\b
    |^\W*(?:great|wonderful|fantastic|perfect|lovely|brilliant|awesome),\ (?:another|more|just\ what|now)\b
    |\bjust\ what\ i\ (?:needed|wanted)\b|\bsaid\ no\ one\ ever\b|\byeah,?\ right\b|\bbecause\ who\ doesn't\b
    |(?:\s|^)/s\b|\bnot!$|\bi\ (?:just\ |really\ |totally\ )?(?:love|adore|enjoy)\ (?:it\ )?when\b
    |\bwhat\ a\ (?:surprise|shock)\b|\bhow\ (?:fun|lovely|wonderful)\b""",
    re.IGNORECASE | re.VERBOSE,
)

_KIDDING: Final = re.compile(r"\b(?:just|only|i'm|am|totally)\s+(?:kidding|joking)\b|\bjk\b", re.IGNORECASE)

_FICTION: Final = re.compile(
    r"\b(?:in (?:my|the|this|a) (?:novel|story|dream|book|film|movie|game|script|screenplay|poem|play|fan ?fic\w*)"
    r"|my (?:character|protagonist|avatar)|(?:dreamt|dreamed) (?:that|about))\b",
    re.IGNORECASE,
)

_RHETORICAL: Final = re.compile(
    r"\bi(?:'m| am) actually an?\b[^.;!?]{0,80}?[,;\u2014-]\s*(?:so|and so|therefore)\s+(?:please\s+)?"
    r"(?:walk|explain|tell|give|show|talk|go|break|be|get|don't|skip|you can|feel free|just|help|describe|discuss|use"
    r"|assume|answer|let's|speak)\b",
    re.IGNORECASE,
)

_LIKENED: Final = re.compile(
    r"\bi(?:'m| am) (?:basically|practically|virtually|pretty much|almost|kind of|sort of|kinda|sorta|like) an?\b",
    re.IGNORECASE,
)


def is_supposed(text: str) -> tuple[SpeechAct, int] | None:
    """Return the act of a hypothetical or role-play sentence and the start of its supposition, None for others."""
    found = _SUPPOSED.match(text)
    if found:
        return (SpeechAct.ROLEPLAY if found["pretend"] else SpeechAct.HYPOTHETICAL), found.end()
    if _RHETORICAL.search(text):
        return SpeechAct.ROLEPLAY, 0
    return (SpeechAct.HYPOTHETICAL, 0) if _LIKENED.search(text) else None


def begins_play(text: str) -> bool:
    """Return whether the sentence puts the following text in a role."""
    return _LASTING.search(text) is not None


def is_joke(text: str) -> bool:
    """Return whether the sentence is sarcastic, or a joke that is not about the speaker."""
    return _SARCASTIC_CLAUSE.search(text) is not None or _FICTION.search(text) is not None


def is_retracted(text: str) -> bool:
    """Return whether the sentence declares the text before it a joke."""
    return _KIDDING.search(text) is not None


_ENDS_ASKING = re.compile(r"\?[\s\"')\]!?*_~\u2600-\u27bf\U0001f300-\U0001faff]*$")

_TELLS = re.compile(
    rf"{LEAD}(?:(?:did|do|don't|didn't) (?:you|i) (?:already |even )?(?:know|mention|tell you|remember|recall|say)|"
    rf"have i (?:told you|mentioned)|you (?:do )?know)(?: that| how)? {MINE}"
    r"|, (?:remember|you know|ok|okay|alright|deal|got it)\?"
)
"""Questions that state something: `did you know that I moved?`"""

_ASKS = (
    r"(?:what|where|when|which|who|whose|why|how|can|could|would|should|do|does|did|is|are|any|got|"
    r"have|will|may|shall)\b"
)

_GIVEN = r"(?:(?:since|as|because|given that|now that|considering|although) )?"

_SAYS_FIRST = re.compile(
    rf"{LEAD}{_GIVEN}{MINE}[^?]{{6,600}}?(?:(?:[,;:.!\u2014\u2013]| -) ?(?:(?:so|and|but|then|also|or),? )?| (?:so|"
    rf"and|but) ){_ASKS}"
    rf"|{LEAD}{_GIVEN}{MINE}[^?]{{6,600}}?(?:,|\band\b|\bbut\b) (?:and |but )?(?:i )?(?:'m |am |was |"
    r"were )?(?:just )?wondering\b"
    rf"|{LEAD}as an? [^,?]{{3,80}}, {_ASKS}"
)

_ADDS = re.compile(
    rf"[a-z,] (?:since|because|considering|given that|as|now that) (?:that )?{MINE}|, which i(?:'m|'ve|'d)?\b"
)
"""A reason or an explanation within a question."""

_INTERROGATIVE = re.compile(
    rf"{LEAD}(?:(?:is|are|am|was|were)(?:n't)? (?:i|you|he|she|it|there|this|that|they|we|my|your|the)|"
    r"(?:do|does|did)(?:n't)? (?:i|you|we|they|he|she|my|your|people|anyone)|"
    r"(?:can|could|should|would|will|shall|may|might)(?:n't)? (?:i|you|we|they|he|she|it|there|this|that|my|your)|"
    r"(?:have|has|had)(?:n't)? (?:you|i|we|they|he|she|anyone)|"
    r"(?:what|where|when|why|who|whose|how)(?:'s|'re| (?:is|are|was|were|do|does|did|can|could|should|would|will|"
    r"has|have|about|come|kinds?|types?|sort|time|many|much|long|often|old|far|else))|"
    r"(?:which|what) (?!is\b|was\b|are\b|means?\b|i\b|a\b|an\b)[\w-]+ (?:is|are|do|does|did|should|would|was|were|"
    r"can))\b"
    rf"|{LEAD}i(?:'m|'ve been| was| am| have been)? (?:just )?(?:wonder(?:ing|ed)?|curious),? "
    r"(?:if|whether|what|how|why|where|when|who|which|about)\b"
)

_CLEFT = re.compile(r"^what(?:'s| is| was) [^?]{1,80}? (?:is|was) ")

_LABEL = re.compile(
    r"(?:>|(?:\*\*)?(?:user|assistant|human|ai|customer|client|patient|agent|interviewe[er]|"
    r"speaker \d{1,3})(?:\*\*)? ?:)"
)

_SPOKEN = re.compile(r'"([^"]{1,600})(?:"|$)')

_SELF_IN_QUOTES = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|we|we're|our)\b")

_TITLE = re.compile(
    r"\b(?:book|movie|film|song|album|show|series|episode|poem|called|titled|named|playlist|podcast|game|read|"
    r"watched|like|as)"
    r"[ ,:]*$"
)

_SHORTEST_SPEECH = 3

_OWN_WORDS = re.compile(
    r"\b(?:i|we|i've|i'd) (?:\w+ly |just |always |already )?(?:said|told|say|tell|wrote|replied|answered|mentioned)\b"
)

_SAYS = (
    r"(?:said|says|keeps saying|claims?|claimed|insists?|insisted|reckons|argues?|argued|writes|announced|replied|"
    r"answered|whispered|"
    r"joked|complained|mentioned|swears|swore|thinks|believes|told (?:me|us|him|her|them|everyone|"
    r"people)(?! (?:about|to)\b))"
)

_REPORT = re.compile(
    r"(?<!what )(?<!when )(?<!whatever )\b(?!(?:i|we|you|that|being|having|easier|enough|often|never|was|is|are|be|"
    r"been|to|not|and|or|who|which|can|could|"
    r"will|would|should|i've|i'd|we've|have|has|had|also|just|already|once|always|the|my|a|no)\b)[\w'.-]{1,40} "
    rf"(?:(?:also|just|once|always|recently|already|even|has|had|\w{{1,20}}ly) ){{0,2}}{_SAYS}\b|"
    r"\b(?:people|they|some|many|everyone|others|critics|experts|docs|studies|reports) (?:say|claim|think|"
    r"believe)\b(?! so\b)|"
    r"\baccording to (?!my\b|our\b|me\b|plan\b)|\b(?:rumou?r has it|allegedly|supposedly|word is|legend has it)\b|"
    r"\bi(?:'ve|'d| have)? (?:heard|was told) that (?!i\b|my\b)|"
    r"\bi(?:'ve| have)? read (?:somewhere|online|that (?:the|there|people|most|some|you|it|he|she|they))\b"
)

_SIGNED = re.compile(rf"[,\"] (?!i\b|we\b|you\b)[\w'.-]{{1,40}} (?:[\w'.-]{{1,40}} )?{_SAYS}[.!]?$")
"""The author of a quotation, at its end."""

_EXPERT = re.compile(
    r"\b(?:doctor|dr\.?|gp|physician|dentist|nurse|therapist|vet|optometrist|midwife|pharmacist|surgeon|pediatrician|"
    r"\w{1,20}ologist|\w{1,20}iatrist|tests?|results?|lab)(?: \w{1,20})? (?:just |has |had )?"
    r"(?:said|says|told (?:me|us)|thinks|believes|confirmed|claims)(?: that)? "
    r"(?:i|i'm|i've|i'd|my|we|our)\b(?! should| could| would| might)"
)
"""Experts on the speaker's own body, whose reported diagnosis counts as an assertion."""

_CLAUSES = re.compile(r"[,;:\u2014\u2013]| - |\bbut\b|\band (?=i\b|i'm\b|we\b|my\b|now\b|don't\b|never\b)")

_AFFIRMS = re.compile(
    r"^(?:(?:since|because|now that|when|after|as|while|although|though|even though|and|instead|now|these days|"
    r"currently|"
    r"actually|no|yes|sorry|well) ){0,3}(?:i|i'm|i've|i'd|we|we're|we've|my|our|he|he's|she|she's|they|they're|it's)\b"
)

_AUXILIARIES = words("am is are was were be been do does did have has had will would could")

_ADVERBS = words(
    "really actually even particularly especially exactly usually often always much currently personally necessarily "
    "that so too very all a an the definitely certainly ever any"
)

_TASTES = words(
    "like love enjoy want prefer care eat drink mind trust need allowed supposed permitted fan into fond keen "
    "interested "
    "comfortable big happy only just far least tolerate stand recommend agree"
)
"""Verbs whose negation is a preference or a rule: `I don't like X` states a dislike."""

_POSSESSED = words("have has had got is are was were there's with")

_SUBORDINATORS = words("that because when if who which how where why since so whether until")

_NOBODY = frozenset({"nobody", "none", "neither", "nothing"})

_DONE = words("been had said did was went told knew met saw seen done gone got heard")

_NEAR = 8
"""Words of a clause within which its main verb is expected."""


def asks(text: str) -> bool:
    """Return whether the sentence is a question that states nothing."""
    if _ENDS_ASKING.search(text):
        return not (_TELLS.search(text) or _SAYS_FIRST.match(text) or _ADDS.search(text))
    return _INTERROGATIVE.match(text) is not None and not _CLEFT.match(text)


def quotes(text: str) -> bool:
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


def is_labelled_quote(text: str) -> bool:
    """Return whether the line is marked as somebody else's: quoted mail, or a part of a transcript."""
    return _LABEL.match(text) is not None


def denies(text: str) -> bool:
    """Return whether the sentence negates its main predicate and asserts nothing else."""
    clauses = [clause.strip(" .!\"'") for clause in _CLAUSES.split(text)]
    denying = [_denied(clause) for clause in clauses]
    return any(denying) and not any(
        _AFFIRMS.match(clause) for clause, denied in zip(clauses, denying, strict=True) if not denied
    )


def _denied(clause: str) -> bool:
    said = re.sub(LEAD, "", clause, count=1).split()[:_NEAR]
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
"""Acts that state nothing, from which no memory is stored (DESIGN, disagreement 3)."""

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
"""Characters at the beginning and at the end of a long sentence that are read."""

_CHEER = (
    r"(?:great|wonderful|fantastic|perfect|lovely|brilliant|"
    r"terrific|joy|super|fabulous|goody|yay|hooray|marvell?ous|splendid)"
)

_DREARY = (
    r"(?:meetings?|stand-?up|bugs?|outage|deadlines?|debug\w*|tickets?|overtime|mondays?|traffic|tax(?:es)?|paperwork|"
    r"on[- ]call|crash\w*|rewrit\w+|refactor\w*|cancel\w*|delay\w*|commut\w+|dentist|weekend|broken?|fail\w*|"
    r"spreadsheets?)"
)

_SARCASM: Final = re.compile(
    rf"{LEAD}(?:oh|ah|wow|gee|ugh|well)?,? ?{_CHEER}[,.!:\u2026-]{{0,3}} ?(?:another|yet another|one more|more|"
    r"just what i)\b|"
    rf"^(?:oh|ah|gee|ugh),? (?:{_CHEER}|nice|awesome|good)[,.!\u2026]{{0,3}} (?:now|more|the|my|our|it's|here)\b|"
    rf"^(?:oh|gee),? {_CHEER}[.!\u2026]{{0,3}}$|"
    r"^(?:oh |well )?yeah right\b(?! now| after| before| here| there| next)|\byeah,? right[.!\u2026]{0,3}$|"
    rf"(?:^|[,\u2014\u2013] ?|- )(?:{_CHEER}[,.!]? )?just what i (?:always )?(?:needed|wanted)"
    r"(?:[.!\u2026]{0,3}$|[:,] (?:another|more|an?)\b)|"
    rf"^(?:yay|hooray|whoop-?ee|woohoo),? [^.!?]{{0,30}}\b{_DREARY}[^.!?]{{0,30}}\bagain\b|"
    r"^(?:oh,? )?what a (?:surprise|shock), |"
    r"^as if\b|[\s(]/s\)?[.!]?$|\(sarcasm\)|"
    rf"\b(?:thrilled|overjoyed|delighted|ecstatic|so excited|can't wait|love) [^.!?]{{0,60}}\b{_DREARY}[^.!?]{{0,40}}"
    r"\b(?:again|for the (?:third|fourth|fifth|\w{1,9}teenth|hundredth|millionth) time)\b|"
    rf"\b(?:thrilled|overjoyed|delighted|ecstatic|can't wait) [^.!?]{{0,40}}\b(?:another|"
    rf"one more) (?:\w{{1,20}} )?{_DREARY}|"
    r"\bi (?:just |simply |absolutely |really )?love (?:it )?(?:when|how) [^.!?]{0,50}"
    r"\b(?:crash|break|fail|freez|delay|cancel|los(?:e|t)|ignor|interrupt)\w*|"
    r"\bsaid no one ever\b|\bthanks for nothing\b|\bwhat could (?:possibly )?go wrong\b|"
    r"^(?:oh,? |yeah,? )?(?:sure|right),? because\b|\b(?:because|like) i have nothing better to do\b|"
    r"^(?:oh,? )?how (?:original|delightful|convenient)[.!\u2026]{0,3}$|\btell me something i don't know\b|"
    r"\b(?:just|only|i'm|i am|was) (?:kidding|joking)\b|\bjk\b"
)

_OPENING: Final = re.compile("[\u201c\u201e\u00ab]")

_CLOSING: Final = re.compile("[\u201d\u00bb]")

_STRAIGHT: Final = re.compile(r'(?<!\d)"')

_QUOTES: Final = {ord(mark): '"' for mark in "\u201c\u201d\u201e\u00ab\u00bb\u201f"}


def speech_act(sentence: str, before: str = "") -> SpeechAct:
    """Return the speech act of a sentence; `before` is the text before it in the same turn.

    A sentence that asserts something of the speaker first and then asks, reports or denies is an assertion.
    """
    text = _plain(sentence)
    if is_labelled_quote(text) or _inside_quotation(before):
        return SpeechAct.QUOTATION
    for act, does in _MOODS:
        if does(text):
            return act
    framed = in_effect(text, _plain(before)) if before else None
    if framed is not None:
        return framed
    if quotes(text):
        return SpeechAct.QUOTATION
    return SpeechAct.NEGATION if denies(text) else SpeechAct.ASSERTION


def more_cautious(first: SpeechAct, second: SpeechAct) -> SpeechAct:
    """Return the more cautious of two verdicts on the same words."""
    return min(first, second, key=_CAUTION.index)


def _jokes(text: str) -> bool:
    return _SARCASM.search(text) is not None


_MOODS: Final = (
    (SpeechAct.ROLEPLAY, is_role_play),
    (SpeechAct.HYPOTHETICAL, is_supposition),
    (SpeechAct.SARCASM, _jokes),
    (SpeechAct.QUESTION, asks),
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
