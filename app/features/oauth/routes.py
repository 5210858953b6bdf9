"""Routes of connections: discovery, registration, consent, tokens and revocation for clients, and lists for admins.

Clients find everything from the 401 of `/mcp`: the resource's metadata (RFC 9728) name the issuer, and the issuer's
metadata (RFC 8414) the rest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Path, Query
from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import AuthenticationError
from mcp.server.auth.provider import AuthorizationParams, construct_redirect_uri
from mcp.server.auth.routes import cors_middleware
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter, ValidationError
from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from app import ids
from app.api.keys import secret_answer
from app.errors import NotConfigured, NotFound, TypedMemoryError
from app.features.mcp.endpoint import PATH
from app.features.oauth import pages
from app.features.oauth.addresses import base_of, resource_of
from app.features.oauth.bodies import (
    ConnectionPageOut,
    InvitationBody,
    InvitationOut,
    InvitationsOut,
    NewInvitationOut,
)
from app.features.oauth.clients import Client, Clients
from app.features.oauth.pages import ConsentPage, host_text
from app.features.oauth.provider import HashedSecrets, Provider, is_resource
from app.features.oauth.service import AskedApproval, ConnectionCache, Connections, UserChoice
from app.features.oauth.values import SCOPES, USER
from app.http import cursors
from app.http.cursors import PageQuery
from app.http.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import json_answer
from app.http.problems import Problem
from app.http.routes import CREATED, NO_CONTENT, add_reads, add_route
from app.providers.addresses import JsonDocuments
from app.runtime import Runtime
from app.settings import Settings

_PROTOCOL: Final = (
    "response_type",
    "client_id",
    "redirect_uri",
    "code_challenge",
    "code_challenge_method",
    "state",
    "scope",
    "resource",
)
"""Parameters of an authorization request, each given once at most."""

_METADATA_SECONDS = {"Cache-Control": "public, max-age=300"}
_NOT_CACHED = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_BAD_REQUEST, _UNAUTHORIZED, _FORBIDDEN, _SEE_OTHER = 400, 401, 403, 303
_URL: Final = TypeAdapter[AnyHttpUrl](AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))

GrantId = Annotated[str, Path(description="A connection's id.", examples=["grt_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])]
InvitationId = Annotated[
    str, Path(description="An invitation's id.", examples=["inv_0198c5a2f0a87b3c9d2e4f6a8b0c1d2e"])
]


def connections_of(runtime: Runtime, cache: ConnectionCache) -> Connections:
    """Return the use cases over a runtime."""
    return Connections(database=runtime.database, keys=runtime.keys, clock=runtime.clock, cache=cache)


class NamedRoute(Route):
    """A route that the log and the metrics name by its path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match a path, and put itself into the scope."""
        match, child = super().matches(scope)
        return match, {**child, "route": self}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationServer:
    """The endpoints for clients and their users."""

    settings: Settings
    cache: ConnectionCache
    clients: Clients = field(default_factory=lambda: Clients(documents=JsonDocuments()))

    def routes(self) -> list[BaseRoute]:
        """Return the routes: metadata for every client, the rest where this service issues the tokens."""
        resource = "/.well-known/oauth-protected-resource"
        found: list[BaseRoute] = [
            _for_clients(resource, self._resource_metadata),
            _for_clients(f"{resource}/{{of:path}}", self._resource_metadata),
        ]
        if not self.settings.oauth:
            return found
        issuer = "/.well-known/oauth-authorization-server"
        return [
            *found,
            _for_clients(issuer, self._metadata),
            _for_clients(f"{issuer}/{{of:path}}", self._metadata),
            # Behind a prefix of a path the proxy need not know of the addresses above.
            _for_clients("/.well-known/openid-configuration", self._metadata),
            _for_clients("/oauth/register", self._register, "POST"),
            _for_clients("/oauth/token", self._token, "POST"),
            _for_clients("/oauth/revoke", self._revoke, "POST"),
            NamedRoute("/oauth/authorize", self._authorize, methods=["GET", "POST"], include_in_schema=False),
            NamedRoute("/oauth/invitation", self._invitation, include_in_schema=False),
            NamedRoute("/oauth/style.css", _style, include_in_schema=False),
        ]

    async def _resource_metadata(self, request: Request) -> Response:
        """Say what protects `/mcp`: who issues tokens for it, and with which scopes."""
        resource, of = self._resource(request), request.path_params.get("of")
        if of is not None and of.rstrip("/") not in {urlsplit(resource).path.strip("/"), PATH.strip("/")}:
            raise NotFound(f"there is nothing here that OAuth protects but {resource}")
        issuers = [base_of(request, self.settings) if self.settings.oauth else None, self.settings.oidc_issuer]
        metadata = ProtectedResourceMetadata(
            resource=_url(resource),
            authorization_servers=[_url(one) for one in issuers if one is not None],
            scopes_supported=list(SCOPES),
            resource_name="Typed Memory",
        )
        return _metadata_answer(metadata)

    async def _metadata(self, request: Request) -> Response:
        """Say what this authorization server offers."""
        base = self._base(request)
        metadata = OAuthMetadata(
            issuer=_url(base),
            authorization_endpoint=_url(f"{base}/oauth/authorize"),
            token_endpoint=_url(f"{base}/oauth/token"),
            registration_endpoint=_url(f"{base}/oauth/register"),
            revocation_endpoint=_url(f"{base}/oauth/revoke"),
            scopes_supported=list(SCOPES),
            response_types_supported=["code"],
            response_modes_supported=["query"],
            grant_types_supported=["authorization_code", "refresh_token"],
            token_endpoint_auth_methods_supported=["none", "client_secret_post"],
            revocation_endpoint_auth_methods_supported=["none", "client_secret_post"],
            code_challenge_methods_supported=["S256"],
            client_id_metadata_document_supported=True,
            authorization_response_iss_parameter_supported=True,
        )
        return _metadata_answer(metadata)

    async def _register(self, request: Request) -> Response:
        """Register a client (RFC 7591)."""
        handler = RegistrationHandler(self._provider(request), ClientRegistrationOptions(enabled=True))
        answer = await handler.handle(request)
        answer.headers.update(_NOT_CACHED)
        return answer

    async def _token(self, request: Request) -> Response:
        """Exchange a code or a refresh token for tokens (RFC 6749)."""
        provider = self._provider(request)
        form = await request.form()
        if repeated := _repeated(form):
            return _refused("invalid_request", f"{repeated} is given more than once")
        given = form.get("resource")
        if isinstance(given, str) and not is_resource(given, provider.resource):
            return _refused("invalid_target", f"the resource is not {provider.resource}")
        answer: Response = await TokenHandler(provider, HashedSecrets(provider)).handle(request)
        return answer

    async def _revoke(self, request: Request) -> Response:
        """End the connection of a token (RFC 7009)."""
        provider = self._provider(request)
        try:
            client = await HashedSecrets(provider).authenticate_request(request)
        except AuthenticationError as error:
            return _refused("invalid_client", error.message, _UNAUTHORIZED)
        token = (await request.form()).get("token")
        if not isinstance(token, str):
            return _refused("invalid_request", "send the token to revoke as `token`")
        await provider.connections.give_up(token, client.client_id)
        return Response(headers=_NOT_CACHED)

    async def _authorize(self, request: Request) -> Response:
        """Ask the user, by a page; on POST take the user's answer and send the user back with a code."""
        given: QueryParams | FormData = request.query_params if request.method == "GET" else await request.form()
        if repeated := _repeated(given):
            return pages.failure(f"{repeated} is given more than once.", _BAD_REQUEST)
        provider = self._provider(request)
        checked = await AuthorizationHandler(provider).handle(request)
        if provider.asked is None:
            return await _unasked(provider, checked, given)
        client, params = provider.asked
        decision = given.get("decision") if request.method == "POST" else None
        if decision is None:
            return pages.consent(_page(client, params, given), 200)
        if _is_of_another_site(request, self._base(request)):
            return pages.failure("This form was sent by another site: connect again.", _FORBIDDEN)
        if decision != "allow":
            told = {"error": "access_denied", "error_description": "the user refused"}
            return _back(params, self._base(request), **told)
        return await self._allowed(request, provider, given)

    async def _allowed(self, request: Request, provider: Provider, given: QueryParams | FormData) -> Response:
        """Take the user's consent: send the user back with a code, or ask again with what was wrong."""
        assert provider.asked is not None  # noqa: S101 - the caller looked
        client, params = provider.asked
        user = str(given.get("user_id") or "").strip()
        chosen = [one for one in _scopes(params) if one in given.getlist("scopes")]
        asked = AskedApproval(
            client_id=client.client_id,
            client_name=client.title,
            redirect_uri=str(params.redirect_uri) if params.redirect_uri_provided_explicitly else None,
            redirect_host=host_text(str(params.redirect_uri)),
            resource=provider.resource,
            code_challenge=params.code_challenge,
        )
        try:
            choice = UserChoice(
                credential=str(given.get("credential") or "").strip(),
                user_id=USER.validate_python(user) if user else None,
                scopes=chosen,
            )
            code = await provider.connections.approve(asked, choice)
        except ValidationError:
            page = _page(client, params, given, error="This can't be the id of a user.")
            return pages.consent(page, _BAD_REQUEST)
        except TypedMemoryError as error:
            sentence = f"{error.message[:1].upper()}{error.message[1:]}."
            return pages.consent(_page(client, params, given, error=sentence), error.status)
        return _back(params, self._base(request), code=code)

    async def _invitation(self, request: Request) -> Response:
        """Say how to use an invitation, whose secret is not sent here."""
        return pages.invitation(self._resource(request))

    def _provider(self, request: Request) -> Provider:
        connections = connections_of(request.app.state.runtime, self.cache)
        return Provider(clients=self.clients, connections=connections, resource=self._resource(request))

    def _base(self, request: Request) -> str:
        base = base_of(request, self.settings)
        if base is None:
            raise NotFound("OAuth is for the address in TM_PUBLIC_URL, which is not set: without it, for this machine")
        return base

    def _resource(self, request: Request) -> str:
        return resource_of(self._base(request))


