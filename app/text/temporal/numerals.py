"""Spelled numbers: "twenty-second", "two thousand and eighteen", "nineteen eighty six"."""

from __future__ import annotations

from app.text.temporal.lexer import number_tag
from app.text.temporal.nodes import Node

TEN, TWENTY, HUNDRED, THOUSAND = 10, 20, 100, 1000
CENTURIES = range(13, 21)
"""The first halves of years said in pairs; below thirteen the pair is a time of day."""
NUMBER_TAGS = frozenset({"CARD", "ORD", "SECOND"})
MAX_ORDINAL = 31


class _Reader:
    """Reads one spelled number that starts at a position."""

    def __init__(self, nodes: list[Node], position: int) -> None:
        self.nodes = nodes
        self.position = position
        self.ordinal = False

    def peek(self, offset: int = 0) -> Node | None:
        index = self.position + offset
        return self.nodes[index] if index < len(self.nodes) else None

    def small(self) -> int | None:
        """Read a number under a hundred, the last word of which may be an ordinal."""
        node = self.peek()
        if node is None or self.ordinal or node.tag not in NUMBER_TAGS:
            return None
        self.position += 1
        self.ordinal = node.tag != "CARD"
        value = node.value
        if self.ordinal or value < TWENTY:
            return value
        following = self.peek()
        hyphen = following is not None and following.tag == "DASH" and following.glued
        unit = self.peek(1) if hyphen else following
        if unit is not None and unit.tag in NUMBER_TAGS and 0 < unit.value < TEN and (not hyphen or unit.glued):
            self.position += 2 if hyphen else 1
            self.ordinal = unit.tag != "CARD"
            value += unit.value
        return value

    def scale(self, size: int) -> bool:
        node = self.peek()
        if node is None or node.tag != "SCALE" or node.value != size:
            return False
        self.position += 1
        return True

    def rest(self) -> int:
        """Read what may follow a hundred or a thousand: "and eighteen", "ninety three"."""
        node, following = self.peek(), self.peek(1)
        if node is not None and node.tag == "AND":
            if following is None or following.tag not in NUMBER_TAGS:
                return 0
            self.position += 1
        return self.small() or 0

    def number(self) -> int:
        value = self.small() or 0
        if self.ordinal:
            return value
        if self.scale(THOUSAND):
            value *= THOUSAND
            mark = self.position
            hundreds = self.small()
            if hundreds is not None and self.scale(HUNDRED):
                value += hundreds * HUNDRED
            else:
                self.position, self.ordinal = mark, False
            return value + self.rest()
        if self.scale(HUNDRED):
            return value * HUNDRED + self.rest()
        return self._year(value)

    def _year(self, first: int) -> int:
        if first not in CENTURIES or self.ordinal:
            return first
        mark = self.position
        second = self.small()
        if second is not None and second >= TEN and not self.ordinal:
            return first * HUNDRED + second
        self.position, self.ordinal = mark, False
        return first


def read_numbers(nodes: list[Node]) -> list[Node]:
    """Replace spelled numbers by one node each, tagged like figures; years in words get a tag of their own."""
    out: list[Node] = []
    index = 0
    while index < len(nodes):
        node = nodes[index]
        if node.tag not in NUMBER_TAGS or node.word.isdigit():
            out.append(node)
            index += 1
            continue
        reader = _Reader(nodes, index)
        value = reader.number()
        last = nodes[reader.position - 1]
        if reader.ordinal:
            single = node.tag == "SECOND"
            tag = "SECOND" if single else "ORD" if value <= MAX_ORDINAL else "ORDBIG"
        else:
            tag = "YWORDS" if value >= THOUSAND else number_tag(value)
        out.append(Node(tag, node.start, last.end, num=value, glued=node.glued))
        index = reader.position
    return out
