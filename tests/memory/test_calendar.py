from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from app.memory.calendar import known_zone_or_offset, offset_of, zone_of


@pytest.mark.parametrize("minutes", [0, 60, -420, 330, -570, 840])
def test_an_offset_is_stored_by_its_name(minutes: int) -> None:
    zone = offset_of(datetime(2026, 3, 9, tzinfo=timezone(timedelta(minutes=minutes))))
    assert zone_of(str(zone)).utcoffset(None) == timedelta(minutes=minutes) or minutes == 0
    assert known_zone_or_offset(str(zone)) == str(zone)


def test_a_zone_is_stored_by_its_name_in_iana() -> None:
    assert zone_of("Europe/Berlin") == ZoneInfo("Europe/Berlin")
    assert zone_of(str(offset_of(datetime(2026, 3, 9, tzinfo=UTC)))) == ZoneInfo("UTC")


@pytest.mark.parametrize("name", ["Mars/Phobos", "UTC+25:00", "UTC+01:75", "+01:00", "localtime"])
def test_no_other_name_is_read(name: str) -> None:
    with pytest.raises(ValueError, match=r"IANA time zone|strictly between|offset"):
        known_zone_or_offset(name)
