"""The scores as an SVG chart: a group of bars a kind, a bar a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from xml.sax.saxutils import escape

_COLOURS: Final = ("#2b6cb0", "#dd6b20", "#38a169", "#805ad5", "#718096", "#d53f8c")
_WIDTH: Final = 880
_HEIGHT: Final = 220
_LEFT: Final = 40


def chart(shares: Mapping[str, Mapping[str, float]]) -> str:
    """Return the drawing of each system's shares of right answers, by kind."""
    kinds = list(next(iter(shares.values())))
    group = (_WIDTH - _LEFT) / len(kinds)
    bar = group * 0.8 / len(shares)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT + 80}" font-size="12">',
        '<g font-family="sans-serif"><rect width="100%" height="100%" fill="#fff"/>',
    ]
    for percent in (0, 25, 50, 75, 100):
        y = 20 + _HEIGHT * (1 - percent / 100)
        parts.append(
            f'<path d="M{_LEFT} {y:.1f}H{_WIDTH}" stroke="#ddd"/><text x="4" y="{y + 4:.1f}">{percent}%</text>'
        )
    for place, kind in enumerate(kinds):
        left = _LEFT + place * group
        for number, (system, of) in enumerate(shares.items()):
            height = _HEIGHT * of[kind]
            parts.append(
                f'<rect x="{left + group * 0.1 + number * bar:.1f}" y="{20 + _HEIGHT - height:.1f}" width="{bar:.1f}"'
                f' height="{height:.1f}" fill="{_COLOURS[number % len(_COLOURS)]}"><title>'
                f"{escape(system)}, {kind}: {100 * of[kind]:.0f}%</title></rect>"
            )
        parts.append(f'<text x="{left + group / 2:.1f}" y="{_HEIGHT + 38}" text-anchor="middle">{kind}</text>')
    for number, system in enumerate(shares):
        x = _LEFT + number * (_WIDTH - _LEFT) / len(shares)
        colour = _COLOURS[number % len(_COLOURS)]
        parts.append(f'<rect x="{x:.0f}" y="{_HEIGHT + 54}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 17:.0f}" y="{_HEIGHT + 64}">{escape(system)}</text>')
    return "".join([*parts, "</g></svg>\n"])
