#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds in corpus/: bodies of small keys, valid ones and ones with one
invalid field. The fuzz target puts the header in front.
"""
import pathlib
import struct

ID = struct.pack("<Q", 0x1122334455667788)
SELF, NOBODY, LATER = 0x64 >> 2, 0x11, 63


def memory(address=0x1000, length=0x2001, extra=b"", flags=0):
    return (bytes([7 << 3 | flags | (0x80 if extra else 0)]) + extra + ID +
            struct.pack("<QQ", address, length))


def short(form, bits, code, length, more, flags=0):
    """Encodes an address and a length in few bytes, as core/ucp/mem/range.h
    describes."""
    return (bytes([more | form << 3 | flags]) + ID +
            (code | length << bits).to_bytes((bits + 7) // 8 + more, "little"))


def key(code, squeezed=None, domain=None):
    head = bytes([code << 2 | (domain is not None) |
                  (0 if squeezed is None else 2)])
    if domain is not None:
        head += bytes([domain])
    if squeezed is not None:
        head += bytes([len(squeezed)]) + squeezed
    return head


def literals(value):
    return bytes([len(value) << 4]) + value


SEEDS = {
    "whole": memory() + key(SELF),
    "whole_bytes": memory() + key(SELF, literals(b"12345678")),
    "copied_bytes": memory() + key(SELF, b"\x06\x1f"),
    "copied_further": memory() + key(SELF, b"\x0f\xff\x20\x1f"),
    "copied_overlap": memory() + key(SELF, b"\x1fA\x10\x00"),
    "copied_before": memory() + key(SELF, b"\x06\x7f"),
    "copied_far": memory() + key(SELF, b"\x06\xff\xff"),
    "copy_cut": memory() + key(SELF, b"\x06"),
    "literals_cut": memory() + key(SELF, b"\xf0\xff"),
    "pages": memory(length=3, flags=0x40),
    "too_many_pages": memory(length=2 ** 60, flags=0x40),
    "short_numbers": short(1, 47, 0x1000, 0x2001, 2) + key(SELF),
    "short_aligned": short(2, 43, 0x100, 0x2001, 2) + key(SELF),
    "short_below": short(4, 37, 0x100, 0x2001, 2) + key(SELF),
    "short_far_below": short(5, 41, 0x1000, 3, 1, flags=0x40) + key(SELF),
    "short_too_long": short(4, 37, 0x100, 2 ** 58, 7, flags=0x40),
    "short_cut": short(3, 41, 0x1000, 0x2001, 2)[:-1],
    "symmetric": memory(extra=b"\x3f\0") + key(SELF),
    "rights": memory(extra=b"\x0c\0"),
    "unknown_type": memory(extra=b"\x1f\x4d") + key(SELF),
    "device_type": memory(extra=b"\x1f\x01") + key(SELF),
    "wraps_around": memory(address=2 ** 64 - 5) + key(SELF),
    "no_memory": key(SELF),
    "empty": b"",
    "memory_cut": memory()[:-3],
    "domain": memory() + key(SELF, domain=200) + key(SELF),
    "domain_cut": memory() + bytes([SELF << 2 | 1]),
    "later": memory() + key(LATER, literals(b"later")) + key(SELF),
    "nobodys_component": memory() + key(NOBODY, literals(b"1234")),
    "bytes_cut": memory() + bytes([SELF << 2 | 2, 200]) + b"short",
    "long_bytes": memory() + bytes([SELF << 2 | 2, 0x81, 3]) + b"\xf0\xf0" +
                  b"x" * 255,
    "key_short": memory() + key(SELF, literals(b"123")),
    "many": memory() + key(SELF) * 300,
    "many_bytes": memory() + key(SELF, literals(b"12345678")) * 300,
    "bomb": memory() + key(SELF, b"\x1fA" + b"\xff" * 60 + b"\x00\x00"),
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus"
    folder.mkdir(exist_ok=True)
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)
