"""One value through every codec: `npser.compare`.

Strategy: first everything is done once, which says how many bytes there are and what comes back, and how long it takes.
Then rounds in which each codec encodes and decodes once, in turns, until the time is up. Compressing is timed apart, on
the bytes of each codec, and added: so every compression costs no second encoding.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from npser.codec import Classes
from npser.envelope.methods import METHODS
from npser.inspection.clock import Timing, rounds_of, timing
from npser.inspection.exactness import Changes, changes
from npser.inspection.parts import clip, plain
from npser.inspection.rivals import RIVALS, NotSuitedError, Rival
from npser.inspection.tabulate import draw_table, html_table, milliseconds
from npser.inspection.text import SIZES, exact

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Comparison", "Contender", "compare"]

BUDGET = 2.0

SHARE_OF_PROOF, LEAST_PROOF = 0.1, 0.25
"""Of the time, and in seconds, what comparing the value with what came back of one codec may take at least."""

Against = Iterable[str] | Mapping[str, tuple[Callable[[Any], bytes], Callable[[bytes], Any]]] | None

COMPRESSIONS: Final = ("zlib", "zstd")

RATES: Final = {"zlib": 2e7, "zstd": 2e8}
"""Bytes a second that a compression surely does: what would take longer than there is time is not begun."""

UNFINISHED: Final = "not compared to the end"

Call = Callable[[], object]


class Contender(NamedTuple):
    """What one codec did, plain or with one compression behind it.

    Parameters
    ----------
    codec : str
    compression : str
        ``""``, ``"zlib"`` or ``"zstd"``, each at the level that is its library's default.
    nbytes : int | None
        None where there are no bytes.
    encode, decode : Timing | None
        Seconds, with what compressing takes; None where it was not timed.
    result : str
        ``identical``, ``changed``, or what kept it from coming back: ``refused: TypeError: ...``.
    changes : tuple of str
        What came back as something else: ``$['tags']: tuple -> list``.
    """

    codec: str
    compression: str
    nbytes: int | None
    encode: Timing | None
    decode: Timing | None
    result: str
    changes: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether what came back is identical: types, values, order, every bit."""
        return self.result == "identical"

    @property
    def wrong(self) -> bool:
        """Whether something is known not to have come back."""
        return self.result not in ("identical", UNFINISHED)

    @property
    def name(self) -> str:
        """The codec and its compression."""
        return f"{self.codec} + {self.compression}" if self.compression else self.codec

    def to_dict(self) -> dict[str, object]:
        """The same for JSON; times in seconds."""
        found: dict[str, object] = {
            "codec": self.codec,
            "compression": self.compression,
            "bytes": self.nbytes,
            "result": self.result,
            "exact": self.exact,
            "changes": list(self.changes),
        }
        for name, time in (("encode", self.encode), ("decode", self.decode)):
            found[name] = None if time is None else time.seconds
            found[f"{name}_spread"] = None if time is None else time.spread
        found["rounds"] = None if self.decode is None else self.decode.rounds
        return found


def compare(value: Any, *, against: Against = None, classes: Classes = (), budget: float = BUDGET) -> Comparison:
    """Bytes, times and exactness of one value in npser and in other codecs, plain and compressed.

    Parameters
    ----------
    value : object
    against : iterable of names, or mapping of a name to (encode, decode), optional
        The codecs beside npser: some of `RIVALS`, or your own. By default all that are installed.
    classes : iterable of classes, or mapping of wire name to class
        For npser, as in `loads`; the classes of objects in the value are found without.
    budget : float
        Seconds. A call that has begun is not interrupted, and each is made once if there is time at all.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        A name that is none of `RIVALS`.

    >>> compare([(1, 2), (3, 4)], against=["json"], budget=0.05)["json"].changes
    ('$[0]: tuple -> list (2 places)',)
    """
    start = perf_counter()
    makers = _makers(against)
    race = _Race(value, start + budget, budget)
    for name, make in makers.items():
        try:
            race.enter(make(name, value, classes))
        except ImportError:
            if against is not None:
                race.out(name, "not installed")
        except NotSuitedError as reason:
            race.out(name, str(reason))
    race.compress()
    race.run()
    return Comparison(race.results(), perf_counter() - start)


