"""Every number that the wire gives a meaning, with its layout beside it. FORMAT.md is the prose.

`int(n)`, `text(n)` and so on stand for a block of n items of that type; `column(n)` is a kind byte and its body,
`any_int(n)` a column of the kind INT or BIGINT. What stands in brackets may be missing.
Codes are never reused. Within each table but that of leads 0xF0-0xFF is private: no released npser will write it.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["MAGIC", "VERSION", "BitCode", "BytesCode", "FloatCode", "IntCode", "Kind", "Lead", "Node", "TextCode"]

MAGIC = 0xC1
"""Byte 0: never valid in UTF-8, never used by MessagePack, not pickle's 0x80, not phpser's 0x01 or 0x02."""

VERSION = 1
"""Byte 1: the version of the format."""


class IntCode(IntEnum):
    """Encodings of a block of n int64 values. All arithmetic wraps modulo 2**64."""

    AFFINE = 0x00  # svarint base | svarint step                     base + i*step
    CONST = 0x01  # svarint value                                   n times that value
    FRAME = 0x02  # svarint base | u8 width 0..64 | ceil(n*width/8) bytes    base + i-th unsigned of width bits, low bit first
    DELTA = 0x03  # svarint first | int(n-1)                         running sum; n >= 1
    VARINT = 0x04  # uvarint nbytes | nbytes                          n zigzag LEB128
    RUNS = 0x05  # uvarint r | int(r) values | int(r) lengths       lengths >= 1, sum n
    DICT = 0x06  # uvarint d | int(d) distinct | int(n) codes        0 <= code < d
    PATCHED = 0x07  # uvarint k | int(k) positions | int(k) values | int(n) base    positions strictly increasing


class FloatCode(IntEnum):
    """Encodings of a block of n IEEE-754 doubles; every bit comes back."""

    F64 = 0x00  # n*8 bytes                                       little-endian
    F32 = 0x01  # n*4 bytes                                       little-endian, widened
    CONST = 0x02  # 8 bytes                                         n times that double
    DECIMAL = 0x03  # u8 k 0..22 | int(n)                             int / 10**k, correctly rounded
    RUNS = 0x04  # uvarint r | float(r) values | int(r) lengths
    DICT = 0x05  # uvarint d | float(d) distinct | int(n) codes
    PATCHED = 0x06  # uvarint k | int(k) positions | float(k) values | float(n) base


class BitCode(IntEnum):
    """Encodings of a block of n booleans."""

    BITS = 0x00  # ceil(n/8) bytes                                 low bit first, padding bits zero
    CONST = 0x01  # u8 0 or 1                                       n times that bit
    RUNS = 0x02  # u8 first | uvarint r | int(r) lengths           alternating runs, lengths >= 1, sum n


class TextCode(IntEnum):
    """Encodings of a block of n strings. UTF-8; only WTF8 may hold lone surrogates."""

    SPLIT = 0x00  # u8 separator | uvarint nbytes | nbytes          n >= 1; n-1 separators (U+0000..U+001F) between the items
    LENGTHS = 0x01  # int(n) code points each | uvarint nbytes | nbytes
    WTF8 = 0x02  # int(n) code points each | uvarint nbytes | nbytes    surrogates as three bytes each
    DICT = 0x03  # uvarint d | text(d) distinct | int(n) codes       0 <= code < d
    RADIX = 0x04  # uvarint d 2..256 | text(d) distinct | ceil(n/k) u16    k codes a word, digits to the base d, lowest first; d**k <= 65536
    STEM = 0x05  # u8 separator | u8 mark | uvarint m | m bytes stem | uvarint nbytes | nbytes    like SPLIT, and each mark (U+0000..U+001F) stands for the stem


class BytesCode(IntEnum):
    """Encodings of a block of n byte strings."""

    LENGTHS = 0x00  # int(n) bytes each | the bytes
    DICT = 0x01  # uvarint d | bytes(d) distinct | int(n) codes


class Kind(IntEnum):
    """What a column of leaves holds, and where: in the shape's place (no bytes), in a pool, or in a body of its own."""

    NONE = 0x00  # nothing                                         None, n times
    FALSE = 0x01  # nothing                                         False, n times
    TRUE = 0x02  # nothing                                         True, n times
    POOL_U8 = 0x03  # n of the pool of u8                             ints 0..255
    POOL_I16 = 0x04  # n of the pool of i16
    POOL_I32 = 0x05  # n of the pool of i32
    POOL_I64 = 0x06  # n of the pool of i64
    POOL_F64 = 0x07  # n of the pool of doubles
    POOL_TEXT = 0x08  # n of the pool of text
    POOL_BOOL = 0x09  # n of the pool of u8, each 0 or 1
    POOL_MIXED = 0x0A  # n kinds NONE..POOL_TEXT from the pool of u8, then each item from the pool of its kind
    POOL_CONST = 0x0B  # a kind POOL_U8..POOL_TEXT from the pool of u8, one item of that pool    n times the item
    POOL_STEPS = 0x0C  # two kinds POOL_U8..POOL_I64 from the pool of u8, first and step from those pools    first + i*step
    POOL_FRAME = 0x0D  # a kind POOL_U8..POOL_I64 from the pool of u8, base from that pool, n of the pool of u8    base + i-th
    POOL_CODES = 0x0E  # a kind POOL_U8..POOL_TEXT and d from the pool of u8, d items of that pool, n codes of the pool of u8
    POOL_DECIMAL = 0x0F  # a kind POOL_U8..POOL_I64 and k from the pool of u8, n of that pool    int / 10**k, correctly rounded
    POOL_SOME = 0x10  # a kind POOL_U8..POOL_DECIMAL and n of the pool of u8 (1 present, 0 None), then the items present as a column of that kind
    POOL_COPIES = 0x11  # of lengths only: d, then n codes if d > 1, then d lengths from the pool of u8    the items of d distinct sequences

    INT = 0x18  # int(n)
    FLOAT = 0x19  # float(n)
    BOOL = 0x1A  # bits(n)
    TEXT = 0x1B  # text(n)
    BYTES = 0x1C  # bytes(n)
    BYTEARRAY = 0x1D  # bytes(n)
    BIGINT = 0x1E  # u8 0 | int(n) bytes each | the integers         little-endian two's complement, shortest form
    COMPLEX = 0x1F  # float(n) real | float(n) imaginary
    NULLABLE = 0x20  # bits(n) present | column(count of present)      None where absent
    MIXED = 0x21  # u8 m >= 2 | int(n) codes | m * column(count of the code)    0 <= code < m
    DATE = 0x22  # int(n) proleptic Gregorian ordinals, 1 is 0001-01-01
    DATETIME = 0x23  # int(n)                                          naive, fold 0: microseconds since 1970
    DATETIME_ZONED = 0x24  # zones, with int(n) codes | bits(n) fold | int(n) microseconds of the wall clock since 1970
    TIME = 0x25  # int(n)                                          naive, fold 0: microseconds since midnight
    TIME_ZONED = 0x26  # zones, with int(n) codes | bits(n) fold | int(n) microseconds since midnight
    TIMEDELTA = 0x27  # int(n) days | int(n) microseconds within the day
    DECIMAL = 0x28  # u8 form | form 0: text(n) as str() writes it; form 1: int(n) exponents | any_int(n) coefficients
    FRACTION = 0x29  # any_int(n) numerators | any_int(n) denominators
    UUID = 0x2A  # u8 form | n*16 bytes big-endian | form 1: int(n) is_safe 0 safe, 1 unsafe, 2 unknown
    PATH = 0x2B  # int(n) flavours | text(n)
    IP = 0x2C  # int(n) classes | text(n)
    RANGE = 0x2D  # any_int(n) starts | any_int(n) stops | any_int(n) steps
    ELLIPSIS = 0x2E  # bits(n), all 1                                  Ellipsis, n times
    SCALAR = 0x2F  # uvarint d | d * dtype | [int(n) codes, if d > 1] | d * items     numpy scalars
    ARRAY = 0x30  # see FORMAT.md, "Arrays"                           numpy arrays


