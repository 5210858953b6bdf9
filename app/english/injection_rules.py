"""Patterns of text that gives orders to the assistant that reads it, in English and five more languages.

They match lower-case text with single spaces. A user's own wishes pass: they name `my` instructions, say what `I` am,
or ask for a manner (`in German`, `briefly`) rather than for content: `ab jetzt antworte mir auf Deutsch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionRule:
    """A pattern, the reason of a suspicion, and words one of which a text must have, which is cheap to check first."""

    why: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]

    def finds(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield start and end of each match."""
        if any(word in text for word in self.needs):
            yield from (found.span() for found in self.pattern.finditer(text))


def rule(why: str, needs: str, *patterns: str) -> InjectionRule:
    """Return a rule of alternative patterns; `needs` are words separated by spaces."""
    return InjectionRule(why=why, needs=tuple(needs.split()), pattern=re.compile("|".join(patterns), re.MULTILINE))


_COMMAND: Final = (
    r"(?:^|(?<=[.!?:;,\n\"'(>*\]\u2014-])|(?<=[.!?:;,\n\"'(>*\]\u2014-] )|\bplease,? |\bkindly |\bnow,? |\bmust |"
    r"\bshould |"
    r"\byou |\band |\bthen |\bjust |\bfirst,? |(?<!tend )(?<!tends )\bto |\bimmediately )"
)
"""The beginning of a command, whose subject is the reader."""

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
"""Manners of answering, which a user may ask for, unlike the content of answers."""

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
"""Orders that are suspicious in any text, whoever wrote it."""

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
"""Orders that only the user may give: texts of tools and assistants must not speak for the user or dictate answers."""

_MINE: Final = r"(?!.{0,20}\b(?:meine?n?|unsere?n?|mes|nos|mis|nuestr[ao]s|mie|miei|minhas|meus|nossas?)\b)"

_FOREIGN_OWN: Final = (
    r"(?!.{0,30}\b(?:dass ich|wenn ich|mir auf|que je|que j'|quand je|que (?:yo )?(?:soy|tengo|vivo|prefiero)|cuando"
    r"|che (?:io )?(?:sono|ho|vivo|preferisco)|quando|que (?:eu )?(?:sou|tenho|moro|prefiro))\b)"
)

_FOREIGN_MANNER: Final = (
    r"(?!.{0,40}\b(?:auf (?:deutsch|englisch|\w{2,12}isch)|kurz|knapp|h\u00f6flich|en (?:fran\u00e7ais|anglais"
    r"|allemand|espa\u00f1ol"
    r"|ingl\u00e9s|franc\u00e9s|alem\u00e1n)|bref|bri\u00e8vement|poliment|breves?|corto|corta|formal"
    r"|in (?:italiano|inglese|tedesco)"
    r"|brevemente|em (?:portugu\u00eas|ingl\u00eas)|de forma|con (?:ejemplos|pocas)|mit (?:beispielen|quellen))\b)"
)

_FOREIGN_RULES: Final = (
    r"(?:anweisungen|anleitungen|regeln|instruktionen|befehle|vorgaben|richtlinien|beschr\u00e4nkungen|prompts?"
    r"|instructions?"
    r"|consignes|r\u00e8gles|ordres|directives|instrucciones|reglas|\u00f3rdenes|ordenes|normas|directrices"
    r"|indicaciones"
    r"|restricciones|istruzioni|regole|ordini|direttive|indicazioni|restrizioni|instru\u00e7\u00f5es|instrucoes"
    r"|regras|ordens"
    r"|diretrizes|orienta\u00e7\u00f5es|restri\u00e7\u00f5es)"
)

