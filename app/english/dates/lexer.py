"""The lexer of date expressions: tags words by the lexicon and figures by their shape."""

from __future__ import annotations

import re

from app.english.dates.days import HOLIDAY_STARTS, LAST_YEAR, holiday_at
from app.english.dates.lexicon import SHORT_UNITS, WORDS
from app.english.dates.nodes import UNKNOWN, Node
from app.english.dates.periods import Clock

_TOKEN = re.compile(
    r"(?P<shape>[qQ][1-4](?![0-9A-Za-z])|[hH][12](?![0-9A-Za-z]))"
    r"|(?P<figures>[0-9]+(?:[.,:/~\u2013-][0-9]+)*)"
    r"|(?P<short>(?<![0-9A-Za-z])['\u2019][0-9]{2}(?![0-9]))"
    r"|(?P<word>o['\u2019]clock\b|[ap]\.m\.?(?![a-z])|w/[cb]\b|['\u2019]s\b|[^\W\d_]+)"
    r"|(?P<other>[^\s])",
    re.IGNORECASE,
)
_MAX_DIGITS = 14
_BLOCKERS = frozenset("$€£¥#+_%°")
_ORDINAL_ENDS = frozenset({"st", "nd", "rd", "th"})
_TIME_TAILS = {"a": 0, "p": 12, "am": 0, "pm": 12}
_MONTH_TAGS = frozenset({"MONTH", "MONTH_LIKE", "WEEKDAY", "WEEKDAY_LIKE"})
MAX_MONTH, MAX_DAY, MAX_HOUR, MAX_MINUTE = 12, 31, 24, 59
YEARS = range(1000, 3000)
"""Numbers that may be a year by themselves; later years need a day and a month."""
PIVOT = 40
"""Two-digit years below it are of this century."""


def number_tag(value: int, digits: int = 0) -> str:
    """Return the tag of a whole number, which tells its possible meanings, from an hour to a year."""
    if digits > 4 or value > LAST_YEAR:  # noqa: PLR2004 - more digits than a year has
        return UNKNOWN
    for limit, tag in ((0, "N0"), (12, "N12"), (24, "N24"), (31, "N31"), (59, "N59"), (99, "N99"), (999, "N3")):
        if value <= limit:
            return tag
    return "Y4" if value in YEARS else "YBIG"


def lex(text: str) -> list[Node]:
    """Return the nodes of a text; never raises."""
    nodes: list[Node] = []
    for match in _TOKEN.finditer(text):
        kind, token, start = match.lastgroup, match.group(), match.start()
        glued = bool(nodes) and nodes[-1].end == start
        if kind == "figures":
            nodes += _figures(text, token, start, glued=glued, before=nodes[-1] if glued else None)
        elif kind == "short":
            year = int(token[1:]) + (2000 if int(token[1:]) < PIVOT else 1900)
            nodes.append(Node("YSHORT", start, match.end(), num=year, glued=glued))
        elif kind == "shape":
            tag = "QUARTER_NO" if token[0] in "qQ" else "HALF_NO"
            nodes.append(Node(tag, start, match.end(), num=int(token[1]), word=token, glued=glued))
        elif glued or token.lower() in WORDS:
            _add_word(nodes, token, start, glued=glued)
        else:
            nodes.append(Node(UNKNOWN, start, match.end(), word=token))
    return _name_holidays(nodes)


def _add_word(nodes: list[Node], token: str, start: int, *, glued: bool) -> None:
    word = token.lower()
    last = nodes[-1] if glued else None
    after_figure = last is not None and last.tag != UNKNOWN and (last.word.isdigit() or last.clock or last.nums)
    end = start + len(token)
    if last is not None and after_figure:
        if word in _ORDINAL_ENDS and 1 <= last.num <= MAX_DAY:
            nodes[-1] = Node("ORD", last.start, end, num=last.num, word=last.word, glued=last.glued)
            return
        if word in {"t", "z"} and (last.nums or last.clock):
            return
        if word in _TIME_TAILS:
            nodes.append(Node("AMPM", start, end, num=_TIME_TAILS[word], glued=True))
            return
    if word == "." and last is not None and last.tag in _MONTH_TAGS and last.end - last.start <= 5:  # noqa: PLR2004
        nodes[-1] = Node(last.tag, last.start, last.end, num=last.num, word=last.word, glued=last.glued)
        return
    tag, value = WORDS.get(word, (UNKNOWN, 0))
    if tag == "UNIT" and word in SHORT_UNITS and not (nodes and _counts(nodes[-1], word, glued=glued)):
        tag = UNKNOWN
    if last is not None and last.tag.startswith(("N", "Y4")) and tag == UNKNOWN and token.isalpha():
        nodes[-1] = Node(UNKNOWN, last.start, last.end)
    nodes.append(Node(tag, start, end, num=value, word=token, glued=glued))


