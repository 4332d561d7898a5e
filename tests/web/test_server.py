"""Connections and responses: HTTP and the WebSocket for an unknown client."""

from __future__ import annotations

import asyncio
import http.client
import json
import statistics
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import websockets

from commands_for_tests import Command
from web_for_tests import serving
from zerosum.base.errors import SettingsError
from zerosum.web.limits import Limits
from zerosum.web.server import is_this_computer, listen, static_files
from zerosum.web.trainings import Trainings


def get(address: str, path: str, headers: dict[str, str] | None = None, method: str = "GET") -> tuple[int, Any, str]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    try:
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def talk(address: str) -> str:
    return f"ws://{urlsplit(address).netloc}/talk"


def test_the_page_and_nothing_else_is_sent() -> None:
    with serving() as (address, _):
        for name in static_files():
            assert get(address, f"/static/{name}")[0] == 200
        status, headers, text = get(address, "/")
        assert status == 200 and "zerosum" in text
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        for path in (
            "/static/../server.py",
            "/static/..%2fserver.py",
            "/static/%2e%2e/visit.py",
            "/etc/passwd",
            "/static/",
        ):
            assert get(address, path)[0] in (404, 307)
        assert get(address, "/", method="POST")[0] == 405


def test_nothing_is_loaded_from_other_hosts() -> None:
    for name, (content, _) in static_files().items():
        text = content.decode().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text and "https://" not in text.replace('"https:"', ""), name
        assert "innerHTML" not in text and "eval(" not in text, name


def test_other_pages_and_other_names_are_refused() -> None:
    with serving() as (address, _):
        assert get(address, "/", {"Host": "evil.example"})[0] == 403
        assert get(address, "/", {"Origin": "http://evil.example"})[0] == 403

        async def connect(**headers: str) -> None:
            async with websockets.connect(talk(address), additional_headers=headers) as socket:
                await socket.send("{}")
                assert "error" in json.loads(await socket.recv())

        asyncio.run(connect())
        with pytest.raises(websockets.exceptions.InvalidStatus):
            asyncio.run(connect(Origin="http://evil.example"))


def test_another_address_demands_a_token() -> None:
    with serving(host="0.0.0.0") as (address, _):
        token = address.partition("token=")[2]
        here = f"http://127.0.0.1:{urlsplit(address).port}"
        assert len(token) > 20
        assert get(here, "/")[0] == 403 and "token" in get(here, "/")[2]
        assert get(here, f"/?token={token[:-1]}")[0] == 403
        status, headers, _ = get(here, f"/?token={token}")
        assert status == 303 and "HttpOnly" in headers["Set-Cookie"]
        assert get(here, "/", {"Cookie": headers["Set-Cookie"].partition(";")[0]})[0] == 200

        async def connect(**headers: str) -> None:
            async with websockets.connect(talk(here), additional_headers=headers) as socket:
                await socket.send("{}")
                await socket.recv()

        with pytest.raises(websockets.exceptions.InvalidStatus):
            asyncio.run(connect())
        asyncio.run(connect(Cookie=headers["Set-Cookie"].partition(";")[0]))


def test_addresses_of_this_computer() -> None:
    assert all(map(is_this_computer, ("127.0.0.1", "127.8.8.8", "::1", "localhost")))
    assert not any(map(is_this_computer, ("0.0.0.0", "192.168.0.7", "::", "example.org")))
    with pytest.raises(SettingsError, match="cannot be listened at"):
        listen("203.0.113.7", 0)


def test_oversized_messages_and_too_many_pages_are_refused() -> None:
    with serving(limits=Limits(message_bytes=5000, visitors=2)) as (address, _):

        async def work() -> None:
            async with websockets.connect(talk(address)) as first, websockets.connect(talk(address)):
                async with websockets.connect(talk(address)) as third:
                    with pytest.raises(websockets.exceptions.ConnectionClosed) as closed:
                        await third.recv()
                    assert closed.value.rcvd is not None and "2 pages" in closed.value.rcvd.reason
                await first.send("x" * 6000)
                with pytest.raises(websockets.exceptions.ConnectionClosed):
                    await first.recv()
            await asyncio.sleep(0.2)
            async with websockets.connect(talk(address)) as fourth:
                await fourth.send(b"\xff\x00")
                assert "error" in json.loads(await fourth.recv())

        asyncio.run(work())


class Client:
    """A page in the form of a few messages."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket

    async def ask(self, what: str, **fields: Any) -> dict[str, Any]:
        await self.socket.send(json.dumps({"id": 1, "do": what, **fields}))
        while True:
            message = json.loads(await self.socket.recv())
            if "id" in message:
                assert "error" not in message, message
                return message["result"]

    async def event(self, name: str) -> dict[str, Any]:
        while True:
            message = json.loads(await self.socket.recv())
            if message.get("event") == name:
                return message


async def measured(address: str, *, visitors: int, moves: int) -> tuple[list[float], float]:
    """Seconds of each click of one page, while the others' opponents search; the whole time."""

    async def play(number: int, times: list[float]) -> None:
        async with websockets.connect(talk(address), max_size=None) as socket:
            page = Client(socket)
            await page.ask("play.open", game="othello", side="0", vs="rollouts@300")
            for _ in range(moves):
                view = await page.ask("play.view")
                if not view["moves"]:
                    return
                started = time.perf_counter()
                await page.ask("play.move", action=view["moves"][0][0])
                times.append(time.perf_counter() - started)
                while True:
                    view = await page.event("table")
                    if view["over"] or view["mover"] == 0:
                        break

    times: list[float] = []
    started = time.perf_counter()
    await asyncio.gather(*(play(number, times) for number in range(visitors)))
    return times, time.perf_counter() - started


def test_twenty_visitors_all_get_their_moves() -> None:
    with serving() as (address, house):
        times, _ = asyncio.run(measured(address, visitors=20, moves=3))
        assert len(times) == 60 and house.searches.num_running == 0
        assert statistics.median(times) > 0


def test_without_its_packages_the_command_says_what_to_install(zero: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "uvicorn", None)
    answer = zero("web")
    assert answer.status == 2 and "pip install 'zerosum[web]'" in answer.err


def test_a_page_that_may_train_makes_the_directory_of_runs(
    zero: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[Trainings] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("zerosum.web.server.serve", lambda house, **_: served.append(house.trainings))
    assert zero("web").status == 0 and not Path("runs").exists()
    (tmp_path / "empty").write_text("")
    assert "empty" in zero("web", "empty").err
    assert zero("web", "--train").status == 0
    with pytest.raises(SettingsError, match="no directory for new runs is given: .* `zerosum web --train`"):
        served[0]._new_directory("mine")
    assert served[1]._new_directory("mine") == Path("runs", "mine")
    monkeypatch.setenv("ZEROSUM_RUNS", str(tmp_path / "file" / "runs"))
    (tmp_path / "file").write_text("")
    refused = zero("web", "--train")
    assert refused.status == 2 and f"runs {tmp_path / 'file' / 'runs'} cannot be made: " in refused.err


def test_what_is_not_there_is_named(zero: Command) -> None:
    answer = zero("web", "runs/nowhere")
    assert answer.status == 2 and "runs/nowhere does not exist" in answer.err.replace("\\", "/")


def test_other_pages_cannot_load_the_pages_files() -> None:
    with serving() as (address, _):
        for path in ("/", "/static/main.js", "/static/nosuch.js"):
            assert get(address, path)[1]["Cross-Origin-Resource-Policy"] == "same-origin"
