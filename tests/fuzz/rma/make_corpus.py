#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds in corpus/: programs for fuzz_rma.c, byte by byte.

A step is its number and its arguments; missing bytes are 0. Sizes are indices
into a table of the fuzz target: 0 is 0, 3 is 8, 5 is 300, 6 is 4000, 8 is the
size of the memory, 9 is one more.
"""
import pathlib

PUT, GET, ATOMIC, FLUSH, FLUSH_WORKER = range(5)
SAY_PUT, SAY_GET, SAY_DATA, SAY_ATOMIC, SAY_OLD, SAY_FLUSH, SAY_ACK = \
    range(5, 12)
PROGRESS, FENCE, FREE, LEND_ANEW, USED, CLOSE = 12, 15, 16, 17, 18, 19


def user(what, offset=0, size=3, op=0):
    return bytes([what, offset, size, op])


def progress(count=7):
    return bytes([PROGRESS, count])


EVERY = b"".join(user(PUT, 0, size) + user(GET, 0, size) for size in range(9))

SEEDS = {
    "every_size": EVERY + user(FLUSH) + progress() * 20,
    "every_atomic": b"".join(user(ATOMIC, 0, 0, op | bits)
                             for op in range(6) for bits in (0, 8, 16, 24)) +
                    user(FLUSH_WORKER) + progress() * 10,
    "beyond": user(PUT, 8, 3) + user(GET, 9, 1) + user(ATOMIC, 8) +
              user(FLUSH) + progress(),
    "unmapped": user(GET, 0, 6) + bytes([LEND_ANEW]) + user(PUT, 0, 3) +
                user(FLUSH) + progress() * 4,
    "fences": user(PUT, 0, 6) + bytes([USED, FENCE]) + user(PUT, 0, 6) +
              user(GET, 0, 3) + bytes([FENCE]) + user(PUT, 0, 3) +
              user(FLUSH) + progress() * 6,
    "fence_and_close": user(PUT, 0, 6) + bytes([USED, FENCE]) +
                       user(GET, 0, 6) + user(FLUSH) + bytes([CLOSE, 0]),
    "freed": user(GET, 0, 6) + bytes([FREE, 0]) + user(FLUSH) + progress() * 4,
    "forged_put": bytes([SAY_PUT, 0, 1, 0, 1, 3, 0]) +
                  bytes([SAY_PUT, 8, 1, 0, 1, 3, 0]) +
                  bytes([SAY_FLUSH, 0, 0, 1, 0, 0]) + progress(),
    "forged_get": user(PUT, 0, 3) + progress(2) +
                  bytes([SAY_GET, 0, 1, 8, 0, 1, 0, 0]) + progress() +
                  bytes([SAY_GET, 0, 1, 9, 0, 1, 0, 0]) + progress(),
    "forged_answers": user(GET, 0, 6) + bytes([SAY_DATA, 0, 0, 0, 0, 5, 0]) +
                      bytes([SAY_DATA, 0, 0, 0, 0, 8, 0]) +
                      user(ATOMIC, 0, 0, 8) +
                      bytes([SAY_OLD, 0, 0, 0, 0, 5, 0]) +
                      user(FLUSH) + bytes([SAY_ACK, 0, 0, 0x9c, 0, 0]) +
                      progress(),
    "forged_atomic": bytes([SAY_ATOMIC, 3, 1, 5, 6, 0, 1, 0, 0, 1, 0]) * 3 +
                     bytes([SAY_ATOMIC, 1, 1, 5, 6, 0, 1, 0, 0, 1, 0]) +
                     progress(),
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus"
    folder.mkdir(exist_ok=True)
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)
