"""Gives one file by HTTP on loopback, slowly: what a download is, without a network.

    with served(wheel) as url: ...

The server is a process of its own, so that whoever forks has no thread and no open connection of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HOST = "127.0.0.1"
PIECES = 40


@contextmanager
def served(file: Path, seconds: float = 1.0) -> Iterator[str]:
    """Give the address of ``file``, which takes about ``seconds`` to come."""
    command = [sys.executable, "-m", "tests.slow_server", str(file), str(seconds)]
    root = Path(__file__).parents[1]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            yield f"http://{HOST}:{port}/{file.name}"
        finally:
            server.kill()


def handler(content: bytes, seconds: float) -> type[BaseHTTPRequestHandler]:
    """Return what answers each request by ``content`` in `PIECES`."""

    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            piece = len(content) // PIECES + 1
            try:
                for start in range(0, len(content), piece):
                    time.sleep(seconds / PIECES)
                    self.wfile.write(content[start : start + piece])
            except ConnectionError:  # it was killed
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    return Slow


def main(file: str, seconds: str) -> None:
    """Serve until killed, or until whoever started it is gone."""
    server = ThreadingHTTPServer((HOST, 0), handler(Path(file).read_bytes(), float(seconds)))
    print(server.server_port, flush=True)
    server.timeout, parent = 1.0, os.getppid()
    while os.getppid() == parent:
        server.handle_request()


if __name__ == "__main__":
    main(*sys.argv[1:])
