"""UUIDs, paths and addresses come back as the same class with the same content."""

from __future__ import annotations

import ipaddress as ip
import os
import pathlib
import pickle
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from columns.exact import check, check_garbage, encode, refused
from npser.blocks.choose import write_text
from npser.blocks.cursor import Cursor
from npser.columns import names
from npser.columns.anyints import write_any_ints
from npser.errors import EncodeError
from npser.tags import Kind

READERS: dict[int, Any] = {
    Kind.UUID: names.read_uuids,
    Kind.PATH: names.read_paths,
    Kind.IP: names.read_addresses,
}
SIZES = (0, 1, 2, 7, 8, 9, 127, 128, 129, 1000)


def uuid_key(value: uuid.UUID) -> object:
    return value.int, value.is_safe


@pytest.mark.parametrize("n", SIZES)
def test_uuids(n: int) -> None:
    values = [uuid.UUID(int=(i * 0x9E3779B97F4A7C15F39CC0605CEDC835) % 2**128) for i in range(n)]
    data = check(names.write_uuids, READERS, values, uuid_key)
    assert data == bytes([Kind.UUID, 0]) + b"".join(value.bytes for value in values)


def test_uuid_edges_and_safety() -> None:
    edges = [uuid.UUID(int=k) for k in (0, 2**128 - 1, 2**64, 2**64 - 1)]
    check(names.write_uuids, READERS, edges, uuid_key)
    safe = [uuid.UUID(int=i, is_safe=kind) for i, kind in enumerate([*uuid.SafeUUID, uuid.SafeUUID.safe])]
    assert check(names.write_uuids, READERS, safe, uuid_key)[1] == 1


def test_a_decoded_uuid_is_a_whole_one() -> None:
    value = uuid.uuid1()
    got = names.read_uuids(Cursor(memoryview(encode(names.write_uuids, [value])), 1), 1)[0]
    assert got == value and hash(got) == hash(value) and str(got) == str(value) and got.fields == value.fields
    assert pickle.loads(pickle.dumps(got)) == value
    with pytest.raises(TypeError):
        got.int = 3  # type: ignore[misc]


def test_bad_uuids() -> None:
    refused(names.read_uuids, b"\2" + bytes(16), 1, "form")
    refused(names.read_uuids, b"\1" + bytes(16) + encode(write_any_ints, [3])[1:], 1, "code")
    refused(names.read_uuids, b"\1" + bytes(16) + encode(write_any_ints, [-1])[1:], 1, "code")
    refused(names.read_uuids, b"\0" + bytes(16), 2**62)


def path_key(value: pathlib.PurePath) -> object:
    return value.parts, str(value)


POSIX = [
    "",
    ".",
    "..",
    "/",
    "//",
    "///",
    "//a",
    "a/b",
    "/a//b/",
    "C:/x",
    "a\\b",
    "a\0b",
    "\ud800",
    "é/日本",
    "a\n",
    "~",
    "*",
]
WINDOWS = ["", ".", "C:", "C:/", "C:a", "c:\\A\\b", "//srv/share", "//srv/share/x", "\\\\?\\C:\\x", "\\\\.\\COM1", "/a", "a\0b",
           "./c:x", "a/./b:c", "NUL", "..", "\udcff", "C:/a//b/", "a:b:c", "\\\\srv", "//?/UNC/srv/share/x", "./c:"]  # fmt: skip


def test_paths() -> None:
    values: list[pathlib.PurePath] = [*map(pathlib.PurePosixPath, POSIX), *map(pathlib.PureWindowsPath, WINDOWS)]
    values += map(pathlib.Path, POSIX if os.name == "posix" else WINDOWS)
    check(names.write_paths, READERS, values, path_key)
    for value in values:
        check(names.write_paths, READERS, [value], path_key)


@pytest.mark.parametrize("n", SIZES)
def test_many_paths(n: int) -> None:
    check(names.write_paths, READERS, [pathlib.Path(f"/srv/{i % 10}/{i}.bin") for i in range(n)], path_key)


def path_bytes(*pairs: tuple[int, str]) -> bytes:
    return encode(write_any_ints, [code for code, _ in pairs])[1:] + encode(write_text, [text for _, text in pairs])


