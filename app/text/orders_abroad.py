"""Orders to the assistant in German, French, Spanish, Italian and Portuguese.

A user's own wishes pass here, too: `ab jetzt antworte mir auf Deutsch`, `merk dir, dass ich allergisch bin`.
"""

from __future__ import annotations

from typing import Final

from app.text.orders import Rule, rule

_FAR: Final = r"[^.!?\n]{0,40}?"
_MINE: Final = r"(?!.{0,20}\b(?:meine?n?|unsere?n?|mes|nos|mis|nuestr[ao]s|mie|miei|minhas|meus|nossas?)\b)"
_OWN: Final = (
    r"(?!.{0,30}\b(?:dass ich|wenn ich|mir auf|que je|que j'|quand je|que (?:yo )?(?:soy|tengo|vivo|prefiero)|cuando"
    r"|che (?:io )?(?:sono|ho|vivo|preferisco)|quando|que (?:eu )?(?:sou|tenho|moro|prefiro))\b)"
)
_MANNER: Final = (
    r"(?!.{0,40}\b(?:auf (?:deutsch|englisch|\w{2,12}isch)|kurz|knapp|h\u00f6flich|en (?:fran\u00e7ais|anglais"
    r"|allemand|espa\u00f1ol"
    r"|ingl\u00e9s|franc\u00e9s|alem\u00e1n)|bref|bri\u00e8vement|poliment|breves?|corto|corta|formal"
    r"|in (?:italiano|inglese|tedesco)"
    r"|brevemente|em (?:portugu\u00eas|ingl\u00eas)|de forma|con (?:ejemplos|pocas)|mit (?:beispielen|quellen))\b)"
)
_RULES: Final = (
    r"(?:anweisungen|anleitungen|regeln|instruktionen|befehle|vorgaben|richtlinien|beschr\u00e4nkungen|prompts?"
    r"|instructions?"
    r"|consignes|r\u00e8gles|ordres|directives|instrucciones|reglas|\u00f3rdenes|ordenes|normas|directrices"
    r"|indicaciones"
    r"|restricciones|istruzioni|regole|ordini|direttive|indicazioni|restrizioni|instru\u00e7\u00f5es|instrucoes"
    r"|regras|ordens"
    r"|diretrizes|orienta\u00e7\u00f5es|restri\u00e7\u00f5es)"
)
_IGNORE: Final = (
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

ORDERS_ABROAD: Final[tuple[Rule, ...]] = (
    rule(
        "it orders the assistant to ignore its instructions",
        "anweisung anleitung regeln instrukt befehle vorgaben richtlinien beschr prompt instruct consignes "
        "r\u00e8gles ordres "
        "directives instrucc reglas \u00f3rdenes ordenes normas directrices indicac restric istruz regole ordini "
        "direttive "
        "indicazioni restriz instru regras ordens diretrizes orienta restri",
        rf"\b{_IGNORE}\s{_MINE}{_FAR}\b{_RULES}\b",
        rf"\b(?:neue|nouvelles?|nuevas?|nuove|novas?) (?:system\w*)?{_RULES}\s?:",
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
        rf"\b{_FROM_NOW}\b[^.!?\n]{{0,30}}?\b{_TELL}{_OWN}{_MANNER}",
        rf"\b{_FROM_NOW}\b[,:]? (?:musst du|sollst du|du musst|tu dois|vous devez|debes|tienes que|devi"
        rf"|voc\u00ea deve|tu deves)"
        rf"\b{_OWN}{_MANNER}",
        rf"\b(?:merke? dir|behalte|denk daran|denke daran),? (?:f\u00fcr )?(?:immer|dauerhaft)\b{_OWN}",
        rf"\b(?:souviens-toi|retiens|rappelle-toi),? (?:pour )?(?:toujours|\u00e0 jamais)\b{_OWN}",
        rf"\b(?:recuerda|ten en cuenta|ricorda(?:ti)?|lembre-se|lembra-te),? (?:para |per )?(?:siempre"
        rf"|sempre)\b{_OWN}",
        r"\b(?:immer wenn|jedes mal,? wenn|chaque fois qu|cada vez que|ogni volta che|sempre que|toda vez que)"
        rf"[^.!?\n]{{0,80}}?\b{_TELL}{_OWN}{_MANNER}",
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
"""What no text should hold that is only told to the assistant, in other languages than English."""