_FOREIGN_IGNORE: Final = (
    r"(?:ignorier(?:e|en|t)?|vergi(?:ss|\u00df)|vergesst|missachte|\u00fcbergeh(?:e|en)?|umgeh(?:e|en)?"
    r"|\u00fcberschreib(?:e|en)?|befolge nicht"
    r"|ignore[zr]?(?= (?:toutes?|tous|tes|vos|les|ces)\b)|oublie[zr]?|contourne[zr]?|fais abstraction de"
    r"|faites abstraction de|ne (?:tiens"
    r"|tenez) (?:pas|plus) compte"
    r" (?:de|des)|ne suis plus|ne (?:respecte|suivez) (?:pas|plus)|ignora(?:re|d)?|olvid[ae](?:te de)?"
    r"|desobedece|haz caso omiso"
    r"|omite|no (?:sigas|obedezcas)|dimentica(?:re|ti)?|trascura|non (?:seguire|considerare|rispettare)"
    r"|scavalca|esque\u00e7a"
    r"|esquece|desconsider[ae]|desobede\u00e7a|n\u00e3o (?:siga|sigas|obede\u00e7a))"
)

_FROM_NOW: Final = (
    r"(?:ab jetzt|ab sofort|von nun an|von jetzt an|k\u00fcnftig|in zukunft|\u00e0 partir de maintenant"
    r"|d\u00e9sormais|dor\u00e9navant"
    r"|a partir de ahora|desde ahora|de ahora en adelante|en adelante|d'ora in (?:poi|avanti)|da (?:ora"
    r"|adesso) in (?:poi|avanti)"
    r"|a partir de agora|de agora em diante|daqui (?:em|para a) (?:diante|frente))"
)

_TELL: Final = (
    r"(?:empfiehl|empfehle|empfehlen|antworte|antworten|sage?(?:n|st)?\b|erw\u00e4hn|behandel|behandle|vertrau"
    r"|gehorch|genehmig"
    r"|speicher|bewirb|recommande|recommander|r\u00e9pond|dis\b|dire\b|diras|mentionne|traite|fais confiance"
    r"|ob\u00e9i|approuve"
    r"|retiens|enregistre|sugg\u00e8re|recomiend|recomendar|respond|di\b|dir\u00e1s|decir|menciona|trata"
    r"|conf\u00eda|obedec|aprueb"
    r"|guarda|sugier|raccomand|consiglia|rispond|di'|menzion|fidati|obbed|approv|salva|sugger|recomend|diga"
    r"|dizer|mencion|trate"
    r"|confie|obede\u00e7|aprov|guarde|sugir)"
)

