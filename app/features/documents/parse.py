"""Sections of documents from their bytes: plain text, Markdown, HTML and PDF. Run as a program, it reads one document.

It imports nothing of this package, because HTML and PDF are read by a process of their own (`reader.py`), which can
be stopped and may use so much memory and no more. A document is a list of sections, each the headings that it stands
under and its paragraphs; `passages` cuts these into texts to remember.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from io import BytesIO
from typing import Final

TEXT, MARKDOWN, HTML, PDF = "text/plain", "text/markdown", "text/html", "application/pdf"

LONGEST: Final = 1_200
"""Characters of a passage: some 200 words, which a question finds by any of their parts, and a prompt has room for."""

LONGEST_LABEL: Final = 200
"""Characters of a title and of the headings of a section."""

MOST_PAGES: Final = 2_000

MOST_TEXT: Final = 8_000_000
"""Characters of a document's text: more is a bomb, or a library."""

PATIENCE: Final = 20
"""Pages without any text after which a PDF is a scan."""


class Unreadable(Exception):
    """A document that can't be read; the message says why and what to do."""


@dataclass(slots=True)
class Section:
    """The headings of a section, outermost first, and its paragraphs."""

    path: tuple[str, ...] = ()
    paragraphs: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Parsed:
    """A document: the title that it gives itself, if it does, and its sections in order."""

    title: str | None = None
    sections: list[Section] = field(default_factory=list)


_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters that hide text or turn it around; joiners, which scripts need, stay."""

_BLANK: Final = re.compile(r"\n[^\S\n]*(?:\n[^\S\n]*)+")


def cleaned(text: str) -> str:
    """Return the text without characters that hide text or turn it around, its lines ended alike."""
    return _INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n\n"))


def label(text: str) -> str:
    """Return a title or headings on one line of at most 200 characters."""
    one = " ".join(cleaned(text).split())
    return one if len(one) <= LONGEST_LABEL else one[: LONGEST_LABEL - 2].rstrip() + " …"


def parse(kind: str, content: bytes) -> Parsed:
    """Return the sections of a document of one of the four media types; raise Unreadable."""
    found = _PARSERS[kind](content)
    size = sum(len(paragraph) for section in found.sections for paragraph in section.paragraphs)
    if size > MOST_TEXT:
        raise Unreadable(f"it has {size:,} characters of text, more than the {MOST_TEXT:,} that are read: split it")
    return found


def passages(found: Parsed) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts to remember with their headings: whole paragraphs as far as they fit, in order."""
    for section in found.sections:
        held: list[str] = []
        for part in (part for one in section.paragraphs for part in _parts(one)):
            if held and sum(map(len, held)) + 2 * len(held) + len(part) > LONGEST:
                yield section.path, "\n\n".join(held)
                held = []
            held.append(part)
        if held:
            yield section.path, "\n\n".join(held)


_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|[\u3002\uff01\uff1f\u061f\u06d4]")


def _parts(paragraph: str) -> Iterator[str]:
    """Yield a paragraph in parts that fit into a passage, cut at lines, sentences, or words."""
    text = paragraph.strip("\n").rstrip()
    while len(text) > LONGEST:
        window = text[:LONGEST]
        cut = max(window.rfind("\n"), *(found.end() for found in _SENTENCE_END.finditer(window)), 0)
        if cut < LONGEST // 3:
            cut = window.rfind(" ") if window.rfind(" ") > LONGEST // 3 else LONGEST
        if head := text[:cut].strip():
            yield head
        text = text[cut:].strip()
    if text.strip():
        yield text


def decoded(content: bytes) -> str:
    """Return the text of bytes in UTF-8, or in UTF-16 with its mark; raise Unreadable."""
    encoding = "utf-16" if content[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8 text (byte {error.start}): convert it to UTF-8") from None
    if "\x00" in text:
        raise Unreadable("it is not text: send text, Markdown, HTML or PDF")
    return text


def _parse_text(content: bytes) -> Parsed:
    return Parsed(sections=[Section(paragraphs=_BLANK.split(cleaned(decoded(content))))])


_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_LINK: Final = re.compile(r"!?\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)")
_FRONT_TITLE: Final = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.MULTILINE)
_FRONT: Final = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)


def _heading(text: str) -> str:
    return label(_LINK.sub(r"\1", text.rstrip("# \t")).replace("`", "").replace("**", "").replace("__", ""))


def _under(path: tuple[str, ...], levels: list[int], level: int, heading: str) -> tuple[str, ...]:
    """Return the headings under which a heading of a level comes; `levels` are those of the path, and change."""
    while levels and levels[-1] >= level:
        levels.pop()
    path = path[: len(levels)]
    levels.append(level)
    return (*path, heading)


