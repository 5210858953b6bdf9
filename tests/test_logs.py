"""Logs name where an exception came from, and never what its message quotes."""

from __future__ import annotations

import logging
from typing import Literal, NoReturn

import pytest
import structlog

from app import logs

CONTENT = "Ana's number is 41"


def fail(error: Exception) -> NoReturn:
    raise error


@pytest.mark.usefixtures("logs_restored")
@pytest.mark.parametrize("style", ["json", "console"])
@pytest.mark.parametrize(
    "logger", [structlog.get_logger("ours"), logging.getLogger("of.a.library")], ids=["ours", "a library's"]
)
def test_the_message_of_an_exception_is_not_logged(
    style: Literal["json", "console"],
    logger: logging.Logger,
    capsys: pytest.CaptureFixture[str],
) -> None:
    logs.configure(style, "INFO")
    try:
        fail(ValueError(CONTENT))
    except ValueError:
        logger.exception("it failed")
    logger.error("it failed elsewhere", exc_info=KeyError(CONTENT))
    said = capsys.readouterr().err
    assert CONTENT not in said
    assert "it failed" in said
    assert "builtins.ValueError" in said
    assert "builtins.KeyError" in said
    assert "test_logs.py" in said


@pytest.mark.usefixtures("logs_restored")
def test_an_error_of_our_code_keeps_its_message(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("json", "INFO")
    try:
        fail(TypeError("takes two arguments"))
    except TypeError:
        structlog.get_logger().exception("it failed")
    assert "builtins.TypeError: takes two arguments" in capsys.readouterr().err