ORDERS_ABROAD: Final[tuple[InjectionRule, ...]] = (
    rule(
        "it orders the assistant to ignore its instructions",
        "anweisung anleitung regeln instrukt befehle vorgaben richtlinien beschr prompt instruct consignes "
        "r\u00e8gles ordres "
        "directives instrucc reglas \u00f3rdenes ordenes normas directrices indicac restric istruz regole ordini "
        "direttive "
        "indicazioni restriz instru regras ordens diretrizes orienta restri",
        rf"\b{_FOREIGN_IGNORE}\s{_MINE}{_FAR}\b{_FOREIGN_RULES}\b",
        rf"\b(?:neue|nouvelles?|nuevas?|nuove|novas?) (?:system\w*)?{_FOREIGN_RULES}\s?:",
        r"\bdu (?:bist|hast) (?:jetzt |nun |ab jetzt )?(?:keine? (?:regeln|beschr\u00e4nkungen|grenzen)"
        r"|nicht mehr an)\b",
        r"\b(?:tu n'as plus (?:de |aucune )|ya no tienes |non hai pi\u00f9 |voc\u00ea n\u00e3o tem mais )"
        r"(?:r\u00e8gles?|restrictions?|limites?|reglas|restricciones|l\u00edmites|regole|restrizioni|limiti"
        r"|regras|restri\u00e7\u00f5es)",
    ),
    rule(
        "it gives the assistant a standing order",
        "jetzt sofort nun k\u00fcnftig zukunft maintenant d\u00e9sormais dor\u00e9navant ahora adelante poi avanti "
        "agora diante frente "
        "merk immer toujours siempre sempre",
        rf"\b{_FROM_NOW}\b[^.!?\n]{{0,30}}?\b{_TELL}{_FOREIGN_OWN}{_FOREIGN_MANNER}",
        rf"\b{_FROM_NOW}\b[,:]? (?:musst du|sollst du|du musst|tu dois|vous devez|debes|tienes que|devi"
        rf"|voc\u00ea deve|tu deves)"
        rf"\b{_FOREIGN_OWN}{_FOREIGN_MANNER}",
        rf"\b(?:merke? dir|behalte|denk daran|denke daran),? (?:f\u00fcr )?(?:immer|dauerhaft)\b{_FOREIGN_OWN}",
        rf"\b(?:souviens-toi|retiens|rappelle-toi),? (?:pour )?(?:toujours|\u00e0 jamais)\b{_FOREIGN_OWN}",
        rf"\b(?:recuerda|ten en cuenta|ricorda(?:ti)?|lembre-se|lembra-te),? (?:para |per )?(?:siempre"
        rf"|sempre)\b{_FOREIGN_OWN}",
        r"\b(?:immer wenn|jedes mal,? wenn|chaque fois qu|cada vez que|ogni volta che|sempre que|toda vez que)"
        rf"[^.!?\n]{{0,80}}?\b{_TELL}{_FOREIGN_OWN}{_FOREIGN_MANNER}",
    ),
    rule(
        "it claims rights for the user as if it were the operator",
        "nutzer benutzer utilisateur usuario utente usu\u00e1rio",
        r"\b(?:der (?:be)?nutzer|l'utilisateur|el usuario|l'utente|o usu\u00e1rio) (?:ist|est|es|\u00e8"
        r"|\u00e9) (?:ein |un |uno |um )?"
        r"(?:admin\w*|root|autorisiert|autoris\u00e9|autorizad[oa]|autorizzat[oa]|berechtigt|vertrauensw\u00fcrdig)",
    ),
    rule(
        "it is after the system prompt",
        "system sistema syst\u00e8me",
        r"\b(?:zeig|nenn|verrat|gib|wiederhol|affiche|montre|r\u00e9v\u00e8le|donne|r\u00e9p\u00e8te|muestra"
        r"|revela|dime|ense\u00f1a|repite|mostra"
        r"|rivela|dimmi|ripeti|mostre|revele|diga|repita)\w*\b[^.!?\n]{0,30}?\b(?:system-?\s?(?:prompt"
        r"|anweisung\w*|nachricht)"
        r"|systemprompt|prompt (?:del sistema|syst\u00e8me|de sistema|do sistema|di sistema)|(?:instructions"
        r"|instrucciones|istruzioni"
        r"|instru\u00e7\u00f5es) (?:syst\u00e8me|del sistema|di sistema|do sistema))",
    ),
    rule(
        "it asks to keep something from the user, or to send it away",
        "nutzer utilisateur usuario utente usu\u00e1rio",
        r"\b(?:sag|erz\u00e4hl|verrat)\w* (?:das |es |dies )?(?:dem )?(?:be)?nutzer (?:davon )?(?:nichts|nicht)\b"
        r"|\bohne (?:es )?dem (?:be)?nutzer\b"
        r"|\b(?:ne (?:le )?dis (?:pas|rien)|sans (?:le )?dire) [^.!?\n]{0,15}?l'utilisateur\b"
        r"|\b(?:no (?:se )?lo digas|no le digas|sin dec\u00edrselo|sin decirle)[^.!?\n]{0,15}? (?:al|el) usuario\b"
        r"|\bnon dir(?:e|lo) (?:niente |nulla )?all'utente\b|\bn\u00e3o (?:diga|conte) (?:nada )?ao usu\u00e1rio\b",
    ),
)
"""Orders that are suspicious in any text, in languages other than English."""