def _parse_markdown(content: bytes) -> Parsed:
    text = cleaned(decoded(content))
    found, title = Parsed(), None
    if front := _FRONT.match(text):
        title = _FRONT_TITLE.search(front[1])
        text = text[front.end() :]
    found.title = None if title is None else label(title[1])
    reader = _MarkdownReader(found)
    for line in text.split("\n"):
        reader.read(line)
    reader.end()
    return _titled(found)


@dataclass(slots=True)
class _MarkdownReader:
    """Reads Markdown line by line; code in fences is one paragraph and has no headings."""

    found: Parsed
    path: tuple[str, ...] = ()
    levels: list[int] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    section: Section = field(default_factory=Section)
    fence: str = ""

    def read(self, line: str) -> None:
        """Take the next line."""
        if self.fence:
            self.lines.append(line)
            mark = line.strip()
            if mark and set(mark) == {self.fence[0]} and len(mark) >= len(self.fence):
                self.fence = ""
            return
        if opening := _FENCE.match(line):
            self.fence = opening[1]
            self.lines.append(line)
        elif heading := _ATX.match(line):
            self._open(len(heading[1]), _heading(heading[2]))
        elif (underline := _UNDERLINE.match(line)) and len(self.lines) == 1 and "|" not in self.lines[0]:
            above = self.lines.pop()
            self._open(1 if underline[1][0] == "=" else 2, _heading(above))
        elif line.strip():
            self.lines.append(line)
        else:
            self._break()

    def end(self) -> None:
        """Close the last section."""
        self._break()
        if self.section.paragraphs:
            self.found.sections.append(self.section)

    def _break(self) -> None:
        if self.lines:
            self.section.paragraphs.append("\n".join(self.lines))
            self.lines = []

    def _open(self, level: int, heading: str) -> None:
        self.end()
        if heading:
            self.path = _under(self.path, self.levels, level, heading)
        self.section = Section(path=self.path)


def _titled(found: Parsed) -> Parsed:
    """Take an only outermost heading as the title, and the title out of the headings."""
    outermost = {one.path[0] for one in found.sections if one.path}
    opens = bool(found.sections) and bool(found.sections[0].path)
    if found.title is None and len(outermost) == 1 and opens:
        [found.title] = outermost
    for one in found.sections:
        if one.path and one.path[0] == found.title:
            one.path = one.path[1:]
    return found


_VOID: Final = frozenset("area base br col embed hr img input link meta source track wbr".split())  # noqa: SIM905 - HTML
_DROPPED: Final = frozenset(
    "script style template noscript iframe object svg math canvas audio video nav select button textarea".split()  # noqa: SIM905 - HTML
)
_BLOCKS: Final = frozenset(
    "address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form header "  # noqa: SIM905 - HTML
    "hr li main ol p pre section summary table tbody tfoot thead tr ul".split()
)
_LEVELS: Final = {f"h{level}": level for level in range(1, 7)}
_HIDES: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])", re.IGNORECASE)


