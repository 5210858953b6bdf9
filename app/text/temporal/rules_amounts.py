"""Amounts of time ("two and a half hours", "1 year 1 month 21 days") and times of day."""

from __future__ import annotations

from dataclasses import replace

from app.text.temporal.days import Grain, amount
from app.text.temporal.nodes import Match, Node, Rule, made, rule
from app.text.temporal.periods import Clock

MAX_MINUTE = 59
FEW = 3


def _grain(node: Node) -> Grain:
    return Grain.SECOND if node.tag == "SECOND" else Grain(node.value)


def _counted(m: Match, count: float, *, vague: bool = False) -> Node:
    return made(m, "AMOUNT", amount=amount(count, _grain(m["unit"]), vague=vague))


@rule("count:COUNT AND more:N12 unit:UNIT")
def _old_fashioned(m: Match) -> Node | None:
    tens, ones = m["count"], m["more"]
    if tens.word or ones.word or tens.value % 10 or ones.value > 9:  # noqa: PLR2004 - "four and twenty"
        return None
    return _counted(m, tens.num + ones.num)


@rule("count:COUNT AND A? part:(HALF|QUARTER) unit:ANYUNIT", "count:A AND A? part:(HALF|QUARTER) unit:ANYUNIT")
def _and_a_half(m: Match) -> Node | None:
    return _counted(m, (m["count"].num or 1) + (0.5 if m.tag("part") == "HALF" else 0.25))


@rule("count:(COUNT|A) unit:UNIT AND A? part:(HALF|QUARTER)")
def _unit_and_a_half(m: Match) -> Node | None:
    if m.after and m.after.tag in {"UNIT", "OF", "AMOUNT"}:
        return None
    return _counted(m, (m["count"].num or 1) + (0.5 if m.tag("part") == "HALF" else 0.25))


@rule("A? half:HALF A? unit:UNIT")
def _half(m: Match) -> Node | None:
    return _counted(m, 0.5)


@rule("count:DOTTED DASH? unit:UNIT")
def _decimal(m: Match) -> Node | None:
    return _counted(m, float(m["count"].word))


@rule("count:COUNT BUSINESS unit:UNIT")
def _workdays(m: Match) -> Node | None:
    node = _counted(m, m["count"].num)
    return replace(node, amount=replace(node.long, workdays=_grain(m["unit"]) is Grain.DAY))


@rule("count:(COUNT|Y4) DASH? unit:UNIT", "count:COUNT unit:QUARTER")
def _plain(m: Match) -> Node | None:
    unit = m["unit"]
    if m["count"].tag == "Y4" and not (unit.word.lower().endswith("s") and len(unit.word) > 1):
        return None
    if unit.glued and unit.word.lower() == "s" and m["count"].num % 10 == 0:
        return None  # the 90s
    return _counted(m, m["count"].num)


@rule("count:COUNT PARTS")
def _nights(m: Match) -> Node | None:
    return made(m, "AMOUNT", amount=amount(m["count"].num, Grain.DAY))


@rule("A? count:(FEW|COUPLE) OF? unit:ANYUNIT")
def _few(m: Match) -> Node | None:
    if not m["unit"].word.lower().endswith("s") and m["unit"].word:
        return None
    return _counted(m, m["count"].num, vague=True)


@rule("count:(A|ANOTHER) unit:ANYUNIT")
def _one(m: Match) -> Node | None:
    if m["unit"].word.lower().endswith("s") or m["unit"].tag == "QUARTER":
        return None
    if m["unit"].tag == "SECOND" and not (m.before is not None and m.before.tag in {"FOR", "IN", "WITHIN", "THAN"}):
        return None
    return _counted(m, 1)


@rule("ALL DASH? unit:UNIT")
def _whole(m: Match) -> Node | None:
    word = m["unit"].word.lower()
    if word.endswith("s") or m["unit"].value in {Grain.WEEKEND, Grain.MINUTE, Grain.SECOND}:
        return None
    return _counted(m, 1)


@rule("first:AMOUNT (COMMA? AND | COMMA)? second:AMOUNT ((COMMA? AND | COMMA)? third:AMOUNT)?")
def _sum(m: Match) -> Node | None:
    total = m["first"].long + m["second"].long
    third = m.get("third")
    if third:
        total = total + third.long
    return made(m, "AMOUNT", amount=total)


AMOUNTS: list[Rule] = [
    *_old_fashioned,
    *_and_a_half,
    *_unit_and_a_half,
    *_half,
    *_decimal,
    *_workdays,
    *_plain,
    *_nights,
    *_few,
    *_one,
    *_whole,
    *_sum,
]


def _clock(m: Match, hour: int, minute: int, second: int | None = None, *, fixed: bool = False) -> Node | None:
    if not (0 <= hour <= 24 and 0 <= minute <= MAX_MINUTE):  # noqa: PLR2004 - hours in a day
        return None
    return made(m, "CLOCK", clock=Clock(hour, minute, second, fixed=fixed))


@rule("time:(CLOCK|DOTTED|N12|N24|TIMEWORDS) DOT? half:AMPM")
def _ampm(m: Match) -> Node | None:
    node, offset = m["time"], m["half"].value
    hour, minute = (node.nums[0], node.nums[1]) if node.tag == "DOTTED" else (node.hour.hour, node.hour.minute)
    bare = node.tag in {"N12", "N24"}
    if bare and m.before is not None and m.before.tag in {"MONTH", "MONTH_LIKE"}:
        return None
    if hour > 12:  # noqa: PLR2004 - "13:00 pm" is said, "13 am" is not
        return _clock(m, hour, minute, fixed=True) if offset else None
    return _clock(m, hour % 12 + offset, minute, node.hour.second, fixed=True)


@rule("hour:N12 DASH? minute:(N12|N24|N31|N59|AMOUNT)")
def _spoken(m: Match) -> Node | None:
    hour, minute = m["hour"], m["minute"]
    value = int(minute.long.count) if minute.amount and minute.long.grain is Grain.MINUTE else minute.value
    if hour.word or minute.word or value < 10:  # noqa: PLR2004 - "six forty-three", never "two three"
        return None
    return made(m, "TIMEWORDS", clock=Clock(hour.value, value))


@rule("hour:(N12|N24|CLOCK) OCLOCK")
def _oclock(m: Match) -> Node | None:
    return _clock(m, m["hour"].hour.hour, m["hour"].hour.minute)


@rule("A? part:(HALF|QUARTER|AMOUNT|N12|N24|N31) side:(PAST|TO) hour:(N12|CLOCK)")
def _past(m: Match) -> Node | None:
    part, hour = m["part"], m["hour"].hour
    minutes = {"HALF": 30, "QUARTER": 15}.get(part.tag, part.value)
    if part.tag == "AMOUNT":
        minutes = int(part.long.seconds) // 60 if part.long.grain is Grain.MINUTE else 0
    if not minutes or (m.tag("side") == "TO" and part.tag not in {"QUARTER", "AMOUNT"}):
        return None
    total = hour.hour * 60 + (minutes if m.tag("side") == "PAST" else -minutes)
    return _clock(m, total // 60 % 24, total % 60, fixed=hour.fixed)


@rule("noon:NOON")
def _noon(m: Match) -> Node | None:
    return _clock(m, m["noon"].value, 0, fixed=True)


CLOCKS: list[Rule] = [
    *_spoken,
    *_past,
    *_oclock,
    *_ampm,
    *_noon,
]