def admin_router(settings: Settings, cache: ConnectionCache) -> APIRouter:
    """Return the routes for admins, who list and end connections, and invite users."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    one, invited = "/admin/connections", "/admin/invitations"

    async def revoke_connection(runtime: RuntimeDep, actor: ActorDep, grant_id: GrantId) -> Response:
        """End a connection: at once in this process, within seconds in others."""
        await connections_of(runtime, cache).revoke(actor, ids.parse(ids.GRANT, grant_id))
        return Response(status_code=NO_CONTENT)

    async def create_invitation(
        request: Request, runtime: RuntimeDep, actor: ActorDep, body: InvitationBody
    ) -> Response:
        """Invite a user to connect one client; only this answer has the link."""
        base = base_of(request, settings)
        if base is None or not settings.oauth:
            raise NotConfigured("clients can't connect here: set TM_OAUTH=true and TM_PUBLIC_URL at the service")
        lasting = timedelta(days=body.days)
        made = await connections_of(runtime, cache).invite(
            actor, user_id=body.user_id, scopes=body.scopes, lasting=lasting
        )
        return secret_answer(NewInvitationOut.of(made, base))

    add_reads(
        found,
        ADMIN,
        (one, list_connections, "List connections", ConnectionPageOut),
        (invited, list_invitations, "List invitations", InvitationsOut),
    )
    revoking = (f"{one}/{{grant_id}}", revoke_connection, "End a connection")
    add_route(found, "DELETE", ADMIN, *revoking, status_code=NO_CONTENT)
    inviting = (invited, create_invitation, "Invite a user to connect", NewInvitationOut)
    unset: dict[int | str, dict[str, Any]] = {501: {"model": Problem, "description": "OAuth is off."}}
    add_route(found, "POST", ADMIN, *inviting, status_code=CREATED, responses=unset)
    withdrawing = (f"{invited}/{{invitation_id}}", delete_invitation, "Withdraw an invitation")
    add_route(found, "DELETE", ADMIN, *withdrawing, status_code=NO_CONTENT)
    return found


async def list_connections(runtime: RuntimeDep, actor: ActorDep, query: Annotated[PageQuery, Query()]) -> Response:
    """List the clients that users connected by OAuth, newest first, a page at a time; ended ones are included."""
    listing = query.listing("connections", actor.tenant_id)
    after = cursors.decode_time(query.cursor, listing)
    page = await connections_of(runtime, ConnectionCache()).list(actor, limit=query.limit, after=after)
    return json_answer(ConnectionPageOut.page(page.items, cursors.encode_time(page.next, listing)))


async def list_invitations(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """List the invitations that can still be used, newest first, without their links."""
    found = await connections_of(runtime, ConnectionCache()).invitations(actor)
    return json_answer({"invitations": [InvitationOut.answer(one) for one in found]})


async def delete_invitation(runtime: RuntimeDep, actor: ActorDep, invitation_id: InvitationId) -> Response:
    """Withdraw an invitation; a connection that was made with it stays."""
    await connections_of(runtime, ConnectionCache()).withdraw(actor, ids.parse(ids.INVITATION, invitation_id))
    return Response(status_code=NO_CONTENT)


def _for_clients(path: str, handle: Callable[[Request], Awaitable[Response]], method: str = "GET") -> Route:
    """Return a route that programs in any browser page may call: it takes no cookies."""
    methods = [method, "OPTIONS"]
    return NamedRoute(path, cors_middleware(handle, methods), methods=methods, include_in_schema=False)


async def _style(_: Request) -> Response:
    return Response(pages.STYLE, media_type="text/css", headers=_METADATA_SECONDS)


async def _unasked(provider: Provider, checked: Response, given: QueryParams | FormData) -> Response:
    """Return the page for a request that can't be put to the user, with a link back where the client is known."""
    location = checked.headers.get("location")
    why = provider.unknown
    if location is not None and why is None:
        client = await provider.get_client(str(given.get("client_id")))
        host = "the client" if client is None else host_text(location)
        told = QueryParams(urlsplit(location).query)
        return pages.failure(f"{told.get('error_description') or told.get('error')}.", _BAD_REQUEST, (host, location))
    if why is None:
        why = _description(checked)
    return pages.failure(f"{why}.", _BAD_REQUEST)


