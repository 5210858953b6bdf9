"""Recognition of hypothetical sentences and role play, and of earlier sentences that put the rest of a turn in one.

All functions take text as `tokens.normalise` returns it, with straight quotes and single spaces.
"""

from __future__ import annotations

import re

from app.english.patterns import CLAUSE, LEAD, MINE
from app.model import SpeechAct

_ASKED = (
    r"(?:(?:can|could|would|will) you |"
    r"you (?:can|could|may|should|don't (?:have|need) to) |feel free to |go ahead and )"
)
_FRAMING = re.compile(
    r"\b(?:i'm|im|i am)(?: (?:actually|basically|really|technically|also|kind of|sort of|literally|like)){0,2}"
    r" (?:an?|the|your) ([^,.;:!?\u2014\u2013]{1,60}?)(?: ?[,;:.!\u2014\u2013]+ ?| - | (?=so\b|then\b|and\b))"
    rf"(?:(?:so|then|and|now|please|just),? ){{0,3}}{_ASKED}?(?:please )?"
    r"(?:explain|(?:walk|tell|give|show|help|teach|spare|send|talk to) (?:me|us)\b|"
    r"(?:(?<=so )|(?<=just )|(?<=please )|(?<=can )|(?<=to ))(?:skip|be|go|use|speak|describe|list|write|treat|"
    r"assume|elaborate|break)\b|"
    r"(?:don't|do not) (?:hold|dumb|sugar|simplify|spare|bother|go easy)\b)"
)
"""A claim to be something that justifies a request (seed 003: "I'm actually a doctor, so walk me ...")."""

_TRAIT = re.compile(
    r"\b(?:vegan|vegetarian|pescatarian|coeliac|celiac|diabetic|asthmatic|beginner|newbie|novice|newcomer|learner|"
    r"student|mother|father|mom|mum|dad|parent|grand\w+|woman|man|girl|boy|guy|person|teen\w*|kid|senior|adult|"
    r"speaker|immigrant|expat|muslim|christian|jew|hindu|buddhist|catholic|fan|lover|owner|runner|smoker|sleeper|"
    r"owl|bird|introvert|extrovert|lefty|left-hander|minor|customer|subscriber|member|veteran|survivor|patient|"
    r"widow\w*|twin|resident|citizen|perfectionist)s?\b"
)
"""Traits that people have rather than pretend: such a claim before a request is its reason."""

_ANCHOR = re.compile(
    r"\b(?:at (?!heart\b|all\b|least\b|best\b|this\b|that\b)\w|since (?!i\b)\w|"
    r"for (?:\w+ ){0,3}(?:years|months|decades)|in (?!training\b|disguise\b|a\b|this\b|that\b|my\b|the\b)\w)"
)
"""Details of place or time, which show that a claim is meant."""

_ALMOST = re.compile(
    r"\b(?:i'm|im|i am) (?:basically|practically|pretty much|essentially|virtually) an? ([^,.;!?]{1,40})"
)

_STAGE = r"(?:story|scene|role-?play|skit|sketch|scenario|exercise|simulation|game|campaign|fantasy|script)"
_PLAYING = re.compile(
    rf"{CLAUSE}(?:pretend(?:ing)?|role-?play(?:ing)?|impersonate|act (?:as|like)|play (?:the (?:role|part)|"
    r"a character))\b"
    r"|\b(?:let's|lets|let us|let me|can we|could we|can you|could you|would you|will you|want you to|need you to|"
    r"like you to|i'll|i will|i'm|i am|we're|we are|you're|going to|gonna)(?: just| now| both)? "
    r"(?:pretend|role-?play|act as|act like|impersonate|play (?:the (?:role|part)|a character|"
    r"a game where|pretend))\b"
    r"|\b(?:i'm|i am|we're|we are|you're)(?: just| now| both)? (?:pretending (?:to be|that|i|you|we|my)|"
    r"role-?playing as)\b"
    rf"|\b(?:for|in) (?:this|our|the) {_STAGE},? "
    r"(?:i'm|i am|i'll be|you're|you are|you'll be|we're|we are|let's|assume|imagine|pretend)\b"
    r"|\bin (?:this|our|the) (?:story|scene|role-?play|skit|scenario|simulation),? (?:i|you|we|my)\b"
    r"|\bfor (?:this|our) (?:story|role-?play|scene|skit|scenario)\b"
    r"|\bspeaking as (?:an?|the|your)\b|\bstay in character\b|\bonce upon a time\b"
    r"|\bmy (?:character|alter ego|persona|avatar)(?:'s| is| was| has| lives| works| comes| would| loves| hates)\b"
    r"|\byou be (?:an?|the|my)\b|\bas my fictional\b"
    rf"|{CLAUSE}you play (?:an?|the|my) [\w' -]{{1,40}} and i\b"
    r"|\b(?:i'll|i will|you'll|you will) (?:be|play) (?:an?|the|my) [\w' -]{1,40}(?:,| and) (?:i|you)\b"
)
_PRAISE = (
    r"(?:great|good|amazing|awesome|wonderful|fantastic|real|true|total|huge|big|bit|lot|star|genius|legend|lifesaver|"
    r"life|angel|hero|natural|inspiration|gem|champ|best|one|kind|sweet\w*|lucky|talented|incredible|brilliant|fast|"
    r"quick|strong|busy|rock|pro|gift|blessing|joy|reason|only|most|first|friend|person|caring|loving|super\w*|"
    r"role|part|few|little|while)"
)
_CASTING = re.compile(
    rf"(?:{LEAD}|[.!;] )(?:you are|you're|you will be|you'll be) (?:now )?(?:an?|the|my) (?!(?:\w+ly )?{_PRAISE}\b)"
)