class _HtmlReader(HTMLParser):
    """Reads what a page shows: no scripts, nothing hidden, a row of a table as one line, preformatted text as it is."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found = Parsed()
        self.section = Section()
        self.path: tuple[str, ...] = ()
        self.levels: list[int] = []
        self.text: list[str] = []
        self.title: list[str] | None = None
        self.heading: int | None = None
        self.dropping = ""
        self.nested = 0
        self.preformatted = 0
        self.row: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.dropping:
            self.nested += tag == self.dropping
            return
        given = dict(attrs)
        hidden = "hidden" in given or given.get("aria-hidden") == "true" or _HIDES.search(given.get("style") or "")
        if tag not in _VOID and (tag in _DROPPED or hidden):
            self.dropping, self.nested = tag, 1
        elif tag == "title" and self.found.title is None:
            self.title = []
        elif tag in _LEVELS:
            self._break()
            self.heading = _LEVELS[tag]
        elif tag in _BLOCKS:
            self._block(tag)
        elif tag in {"td", "th"}:
            self._cell()
        elif tag == "br":
            self.text.append("\n")

    def _block(self, tag: str) -> None:
        if tag == "tr":
            self._break()
            self.row = []
        elif self.row is None:
            self._break()
            self.preformatted += tag == "pre"
            if tag == "li":
                self.text.append("- ")

    def _cell(self) -> None:
        if self.row is not None and (cell := " ".join("".join(self.text).split())):
            self.row.append(cell)
        if self.row is not None:
            self.text = []

    def handle_endtag(self, tag: str) -> None:
        if self.dropping:
            self.nested -= tag == self.dropping
            if self.nested <= 0:
                self.dropping = ""
            return
        if tag == "title" and self.title is not None:
            self.found.title, self.title = label("".join(self.title)) or None, None
        elif tag in _LEVELS and self.heading is not None:
            self._close_heading()
        elif tag == "tr":
            self._close_row()
        elif tag in _BLOCKS and self.row is None:
            self._break()
            self.preformatted = max(0, self.preformatted - (tag == "pre"))
        elif tag == "table":
            self._close_row()

    def handle_data(self, data: str) -> None:
        if self.title is not None:
            self.title.append(data)
        elif not self.dropping:
            self.text.append(data if self.preformatted else re.sub(r"\s+", " ", data))

    def end(self) -> Parsed:
        """Return the document once all of it was fed."""
        self.close()
        self._close_row()
        self._break()
        self._keep()
        return self.found

    def _close_heading(self) -> None:
        text, level = label("".join(self.text)), self.heading or 1
        self.text, self.heading = [], None
        self._keep()
        if text:
            self.path = _under(self.path, self.levels, level, text)
        self.section = Section(path=self.path)

    def _close_row(self) -> None:
        self._cell()
        if self.row:
            self._add(" | ".join(self.row))
        self.row = None

    def _break(self) -> None:
        if self.heading is not None:
            return
        text = "".join(self.text)
        lines = text.split("\n") if self.preformatted else [" ".join(line.split()) for line in text.split("\n")]
        self.text = []
        said = "\n".join(lines).strip("\n")
        if said.strip(" -\n"):
            self._add(said)

    def _add(self, paragraph: str) -> None:
        """Add a paragraph; the items of a list and the rows of a table stay together as lines of one."""
        joins = paragraph.startswith("- ") or self.row is not None
        kept = self.section.paragraphs
        if joins and kept and kept[-1].rpartition("\n")[2].startswith("- ") == paragraph.startswith("- "):
            same = paragraph.startswith("- ") or " | " in kept[-1]
            if same and len(kept[-1]) + len(paragraph) < LONGEST:
                kept[-1] += f"\n{paragraph}"
                return
        kept.append(paragraph)

    def _keep(self) -> None:
        if self.section.paragraphs:
            self.found.sections.append(self.section)
        self.section = Section(path=self.path)


_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([A-Za-z0-9_-]{2,40})", re.IGNORECASE)


def _html_text(content: bytes) -> str:
    try:
        return decoded(content)
    except Unreadable:
        declared = _CHARSET.search(content[:4096])
        try:
            return content.decode(declared[1].decode() if declared else "cp1252", "replace")
        except (LookupError, UnicodeError):
            return content.decode("cp1252", "replace")


def _parse_html(content: bytes) -> Parsed:
    reader = _HtmlReader()
    reader.feed(cleaned(_html_text(content)))
    found = reader.end()
    return _titled(found)


_HYPHENATED: Final = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")


def _parse_pdf(content: bytes) -> Parsed:
    from pypdf import PdfReader  # noqa: PLC0415 - an extra
    from pypdf.errors import PyPdfError  # noqa: PLC0415

    try:
        reader = PdfReader(BytesIO(content), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("the PDF is protected by a password: send it without one")
        # What the file says of it counts first: to look for very many pages takes long.
        if int(reader.root_object["/Pages"]["/Count"]) > MOST_PAGES or len(reader.pages) > MOST_PAGES:
            raise Unreadable(f"the PDF has more than the {MOST_PAGES} pages that are read: split it")
        title = label(str(reader.metadata.title)) if reader.metadata and reader.metadata.title else None
        found = Parsed(title=title or None)
        for number, page in enumerate(reader.pages, 1):
            said = cleaned(_HYPHENATED.sub("", page.extract_text())).strip()
            paragraphs = [" ".join(one.split()) for one in _BLANK.split(said)]
            if any(paragraphs):
                found.sections.append(Section(path=(f"page {number}",), paragraphs=paragraphs))
            if number == PATIENCE and not found.sections:
                break
    except (PyPdfError, ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise Unreadable(f"the PDF is damaged ({str(error)[:100]}): save it again") from None
    except RecursionError:
        raise Unreadable("the PDF is nested too deeply") from None
    if not found.sections:
        raise Unreadable("the PDF has no text: it is a scan, so run OCR on it first")
    return found


_PARSERS: Final[Mapping[str, Callable[[bytes], Parsed]]] = {
    TEXT: _parse_text,
    MARKDOWN: _parse_markdown,
    HTML: _parse_html,
    PDF: _parse_pdf,
}


def main(arguments: Sequence[str]) -> None:
    """Read a document of the media type from standard input; print its sections, or why there are none, as JSON."""
    import resource  # noqa: PLC0415 - only the process of its own limits itself

    [kind, memory, seconds] = arguments
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    try:
        found = parse(kind, sys.stdin.buffer.read())
        answer: object = {"title": found.title, "sections": [[one.path, one.paragraphs] for one in found.sections]}
    except Unreadable as error:
        answer = {"unreadable": str(error)}
    except MemoryError:
        answer = {"unreadable": "it takes more memory than a document may: split it"}
    except ModuleNotFoundError as error:
        answer = {"missing": error.name}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(sys.argv[1:])