def _counts(before: Node, word: str, *, glued: bool) -> bool:
    """Return whether a short unit is possible here: after a figure; one of one or two letters directly after it."""
    if before.tag == "CARD":
        return len(word) > 2  # noqa: PLR2004 - "twenty min"
    return before.tag in _FIGURES and (glued or len(word) > 1)


_FIGURES = frozenset({"N0", "N12", "N24", "N31", "N59", "N99", "N3", "Y4", "YSHORT", "DOTTED"})


def _figures(text: str, token: str, start: int, *, glued: bool, before: Node | None) -> list[Node]:
    end = start + len(token)
    dead = [Node(UNKNOWN, start, end, word=token, glued=glued)]
    preceding = text[max(start - 2, 0) : start].rstrip()[-1:]
    if len(token) > 2 * _MAX_DIGITS or preceding in _BLOCKERS:
        return dead
    if text[end : end + 1] in _BLOCKERS or (before is not None and before.tag == UNKNOWN and before.word.isalpha()):
        return dead
    pieces = _apart(token, start) if _joins_word(text, start, end) else _chain(token, start)
    if pieces is None:
        return dead
    if glued:
        first = pieces[0]
        pieces[0] = Node(
            first.tag,
            first.start,
            first.end,
            num=first.num,
            word=first.word,
            glued=True,
            nums=first.nums,
            clock=first.clock,
        )
    return pieces


def _joins_word(text: str, start: int, end: int) -> bool:
    """Return whether a sign joins the figures to a word: "Sep-23-2020", "2020/23/Sep"."""
    front, back = text[max(start - 2, 0) : start], text[end : end + 2]
    return (len(front) == 2 and front[0].isalpha() and front[1] in "-/") or (  # noqa: PLR2004
        len(back) == 2 and back[0] in "-/" and back[1].isalpha()  # noqa: PLR2004
    )


def _apart(token: str, start: int) -> list[Node] | None:
    """Return the nodes of two joined numbers, None for other figures."""
    parts = re.split(r"([-/])", token)
    if len(parts) != 3 or not (parts[0].isdigit() and parts[2].isdigit()):  # noqa: PLR2004
        return _chain(token, start)
    place = start + len(parts[0])
    sign = Node("DASH" if parts[1] == "-" else "SLASH", place, place + 1, word=parts[1], glued=True)
    return [_integer(parts[0], start), sign, _integer(parts[2], place + 1)]


def _integer(token: str, start: int) -> Node:
    value = int(token) if len(token) <= 4 else -1  # noqa: PLR2004 - more digits than a year has
    tag = number_tag(value, len(token)) if value >= 0 else UNKNOWN
    return Node(tag, start, start + len(token), num=max(value, 0), word=token, glued=False)


def _chain(token: str, start: int) -> list[Node] | None:
    """Return the nodes of figures joined by signs, None when their shape is not of a time."""
    whole = _shape(token, start)
    if whole is not None:
        return [whole]
    for sign in "-\u2013~":
        left, found, right = _split_middle(token, sign)
        if not found:
            continue
        first, second = _part(left, start), _part(right, start + len(left) + 1)
        if first is not None and second is not None:
            place = start + len(left)
            return [first, Node("DASH", place, place + 1, word=sign, glued=True), second]
    left, found, right = token.partition(",")
    if found and (len(right) == 4 or not left.isdigit()):  # noqa: PLR2004 - "January 12,2016"
        first, second = _part(left, start), _part(right, start + len(left) + 1)
        place = start + len(left)
        if first is not None and second is not None:
            return [first, Node("COMMA", place, place + 1, word=",", glued=True), second]
    return None


