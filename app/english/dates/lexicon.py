"""The words of the date grammar: each maps to a tag and a number whose meaning depends on the tag."""

from __future__ import annotations

from app.english.dates.days import Unit

Entry = tuple[str, float]


def _each(tag: str, words: str, first: int = 0) -> dict[str, Entry]:
    """Return the words with the number of their group ("mon monday,tue tuesday"), counted from `first`."""
    groups = enumerate(words.split(","), first)
    return {word: (tag, float(number)) for number, group in groups for word in group.split()}


def _same(tag: str, words: str, number: float = 0) -> dict[str, Entry]:
    return {word: (tag, float(number)) for word in words.split()}


UNITS = {
    Unit.SECOND: "s sec secs seconds",
    Unit.MINUTE: "min mins minute minutes",
    Unit.HOUR: "h hr hrs hour hours",
    Unit.DAY: "d day days",
    Unit.WEEKEND: "weekend weekends",
    Unit.WEEK: "w wk wks week weeks",
    Unit.FORTNIGHT: "fortnight fortnights",
    Unit.MONTH: "mo mos mth mths month months",
    Unit.QUARTER: "quarters",
    Unit.YEAR: "y yr yrs year years",
    Unit.DECADE: "decade decades",
    Unit.CENTURY: "century centuries",
}
SHORT_UNITS = frozenset({"s", "h", "d", "w", "y", "mo", "sec", "min"})
"""Units that are recognised only after a figure ("3h", "20 min")."""

