"""Real servers for tests: each on a free port of the loopback, ended with the session.

A conftest that wants the fixtures imports them: `from servers import redis_server, redis_url`.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["RedisServer", "Server", "found", "free_port", "memcached_server", "redis_server", "redis_url"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A server process on a port that it keeps when it is started again."""

    def __init__(self, command: list[str], port: int) -> None:
        self.command = command
        self.port = port
        self.host = "127.0.0.1"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex((self.host, self.port)) == 0:
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        self.stop()
        pytest.fail(f"{self.command[0]} did not start")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def restart(self) -> None:
        """End the process hard and start it again, empty, on the same port."""
        self.stop()
        self.start()


class RedisServer(Server):
    def url(self, database: int = 0) -> str:
        return f"redis://{self.host}:{self.port}/{database}"


def found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    return path


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis without persistence; `url(n)` is its database n."""
    port = free_port()
    folder: Path = tmp_path_factory.mktemp("redis")
    server = RedisServer(
        [found("redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)], port
    )
    server.start()
    yield server
    server.stop()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The address of an empty database."""
    redis = pytest.importorskip("redis", reason="the redis extra is not installed")
    if redis_server.process is None or redis_server.process.poll() is not None:
        redis_server.restart()
    with redis.Redis(host=redis_server.host, port=redis_server.port) as client:
        client.flushall()
    return redis_server.url()


@pytest.fixture(scope="session")
def memcached_server() -> Iterator[Server]:
    """A memcached."""
    port = free_port()
    command = [found("memcached"), "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-u", "nobody"]
    server = Server(command, port)
    server.start()
    yield server
    server.stop()
