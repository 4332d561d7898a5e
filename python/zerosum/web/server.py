"""HTTP and the WebSocket of `zerosum web`: the page's files, the checks of connections, and the visits.

An address other than this computer's own requires a token: opening the page with `?token=…` sets a cookie, and other
requests are refused with an explanation. Requests with a foreign `Host` or `Origin` are refused, so that no other page
in the same browser can use this program.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import json
import secrets
import socket
import webbrowser
from collections.abc import AsyncIterator, Callable
from importlib import resources
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from zerosum.base.errors import SettingsError
from zerosum.web.library import Library
from zerosum.web.memory import keep_heaps_small
from zerosum.web.requests import HANDLERS
from zerosum.web.searches import Searches
from zerosum.web.trainings import Trainings
from zerosum.web.visit import House, Visit

COOKIE = "zerosum_token"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
MOST_UNSENT = 200
"""Most events that wait for a slow page, before its connection is closed."""
PING_SECONDS = 20.0


class Door:
    """Refuses forbidden requests before anything else handles them."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], token: str) -> None:
        self._app, self._hosts, self._token = app, hosts, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request by ASGI."""
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        connection = HTTPConnection(scope)
        if refusal := self._refusal(connection):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": refusal[:120]})
                return None
            return await PlainTextResponse(refusal, status_code=403, headers=HEADERS)(scope, receive, send)
        if self._token and scope["type"] == "http" and connection.query_params.get("token"):
            answer = RedirectResponse("/", status_code=303, headers=HEADERS)
            answer.set_cookie(COOKIE, self._token, httponly=True, samesite="strict")
            return await answer(scope, receive, send)
        return await self._app(scope, receive, send)

    def _refusal(self, connection: HTTPConnection) -> str:
        host = connection.headers.get("host", "")
        if _host_name(host) not in self._hosts and "*" not in self._hosts:
            return "zerosum: unexpected host name. Open the address that `zerosum web` printed.\n"
        origin = connection.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return "zerosum: requests from other pages are refused.\n"
        if self._token:
            given = connection.query_params.get("token") or connection.cookies.get(COOKIE, "")
            if not hmac.compare_digest(given.encode(), self._token.encode()):
                return (
                    "zerosum: this page needs its token. Open the address that `zerosum web` printed, with ?token=.\n"
                )
        return ""


def _host_name(host: str) -> str:
    """The name in a Host header, without its port."""
    return host[: host.index("]") + 1] if host.startswith("[") and "]" in host else host.partition(":")[0]


def static_files() -> dict[str, tuple[bytes, str]]:
    """The page's files by their names, with their types. Only these can be requested."""
    folder = resources.files("zerosum.web").joinpath("static")
    found = {}
    for file in folder.iterdir():
        suffix = "." + file.name.rpartition(".")[2]
        if suffix in TYPES:
            found[file.name] = (file.read_bytes(), TYPES[suffix])
    return found


def application(house: House, *, hosts: frozenset[str], token: str = "") -> Starlette:
    """The ASGI application of the page.

    Args:
        house: The objects that visits share.
        hosts: Names of this computer that requests may use; "*" for any.
        token: The required token; "" for none.
    """
    files = static_files()

    async def file(request: Request) -> Response:
        content, kind = files.get(request.path_params.get("name", "index.html"), (b"", ""))
        if not kind:
            return PlainTextResponse("zerosum: this page does not exist.\n", status_code=404, headers=HEADERS)
        return Response(content, media_type=kind, headers=HEADERS)

    num_visitors = 0

    async def talk(socket_: WebSocket) -> None:
        nonlocal num_visitors
        await socket_.accept()
        if num_visitors >= house.limits.visitors:
            await socket_.close(1013, f"{house.limits.visitors} pages are open, which is the limit: close one.")
            return
        num_visitors += 1
        try:
            await converse(socket_, house)
        finally:
            num_visitors -= 1

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(house.searches.close)

    return Starlette(
        routes=[
            Route("/", file),
            Route("/static/{name}", file),
            WebSocketRoute("/talk", talk),
        ],
        middleware=[Middleware(Door, hosts=hosts, token=token)],
        lifespan=lifespan,
    )


async def converse(socket_: WebSocket, house: House) -> None:
    """Answer a page's messages and send it events until it disconnects."""
    unsent: asyncio.Queue[dict[str, Any]] = asyncio.Queue(MOST_UNSENT)

    def tell(message: dict[str, Any]) -> None:
        with contextlib.suppress(asyncio.QueueFull):
            unsent.put_nowait(message)

    async def send_all() -> None:
        while True:
            message = await unsent.get()
            await socket_.send_text(json.dumps(message, ensure_ascii=False, separators=(",", ":")))

    visit = Visit(house, HANDLERS, tell)
    sender = asyncio.create_task(send_all())
    try:
        while True:
            message = await socket_.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            reply = await visit.answer(text if text is not None else "")
            await unsent.put(reply)
    except (WebSocketDisconnect, RuntimeError):
        return
    finally:
        visit.close()
        sender.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await sender


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address.

    Raises:
        SettingsError: the address is not one of this computer, or the port is in use.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        raise SettingsError(
            f"{host} port {port} cannot be listened at ({error}): choose another with --host and --port."
        ) from None
    return listener


def is_this_computer(host: str) -> bool:
    """Whether only programs on this computer reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve(
    house: House,
    *,
    host: str = "127.0.0.1",
    port: int = 8765,
    opens_browser: bool = False,
    page: str = "",
    say: Callable[[str], None] = print,
    ready: Callable[[uvicorn.Server, str], None] = lambda _server, _address: None,
) -> None:
    """Serve the page until Ctrl-C.

    Args:
        house: The objects that visits share.
        host: Address to listen at; any other than this computer's own requires a token.
        port: Port to listen at; 0 for any free one.
        opens_browser: Whether the page is opened in the browser.
        page: The page that the printed address opens, such as "tour"; "" is the first one.
        say: Gets the address and further messages.
        ready: Gets the server and its address before it begins.

    Raises:
        SettingsError: the address cannot be listened at.
    """
    keep_heaps_small()
    listener = listen(host, port)
    port = listener.getsockname()[1]
    token = "" if is_this_computer(host) else secrets.token_urlsafe(16)
    shown = f"[{host}]" if ":" in host else host
    hosts = frozenset({"127.0.0.1", "localhost", "[::1]", shown})
    if host in ("0.0.0.0", "::"):
        hosts, shown = frozenset({"*"}), socket.gethostname()
    address = f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
    house.address = address
    address += f"#/{page}" if page else ""
    say(f"Open {address} in a browser; Ctrl-C ends it.")
    if token:
        say("Anybody with this address and its token may play and search on this computer. Nothing is encrypted.")
    config = uvicorn.Config(
        application(house, hosts=hosts, token=token),
        log_level="error",
        # Uvicorn's own set-up of logging closes the handlers of the whole process, and absl's handler its stream.
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="websockets-sansio",
        ws_max_size=house.limits.message_bytes,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        timeout_graceful_shutdown=2,
        server_header=False,
    )
    server = uvicorn.Server(config)
    ready(server, address)
    if opens_browser:
        webbrowser.open(address)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        listener.close()


def new_house(library: Library, *, may_train: bool = False) -> House:
    """The shared objects for a library. `may_train` lets the page start trainings."""
    limits = library.limits
    trainings = Trainings(library, is_allowed=may_train)
    return House(library, limits, Searches(limits), seed=secrets.randbits(31), trainings=trainings)