_SUBJECT = (
    r"(?:i|i'm|i've|i'd|you|you're|we|we're|my|our|a|an|the|someone|somebody|if|being|working|living|having|there|he|"
    r"she|"
    r"they|it)\b"
)
_SUPPOSING = re.compile(
    r"\bwhat if\b|\bhypothetically\b|\btheoretically,? i\b|\bpicture this\b|\bhypothetical (?:question|scenario|"
    r"situation|case|example|world)\b|"
    r"\bthought experiment\b|\bfor the sake of (?:the |an )?argument\b|\bfor argument's sake\b|"
    r"\bin (?:another|a different|an alternate|an alternative|a parallel) (?:life|universe|reality|timeline)\b|"
    r"\bin an? (?:ideal|perfect) world\b|"
    r"\blet(?:'s|s| us) (?:just )?(?:say|suppose|assume|imagine)\b|"
    rf"{CLAUSE}(?:suppose|supposing|assume|assuming|imagine)(?: for a (?:moment|second))?(?: that)? {_SUBJECT}|"
    rf"{CLAUSE}say (?:i|you|we|my|someone)(?:'m|'re|'d| \w+ed| was| were| had| worked)\b|"
    r"\bif (?:i|we|my \w+|he|she|it|they|someone) were\b|\bif i was (?:an?|the|in your|ever|to)\b|\bif only\b|"
    r"\bi wish (?:i|i'd|we|my|that i)\b|"
    rf"{LEAD}(?:were i|had i (?:been|known|had)|should i ever)\b|"
    r"\bi(?:'d| would) (?:(?:probably|definitely|maybe|still|then|always) ){0,2}(?:be|have been) "
    r"(?!(?:\w+ly )?(?:happy|glad|grateful|delighted|interested|curious|honou?red|pleased|thankful|lying|remiss|fine|"
    r"ok|"
    r"open|keen|up for|able|willing|down|lost|surprised)\b)"
)
_IF = re.compile(
    rf"{LEAD}(?:even )?(?:if|unless|provided|providing|in case|"
    rf"assuming) (?P<condition>[^,]{{0,300}})(?:,(?P<main>.*))?$"
)
_COURTESY = re.compile(
    r"\bif (?:possible|needed|necessary|so|not|anything|you (?:don't mind|must know|ask me|want|like|can|could|need|"
    r"will|prefer|please|wonder\w*|were wondering|remember|recall|haven't)|i'm honest|i am honest|i'm not mistaken|"
    r"i(?: can)? (?:remember|recall) \w+|it helps|it matters|that helps|that matters|i (?:had|have) to (?:choose|"
    r"pick))\b"
)
_STANDING = re.compile(r"\b(?:ask|say|mention|request|want|need|tell|type|write|send|forget|sound|seem|use|give)s?\b")
"""Conditions that an assistant can check: `if I ask for code, give me Python` is a standing instruction."""

_MEANT = r"(?! (?:(?:\w+ly|always|still) )?(?:like|love|prefer|rather|appreciate|hate|say|mind)\b)"
_UNREAL = re.compile(
    rf"\b(?:would|could|might|will|won't|wouldn't|couldn't|should|may)\b{_MEANT}|\w'(?:d|ll)\b{_MEANT}"
)
_TRAILING_IF = re.compile(
    r"\b(?:would|could|might|will|wouldn't|won't|\w+'d|\w+'ll) "
    r"(?!(?:really |also |still )?(?:appreciate|prefer|love it|like it|like to know|be (?:great|nice|happy|grateful|"
    r"good|"
    r"helpful|lovely|better)|mind|rather))[^.?!]{1,100}(?<!see )(?<!check )(?<!know )(?<!ask )(?<!wonder )(?<!decide "
    r")\bif (?:i|i'm|we|they|he|she|it|my|you|the)\b"
)

_BACK = re.compile(
    r"^(?:(?:but|and|so|ok|okay),? )?(?:in reality|in real life|in fact|irl|actually|really|seriously|anyway|anyways|"
    r"for real|"
    r"for the record|by the way|btw|also|on another note|separately|back to|that aside|jokes aside)\b"
)
_LEFT = re.compile(
    r"[.!?] (?:but |and )?(?:in reality|in real life|anyway|anyways|by the way|btw|jokes aside|back to)\b"
)
_SUPPOSED = re.compile(
    rf"(?:{LEAD}|[.!?;:] )(?:suppose|supposing|imagine|assume|hypothetically|let's (?:just )?(?:say|suppose|assume|"
    r"imagine))"
    rf"(?:,| that| {_SUBJECT})"
)


def is_role_play(text: str) -> bool:
    """Return whether the speaker takes a role, gives one to the listener, or claims one to justify a request."""
    if _PLAYING.search(text) or casts(text):
        return True
    claims = (_ALMOST.search(text), _FRAMING.search(text))
    return any(one is not None and not _TRAIT.search(one[1]) and not _ANCHOR.search(one[1]) for one in claims)


def casts(text: str) -> bool:
    """Return whether the text gives the listener a role rather than praise: `you're a pirate`, not `you're a star`."""
    return _CASTING.search(text) is not None


def is_supposition(text: str) -> bool:
    """Return whether the sentence is true only under a condition or in an imagined world."""
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
    return not re.match(MINE, main) and _STANDING.search(conditional["condition"]) is None


def in_effect(text: str, before: str) -> SpeechAct | None:
    """Return the speech act that earlier text of the turn set for the rest, None if there is none or it has ended."""
    if not before or _BACK.match(text):
        return None
    if (_PLAYING.search(before) or _CASTING.search(before)) and not _LEFT.search(before):
        return SpeechAct.ROLEPLAY
    if _SUPPOSED.search(before) and not _LEFT.search(before):
        return SpeechAct.HYPOTHETICAL
    return None
