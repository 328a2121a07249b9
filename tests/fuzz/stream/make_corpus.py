#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds in corpus/: programs for fuzz_stream.c, byte by byte.

A step is its number, an endpoint (0 is connected to itself, 1 and 2 form a pair)
and its arguments; missing bytes are 0. Sizes are indices into a table of the fuzz
target: 1 is 1, 4 is 50, 7 is 3000, 9 is 40000.
"""
import pathlib

SEND, RECV, DATA, CANCEL, FREE, POLL, PROGRESS = 0, 4, 8, 10, 11, 12, 13
OPEN, BYTES, CLOSED, CLOSE = 15, 16, 18, 19
WAIT_ALL, ELEMENTS = 1, 2


def make(ep):
    return bytes([0, ep])


def send(ep, size):
    return bytes([SEND, ep, size])


def recv(ep, size, how=0):
    return bytes([RECV, ep, how, size])


def progress(count=7):
    return bytes([PROGRESS, 0, count])


def said(what, sender, name, key, kept=0):
    return bytes([what, 0, 0, sender, name, key, kept])


def data(key, size, kept=0):
    return bytes([BYTES, 0, key, size, 0, kept])


PAIR = make(1) + make(2)

SEEDS = {
    "every_size": b"".join(send(0, size) + progress() + recv(0, 8)
                           for size in range(10)),
    "posted": b"".join(recv(0, size, how) for size in (1, 4, 7)
                       for how in range(4)) + send(0, 9) + progress() * 4,
    "cancelled": recv(0, 7, WAIT_ALL) + recv(0, 4) + send(0, 4) + progress() +
                 bytes([CANCEL, 0, 0, CANCEL, 0, 1]) + send(0, 1) + progress(),
    "handed_out": send(0, 9) + send(0, 4) + progress() * 3 + recv(0, 1) +
                  bytes([DATA, 0, 0, DATA, 0, 1, DATA, 0, 0]),
    "a_pair": PAIR + send(1, 7) + send(2, 4) + progress() * 2 +
              bytes([POLL, 0, 3]) + recv(2, 4) + recv(1, 4),
    "late": make(1) + send(1, 7) + progress() + make(2) +
            bytes([POLL, 0, 3]) + recv(2, 9),
    "closed": PAIR + recv(2, 7, WAIT_ALL) + send(1, 4) + progress() +
              bytes([CLOSE, 1, 0]) + progress() + recv(2, 4) + make(1),
    "forced": PAIR + send(1, 9) + bytes([CLOSE, 1, 1]) + progress() * 2 +
              recv(2, 9) + make(1) + send(1, 4) + progress(),
    "forged_open": PAIR + said(OPEN, 0x40, 0x21, 0x90) +
                   said(OPEN, 0, 0, 0xa0) + said(OPEN, 0, 0, 0xa0) +
                   data(0x90, 7, 1) + data(0xa0, 8) + recv(0, 4),
    "forged_data": recv(0, 4, WAIT_ALL) + send(0, 1) + progress() +
                   data(0, 7, 1) + data(0x40, 1) + data(0x90, 4),
    "forged_close": recv(0, 4, WAIT_ALL) + send(0, 1) + progress() +
                    said(CLOSED, 0, 0, 0) + recv(0, 4) +
                    said(CLOSED, 0xc0, 0xc8, 0x90),
    "nobodys": said(OPEN, 0x40, 0x41, 0x90) + data(0x90, 9, 1) +
               data(0x90, 4) + said(CLOSED, 0x40, 0x41, 0x90),
    "cut": bytes([OPEN, 0, 203, 0, 0, 0, 0, CLOSED, 0, 239, 0, 0, 0, 0]) +
           bytes([BYTES, 0, 0x90, 4, 255, 3, 0]),
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus"
    folder.mkdir(exist_ok=True)
    for name, program in SEEDS.items():
        (folder / name).write_bytes(program)