class Lead(IntEnum):
    """Byte 2: what kind of payload this is. A lead below 0x36 is the `Kind` of a single leaf, whose body follows."""

    SHORT_INT = 0x36  # u8 n >= 1 | n bytes                              an int: little-endian two's complement, shortest form
    LEAF_LIST = 0x37  # uvarint n | column(n)                          a list of leaves
    INT_LIST = 0x38  # ..0x3F: uvarint n | int(n) without its code, which is lead - 0x38    a list of ints
    SHORT_BYTES = 0x40  # ..0x7F: u8 | bytes                             their length is (lead & 0x3F) << 8 | u8
    SHORT_SHAPE = 0x80  # ..0xFE: a shape of lead - 0x80 bytes | slots
    LONG_SHAPE = 0xFF  # uvarint nbytes | shape | slots


class Node(IntEnum):
    """What stands in a shape, in pre-order; each over n instances. `slot` is a column of leaves in the data."""

    LEAF = 0x00  # slot(n)
    NOTHING = 0x01  # no instances                                    n must be 0
    LIST = 0x02  # node                                            slot(n) lengths; child over their sum
    TUPLE = 0x03  # node                                            likewise
    SET = 0x04  # node
    FROZENSET = 0x05  # node
    DEQUE = 0x06  # node                                            slot(n) lengths, slot(n) maxlen (an int or None)
    LIST_ROW = 0x07  # uvarint m >= 1 | m * node                       every instance has m items; a child an item, each over n
    TUPLE_ROW = 0x08  # uvarint m >= 1 | m * node
    SLICE = 0x09  # 3 * node                                        start, stop, step
    DICT = 0x0A  # key node | value node                           slot(n) lengths; children over their sum
    ORDERED_DICT = 0x0B  # key node | value node
    COUNTER = 0x0C  # key node | value node
    DEFAULT_DICT = 0x0D  # u8 factory | key node | value node
    TABLE = 0x10  # keys | a node a key                             dicts that all have exactly these keys in this order
    VARIED_TABLE = 0x11  # keys | patterns | a node a key                  slot(n) pattern codes; child k over the instances whose pattern has k
    RECORD = 0x12  # name | keys | a node a key                      objects: class name and fields
    VARIED_RECORD = 0x13  # name | keys | patterns | a node a key
    ENUM = 0x14  # name                                            slot(n): member name, or the value of an unnamed flag
    STATE = 0x15  # name | node                                     objects whose class has __getstate__: the state
    NAMED_TUPLE = 0x16  # name | keys | a node a key                      like RECORD, but its instances are not numbered
    BUILT = 0x17  # name | node                                     objects that are made out of their state: the state
    UNION = 0x18  # uvarint m >= 2 | m * node                       slot(n) codes; child j over the instances of code j
    REFERENCE = 0x19  # nothing                                         slot(n): numbers of objects met before
    OBJECT_ARRAY = 0x1A  # node                                            slot(n) ndim, slot(sum) dims, slot(n) order; child over the elements
    ARRAY = 0x1B  # nothing                                         slot(n) of kind ARRAY
    PRESERVE = 0x1F  # node                                            only as the root: lists, dicts, sets and deques are numbered, too
