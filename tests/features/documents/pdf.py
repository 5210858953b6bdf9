"""PDF files made by hand: pages of text in columns, pages without text, and bombs."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

Line = tuple[int, int, str]
"""Where a line stands on a page, from below, and what it says."""


def page_of(lines: Sequence[Line]) -> bytes:
    """Return the content stream of a page with these lines."""
    shown = "".join(f"BT /F1 11 Tf {x} {y} Td ({text}) Tj ET\n" for x, y, text in lines)
    return shown.encode("latin-1")


def column(x: int, *lines: str) -> list[Line]:
    """Return lines below one another."""
    return [(x, 750 - 16 * place, line) for place, line in enumerate(lines)]


def pdf(*pages: bytes, title: str | None = None, packed: Sequence[bytes] = (), shared: int = 0) -> bytes:
    """Return a PDF with these pages; those in `packed` are compressed. With `shared`, one page so many times."""
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    objects.append(b"<< /Title (%s) >>" % (title or "").encode("latin-1"))
    kids: list[int] = []
    for content, flags in [*((one, b"") for one in pages), *((one, b"/Filter /FlateDecode ") for one in packed)]:
        objects.append(b"<< %s/Length %d >>\nstream\n%s\nendstream" % (flags, len(content), content))
        for _ in range(max(1, shared)):
            objects.append(
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
                b"/Resources << /Font << /F1 3 0 R >> >> >>" % (len(objects) - (len(kids) % max(1, shared)))
            )
            kids.append(len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % one for one in kids))
    found, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, one in enumerate(objects, 1):
        offsets.append(len(found))
        found += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    start = len(found)
    found += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    found += b"".join(b"%010d 00000 n \n" % one for one in offsets)
    found += b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(found)


def bomb(megabytes: int) -> bytes:
    """Return a small PDF whose one page unpacks to so many megabytes of text."""
    packer = zlib.compressobj(9)
    line = b"BT /F1 11 Tf 10 10 Td (bomb) Tj ET\n" * 30_000
    packed = b"".join(packer.compress(line) for _ in range(megabytes)) + packer.flush()
    return pdf(packed=[packed])
