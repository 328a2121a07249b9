#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds in corpus/: small addresses, whole and with one thing wrong.

The checksum is left to the fuzz target, which sets it right.
"""
import pathlib
import struct


def field(kind, value):
    return struct.pack("<BH", kind, len(value)) + value


def counted(value):
    return bytes([len(value)]) + value


def address(*fields):
    body = b"".join(fields)
    return struct.pack("<HBBHHI", 0x5543, 1, 0, 12 + len(body),
                       0xffff ^ (12 + len(body)), 0) + body


UUID = field(1, struct.pack("<Q", 0x1122334455667788))
NAME = field(2, b"host:1")
NET = field(3, counted(b"tl") + counted(b"\x7f\0\0\1") + counted(b"\x39\5"))

SEEDS = {
    "whole": address(UUID, NAME, NET, NET),
    "no_uuid": address(NAME, NET),
    "empty": b"",
    "header_only": address(),
    "unknown_field": address(UUID, field(99, b"later"), NET),
    "more_in_resource": address(UUID, field(3, NET[3:] + b"later")),
    "name_too_long": address(UUID, field(2, b"n" * 40)),
    "tl_too_long": address(UUID, field(3, counted(b"t" * 30) + b"\0\0")),
    "resource_cut": address(UUID, field(3, counted(b"tl") + b"\xff")),
    "field_cut": address(UUID) + struct.pack("<BH", 3, 1000),
    "many": address(UUID, *([NET] * 200)),
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus"
    folder.mkdir(exist_ok=True)
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)