def test_paths_of_the_other_system() -> None:
    got = names.read_paths(Cursor(memoryview(path_bytes(*[(code, "C:/a") for code in range(4)]))), 4)
    own = 3 if os.name == "nt" else 2
    assert [type(path) for path in got][own] is type(pathlib.Path())
    assert type(got[5 - own]) is (pathlib.PurePosixPath if os.name == "nt" else pathlib.PureWindowsPath)
    refused(names.read_paths, path_bytes((4, "a")), 1, "code")
    refused(names.read_paths, path_bytes((-1, "a")), 1, "code")


class Lying(pathlib.PureWindowsPath):
    def __str__(self) -> str:
        return "other"


def test_a_path_whose_text_means_another_is_refused() -> None:
    with pytest.raises(EncodeError) as info:
        encode(lambda sink, values: names._windows_text(values[0], 5), [Lying("a/b")])
    assert info.value.item == 5


def ip_key(value: Any) -> object:
    return str(value), value, getattr(value, "scope_id", None), getattr(value, "network", None)


ADDRESSES = [
    *map(ip.ip_address, ("0.0.0.0", "255.255.255.255", "::", "::1", "ffff:" * 7 + "ffff", "fe80::1%eth0", "fe80::1%1")),
    *map(ip.ip_address, ("::ffff:1.2.3.4", "2001:db8::", "1.2.3.4")),
    *map(ip.ip_network, ("0.0.0.0/0", "10.0.0.0/8", "1.2.3.4/32", "::/0", "2001:db8::/32", "::1/128")),
    *map(ip.ip_interface, ("10.1.2.3/8", "1.2.3.4", "fe80::1%eth0/64", "::ffff:1.2.3.4/96", "2001:db8::5/0")),
    ip.IPv6Network("fe80::%eth0/64"),
]


def test_addresses() -> None:
    check(names.write_addresses, READERS, ADDRESSES, ip_key)
    for value in ADDRESSES:
        check(names.write_addresses, READERS, [value], ip_key)


@pytest.mark.parametrize("n", SIZES)
def test_many_addresses(n: int) -> None:
    check(names.write_addresses, READERS, [ip.IPv4Address(i * 4_000_000) for i in range(n)], ip_key)


@pytest.mark.parametrize(
    ("code", "text"),
    [(0, "::1"), (0, ""), (0, "1.2.3"), (0, "01.2.3.4"), (0, "1.2.3.4/8"), (0, "1.2.3.4\0"), (0, "١.2.3.4"), (0, "9" * 9000),
     (1, "1.2.3.4"), (1, "::g"), (1, "1::2::3"), (1, "::1%"), (1, "::1%a%b"), (1, "\ud800"), (2, "1.2.3.4/8"), (2, "0.0.0.0/33"),
     (2, "0.0.0.0/" + "1" * 9000), (3, "::/129"), (3, "::1/64"), (4, "1.2.3.4/x"), (5, "::/-1"), (6, "1.2.3.4"), (-1, "::1")],
)  # fmt: skip
def test_text_that_is_no_address(code: int, text: str) -> None:
    refused(names.read_addresses, path_bytes((0, "1.2.3.4"), (code, text)), 2)


windows = st.lists(st.sampled_from(list("abc:/\\.? \0\ud800")), max_size=10).map("".join)
scopes = st.text(st.characters(codec=None, exclude_characters="%/"), min_size=1, max_size=3)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.uuids(), max_size=8),
    st.lists(
        st.text(st.characters(codec=None)).map(pathlib.PurePosixPath) | windows.map(pathlib.PureWindowsPath), max_size=8
    ),
    st.lists(
        st.ip_addresses() | st.builds("{}%{}".format, st.ip_addresses(v=6), scopes).map(ip.IPv6Address), max_size=8
    ),
)
def test_anything(uuids: list, paths: list, addresses: list) -> None:
    check(names.write_uuids, READERS, uuids, uuid_key)
    check(names.write_paths, READERS, paths, path_key)
    check(names.write_addresses, READERS, addresses, ip_key)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 3), windows | st.text(st.characters(codec=None)))
def test_every_text_is_some_path(code: int, text: str) -> None:
    assert isinstance(names.read_paths(Cursor(memoryview(path_bytes((code, text)))), 1)[0], pathlib.PurePath)


def test_garbage() -> None:
    bodies = [encode(names.write_uuids, [uuid.UUID(int=i, is_safe=kind) for i, kind in enumerate(uuid.SafeUUID)])]
    bodies += [encode(names.write_addresses, ADDRESSES), encode(names.write_addresses, ADDRESSES[:1])]
    bodies += [encode(names.write_paths, list(map(pathlib.PureWindowsPath, WINDOWS)))]
    check_garbage(READERS, bodies, 600)
