from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.providers.http import _error_code
from app.providers.retries import retry_after_seconds

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("1.5", 1.5),
        (" 30 ", 30.0),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(days=1), usegmt=True), 0.0),
        ("Thu, 01 Jan 2026 12:00:10 -0000", 10.0),
        ("Thu, 01 Jan 2026 14:00:00 +0200", 0.0),
        ("Thu, 01 Jan 99999999999999999999 12:00:00 GMT", None),
        ("Thu, 01 Jan 2026 12:00:00 +99999999999999", None),
        ("-5", None),
        ("inf", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(value: str, seconds: float | None) -> None:
    assert retry_after_seconds({"retry-after": value}, NOW) == seconds


def test_no_retry_after_is_none() -> None:
    assert retry_after_seconds({}) is None


@given(st.text(max_size=40))
def test_no_retry_after_breaks_us(value: str) -> None:
    seconds = retry_after_seconds({"retry-after": value}, NOW)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b'{"error": {"code": "model_not_found", "message": "x"}}', "model_not_found"),
        (b'{"type": "error", "error": {"type": "overloaded_error"}}', "overloaded_error"),
        (b'{"error": {"code": "your text: secret"}}', None),
        (b'{"error": "plain"}', None),
        (b'{"error": {"code": 400}}', None),
        (b"[]", None),
        (b"\xff", None),
        (b"[" * 100_000, None),
    ],
)
def test_only_a_code_is_told_of_a_providers_error(answer: bytes, code: str | None) -> None:
    assert _error_code(answer) == code
