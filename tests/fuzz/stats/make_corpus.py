#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds in corpus/: valid counters, and counters with contradictory
fields. core/ucs/stats/layout.h describes the layout."""

import os
import struct

FREE, LIVE, ENDED, SUM = range(4)
EVENTS, MESSAGES, BYTES = range(3)
COUNTERS = [("visits", EVENTS), ("letters", MESSAGES), ("letters", BYTES),
            ("steps", EVENTS)]
TYPES = [("house", 192, 0, 3), ("room", 192, 3, 1)]


def header(**changed):
    field = dict(magic=b"UCXSTATS", major=1, minor=0, pid=77, size=1 << 20,
                 used=0, types_at=200, num_types=len(TYPES), counters_at=280,
                 num_counters=len(COUNTERS), records_at=472, started=1,
                 lost=0)
    field.update(changed)
    return struct.pack("<8sHHIQQIIIIIIQQ64s64s", field["magic"],
                       field["major"], field["minor"], field["pid"],
                       field["size"], field["used"], field["types_at"],
                       field["num_types"], field["counters_at"],
                       field["num_counters"], field["records_at"], 0,
                       field["started"], field["lost"], b"host", b"program")


def schema(types=None, counters=None):
    return (b"".join(struct.pack("<24sIIII", name.encode(), size, first, num, 0)
                     for name, size, first, num in types or TYPES) +
            b"".join(struct.pack("<40sII", name.encode(), unit, 0)
                     for name, unit in counters or COUNTERS))


def record(number, parent=0, kind=0, state=LIVE, size=192, name=b"blue",
           values=(3, 2, 120)):
    head = struct.pack("<IIIIIiQQI84s", size, kind, state, number, parent, 0,
                       5, 0, 0, name)
    return (head + struct.pack("<%dQ" % len(values), *values)).ljust(192, b"\0")


def counters(*records, types=None, names=None, **changed):
    body = schema(types, names) + b"".join(records)
    changed.setdefault("used", 200 + len(body))
    return header(**changed) + body


FAMILY = [record(1), record(2, parent=1, kind=1, name=b"kitchen", values=(9,)),
          record(3, state=ENDED), record(4, state=SUM, values=(0, 0, 0))]

CORPUS = {
    "empty": b"",
    "no_counters": b"something else, of some length, that is no counters",
    "whole": counters(*FAMILY),
    "no_records": counters(),
    "cut": counters(*FAMILY)[:-100],
    "newer": counters(*FAMILY, major=2),
    "newer_minor": counters(*FAMILY, minor=9),
    "used_beyond": counters(*FAMILY, used=1 << 40),
    "used_too_small": counters(*FAMILY, used=100),
    "types_beyond": counters(*FAMILY, types_at=1 << 31),
    "many_types": counters(*FAMILY, num_types=1 << 31),
    "many_counters": counters(*FAMILY, num_counters=0xffffffff),
    "types_in_header": counters(*FAMILY, types_at=8),
    "odd_records_at": counters(*FAMILY, records_at=473),
    "size_zero": counters(record(1, size=0)),
    "size_beyond": counters(record(1, size=1 << 20)),
    "size_odd": counters(record(1, size=191), record(2)),
    "unknown_type": counters(record(1, kind=9)),
    "unknown_state": counters(record(1, state=77)),
    "its_own_parent": counters(record(1, parent=1), record(2, parent=3),
                               record(3, parent=2)),
    "same_numbers": counters(record(1), record(1, parent=1), record(1)),
    "free": counters(record(1, state=FREE), record(2)),
    "huge_values": counters(record(1, values=(2**64 - 1,) * 3), *FAMILY),
    "controls": counters(record(1, name=b"\033[2J\n\"\\\xff")),
    "no_end_of_name": counters(record(1, name=b"x" * 84)),
    "counters_of_nobody": counters(*FAMILY,
                                   types=[("house", 192, 2, 1 << 30),
                                          ("room", 192, 3, 1)]),
    "bytes_alone": counters(*FAMILY,
                            names=[("a", BYTES), ("b", MESSAGES),
                                   ("c", MESSAGES), ("d", BYTES)]),
}


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")
    os.makedirs(folder, exist_ok=True)
    for name, data in CORPUS.items():
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data)


main()
