"""Whether a sentence asks, reports what others said, or denies; what it asserts of the speaker first, it asserts.

All functions take text as `tokens.normalise` returns it, with straight quotes and single spaces.
"""

from __future__ import annotations

import re

from app.text.wording import LEAD, MINE, words

_ENDS_ASKING = re.compile(r"\?[\s\"')\]!?*_~\u2600-\u27bf\U0001f300-\U0001faff]*$")
_TELLS = re.compile(
    rf"{LEAD}(?:(?:did|do|don't|didn't) (?:you|i) (?:already |even )?(?:know|mention|tell you|remember|recall|say)|"
    rf"have i (?:told you|mentioned)|you (?:do )?know)(?: that| how)? {MINE}"
    r"|, (?:remember|you know|ok|okay|alright|deal|got it)\?"
)
"""Questions that tell: `did you know that I moved?`"""

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
"""What a question gives as its reason or explains on its way."""

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
"""Whose words they were, told at the end."""

_EXPERT = re.compile(
    r"\b(?:doctor|dr\.?|gp|physician|dentist|nurse|therapist|vet|optometrist|midwife|pharmacist|surgeon|pediatrician|"
    r"\w{1,20}ologist|\w{1,20}iatrist|tests?|results?|lab)(?: \w{1,20})? (?:just |has |had )?"
    r"(?:said|says|told (?:me|us)|thinks|believes|confirmed|claims)(?: that)? "
    r"(?:i|i'm|i've|i'd|my|we|our)\b(?! should| could| would| might)"
)
"""Whom one believes about one's own body: a diagnosis that is passed on is meant."""

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
"""What denying is a taste or a rule of its own: `I don't like X` says what is disliked."""

_POSSESSED = words("have has had got is are was were there's with")
_SUBORDINATORS = words("that because when if who which how where why since so whether until")
_NOBODY = frozenset({"nobody", "none", "neither", "nothing"})
_DONE = words("been had said did was went told knew met saw seen done gone got heard")
_NEAR = 8
"""Words of a clause within which its main verb stands."""


def asks(text: str) -> bool:
    """Return whether the sentence wants to know something and tells nothing."""
    if _ENDS_ASKING.search(text):
        return not (_TELLS.search(text) or _SAYS_FIRST.match(text) or _ADDS.search(text))
    return _INTERROGATIVE.match(text) is not None and not _CLEFT.match(text)


def quotes(text: str) -> bool:
    """Return whether the sentence passes on what others say, unless the speaker asserts something first."""
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


def labelled(text: str) -> bool:
    """Return whether the line is marked as another's: quoted mail, or a part of a transcript."""
    return _LABEL.match(text) is not None


def denies(text: str) -> bool:
    """Return whether the sentence denies its main predicate and affirms nothing beside it."""
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
    """Tell whether the word denies the verb of its clause: an order (`don't call me Bob`) has no subject before it."""
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
