"""Pages that a browser shows while a user connects a client: plain HTML without scripts, under a policy of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse, Response

from app.features.oauth.values import INVITATION_PREFIX, SCOPES
from app.settings import LOOPBACK

STYLE: Final = Path(__file__).with_name("pages.css").read_bytes()

SCOPE_TEXTS: Final[Mapping[str, str]] = {
    "read": "recall what is known",
    "write": "remember what is said, and erase memories",
    "review": "list what waits for a person to look at",
}

_HEADERS: Final = {
    # The address of this page has the client's request, which other sites need not see; the form must tell its origin.
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
}

_CHECKED: Final = " checked"

_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Typed Memory</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<main>
<h1>{title}</h1>
{content}
</main>
</body>
</html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentPage:
    """The page that asks a user; `hidden` are the client's parameters, which the form sends back.

    `user_id` and `chosen` are what the user entered before, if `error` says what was wrong with it.
    """

    client_name: str
    client_id: str
    redirect_uri: str
    scopes: Collection[str]
    hidden: Sequence[tuple[str, str]]
    user_id: str = ""
    chosen: Collection[str] | None = None
    error: str | None = None


def consent(page: ConsentPage, status: int) -> Response:
    """Return the page that asks for a key or an invitation, and for the user's consent."""
    hidden = "\n".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in page.hidden
    )
    ticked = page.scopes if page.chosen is None else page.chosen
    boxes = "\n".join(
        f'<label class="choice"><input type="checkbox" name="scopes" value="{one}"{_CHECKED if one in ticked else ""}>'
        f" <span><strong>{one}</strong>: {SCOPE_TEXTS[one]}</span></label>"
        for one in SCOPES
        if one in page.scopes
    )
    error = "" if page.error is None else f'<p class="error" role="alert">{escape(page.error)}</p>'
    content = f"""<p>A program that calls itself <strong>{escape(page.client_name)}</strong> asks to use a memory here.
If you agree, you are sent to <strong>{escape(host_text(page.redirect_uri))}</strong>.{escape(_vouched(page.client_id))}
Refuse unless you have just asked it to connect.</p>
{error}
<form method="post" action="authorize" autocomplete="off">
{hidden}
<label>API key or invitation link
<input type="password" name="credential" autocomplete="off" spellcheck="false" maxlength="2000"></label>
<label>Whose memory: the user's id
<input type="text" name="user_id" value="{escape(page.user_id)}" maxlength="200" spellcheck="false"></label>
<p class="hint">Leave it empty if your key or invitation is for one user.</p>
<fieldset><legend>It may, within this user's memory,</legend>
{boxes}
</fieldset>
<div class="actions">
<button type="submit" name="decision" value="allow" class="primary">Allow</button>
<button type="submit" name="decision" value="refuse">Refuse</button>
</div>
</form>
<p class="hint">The program never sees the key. An admin of the memory can end the connection at any time.</p>"""
    return _response("Connect a program", content, status, form_targets=_form_target(page.redirect_uri))


def failure(message: str, status: int, back: tuple[str, str] | None = None) -> Response:
    """Return a page that says what is wrong; `back` is the client's host and the address that tells it so.

    The user is not sent there unasked: anybody may register an address (RFC 9700, 4.11.2).
    """
    link = ""
    if back is not None:
        host, uri = back
        link = f'<p><a href="{escape(uri)}" rel="noreferrer">Go back to {escape(host)}</a></p>'
    return _response("This can't be connected", f'<p class="error">{escape(message)}</p>\n{link}', status)


def invitation(mcp: str) -> Response:
    """Return the page behind an invitation link, whose secret the browser keeps to itself."""
    content = f"""<p>You are invited to connect an assistant to a memory. The address of this page is your invitation.
It works once, so keep it to yourself.</p>
<ol>
<li>Copy the address of this page, with all that stands after <code>#{INVITATION_PREFIX}_</code>.</li>
<li>In your assistant, add a connector or MCP server with the address <code>{escape(mcp)}</code>.</li>
<li>A page of this service opens: paste the address of this page there, and choose what the assistant may do.</li>
</ol>"""
    return _response("An invitation", content, 200)


def host_text(uri: str) -> str:
    """Return the place that an address leads to, in words."""
    parts = urlsplit(uri)
    if parts.scheme not in {"http", "https"}:
        return f"the application of {parts.scheme}:"
    return "a program on this computer" if parts.hostname in LOOPBACK else str(parts.hostname)


def _vouched(client_id: str) -> str:
    """Return the sentence on a client whose host vouches for its name."""
    return f" {urlsplit(client_id).hostname} vouches for its name." if client_id.startswith("https://") else ""


def _form_target(uri: str) -> str:
    """Return the source that a browser lets the form be redirected to: the origin, or the application's scheme."""
    parts = urlsplit(uri)
    if parts.scheme not in {"http", "https"} or ":" in str(parts.hostname):
        return f"{parts.scheme}:"
    return f"{parts.scheme}://{parts.netloc}"


def _response(title: str, content: str, status: int, *, form_targets: str | None = None) -> Response:
    form = "'none'" if form_targets is None else f"'self' {form_targets}"
    policy = (
        f"default-src 'none'; style-src 'self'; base-uri 'none'; form-action {form}; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    headers = {**_HEADERS, "Content-Security-Policy": policy}
    return HTMLResponse(_PAGE.format(title=escape(title), content=content), status_code=status, headers=headers)