def _split_middle(token: str, sign: str) -> tuple[str, str, str]:
    parts = token.split(sign)
    half = len(parts) // 2
    if len(parts) not in {2, 6}:
        return token, "", ""
    return sign.join(parts[:half]), sign, sign.join(parts[half:])


def _part(token: str, start: int) -> Node | None:
    return _integer(token, start) if token.isdigit() else _shape(token, start)


def _shape(token: str, start: int) -> Node | None:
    end = start + len(token)
    if token.isdigit():
        if len(token) == 8 and token[:2] in {"19", "20"}:  # noqa: PLR2004 - YYYYMMDD
            return Node("DMY", start, end, nums=(int(token[:4]), int(token[4:6]), int(token[6:])))
        return _integer(token, start)
    parts = re.split(r"[.,:/~\u2013-]", token)
    signs = re.sub(r"[0-9]", "", token)
    if max(len(part) for part in parts) > 4:  # noqa: PLR2004 - more digits than a year has
        return None
    nums = tuple(int(part) for part in parts)
    tag = _date_shape(parts, signs, nums)
    if tag:
        return Node(tag, start, end, nums=nums, word=token)
    is_time = set(signs) == {":"} and len(nums) <= 3 and all(len(part) == 2 for part in parts[1:])  # noqa: PLR2004
    if is_time and nums[0] <= MAX_HOUR and max(nums[1:]) <= MAX_MINUTE and len(parts[0]) <= 2:  # noqa: PLR2004
        fixed = nums[0] > MAX_MONTH or parts[0].startswith("0")
        clock = Clock(nums[0], nums[1], nums[2] if len(nums) == 3 else None, fixed=fixed)  # noqa: PLR2004
        return Node("CLOCK", start, end, clock=clock, word=token)
    return None


def _date_shape(parts: list[str], signs: str, nums: tuple[int, ...]) -> str:
    lengths = tuple(len(part) for part in parts)
    if len(parts) == 3:  # noqa: PLR2004 - day, month and year
        one_sign = signs[0] == signs[1] and signs[0] in "-/."
        year_first = lengths[0] == 4 and max(lengths[1:]) <= 2  # noqa: PLR2004
        year_last = max(lengths[:2]) <= 2 and lengths[2] in {2, 4}  # noqa: PLR2004
        fits = (year_first and one_sign) or (year_last and (one_sign or signs in {"/,", "-,"}))
        return "DMY" if fits else ""
    if len(parts) != 2:  # noqa: PLR2004
        return ""
    short = min(lengths)
    if short <= 2 and max(lengths) == 4 and signs in "-/.":  # noqa: PLR2004
        year, month = nums if lengths[0] == 4 else nums[::-1]  # noqa: PLR2004
        believable = range(1900, 2101) if signs == "." else YEARS
        year_first = lengths[0] == 4 or signs != "."  # noqa: PLR2004
        return "YM" if 1 <= month <= MAX_MONTH and year in believable and year_first else "BAD_YM"
    if max(lengths) <= 2 and signs == "/":  # noqa: PLR2004
        return "MD" if min(nums) >= 1 and min(nums) <= MAX_MONTH and max(nums) <= MAX_DAY else ""
    if max(lengths) <= 2 and signs == ".":  # noqa: PLR2004
        return "DOTTED"
    return ""


def _name_holidays(nodes: list[Node]) -> list[Node]:
    starts = [index for index, node in enumerate(nodes) if node.word.lower() in HOLIDAY_STARTS]
    if not starts:
        return nodes
    words = [node.word.lower() for node in nodes]
    out: list[Node] = []
    done = 0
    for index in starts:
        found = holiday_at(words, index) if index >= done else None
        if found is not None:
            name, count = found
            out += nodes[done:index]
            done = index + count
            out.append(Node("HOLIDAY", nodes[index].start, nodes[done - 1].end, word=name))
    return out + nodes[done:]