def _makers(against: Against) -> dict[str, Callable[[str, Any, Classes], Rival]]:
    if against is None:
        return dict(RIVALS)
    if isinstance(against, Mapping):
        own = {name: partial(_own, encode, decode) for name, (encode, decode) in against.items()}
        return {"npser": RIVALS["npser"], **own}
    names = ["npser", *([against] if isinstance(against, str) else against)]
    unknown = [name for name in names if name not in RIVALS]
    if unknown:
        raise ValueError(f"no codec is known as {unknown[0]!r}; known are {', '.join(RIVALS)}")
    return {name: RIVALS[name] for name in names}


def _own(
    encode: Callable[[Any], bytes], decode: Callable[[bytes], Any], name: str, _value: object, _classes: Classes
) -> Rival:
    return Rival(name, encode, decode)


def _reason(word: str, error: BaseException) -> str:
    text = " ".join(plain(str(error)).split())
    return clip(f"{word}: {type(error).__name__}" + (f": {text}" if text else ""), 200)


class _Entry:
    """A codec on its way."""

    def __init__(self, name: str, result: str) -> None:
        self.name = name
        self.result = result
        self.data: bytes | None = None
        self.changes: tuple[str, ...] = ()
        self.calls: dict[tuple[str, str], Call] = {}  # (compression, verb) -> what is timed
        self.samples: dict[tuple[str, str], list[float]] = {}
        self.sizes: dict[str, int] = {}


class _Race:
    def __init__(self, value: Any, until: float, budget: float) -> None:
        self.value = value
        self.until = until
        self.proof = max(LEAST_PROOF, SHARE_OF_PROOF * budget)
        self.entries: list[_Entry] = []

    def out(self, name: str, reason: str) -> None:
        """A codec that does not take part."""
        self.entries.append(_Entry(name, reason))

    def enter(self, rival: Rival) -> None:
        """One pass: the bytes, and what comes back."""
        if self.entries and perf_counter() >= self.until:
            self.out(rival.name, "not tried: the time was up")
            return
        entry = _Entry(rival.name, "")
        self.entries.append(entry)
        try:
            start = perf_counter()
            data = bytes(rival.encode(self.value))
            entry.samples["", "encode"] = [perf_counter() - start]
        except Exception as error:  # other people's codecs raise what they like
            entry.result = _reason("refused", error)
            return
        entry.data, entry.sizes[""] = data, len(data)
        try:
            if rival.prepare is not None:
                rival.prepare(data)
            start = perf_counter()
            back = rival.decode(data)
            entry.samples["", "decode"] = [perf_counter() - start]
            _judge(entry, changes(self.value, back, seconds=self.proof))
        except Exception as error:
            entry.result = _reason("unreadable", error)
            return
        entry.calls["", "encode"] = partial(rival.encode, self.value)
        entry.calls["", "decode"] = partial(rival.decode, data)

    def compress(self) -> None:
        """The bytes of every codec, compressed."""
        for name in COMPRESSIONS:
            method = METHODS[name]
            for entry in self.entries:
                if not entry.calls or entry.data is None:
                    continue
                data = entry.data
                if perf_counter() + len(data) / RATES[name] > self.until:
                    continue
                try:
                    start = perf_counter()
                    packed = method.compress(data, None)
                    entry.samples[name, "encode"] = [perf_counter() - start]
                except ImportError:
                    break
                entry.sizes[name] = len(packed)
                unpack = _unpacker(name, packed, len(data))
                start = perf_counter()
                unpack()
                entry.samples[name, "decode"] = [perf_counter() - start]
                entry.calls[name, "encode"] = partial(method.compress, data, None)
                entry.calls[name, "decode"] = unpack

    def run(self) -> None:
        """All of it in turns, as often as there is time."""
        places = [(entry, key) for entry in self.entries for key in entry.calls]
        took = sum(entry.samples[key][0] for entry, key in places)
        if perf_counter() + took >= self.until:
            return
        rounds = rounds_of([entry.calls[key] for entry, key in places], until=self.until)
        for (entry, key), samples in zip(places, rounds, strict=True):
            entry.samples[key] = samples

    def results(self) -> list[Contender]:
        """A line for each codec, then one for each compression of it."""
        found = []
        for entry in self.entries:
            if "" not in entry.sizes or not entry.calls:
                found.append(Contender(entry.name, "", entry.sizes.get(""), None, None, entry.result))
                continue
            for way, nbytes in entry.sizes.items():
                times = [timing(_added(entry, way, verb)) for verb in ("encode", "decode")]
                found.append(Contender(entry.name, way, nbytes, times[0], times[1], entry.result, entry.changes))
        return found


