"""Wording by which a text gives orders to the assistant that reads it, instead of telling it something.

Patterns over lower-case text with single spaces; English (`app.text.orders_abroad` has other languages). A user's own
wishes pass: they name `my` instructions, say what `I` am, or ask for a manner (`in German`, `briefly`) rather than for
content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A pattern, why what it finds is doubtful, and words one of which it needs: looking for those first is cheap."""

    why: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]

    def finds(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of what the pattern finds."""
        if any(word in text for word in self.needs):
            yield from (found.span() for found in self.pattern.finditer(text))


def rule(why: str, needs: str, *patterns: str) -> Rule:
    """Return the rule of several patterns, any of which finds; `needs` are words apart by spaces."""
    return Rule(why=why, needs=tuple(needs.split()), pattern=re.compile("|".join(patterns), re.MULTILINE))


_COMMAND: Final = (
    r"(?:^|(?<=[.!?:;,\n\"'(>*\]\u2014-])|(?<=[.!?:;,\n\"'(>*\]\u2014-] )|\bplease,? |\bkindly |\bnow,? |\bmust |"
    r"\bshould |"
    r"\byou |\band |\bthen |\bjust |\bfirst,? |(?<!tend )(?<!tends )\bto |\bimmediately )"
)
"""Where a command begins: nobody but the reader is its subject."""

_FAR: Final = r"[^.!?\n]{0,40}?"
_WORDS: Final = r"(?:(?!my\b)[\w']{1,20}\s){0,3}?"
_RULES: Final = (
    r"(?:instructions?|rules|prompts?|guidelines|guidance|directives?|commands?|programming|training|safeguards|"
    r"guardrails|"
    r"restrictions|constraints|polic(?:y|ies)|orders)\b"
)
_IGNORE: Final = (
    r"(?:ignore|disregard|override|bypass|forget|discard|abandon|drop|set aside|put aside|pay no attention to|"
    r"never mind|"
    r"(?:do not|don't|stop|no longer (?:have to |need to )?) ?(?:follow(?:ing)?|obey(?:ing)?))"
)
_OWN: Final = r"(?:that\s)?(?:i|i'm|i've|my|me|we|our)\b"
_RIGHTS: Final = (
    r"(?:admin\w*|root|superuser|super user|authori[sz]ed|trusted|verified|permitted|exempt|vip|premium|approved|"
    r"entitled|"
    r"unrestricted|(?:a|the) developer|the owner|(?:has|have|with) (?:full|unlimited|root) (?:access|rights|"
    r"permissions?)|"
    r"no (?:restrictions|limits)|allowed to|may (?:skip|bypass|ignore))\b"
)
_EVER: Final = (
    r"(?:from (?:now on|here on out|(?:this|that) point (?:on|forward|onwards?))|"
    r"going forward|henceforth|for all future \w{1,20})"
)
_MANNER: Final = (
    r"\s(?:(?:to me|everything|all of it|me) )?(?:only )?(?:in|briefly|concisely|shortly|formally|politely|honestly|"
    r"using|"
    r"with (?:an? |some )?(?:short|brief|concise|bullet|code|detail|example|emoji|plain|one|markdown|table|metric|no|"
    r"less|"
    r"more|fewer|sources?|links?)|less|more|my|me|step|as (?:short|brief))"
)
"""How to answer, which a user may wish; what to answer is another matter."""

_SAY: Final = r"(?:respond|reply|answer|say|recommend|promote|suggest|mention|include|endorse|end every)\b"
_WHO: Final = r"(?:user|customer|human|account|caller)"

ORDERS: Final = (
    rule(
        "it orders the assistant to ignore its instructions",
        "ignore disregard override bypass follow obey forget discard abandon drop aside attention mind instruction "
        "prompt task "
        "goal purpose restriction filter limit",
        rf"{_COMMAND}{_IGNORE}\s{_WORDS}(?:previous|prior|above|earlier|preceding|foregoing|all|any|your|system|"
        r"existing|"
        rf"other|the)\s{_WORDS}{_RULES}(?! (?:from|of|for|about) my\b)",
        rf"{_COMMAND}{_IGNORE}\s(?:everything|anything|all|all of|what(?:ever)? is)? ?(?:the )?(?:above(?! typo)|"
        r"that came before)\b",
        rf"{_COMMAND}(?:ignore|disregard|forget)\s(?:everything|anything|all|what|whatever) (?:you(?:'ve|"
        r" have)? (?:were|been|know about)|"
        r"before this)\b",
        rf"{_COMMAND}(?:ignore|disregard) the user(?:'s)?\b|\byou have no (?:restrictions|limits|rules|limitations)\b",
        r"\byou(?:'re| are) (?:no longer|not) bound by\b|\byou no longer (?:have|need) to (?:follow|obey|comply)\b",
        r"\b(?:new|updated|revised|real|actual) (?:system )?instructions?:",
        r"\byour (?:new|real|actual|only|true) (?:task|goal|purpose|objective|instructions?) (?:is|are)\b",
        r"\b(?:ai|assistant|model|chatbot)\b[^.!?\n]{0,30}?\b(?:without|no|with no) (?:any )?(?:restrictions?|filters?|"
        r"limit(?:s|ations)?|censorship|guidelines)\b",
        r"^\W{0,8}(?:begin|beginning|start|end)(?: of)? (?:the )?(?:new )?(?:system )?(?:prompt|instructions|"
        r"message)\W{0,8}$",
    ),
    rule(
        "it gives the assistant a standing order",
        "now forward point out henceforth future always must have shall mode anything whenever asked every",
        rf"\b{_EVER}[,:]? (?:you (?:must|will|shall|are to|should) |please )?(?:(?:always|only|never) )?"
        rf"(?:(?:remember|recall|store|save|consider|trust|obey|believe)\b(?!\s{_OWN})|"
        r"treat\b[^.!?\n]{0,40}?\bas (?:an? |the )?(?:admin\w*|root|owner|trusted|authori[sz]ed|superuser|developer|"
        r"priority|"
        rf"true|verified|system|fact|commands?)\b|{_SAY}(?!{_MANNER}\b))",
        rf"{_COMMAND}always remember to\b",
        r"\bin (?:every|each|all) (?:(?:future|single|of your) )?(?:answers?|repl(?:y|ies)|responses?|"
        rf"messages?),? (?:you )?{_SAY}",
        rf"\bwhen(?:ever)? asked\b[^.!?\n]{{0,80}}?\balways {_SAY}",
        rf"\byou (?:must|should|will|shall) always (?:comply|obey|trust|approve|agree|{_SAY}(?!{_MANNER}\b))",
        r"\byou (?:must|have to|need to|are required to|shall) (?:now |always )?(?:store|save|remember|memori[sz]e|"
        r"record|retain) "
        rf"(?:that (?!{_OWN})|this\b|the following|these\b|it\b|permanently|as\b|in (?:your )?memory)",
        r"\byou are now (?:dan\b|in \w{1,20} mode|unrestricted|free from|jailbroken|an? (?:unrestricted|uncensored|"
        r"evil))",
        r"\b(?:enable|enter|activate|switch to|you(?:'re| are)(?: now)? in) (?:developer|dan|jailbreak|debug|admin|"
        r"sudo|root) mode\b|\bdo anything now\b",
        r"\b(?:when(?:ever)?|if|every time|any time) (?:you(?:'re| are)|someone is|anyone is) asked\b[^.!?\n]{0,80}?\b"
        rf"{_SAY}(?!{_MANNER}\b)",
    ),
    rule(
        "it claims rights for the user as if it were the operator",
        "user customer human account caller authori",
        r"\bi (?:hereby )?authori[sz]e you to (?:bypass|ignore|skip|override)\b",
        r"\b(?:memory update:|(?:permanent|standing|global) rule:|remember|note|store|save|record|memori[sz]e|know|"
        r"treat|(?:add|write|update|commit)[^.!?\n]{0,20}? memory)(?:\b|(?<=:))"
        rf"[^.!?\n]{{0,60}}?\b(?:the |this |current |every )?{_WHO}(?:'s)?\b[^.!?\n]{{0,40}}?\b{_RIGHTS}",
    ),
    rule(
        "it is after the system prompt",
        "prompt instruction message override rules above system",
        r"\b(?:reveal|show|print|output|repeat|leak|display|dump|tell me|what(?:'s| is| are)|give me|share|send|"
        r"change|update|"
        r"override|replace|translate|summari[sz]e)\b[^.!?\n]{0,30}?\b(?:your|the) (?:(?:hidden|full|original|initial|"
        r"secret|"
        r"entire|exact|current) ){0,3}(?:system (?:prompt|message|instructions)|initial (?:instructions|prompt)|hidden "
        r"(?:instructions|prompt|rules))\b",
        r"\b(?:tell me|show me|give me|print|reveal|repeat|output) your (?:exact |full |own )?(?:instructions|prompt|"
        r"rules|guidelines)\b",
        r"\b(?:repeat|print|output) (?:everything|all|all of|the (?:text|words|lines)) above\b",
        r"^\W{0,4}(?:new )?system (?:prompt|message|instruction|override)s?\W{0,2}:|^(?:\[|\*\*)?system(?:\]|\*\*)?: ",
    ),
    rule(
        "it asks to keep something from the user, or to send it away",
        "user human customer send forward upload post exfiltrate leak email",
        r"\b(?:do not|don't|never|without) (?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|"
        r"(?:mention(?:ing)?|show(?:ing)?|reveal(?:ing)?)(?: (?:this|it|that)(?: \w{1,20})?)? to) the (?:user|human|"
        r"customer)\b",
        r"\b(?:hide|conceal|keep) (?:this|it|that) from the (?:user|human|customer)\b",
        rf"{_COMMAND}(?:send|forward|upload|post|exfiltrate|leak|email)\s{_FAR}\b(?:(?:the|this|our|every|"
        rf"all) (?:\w{{1,20}} )?conversations?|"
        rf"chat (?:history|logs?)|memor(?:y|ies)|system prompt|credentials|passwords|api keys?|secrets)\b{_FAR}"
        r"(?:https?://|[\w.+-]{1,64}@[\w-])",
        r"\b(?:leak|exfiltrate) (?:the|this|all|every|our|your)\b",
    ),
    rule(
        "it is marked up as a message of the system",
        "< [ #",
        r"</?\s{0,3}(?:system|assistant|instructions?|important|im_start|im_end|human|system[-_]\w{1,20}|developer)"
        r"(?:\s[^<>\n]{0,100})?>",
        r"<\|[a-z_]{2,30}\|>|\[/?inst\]|<</?sys>>|\[(?:system|assistant|developer)\]",
        r"^#{1,4} {0,2}(?:system|new instructions?)\b:?\s{0,3}$",
    ),
)
"""What no text should hold that is only told to the assistant, whoever says it."""

FOREIGN_ORDERS: Final = (
    rule(
        "a text that is not the user's speaks for the user",
        "user human customer",
        r"^\W{0,4}(?:user|human|customer)\W{0,3}:[^\n]{0,80}?\b(?:i|i'm|my|me|remember|please)\b",
        r"\b(?:i am|this is) the user\b|\bas the user,? i\b|\bon behalf of the user\b",
        r"\bthe user (?:has |have )?(?:already )?(?:asked|instructed|confirmed|authori[sz]ed|approved|consented|"
        r"agreed|wants|"
        r"requested)\b[^.!?\n]{0,20}?\b(?:you|to|that)\b",
        r"\b(?:remember|note|store|save|record|memori[sz]e)\b[^.!?\n]{0,15}?\bthat the user\b",
    ),
    rule(
        "a text that is not the user's tells the assistant what to say",
        "user someone anyone asked",
        r"\b(?:when(?:ever)?|if|every time|any time) (?:the |a )?(?:users?|someone|anyone|asked)\b[^.!?\n]{0,80}?\b"
        r"(?:recommend|say|reply|respond|answer|claim|insist|tell (?:them|him|her|the user))\b",
        r"\b(?:tell|inform|convince) the user (?:that|to)\b",
    ),
)
"""What the user may say and nobody else: a text of a tool or an assistant neither is the user nor coaches answers."""