def _description(answer: Response) -> str:
    from_json: Any = TypeAdapter(dict[str, Any]).validate_json(bytes(answer.body))
    return str(from_json.get("error_description") or from_json.get("error"))[:500]


def _page(
    client: Client, params: AuthorizationParams, given: QueryParams | FormData, error: str | None = None
) -> ConsentPage:
    """Return the page for a request; with an error, what the user entered stays, but for the key."""
    return ConsentPage(
        client_name=client.title,
        client_id=client.client_id,
        redirect_uri=str(params.redirect_uri),
        scopes=_scopes(params),
        hidden=[(name, str(given[name])) for name in _PROTOCOL if name in given],
        user_id="" if error is None else str(given.get("user_id") or "")[:200],
        chosen=None if error is None else [str(one) for one in given.getlist("scopes")],
        error=error,
    )


def _scopes(params: AuthorizationParams) -> list[str]:
    return params.scopes or []


def _back(params: AuthorizationParams, issuer: str, **told: str) -> Response:
    """Send the user back to the client."""
    uri = construct_redirect_uri(str(params.redirect_uri), **told, state=params.state, iss=issuer)
    return RedirectResponse(uri, status_code=_SEE_OTHER, headers={**_NOT_CACHED, "Referrer-Policy": "no-referrer"})


def _is_of_another_site(request: Request, base: str) -> bool:
    """Return whether a browser says that a form was not sent by our own page."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    parts = urlsplit(base)
    own = f"{parts.scheme}://{parts.netloc}"
    return (origin is not None and origin != own) or site not in {None, "same-origin", "none"}


def _repeated(given: QueryParams | FormData) -> str | None:
    """Return a parameter of the protocol that is given more than once, which none may be (RFC 6749, 3.1)."""
    more = ("grant_type", "code", "code_verifier", "refresh_token", "client_secret", "token")
    return next((name for name in (*_PROTOCOL, *more) if len(given.getlist(name)) > 1), None)


def _refused(error: str, description: str, status: int = _BAD_REQUEST) -> Response:
    return json_answer({"error": error, "error_description": description}, status, _NOT_CACHED)


def _metadata_answer(metadata: OAuthMetadata | ProtectedResourceMetadata) -> Response:
    return json_answer(metadata.model_dump(mode="json", exclude_none=True), 200, _METADATA_SECONDS)


def _url(text: str) -> AnyHttpUrl:
    """Return an address as it is written: clients compare issuers as texts."""
    return _URL.validate_python(text)
