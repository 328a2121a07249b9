#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds in corpus/: the fields of small addresses, valid ones and ones
with one invalid field. The fuzz target compresses the fields and puts the
header in front.
"""
import pathlib
import struct


def field(kind, value):
    if len(value) < 255:
        return bytes([kind, len(value)]) + value
    return struct.pack("<BBH", kind, 255, len(value)) + value


def resource(device, own, code=0x1234, domain=0, iface=0):
    return field(0x80 | domain << 4 | iface,
                 struct.pack("<HB", code, len(device)) + device + own)


UUID = struct.pack("<Q", 0x1122334455667788)
NAME = field(2, b"host:1")
HOST = field(4, UUID[:4])
NET = resource(b"\x7f\0\0\1", b"\x39\5")
FAR = field(3, b"\x08\xff" + NET[2:])

SEEDS = {
    "whole": UUID + HOST + NAME + NET + NET,
    "no_uuid": bytes(8) + NET,
    "empty": b"",
    "uuid_cut": UUID[:5],
    "uuid_only": UUID,
    "far": UUID + FAR + NET,
    "far_cut": UUID + field(3, b"\x08"),
    "unknown_field": UUID + field(99, b"later") + NET,
    "long_field": UUID + field(99, b"l" * 300) + NET,
    "host_short": UUID + field(4, b"123"),
    "name_too_long": UUID + field(2, b"n" * 60),
    "device_cut": UUID + field(0x80, b"\x34\x12\xffabc"),
    "resource_cut": UUID + field(0x80, b"\x34\x12"),
    "own_too_long": UUID + resource(b"", b"o" * 300),
    "field_cut": UUID + bytes([3, 200]) + b"short",
    "length_cut": UUID + bytes([3, 255, 1]),
    "many": UUID + NET * 200,
    # this seed is the compressed form itself
    "squeezed": bytes([0xd0]) + UUID + b"\x80\x03\x34\x12\0",
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus"
    folder.mkdir(exist_ok=True)
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)
