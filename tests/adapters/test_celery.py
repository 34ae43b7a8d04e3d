"""Celery: a worker process over Redis whose tasks, results and commands are all npser's, sealed; and messages of others."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("celery", reason="the celery extra is not installed")
pytest.importorskip("redis", reason="redis-py, which Celery needs for Redis, is not installed")

import numpy as np
from celery import chain, chord, group
from celery.exceptions import CeleryError, TaskRevokedError
from kombu.exceptions import DecodeError, EncodeError, OperationalError

import npser
from adapters import celery_app as shop
from npser.adapters.kombu import configure
from same import same

TESTS = Path(__file__).parents[1]
ORDER = shop.Order(7, ("tea", "milk"), dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC))

VALUES: dict[str, Any] = {
    "tuple": (1, (True, {3}), 0.5),
    "set": {1, "two"},
    "bytes": b"\xc1\x00",
    "array": np.arange(12, dtype=">u2").reshape(3, 4),
    "when": dt.datetime(2026, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    "for": dt.timedelta(days=1, microseconds=1),
    "order": ORDER,
    "orders": [ORDER] * 3,
    "int keys": {1: "a", (2, 3): None},
    "big": 1 << 100,
}


class Worker:
    """A process with a worker, and what it logs."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.log = folder / "worker.log"
        command = [
            sys.executable, "-m", "celery", "-A", "adapters.celery_app", "worker", "-P", "threads", "-c", "2", "-l", "INFO",
            "--without-gossip", "--without-mingle", "--without-heartbeat",
        ]  # fmt: skip
        paths = os.pathsep.join([str(TESTS), str(TESTS.parent / "src"), os.environ.get("PYTHONPATH", "")])
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, cwd=folder, env={**os.environ, **environment, "PYTHONPATH": paths}
            )

    def wait_for(self, text: str, times: int = 1) -> None:
        deadline = time.monotonic() + 30
        while self.log.read_text().count(text) < times:
            if time.monotonic() > deadline or self.process.poll() is not None:
                pytest.fail(f"{text!r} is not in the log of the worker:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def worker(redis_server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    if redis_server.process is None:
        redis_server.restart()
    broker, results = redis_server.url(1), redis_server.url(2)
    shop.app.conf.update(broker_url=broker, result_backend=results)
    configure(**shop.OPTIONS)  # for a test of something else may have had its own
    environment = {"SHOP_BROKER": broker, "SHOP_RESULTS": results, "SHOP_VERSION": "2"}
    worker = Worker(tmp_path_factory.mktemp("worker"), environment)
    try:
        worker.wait_for(" ready.")
        yield worker
    finally:
        worker.stop()
        shop.app.close()
        configure()


pytestmark = [
    pytest.mark.usefixtures("worker"),
    pytest.mark.filterwarnings("ignore:Call to deprecated:DeprecationWarning"),  # of redis-py, by Celery
]


def got(result: Any) -> Any:
    return result.get(timeout=10, interval=0.02)


def forget(result: Any) -> None:
    """Take a result that is refused out of the channel at which all of this process wait: it is read there and by its key."""
    consumer = shop.app.backend.result_consumer
    shop.app.backend.remove_pending_result(result)
    deadline = time.monotonic() + 0.5
    while time.monotonic() < deadline:
        with contextlib.suppress(DecodeError):
            consumer.drain_events(timeout=0.05)


def test_the_worker_answers_commands() -> None:
    (answer,) = shop.app.control.ping(timeout=10, limit=1)
    assert list(answer.values()) == [{"ok": "pong"}]
    inspect = shop.app.control.inspect(timeout=10, limit=1)
    (tasks,) = inspect.registered().values()
    assert "adapters.celery_app.echo" in tasks
    (stats,) = inspect.stats().values()
    assert stats["pool"]["max-concurrency"] == 2


def test_arguments_and_results_come_back_as_they_were() -> None:
    results = {name: shop.echo.delay(value, named=value) for name, value in VALUES.items()}
    for name, result in results.items():
        assert same(got(result), ((VALUES[name],), {"named": VALUES[name]})), name
    names = got(shop.kinds.delay(*VALUES.values()))
    assert names == [type(value).__name__ for value in VALUES.values()]


def test_classes_and_arrays() -> None:
    assert got(shop.doubled.delay(ORDER)) == shop.Order(7, ("tea", "milk") * 2, ORDER.placed)
    assert got(shop.total.delay(np.arange(100_000, dtype=">i8"))) == (4999950000.0, ">i8")


def test_groups_chains_and_chords() -> None:
    pairs = group(shop.added.s((n,), (n + 1,)) for n in range(4))
    assert got(pairs.apply_async()) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert got(chord(pairs)(shop.joined.s())) == (0, 1, 1, 2, 2, 3, 3, 4)
    assert got((pairs | shop.joined.s() | shop.added.s((9,))).apply_async()) == (0, 1, 1, 2, 2, 3, 3, 4, 9)
    steps = chain(shop.added.s((1,), (2,)), shop.added.s((3,)), group(shop.added.s((4,)), shop.added.s((5,))))
    assert got(steps.apply_async()) == [(1, 2, 3, 4), (1, 2, 3, 5)]
    assert got(shop.added.apply_async(((1,), (2,)), link=shop.added.s((3,)))) == (1, 2)


def test_groups_are_saved_and_restored() -> None:
    result = group(shop.added.s((n,), (n,)) for n in range(3)).apply_async()
    result.save()
    again = type(result).restore(result.id, app=shop.app)
    assert again.join(timeout=20, interval=0.02) == [(0, 0), (1, 1), (2, 2)]
    result.forget()


def test_retries_keep_their_arguments() -> None:
    assert got(shop.flaky.delay((2, dt.timedelta(seconds=1)))) == (2, 2, dt.timedelta(seconds=1))


def test_countdowns_and_expiry() -> None:
    start = time.monotonic()
    assert got(shop.echo.apply_async(((1,),), countdown=0.3)) == (((1,),), {})
    assert time.monotonic() - start >= 0.3
    now = dt.datetime.now(dt.UTC)
    with pytest.raises(TaskRevokedError):
        got(shop.echo.apply_async(((1,),), expires=now - dt.timedelta(hours=1)))
    later = now + dt.timedelta(seconds=0.2)
    assert got(shop.echo.apply_async(((1,),), eta=later, expires=later + dt.timedelta(hours=1))) == (((1,),), {})


def test_errors_come_with_their_arguments() -> None:
    result = shop.failing.delay((1, 2))
    with pytest.raises(ValueError, match="no tea") as caught:
        got(result)
    assert caught.value.args == ("no tea", (1, 2))
    assert result.state == "FAILURE" and "in failing" in result.traceback


def test_what_is_known_of_a_result() -> None:
    result = shop.echo.delay(ORDER, page={1, 2})
    got(result)
    assert result.args == (ORDER,) and result.kwargs == {"page": {1, 2}}
    assert isinstance(result.date_done, dt.datetime) and result.name == "adapters.celery_app.echo"


def test_a_result_that_cannot_be_sent_is_a_failure_of_its_task() -> None:
    with pytest.raises(EncodeError, match="Unnamed|type"):
        got(shop.unsendable.delay())
    assert got(shop.echo.delay(1)) == ((1,), {})


def test_arguments_that_cannot_be_sent_are_an_error_here() -> None:
    with pytest.raises(EncodeError, match="cannot encode|no substitute"):
        shop.echo.delay(shop.Unnamed)


def test_what_was_not_named_is_an_error_here() -> None:
    result = shop.unnamed.delay()
    with pytest.raises(DecodeError, match="classes="):
        got(result)
    forget(result)


def test_two_versions_of_a_class_at_once() -> None:
    assert got(shop.of_cart.delay(shop.Cart(1.5))) == ("Cart", 150)  # an old client, a new worker
    # and back: what the old one has no field for is dropped, and what it does not find has its default
    assert got(shop.new_cart.delay()) == shop.Cart(0.0)


def stored(redis_server: Any, database: int) -> Any:
    import redis

    return redis.Redis(host=redis_server.host, port=redis_server.port, db=database)


def test_results_are_sealed_and_others_are_refused(redis_server: Any) -> None:
    result = shop.echo.delay((1, 2))
    assert got(result) == (((1, 2),), {})
    with stored(redis_server, 2) as client:
        key = f"celery-task-meta-{result.id}"
        entry = client.get(key)
        assert npser.loads_signed(entry, shop.KEY)["result"] == (((1, 2),), {})
        for poison in (entry[:-1], npser.dumps({"status": "SUCCESS", "result": 1}), pickle.dumps(1), b'{"status": "SUCCESS"}',
                       npser.dumps_signed({"status": "SUCCESS", "result": 1}, bytes(32))):  # fmt: skip
            client.set(key, poison)
            with pytest.raises(DecodeError):
                shop.app.AsyncResult(result.id).get(timeout=5)


def test_messages_of_others_are_refused_and_the_worker_goes_on(worker: Worker) -> None:
    refused = "Can't decode message body"
    with shop.app.connection_for_write() as connection, connection.Producer() as producer:
        headers = {"task": "adapters.celery_app.echo", "id": "poison"}
        bodies = [pickle.dumps(1), npser.dumps(((1,), {}, {})), npser.dumps_signed(((1,), {}, {}), bytes(32)), b"hello"]
        for body in bodies:
            producer.publish(
                body,
                routing_key="celery",
                headers=headers,
                content_type="application/x-npser",
                content_encoding="binary",
            )
        worker.wait_for(refused, len(bodies))
        for serializer in ("json", "pickle"):
            producer.publish([[1], {}, {}], routing_key="celery", headers=headers, serializer=serializer)
    worker.wait_for("ContentDisallowed", 2)
    assert got(shop.echo.delay("still there")) == (("still there",), {})
    assert "succeeded" in worker.log.read_text() and "poison" in worker.log.read_text()


def test_redis_that_starts_again_in_the_middle(redis_server: Any, worker: Worker) -> None:
    assert got(shop.echo.delay(1)) == ((1,), {})
    ready = worker.log.read_text().count("Connected to redis")
    redis_server.restart()
    worker.wait_for("Connected to redis", ready + 1)
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        try:  # the worker may take a task from its old connection, or Redis lose the answer to it: then it is asked again
            assert shop.echo.delay((1, 2)).get(timeout=3, interval=0.02) == (((1, 2),), {})
            return
        except (OperationalError, OSError, CeleryError):
            time.sleep(0.1)
    pytest.fail("the worker did not come back")
