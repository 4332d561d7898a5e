"""A real S3 server (s3s-fs), and a proxy before it that makes it fail."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILT = ROOT / "target" / "s3s-fs" / "bin" / "s3s-fs"
"""The server that `python tasks.py s3-server` builds."""
MISSING = "s3s-fs, an S3 server, is missing: make s3-server"
KEY, SECRET = "tester", "not a secret"

Fault = Callable[[str, str], "int | str | None"]
"""From a request's method and path to a fault: a status to answer, "cut", "slow" (passed on after `SLOW_S`), "empty" (a
listing of nothing), or None."""
SLOW_S = 1.0


def s3_server() -> str | None:
    """The server's program, if it is there."""
    return os.environ.get("S3S_FS") or shutil.which("s3s-fs") or (str(BUILT) if BUILT.exists() else None)


@contextlib.contextmanager
def serving(root: Path) -> Iterator[int]:
    """Run a server with a bucket `games`, and yield its port."""
    (root / "games").mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = ["--host", "127.0.0.1", "--port", str(port), "--access-key", KEY, "--secret-key", SECRET]
    program = s3_server()
    assert program
    process = subprocess.Popen([program, *words, str(root)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.02)
        yield port
    finally:
        process.kill()
        process.wait()


class Proxy:
    """Passes requests on to the server, except those that `fault` answers. It counts both."""

    def __init__(self, port: int) -> None:
        proxy, self.fault = self, (lambda method, path: None)  # type: Proxy, Fault
        self.num_passed, self.num_faults = 0, 0
        self.requests: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:
                pass

            def _pass(self) -> None:
                body = self._body()
                proxy.requests.append(f"{self.command} {self.path}")
                fault = proxy.fault(self.command, self.path)
                if fault is not None:
                    proxy.num_faults += 1
                if fault == "slow":
                    time.sleep(SLOW_S)
                    fault = None
                if fault == "cut":
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                elif fault == "empty":
                    self._answer(200, [("Content-Type", "application/xml")], EMPTY_LISTING)
                elif isinstance(fault, int):
                    self._answer(fault, [], b"")
                else:
                    server = http.client.HTTPConnection("127.0.0.1", port)
                    server.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                    for name, value in self.headers.items():
                        if name.lower() != "expect":
                            server.putheader(name, value)
                    server.endheaders(body)
                    answer = server.getresponse()
                    proxy.num_passed += 1
                    kept = [pair for pair in answer.getheaders() if pair[0].lower() not in UNKEPT]
                    content, size = answer.read(), answer.getheader("Content-Length")
                    self._answer(answer.status, kept, content, size=size)
                    server.close()

            def _body(self) -> bytes:
                """The request's body as it was sent, with the sizes of its chunks if it has chunks."""
                if "chunked" not in self.headers.get("Transfer-Encoding", ""):
                    return self.rfile.read(int(self.headers.get("Content-Length") or 0))
                body = b""
                while True:
                    line = self.rfile.readline()
                    size = int(line.split(b";")[0], 16)
                    body += line + self.rfile.read(size + 2 if size else 0)
                    if not size:
                        break
                while line := self.rfile.readline():  # the trailers, up to an empty line
                    body += line
                    if line == b"\r\n":
                        break
                return body

            def _answer(
                self, status: int, headers: list[tuple[str, str]], content: bytes, *, size: str | None = None
            ) -> None:
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", size or str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass  # noqa: N815 - the library's names

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: object, client_address: object) -> None:
                """A client that has gone away is no fault of the tests."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def url(self, prefix: str) -> str:
        """The address of a prefix in the bucket."""
        port = self._server.server_address[1]
        return f"s3://games/{prefix}?endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


UNKEPT = {"content-length", "transfer-encoding", "connection", "date", "server"}
EMPTY_LISTING = (
    b'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    b"<Name>games</Name><KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>"
    b"</ListBucketResult>"
)