def _unpacker(name: str, packed: bytes, size: int) -> Call:
    if name == "zlib":  # as its users call it
        return partial(zlib.decompress, packed)
    return partial(METHODS[name].decompress, memoryview(packed), size)


def _added(entry: _Entry, way: str, verb: str) -> list[float]:
    """Samples of a codec, with those of its compression in the same rounds."""
    plain = entry.samples["", verb]
    return [a + b for a, b in zip(plain, entry.samples[way, verb], strict=True)] if way else plain


def _judge(entry: _Entry, found: Changes) -> None:
    entry.changes = tuple(map(str, found.found))
    if found.more:
        entry.changes += (f"{found.more:,} more places changed",)
    entry.result = "changed" if entry.changes else "identical"
    if not found.finished:
        entry.changes += ("the time was up before all of it was compared",)
        entry.result = "changed" if found.found else UNFINISHED


HEAD: Final = ("codec", "bytes", "of npser", "encode ms", "+-", "decode ms", "+-", "came back")
NUMBERS: Final = frozenset({1, 2, 3, 4, 5, 6})


class Comparison:
    """What came of it; as text, HTML, a dict, rows, or a picture.

    Attributes
    ----------
    contenders : tuple of Contender
        npser first; the compressed ones of a codec follow it.
    seconds : float
        What all of it took.
    """

    def __init__(self, contenders: Iterable[Contender], seconds: float) -> None:
        self.contenders = tuple(contenders)
        self.seconds = seconds

    def __getitem__(self, name: str) -> Contender:
        """By its name, as ``"json"`` or ``"json + zlib"``."""
        for one in self.contenders:
            if one.name == name:
                return one
        raise KeyError(name)

    def to_rows(self) -> list[dict[str, object]]:
        """A dict for each line of the table."""
        return [one.to_dict() for one in self.contenders]

    def to_dict(self) -> dict[str, object]:
        """All of it, for JSON."""
        return {"seconds": self.seconds, "contenders": self.to_rows()}

    def plot(self) -> Figure:
        """A picture: bytes, encode and decode times of each codec. Needs matplotlib."""
        from npser.inspection.plots import plot_comparison

        return plot_comparison(self)

    def __repr__(self) -> str:
        return self.to_text()

    def to_text(self, *, sizes: str = "exact") -> str:
        """As text; with ``sizes="human"``, bytes in the unit in which they are read."""
        lines = draw_table(HEAD, self._cells(SIZES[sizes]), numbers=NUMBERS, widest=16)
        return "\n".join([self._title(), *lines, *self._notes()])

    def _repr_html_(self) -> str:
        most = max((one.nbytes or 0 for one in self.contenders), default=0)
        bars = [(one.nbytes or 0) / most if most else 0.0 for one in self.contenders]
        rows = self._cells(exact)
        return html_table([self._title()], HEAD, rows, numbers=NUMBERS, bars=bars, notes=self._notes())

    def _title(self) -> str:
        rounds = [one.decode.rounds for one in self.contenders if one.decode is not None]
        text = f"medians of {min(rounds)} rounds in turns" if rounds else "nothing was timed"
        return f"{text}, {self.seconds:.1f} s; +- is half of the interquartile range"

    def _notes(self) -> list[str]:
        told = [one for one in self.contenders if not one.compression and (one.changes or ": " in one.result)]
        lines = [f"{one.codec}: {text}" for one in told for text in (one.changes or (one.result,))]
        return [clip(plain(line), 100) for line in lines]

    def _cells(self, size_text: Callable[[int], str]) -> list[tuple[str, ...]]:
        ours = next((one.nbytes for one in self.contenders if one.codec == "npser"), None)
        return [
            (
                one.name,
                "-" if one.nbytes is None else size_text(one.nbytes),
                "-" if one.nbytes is None or not ours else f"{one.nbytes / ours:,.2f} x",
                *_time(one.encode),
                *_time(one.decode),
                one.result.split(": ")[0] if one.compression == "" else "",
            )
            for one in self.contenders
        ]


def _time(time: Timing | None) -> tuple[str, str]:
    return ("-", "") if time is None else (milliseconds(time.seconds), f"{time.spread / 2:.0%}")