_WEEKDAYS = "monday mon,tuesday tue tues,wednesday wed weds,thursday thu thur thurs,friday fri,saturday,sunday"
_MONTHS = "january,february feb,,apr,,jun,july jul,,september sept sep,october oct,november nov,december dec"
_MONTH_LIKE = "jan,,march mar,april,may,june,,august aug,,,,"
_ORDINALS = (
    "first,,third,fourth,fifth,sixth,seventh,eighth,ninth,tenth,eleventh,twelfth twelveth,thirteenth,"
    "fourteenth,fifteenth,sixteenth,seventeenth,eighteenth,nineteenth,twentieth"
)
_CARDINALS = (
    "zero,one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve,thirteen,fourteen,fifteen,"
    "sixteen,seventeen,eighteen,nineteen"
)
TENS = {
    word: 10 * number
    for number, word in enumerate(("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 2)
}
TENTHS = {word[:-1] + "ieth": number for word, number in TENS.items()}
CARDINALS = {word: int(number) for word, (_, number) in _each("CARD", _CARDINALS).items()} | TENS
ORDINALS = {word: int(number) for word, (_, number) in _each("ORD", _ORDINALS, 1).items()} | TENTHS
_TENS_PLURAL = {word[:-1] + "ies": number for word, number in TENS.items()}
_DECADES = {
    "tens": 10,
    "hundreds": 100,
    "thousands": 1000,
    **_TENS_PLURAL,
}

FUNCTION_WORDS = frozenset(
    _same(
        "",
        "i we you he she it they who what when where why how did do does was were is are am will would should could "
        "can has have had with without but if so then than because while that there as like not only also too again",
    )
)
"""Words that may follow a date or a holiday; another plain word makes it part of a name ("Christmas tree")."""

WORDS: dict[str, Entry] = {
    **{word: ("CARD", float(number)) for word, number in CARDINALS.items()},
    **{word: ("ORD", float(number)) for word, number in ORDINALS.items()},
    **_same("SECOND", "second", 2),
    **_each("WEEKDAY", _WEEKDAYS),
    **_each("WEEKDAY_LIKE", ",,,,,sat,sun"),
    **_each("WEEKDAYS", "mondays,tuesdays,wednesdays,thursdays,fridays,saturdays,sundays"),
    **_each("MONTH", _MONTHS, 1),
    **_each("MONTH_LIKE", _MONTH_LIKE, 1),
    **{word: ("DECADE", float(number)) for word, number in _DECADES.items()},
    **{word: ("UNIT", float(grain)) for grain, words in UNITS.items() for word in words.split()},
    **_same("SCALE", "hundred", 100),
    **_same("SCALE", "thousand", 1000),
    **_same("QUARTER", "quarter", Unit.QUARTER),
    **_each("SEASON", "winter,spring,summer,autumn fall", 0),
    **_each("PART", "morning,afternoon,evening,night"),
    **_same("PARTS", "mornings afternoons evenings nights"),
    **_same("TODAY", "today", 0),
    **_same("TODAY", "tomorrow tmr tmrw", 1),
    **_same("TODAY", "yesterday", -1),
    **_same("TONIGHT", "tonight"),
    **_same("NOW", "now"),
    **_same("NOON", "noon midday", 12),
    **_same("NOON", "midnight", 0),
    **_same("LAST", "last previous prior", -1),
    **_same("PAST", "past", -1),
    **_same("NEXT", "next following", 1),
    **_same("COMING", "coming upcoming", 1),
    **_same("THIS", "this current"),
    **_same("THAT", "that same"),
    **_same("AGO", "ago back"),
    **_same("HENCE", "later"),
    **_same("EARLIER", "earlier"),
    **_same("FROM", "from"),
    **_same("TO", "to"),
    **_same("UNTIL", "until till til"),
    **_same("THROUGH", "through thru"),
    **_same("BETWEEN", "between"),
    **_same("AND", "and &"),
    **_same("OR", "or"),
    **_same("OF", "of"),
    **_same("IN", "in"),
    **_same("ON", "on"),
    **_same("AT", "at @"),
    **_same("FOR", "for"),
    **_same("BY", "by"),
    **_same("OVER", "over"),
    **_same("DURING", "during throughout"),
    **_same("WITHIN", "within"),
    **_same("BEFORE", "before"),
    **_same("AFTER", "after"),
    **_same("SINCE", "since"),
    **_same("THAN", "than"),
    **_same("MORE", "more greater"),
    **_same("LESS", "less"),
    **_same("NO", "no not"),
    **_same("AS", "as"),
    **_same("AROUND", "around about circa approximately roughly nearly almost"),
    **_same("STARTING", "starting beginning commencing"),
    **_same("START", "start"),
    **_same("END", "end"),
    **_same("EARLY", "early"),
    **_same("LATE", "late"),
    **_same("MID", "mid middle"),
    **_same("REST", "rest remainder remaining"),
    **_same("THE", "the my our his her their your its"),
    **_same("A", "a an"),
    **_same("ANOTHER", "another"),
    **_same("EVERY", "every each any"),
    **_same("ALL", "all full whole entire"),
    **_same("OTHER", "other"),
    **_same("RECURRING", "daily weekly monthly yearly annually quarterly everyday biweekly fortnightly"),
    **_same("COUPLE", "couple", 2),
    **_same("FEW", "few several", 3),
    **_same("HALF", "half"),
    **_same("BUSINESS", "business working work"),
    **_same("CALENDAR", "calendar"),
    **_same("FUTURE", "future"),
    **_same("ONWARD", "onward onwards"),
    **_same("UP", "up"),
    **_same("YTD", "ytd"),
    **_same("TIMEWORD", "time"),
    **_same("WEEK_OF", "w/c w/b"),
    **_same("DATEWORD", "date"),
    **_same("OCLOCK", "o'clock o\u2019clock oclock"),
    **_same("AMPM", "am a.m a.m.", 0),
    **_same("AMPM", "pm p.m p.m.", 12),
    **_same("POSSESSIVE", "'s \u2019s"),
    ",": ("COMMA", 0),
    "-": ("DASH", 0),
    "\u2013": ("DASH", 0),
    "\u2014": ("DASH", 0),
    "~": ("DASH", 0),
    "/": ("SLASH", 0),
    ".": ("DOT", 0),
    "(": ("OPEN", 0),
    ")": ("CLOSE", 0),
    "½": ("HALF", 0),
}
