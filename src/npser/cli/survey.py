"""What a store holds: bytes by prefix and codec, and what npser would make of them.

Strategy: entries are looked at as they come and only figures are kept, so memory is bounded by one value. A value that
is decoded is encoded by npser, plain and compressed with zlib, and compared with the bytes that it has now. Groups are
made of the names at the end, when it is known which of their parts are names and which are ids.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

import npser
from npser.cli.prefixes import prefixes
from npser.cli.progress import counted
from npser.cli.redis import Entry, open_store
from npser.cli.stored import UNREAD, Pickles, Seen, begun, look
from npser.errors import NpserError
from npser.inspection.parts import clip, plain
from npser.inspection.text import SIZES, WIDTH

__all__ = ["Group", "Survey", "headline", "survey", "survey_redis"]

PACKED: Final = npser.Codec(compress="zlib")

TOO_MUCH: Final = "beyond the bytes that were to be read (--bytes)"

PREFIX, CODEC = 33, 17


class Group(NamedTuple):
    """Keys of one prefix and codec, added up.

    Parameters
    ----------
    prefix, codec : str
    keys, nbytes, memory : int
        Of all; bytes of strings only.
    decoded, before, plain, packed : int
        Keys that could be decoded: how many, their bytes now, and as npser, plain and with zlib.
    """

    prefix: str
    codec: str
    keys: int = 0
    nbytes: int = 0
    memory: int = 0
    decoded: int = 0
    before: int = 0
    plain: int = 0
    packed: int = 0

    def plus(self, other: Group) -> Group:
        """Both together, under this name."""
        return Group(self.prefix, self.codec, *(a + b for a, b in zip(self[2:], other[2:], strict=True)))


class Survey(NamedTuple):
    """All groups, the largest first, what they are together, and what is to be said."""

    groups: list[Group]
    total: Group
    notes: Counter[str]

    def to_json(self, **about: object) -> str:
        """All figures."""
        groups = [group._asdict() for group in self.groups]
        total = {name: figure for name, figure in self.total._asdict().items() if name not in ("prefix", "codec")}
        return json.dumps({**about, "total": total, "groups": groups, "notes": dict(self.notes)}, indent=1)

    def to_text(self, sizes: str, lines: int) -> str:
        """A table that fits 100 columns."""
        size_text = SIZES[sizes]
        out = [_row("prefix", "codec", "keys", "bytes", "memory", "npser", "+ zlib")]
        shown, rest = self.groups[:lines], self.groups[lines:]
        if rest:
            other = Group(f"({len(rest):,} smaller groups)", "")
            for group in rest:
                other = other.plus(group)
            shown = [*shown, other]
        for group in [*shown, self.total]:
            memory = size_text(group.memory) if group.memory else ""
            shares = _share(group.plain, group.before), _share(group.packed, group.before)
            out.append(_row(group.prefix, group.codec, f"{group.keys:,}", size_text(group.nbytes), memory, *shares))
        total = self.total
        if total.decoded:
            out.append(f"{total.decoded:,} keys were decoded; their {size_text(total.before)} bytes would be")
            for size, how in ((total.plain, "as npser"), (total.packed, "as npser with compress='zlib'")):
                out.append(f"  {size_text(size):>11} {how}: {_share(size, total.before)}")
        out += [f"{n:,} not decoded: {note}" for note, n in self.notes.most_common()]
        return "\n".join(clip(line, WIDTH) for line in out)


def survey_redis(
    url: str, pattern: str, *, keys: int, nbytes: int, pickles: Pickles
) -> tuple[Survey, dict[str, object]]:
    """Look at a sample of a Redis: what was found, and how much of it was looked at."""
    with open_store(url) as store:
        size = store.size()
        entries = store.entries(pattern, keys, nbytes)
        found = survey(counted(entries, "reading keys", min(keys, size)), pickles)
        return found, {"pattern": pattern, "database_keys": size, "passed": store.passed, "complete": store.complete}


def headline(found: Survey, about: dict[str, object]) -> str:
    """How much was looked at, in a sentence."""
    every = "every key that fits" if about["complete"] else "a sample, in the order of the hash table"
    return f"{found.total.keys:,} of {about['database_keys']:,} keys, {plain(str(about['pattern']))}: {every}"


def survey(entries: Iterable[Entry], pickles: Pickles) -> Survey:
    """Look at all entries."""
    names: list[str] = []
    found: list[Group] = []
    notes: Counter[str] = Counter()
    for entry in entries:
        names.append(entry.name.decode("utf-8", "backslashreplace"))
        group, note = _group(entry, pickles)
        found.append(group)
        if note:
            notes[plain(note)] += 1
    groups: dict[tuple[str, str], Group] = {}
    total = Group("total", "")
    for prefix, group in zip(prefixes(names), found, strict=True):
        key = (plain(clip(prefix, 80)), group.codec)
        groups[key] = groups.get(key, Group(*key)).plus(group)
        total = total.plus(group)
    return Survey(sorted(groups.values(), key=lambda group: -(group.memory or group.nbytes)), total, notes)


def _group(entry: Entry, pickles: Pickles) -> tuple[Group, str]:
    """One entry as a group of its own, and why it was not decoded."""
    if entry.data is None or entry.nbytes is None:
        return Group("", f"({plain(entry.kind)})", 1, 0, entry.memory or 0), ""
    seen = look(entry.data, pickles) if entry.whole else Seen(begun(entry.data), note=TOO_MUCH)
    group = Group("", plain(seen.codec), 1, entry.nbytes, entry.memory or 0)
    if seen.value is UNREAD:
        return group, seen.note
    try:
        as_npser, packed = len(npser.dumps(seen.value)), len(PACKED.dumps(seen.value))
    except (NpserError, RecursionError) as error:
        return group, f"npser refuses it ({type(error).__name__}): a type that it could not give back exactly"
    return group._replace(decoded=1, before=entry.nbytes, plain=as_npser, packed=packed), ""


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else ""


def _row(prefix: str, codec: str, keys: str, nbytes: str, memory: str, as_npser: str, packed: str) -> str:
    left = f"{clip(prefix, PREFIX):{PREFIX}} {clip(codec, CODEC):{CODEC}}"
    return f"{left} {keys:>8} {nbytes:>11} {memory:>11} {as_npser:>6} {packed:>6}".rstrip()
