"""Footers of Parquet files: how files with the same columns become one, without decoding a value.

A file is ``PAR1``, pages, a footer that says where each page is, the footer's length, ``PAR1``. To append a file means
to copy its pages and to move the places in its footer. The footer is written in Thrift's compact protocol
(https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).
"""

from __future__ import annotations

import struct
from typing import Any

MAGIC = b"PAR1"

Struct = dict[int, tuple[int, Any]]
"""Number of a field -> its type and its value."""

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
_VARINTS = (4, 5, 6)
_ROWS, _GROUPS = 3, 4
"""Fields of the footer."""
_COLUMNS, _GROUP_ROWS, _GROUP_OFFSET, _ORDINAL = 1, 3, 5, 7
"""Fields of a row group."""
_CHUNK_OFFSET, _METADATA, _INDEXES = 2, 3, (4, 6)
"""Fields of a column in a row group."""
_PAGES = (9, 10, 11, 14)
"""Fields of its metadata: offsets of the pages with data, indexes, dictionary and Bloom filter."""


def pages_of(file: memoryview) -> memoryview:
    """Return the pages of a file."""
    return file[len(MAGIC) : len(file) - 8 - _footer_size(file)]


def groups_of(file: memoryview) -> list[Struct]:
    """Return what the footer of a file says about its row groups."""
    groups: list[Struct] = _footer(file)[_GROUPS][1][1]
    return groups


def moved(groups: list[Struct], by: int) -> tuple[bytes, int, int]:
    """Return row groups whose pages moved by so many bytes, as they are written, with their number and their rows."""
    for group in groups:
        group.pop(_ORDINAL, None)
        _move(group, _GROUP_OFFSET, by)
        for column in group[_COLUMNS][1][1]:
            _move(column, _CHUNK_OFFSET, by)
            for index in _INDEXES:
                _move(column, index, by)
            for page in _PAGES:
                _move(column[_METADATA][1], page, by)
    return b"".join(map(_struct, groups)), len(groups), sum(group[_GROUP_ROWS][1] for group in groups)


def footer(empty: memoryview, groups: bytes, count: int, rows: int) -> bytes:
    """Return the end of a file: the footer of an `empty` one with the same columns, with these row groups."""
    found = _footer(empty)
    fields = {number: _value(kind, value) for number, (kind, value) in found.items()}
    fields[_ROWS] = _varint(_zigzag(rows))
    fields[_GROUPS] = _list_header(_STRUCT, count) + groups
    data, before = b"", 0
    for number in sorted(fields):
        data += _field_header(number - before, found[number][0], number) + fields[number]
        before = number
    data += b"\0"
    return data + struct.pack("<I", len(data)) + MAGIC


def _move(fields: Struct, number: int, by: int) -> None:
    kind, value = fields.get(number, (0, 0))
    if value:  # zero means that there is no such place
        fields[number] = (kind, value + by)


def _footer_size(file: memoryview) -> int:
    return int(struct.unpack("<I", file[-8:-4])[0])


def _footer(file: memoryview) -> Struct:
    return _Reader(bytes(file[len(file) - 8 - _footer_size(file) : len(file) - 8])).struct()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self) -> Struct:
        found: Struct = {}
        number = 0
        while head := self._byte():
            kind = head & 15
            number = number + (head >> 4) if head >> 4 else _unzigzag(self._varint())
            found[number] = (kind, None if kind in (_TRUE, _FALSE) else self._value(kind))
        return found

    def _value(self, kind: int) -> Any:
        if kind in _VARINTS:
            return _unzigzag(self._varint())
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct()
        if kind in (_LIST, _SET):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._varint()
            return head & 15, [self._value(head & 15) for _ in range(size)]
        if kind in (_BYTE, _TRUE, _FALSE):  # booleans in lists are bytes
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        raise ValueError(f"a Parquet footer with a field of type {kind}")  # a map, which it never has

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


def _struct(fields: Struct) -> bytes:
    data, before = bytearray(), 0
    for number, (kind, value) in sorted(fields.items()):
        data += _field_header(number - before, kind, number) + _value(kind, value)
        before = number
    return bytes(data + b"\0")


def _field_header(delta: int, kind: int, number: int) -> bytes:
    return bytes([delta << 4 | kind]) if 0 < delta < 16 else bytes([kind]) + _varint(_zigzag(number))


def _value(kind: int, value: Any) -> bytes:
    if value is None:
        return b""
    if kind in _VARINTS:
        return _varint(_zigzag(value))
    if kind == _BINARY:
        return _varint(len(value)) + bytes(value)
    if kind == _STRUCT:
        return _struct(value)
    if kind in (_LIST, _SET):
        return _list_header(value[0], len(value[1])) + b"".join(_value(value[0], one) for one in value[1])
    return bytes([value]) if isinstance(value, int) else bytes(value)


def _list_header(kind: int, size: int) -> bytes:
    return bytes([size << 4 | kind]) if size < 15 else bytes([15 << 4 | kind]) + _varint(size)


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _unzigzag(value: int) -> int:
    return value >> 1 if value % 2 == 0 else -(value + 1 >> 1)
