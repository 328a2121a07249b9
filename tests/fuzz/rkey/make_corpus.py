#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds in corpus/: small keys, whole and with one thing wrong.

Kind, length and checksum are left to the fuzz target, which sets them right.
"""
import pathlib
import struct


def field(kind, value):
    return struct.pack("<BH", kind, len(value)) + value


def packed(*fields):
    body = b"".join(fields)
    return struct.pack("<HBBHHI", 0x4d55, 1, 1, 12 + len(body),
                       0xffff ^ (12 + len(body)), 0) + body


def memory(address=0x1000, length=0x2000, rights=0x303, mem_type=0):
    return field(1, struct.pack("<QQQHB", 0x1122334455667788, address, length,
                                rights, mem_type))


def key(name, value, domain=0):
    return field(2, bytes([domain, len(name)]) + name + value)


SELF = key(b"self", b"12345678")

SEEDS = {
    "whole": packed(memory(), SELF),
    "no_memory": packed(SELF),
    "no_keys": packed(memory()),
    "empty": b"",
    "header_only": packed(),
    "unknown_field": packed(memory(), field(99, b"later"), SELF),
    "more_in_memory": packed(field(1, memory()[3:] + b"later"), SELF),
    "unknown_type": packed(memory(mem_type=77), SELF),
    "device_type": packed(memory(mem_type=1), SELF),
    "wraps_around": packed(memory(address=2 ** 64 - 5), SELF),
    "nobodys_component": packed(memory(), key(b"nobody", b"1234")),
    "name_too_long": packed(memory(), key(b"n" * 40, b"")),
    "name_cut": packed(memory(), field(2, b"\0\xffself")),
    "key_cut": packed(memory(), key(b"self", b"123")),
    "field_cut": packed(memory()) + struct.pack("<BH", 2, 1000),
    "many": packed(memory(), *([SELF] * 100)),
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus"
    folder.mkdir(exist_ok=True)
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)
