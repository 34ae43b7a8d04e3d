"""joblib.Memory: results as npser, large arrays mapped from their file.

    import npser.adapters.joblib
    memory = Memory("folder", backend="npser")

Strategy: joblib has no place for a serializer, but one for a store; this one is the store of files with three methods
written anew, for its file name and its pickle are fixed in them. Whatever is wrong with a file is a DecodeError, upon
which joblib warns and computes again. What joblib's own store has written is read only under ``foreign="pickle"``.
"""

from __future__ import annotations

import mmap
import warnings
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, get_args

from joblib import register_store_backend
from joblib._store_backends import CacheWarning, FileSystemStoreBackend

from npser.adapters.entries import Entries
from npser.adapters.refusals import logged_entries
from npser.adapters.settings import imported
from npser.envelope.compression import Compressions
from npser.errors import EncodeError

__all__ = ["NpserStoreBackend"]

FILE: Final = "output.npser"
_ZLIB_LEVEL: Final = 3  # what joblib means by compress=True


def _compression(compress: Any) -> dict[str, Any]:
    """joblib's way to say it, True, a level, a name, or a name and a level, as options of a Codec."""
    if not compress:
        return {}
    if compress is True:
        compress = _ZLIB_LEVEL
    name, level = compress if isinstance(compress, tuple) else (compress, None)
    if isinstance(name, int):
        name, level = "zlib", name
    if name not in get_args(Compressions):
        raise ValueError(f"npser compresses with zlib, zstd or lz4, and not with {name!r}")
    return {} if level == 0 else {"compress": name, "level": level}


class NpserStoreBackend(FileSystemStoreBackend):  # type: ignore[misc]
    """The store behind ``Memory(folder, backend="npser", backend_options={...})``.

    The options are those of `Codec`, and ``foreign``; see `entries_from`. A result with an object of a class that was
    not named is computed again, never a `Placeholder`. ``settings="package.module:NAME"`` takes options from the
    mapping of that name: a function sent to other processes, as `joblib.Parallel` does, has its key there. A seal
    binds a result to its function and arguments: a file that was moved to other ones does not open.

    ``mmap_mode="r"`` gives arrays as read-only views into the file, ``"c"`` as copies of one's own; ``"r+"`` and
    ``"w+"``, which would change a result in the cache, are refused. ``compress=`` takes zlib, zstd and lz4.
    """

    def configure(self, location: str, verbose: int = 1, backend_options: Mapping[str, Any] | None = None) -> None:
        """Called by Memory with its own options among the others."""
        options = dict(backend_options or {})
        own = {name: options.pop(name, None) for name in ("compress", "mmap_mode")}
        self._options = (options, own)
        self._prepare()
        super().configure(location, verbose=verbose, backend_options=own)

    def _prepare(self) -> None:
        options, own = self._options
        if own["mmap_mode"] not in (None, "r", "c"):
            raise ValueError(f"npser maps files to be read, mmap_mode='r' or 'c', and not {own['mmap_mode']!r}")
        settings = options.get("settings")
        given = {**({} if settings is None else imported(settings)), **options}
        key = given.pop("key", None)
        self._context = None if key is None else given.pop("context", None)  # without a key, the Codec refuses one
        given.pop("settings", None)
        mapped = {"copy": "never"} if own["mmap_mode"] == "r" else {}
        entries = logged_entries({**given, **_compression(own["compress"]), **mapped})
        key = key.encode() if isinstance(key, str) else key
        self.entries = Entries(entries.codec, foreign=entries.foreign, key=key, counters=entries.counters)

    def __getstate__(self) -> dict[str, Any]:
        if self._options[0].get("key") is not None:
            raise TypeError("a store with a key is not pickled: say settings='package.module:NAME', and the key there")
        return {name: value for name, value in self.__dict__.items() if name != "entries"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def _file(self, call_id: Any) -> Path:
        return Path(self.location, *call_id, FILE)

    def _place(self, call_id: Any) -> bytes:
        """What a seal binds a result to: the function and its arguments, as joblib names them."""
        return "\0".join((str(self._context or ""), *call_id)).encode("utf-8", "surrogateescape")

    def contains_item(self, call_id: Any) -> bool:
        """Whether there is a result that may be loaded."""
        return self._file(call_id).exists() or (self.entries.foreign == "pickle" and super().contains_item(call_id))

    def load_item(self, call_id: Any, verbose: int = 1, timestamp: Any = None, metadata: Any = None) -> Any:
        """The result; a DecodeError for a file that is damaged, poisoned or foreign, a KeyError without one."""
        path = self._file(call_id)
        if not path.exists():
            if self.entries.foreign == "pickle":
                return super().load_item(call_id, verbose=verbose, timestamp=timestamp, metadata=metadata)
            raise KeyError(f"there is no result any more, it may have been cleared: {path}")
        if verbose > 1:
            print(f"[Memory]: Loading {call_id[0]} from {path}")
        if self.mmap_mode is None or path.stat().st_size == 0:
            return self.entries.loads(path.read_bytes(), context=self._place(call_id))
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return self.entries.loads(mapped, context=self._place(call_id))

    def dump_item(self, call_id: Any, item: Any, verbose: int = 1) -> None:
        """Store a result; what cannot be stored is a CacheWarning, for the function has its result in any case."""
        path = self._file(call_id)
        if verbose > 10:
            print(f"Persisting in {path.parent}")
        try:
            data = self.entries.dumps(item, context=self._place(call_id))
            self.create_location(str(path.parent))
            self._concurrency_safe_write(data, str(path), lambda content, name: Path(name).write_bytes(content))
        except (EncodeError, OSError) as error:
            warnings.warn(f"Unable to cache to disk: {error}", CacheWarning, stacklevel=2)

    def get_items(self) -> list[Any]:
        """All results with their size and when they were last read, which is what ``reduce_size`` goes by."""
        items = super().get_items()
        files = [(item, Path(item.path, FILE)) for item in items]
        return [
            item._replace(last_access=datetime.fromtimestamp(file.stat().st_atime)) if file.exists() else item
            for item, file in files
        ]


register_store_backend("npser", NpserStoreBackend)
