"""The race reports what a codec did, also when it failed."""

from __future__ import annotations

import json

import pytest

from npser.cli import peers
from npser.cli.demo_values import Sample
from npser.cli.peers import Codec, codecs
from npser.cli.race import MIN_ROUNDS, race

GOOD = Codec("good", lambda value: json.dumps(value).encode(), json.loads)


def explode(_: object) -> bytes:
    raise RuntimeError("no")


def test_a_codec_that_gives_the_value_back_is_timed() -> None:
    (result,) = race(Sample("a", "", [1, 2]), [GOOD], seconds=0)
    assert result.codec == "good" and result.wrong is None and result.nbytes == 6
    assert result.rounds == MIN_ROUNDS and result.write is not None and result.read is not None


def test_codecs_that_fail_are_reported_and_not_timed() -> None:
    others = [Codec("mute", explode, json.loads), Codec("blind", GOOD.encode, explode), GOOD]
    mute, blind, lossy = race(Sample("a", "", (1, 2)), others, seconds=0)
    assert (mute.wrong, mute.nbytes, mute.rounds) == ("refused: RuntimeError", None, 0)
    assert (blind.wrong, blind.nbytes, blind.rounds) == ("unreadable: RuntimeError", 6, 0)
    assert (lossy.wrong, lossy.read) == ("$ is list, was tuple", None)


def test_npser_and_pickle_are_always_there_and_first() -> None:
    assert [codec.name for codec in codecs(Sample("a", "", 1))][:2] == ["npser", "pickle"]


def test_what_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> object:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(peers, "import_module", absent)
    assert [codec.name for codec in codecs(Sample("a", "", 1))] == ["npser", "pickle"]
