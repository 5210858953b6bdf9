"""Rules for amounts of time ("two and a half hours") and times of a day ("tomorrow at 8", "last night")."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from app.english.dates.days import Range, Unit, after, amount
from app.english.dates.nodes import UNKNOWN, Match, Node, RuleList, make_node, time_node
from app.english.dates.periods import NOON, Clock, Period, one_day
from app.english.dates.rules_relative import instant

AMOUNTS = RuleList()
CLOCKS = RuleList()
TIMES_FIRST = RuleList()
TIMES = RuleList()

MAX_MINUTE = 59


def _grain(node: Node) -> Unit:
    return Unit.SECOND if node.tag == "SECOND" else Unit(node.value)


def _counted(m: Match, count: float, *, vague: bool = False) -> Node:
    return make_node(m, "AMOUNT", amount=amount(count, _grain(m["unit"]), vague=vague))


@AMOUNTS.rule("count:COUNT AND more:N12 unit:UNIT")
def _old_fashioned(m: Match) -> Node | None:
    tens, ones = m["count"], m["more"]
    if tens.word or ones.word or tens.value % 10 or ones.value > 9:  # noqa: PLR2004 - "four and twenty"
        return None
    return _counted(m, tens.num + ones.num)


@AMOUNTS.rule("count:COUNT AND A? part:(HALF|QUARTER) unit:ANYUNIT", "count:A AND A? part:(HALF|QUARTER) unit:ANYUNIT")
def _and_a_half(m: Match) -> Node | None:
    return _counted(m, (m["count"].num or 1) + (0.5 if m.tag("part") == "HALF" else 0.25))


@AMOUNTS.rule("count:(COUNT|A) unit:UNIT AND A? part:(HALF|QUARTER)")
def _unit_and_a_half(m: Match) -> Node | None:
    if m.after and m.after.tag in {"UNIT", "OF", "AMOUNT"}:
        return None
    return _counted(m, (m["count"].num or 1) + (0.5 if m.tag("part") == "HALF" else 0.25))


@AMOUNTS.rule("A? half:HALF A? unit:UNIT")
def _half(m: Match) -> Node | None:
    return _counted(m, 0.5)


@AMOUNTS.rule("count:DOTTED DASH? unit:UNIT")
def _decimal(m: Match) -> Node | None:
    return _counted(m, float(m["count"].word))


@AMOUNTS.rule("count:COUNT BUSINESS unit:UNIT")
def _workdays(m: Match) -> Node | None:
    node = _counted(m, m["count"].num)
    return replace(node, amount=replace(node.long, workdays=_grain(m["unit"]) is Unit.DAY))


@AMOUNTS.rule("count:(COUNT|Y4) DASH? unit:UNIT", "count:COUNT unit:QUARTER")
def _plain(m: Match) -> Node | None:
    unit = m["unit"]
    if m["count"].tag == "Y4" and not (unit.word.lower().endswith("s") and len(unit.word) > 1):
        return None
    if unit.glued and unit.word.lower() == "s" and m["count"].num % 10 == 0:
        return None  # the 90s
    return _counted(m, m["count"].num)


@AMOUNTS.rule("count:COUNT PARTS")
def _nights(m: Match) -> Node | None:
    return make_node(m, "AMOUNT", amount=amount(m["count"].num, Unit.DAY))


@AMOUNTS.rule("A? count:(FEW|COUPLE) OF? unit:ANYUNIT")
def _few(m: Match) -> Node | None:
    if not m["unit"].word.lower().endswith("s") and m["unit"].word:
        return None
    return _counted(m, m["count"].num, vague=True)


@AMOUNTS.rule("count:(A|ANOTHER) unit:ANYUNIT")
def _one(m: Match) -> Node | None:
    if m["unit"].word.lower().endswith("s") or m["unit"].tag == "QUARTER":
        return None
    if m["unit"].tag == "SECOND" and not (m.before is not None and m.before.tag in {"FOR", "IN", "WITHIN", "THAN"}):
        return None
    return _counted(m, 1)


@AMOUNTS.rule("ALL DASH? unit:UNIT")
def _whole(m: Match) -> Node | None:
    word = m["unit"].word.lower()
    if word.endswith("s") or m["unit"].value in {Unit.WEEKEND, Unit.MINUTE, Unit.SECOND}:
        return None
    return _counted(m, 1)


@AMOUNTS.rule("first:AMOUNT (COMMA? AND | COMMA)? second:AMOUNT ((COMMA? AND | COMMA)? third:AMOUNT)?")
def _sum(m: Match) -> Node | None:
    total = m["first"].long + m["second"].long
    third = m.get("third")
    if third:
        total = total + third.long
    return make_node(m, "AMOUNT", amount=total)


def _clock(m: Match, hour: int, minute: int, second: int | None = None, *, fixed: bool = False) -> Node | None:
    if not (0 <= hour <= 24 and 0 <= minute <= MAX_MINUTE):  # noqa: PLR2004 - hours in a day
        return None
    return make_node(m, "CLOCK", clock=Clock(hour, minute, second, fixed=fixed))


@CLOCKS.rule("hour:N12 DASH? minute:(N12|N24|N31|N59|AMOUNT)")
def _spoken(m: Match) -> Node | None:
    hour, minute = m["hour"], m["minute"]
    value = int(minute.long.count) if minute.amount and minute.long.grain is Unit.MINUTE else minute.value
    if hour.word or minute.word or value < 10:  # noqa: PLR2004 - "six forty-three", never "two three"
        return None
    return make_node(m, "TIMEWORDS", clock=Clock(hour.value, value))


@CLOCKS.rule("A? part:(HALF|QUARTER|AMOUNT|N12|N24|N31) side:(PAST|TO) hour:(N12|CLOCK)")
def _past(m: Match) -> Node | None:
    part, hour = m["part"], m["hour"].hour
    minutes = {"HALF": 30, "QUARTER": 15}.get(part.tag, part.value)
    if part.tag == "AMOUNT":
        minutes = int(part.long.seconds) // 60 if part.long.grain is Unit.MINUTE else 0
    if not minutes or (m.tag("side") == "TO" and part.tag not in {"QUARTER", "AMOUNT"}):
        return None
    total = hour.hour * 60 + (minutes if m.tag("side") == "PAST" else -minutes)
    return _clock(m, total // 60 % 24, total % 60, fixed=hour.fixed)


@CLOCKS.rule("hour:(N12|N24|CLOCK) OCLOCK")
def _oclock(m: Match) -> Node | None:
    return _clock(m, m["hour"].hour.hour, m["hour"].hour.minute)


@CLOCKS.rule("time:(CLOCK|DOTTED|N12|N24|TIMEWORDS) DOT? half:AMPM")
def _ampm(m: Match) -> Node | None:
    node, offset = m["time"], m["half"].value
    hour, minute = (node.nums[0], node.nums[1]) if node.tag == "DOTTED" else (node.hour.hour, node.hour.minute)
    bare = node.tag in {"N12", "N24"}
    if bare and m.before is not None and m.before.tag in {"MONTH", "MONTH_LIKE"}:
        return None
    if hour > 12:  # noqa: PLR2004 - "13:00 pm" is said, "13 am" is not
        return _clock(m, hour, minute, fixed=True) if offset else None
    return _clock(m, hour % 12 + offset, minute, node.hour.second, fixed=True)


@CLOCKS.rule("noon:NOON")
def _noon(m: Match) -> Node | None:
    return _clock(m, m["noon"].value, 0, fixed=True)


PART_HOURS = ((8, 12), (12, 16), (16, 20), (20, 24))
"""Morning, afternoon, evening, night: the strict reading."""

WIDE_HOURS = ((4, 12), (12, 18), (16, 24), (17, 30))
"""The hours to search; a night runs into the next morning."""

HALF_DAY = timedelta(hours=12)


def spell(day: Period, index: int) -> Period:
    """Return the part of a day: 0 the morning to 3 the night."""

    def hours(bounds: Range, pair: tuple[int, int]) -> Range:
        return bounds[0] + timedelta(hours=pair[0]), after(bounds[0], days=pair[1] / 24)

    strict = day.map(lambda bounds: hours(bounds, PART_HOURS[index]), Unit.PART)
    return replace(strict, wide=hours((day.begin, day.finish), WIDE_HOURS[index]))


@TIMES_FIRST.rule("THE part:PART BEFORE LAST")
def _part_before_last(m: Match) -> Node | None:
    return time_node(m, spell(one_day(m.ctx.today - timedelta(days=2)), m["part"].value))


@TIMES_FIRST.rule("mod:(MOD|TONIGHT) part:PART?", "mod:(LAST|NEXT|THIS|PAST) part:PART")
def _this_part(m: Match) -> Node | None:
    part = m.get("part")
    if m.tag("mod") == "TONIGHT":
        return time_node(m, spell(one_day(m.ctx.today), 3)) if part is None else None
    if part is None:
        return None
    return time_node(m, spell(one_day(m.ctx.today + timedelta(days=m["mod"].value)), part.value))


def _half_spell(period: Period, late: str) -> Period:
    def cut(bounds: Range) -> Range:
        middle = bounds[0] + (bounds[1] - bounds[0]) / 2
        return (middle, bounds[1]) if late in {"LATE", "HENCE"} else (bounds[0], middle)

    return period.map(cut, Unit.PART)


@TIMES_FIRST.rule(
    "day:DATES (COMMA|DASH)? (IN THE? | AT | ON THE)? (late:(EARLY|LATE) DASH?)? part:PART",
    "(IN THE? | AT)? (late:(EARLY|LATE) DASH? (IN THE)?)? part:PART COMMA? (OF|ON)? day:DATES",
    "day:DATES COMMA? half:AMPM",
)
def _day_part(m: Match) -> Node | None:
    index = m["part"].value if m.get("part") else (0 if m["half"].value == 0 else 1)
    late = m.tag("late")
    period = spell(m["day"].when, index)
    return time_node(m, _half_spell(period, late) if late else period)


def at_clock(day: Period, clock: Clock) -> Period:
    """Return the moment of a day, as a recurrence if the day is one."""
    period = day.map(lambda bounds: (clock.on(bounds[0]), clock.on(bounds[0]) + timedelta(minutes=1)), Unit.MINUTE)
    if clock.second is not None and period.lower and not period.recur:
        return instant(period.lower, seconds=True)
    return period


def in_spell(day: Period, clock: Clock) -> Clock:
    """Return the hour according to the part of the day: 8 in the evening is 20."""
    if day.grain is not Unit.PART or day.lower is None:
        return clock
    if day.lower.hour >= 20 and clock.hour < 5:  # noqa: PLR2004 - "tonight at 1" is said of the small hours
        return clock
    return clock.half(afternoon=day.lower.hour >= NOON)


def day_of(day: Period) -> Period:
    """Return the whole day of a part of a day."""
    return day.map(lambda bounds: _whole_day(bounds[0]), Unit.DAY) if day.grain is Unit.PART else day


def _whole_day(moment: datetime) -> Range:
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return start, after(start, days=1)


_DAY = "day:(DATES|SPELL)"

_AT = "(AT|FOR|BY|COMMA|AROUND|ON)?"


@TIMES.rule("BETWEEN NOW AND time:TIME", "FROM NOW (TO|UNTIL) time:TIME")
def _now_until(m: Match) -> Node | None:
    clock, now = m["time"].hour, m.ctx.local
    found = clock.on(m.ctx.today)
    while found <= now and not clock.fixed:
        found += HALF_DAY
    return time_node(m, Period(now, found if found > now else after(found, days=1), Unit.PART))


_FROM = "(FROM|BETWEEN|AT|COMMA)?"

_ENDS = "a:(CLOCK|HOURNO|TIMEWORDS|DOTTED) (UPTO|AND) b:(CLOCK|HOURNO|TIMEWORDS|DOTTED)"


@TIMES.rule("day:(DATES|MOMENT) FROM? time:TIME? FOR by:AMOUNT")
def _hours_long(m: Match) -> Node | None:
    time, by, day = m.get("time"), m["by"].long, m["day"].when
    if by.grain >= Unit.DAY or (time is None and day.grain is Unit.DAY):
        return None
    start = at_clock(day, time.hour) if time else day

    def cut(bounds: Range) -> Range:
        return bounds[0], bounds[0] + timedelta(seconds=by.seconds)

    return time_node(m, start.map(cut, Unit.PART))


def _pair(day: Period, a: Clock, b: Clock) -> tuple[Clock, Clock]:
    """Return both hours in the half of the day that one of them, or the part of the day, determines."""
    if day.grain is Unit.PART:
        a, b = in_spell(day, a), in_spell(day, b)
    if b.fixed and not a.fixed and b.hour >= NOON:
        late = a.half(afternoon=True)
        a = late if (late.hour, late.minute) < (b.hour, b.minute) else a
    elif a.fixed and not b.fixed and a.hour >= NOON:
        b = b.half(afternoon=True)
    return a, b


@TIMES.rule(
    f"{_DAY} COMMA? {_FROM} {_ENDS} (day2:SPELL)?",
    f"{_FROM} {_ENDS} (ON|OF|IN|COMMA)? {_DAY}",
    f"(FROM|BETWEEN) a:(CLOCK|HOURNO) {_DAY} (UPTO|AND) b:(CLOCK|HOURNO)",
)
def _hours(m: Match) -> Node | None:
    a, b, day = m["a"], m["b"], m["day"].when
    marked = any(n.tag in {"FROM", "BETWEEN", "UNTIL"} for n in m.inside) or not (a.word.isdigit() and b.word.isdigit())
    joined = any(n.tag == "AND" for n in m.inside) and m.inside[0].tag != "BETWEEN" and not marked
    year_like = m.after is not None and m.after.tag in {"MONTH", "MONTH_LIKE", UNKNOWN} and not marked
    if m.inside[-1] is not m["day"] and m.after is not None and m.after.tag in {"DATE", "DATE_Y", "DATE_W", "SPELL"}:
        return None  # "from 4pm today to 5pm tomorrow"
    if joined or year_like or (a.num > 24 and a.tag != "CLOCK"):  # noqa: PLR2004 - hours in a day
        return None
    start, end = _pair(day, a.hour, b.hour)
    whole = day_of(day)

    def cut(bounds: Range) -> Range:
        lower, upper = start.on(bounds[0]), end.on(bounds[0])
        if upper <= lower:
            upper += HALF_DAY if not end.fixed else 2 * HALF_DAY
        return lower, upper

    return time_node(m, whole.map(cut, Unit.PART))


@TIMES.rule(
    "day:(DATES|SPELL) side:(BEFORE|AFTER|SINCE|UNTIL) time:TIME",
    "day:DATES (NO HENCE THAN|NO late:LATE THAN) time:(TIME|N12)",
    "day:DATES (more:HENCE|more:LATE) THAN time:(TIME|N12) (IN THE part:PART)?",
)
def _bounded(m: Match) -> Node | None:
    part = m.get("part")
    clock = m["time"].hour
    clock = clock.half(afternoon=part.value > 0) if part else in_spell(m["day"].when, clock)
    moment = at_clock(day_of(m["day"].when), clock)
    later = m.tag("side") in {"AFTER", "SINCE"} if m.get("side") else m.get("more")
    day = day_of(m["day"].when)
    if later:
        return time_node(m, Period(moment.lower, None, Unit.WEEK, wide=(moment.lower, day.finish)))
    return time_node(m, Period(None, moment.lower, Unit.WEEK, wide=(day.begin, moment.lower)))


@TIMES.rule(
    f"{_DAY} COMMA? {_AT} AROUND? time:(TIME|DOTTED) (IN THE part:PART)?",
    f"{_DAY} COMMA? AT AROUND? time:N12 (IN THE part:PART)?",
    f"AT? time:TIME COMMA? (IN THE part:PART)? (ON|OF|IN|FOR)? {_DAY}",
    f"AT time:(N12|DOTTED) COMMA? (IN THE part:PART)? (ON|OF)? {_DAY}",
    f"time:N12 COMMA {_DAY}",
)
def _at(m: Match) -> Node | None:
    day, time = m["day"].when, m["time"]
    part = m.get("part")
    following = m.after
    if following is not None and following.tag in {"DASH", "TO", "UNTIL", "THROUGH"} and day.grain is not Unit.DAY:
        return None
    if time.tag == "N12" and following is not None and following.tag in {UNKNOWN, "DASH", "TO", "AND", "COLON", "UNIT"}:
        return None
    if time.tag == "N12" and m.inside[0] is time and day.grain is not Unit.PART:
        return None
    clock = time.hour
    if clock.minute > 59:  # noqa: PLR2004 - minutes
        return None
    clock = clock.half(afternoon=part.value > 0) if part else in_spell(day, clock)
    return time_node(m, at_clock(day_of(day), clock))


@TIMES.rule("what:(DATE_M|SPELL|MOMENT) (OF|IN|COMMA)? whole:PERIOD")
def _attach(m: Match) -> Node | None:
    what, whole = m["what"].when, m["whole"].when
    start = whole.begin
    if whole.grain is Unit.WEEK:
        return time_node(m, what.in_week(start, m.ctx))
    if whole.grain is Unit.MONTH and what.recur and what.recur.unit is Unit.MONTH:
        return time_node(m, what.at(start.year * 12 + start.month - 1))
    return time_node(m, what.in_year(start.year)) if whole.grain is Unit.YEAR else None


@TIMES_FIRST.rule("late:(LATE|HENCE|EARLY|EARLIER) what:SPELL")
def _late_spell(m: Match) -> Node | None:
    return time_node(m, _half_spell(m["what"].when, m.tag("late")))
