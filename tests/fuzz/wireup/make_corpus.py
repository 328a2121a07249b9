#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds in corpus/: programs for fuzz_wireup.c, byte by byte.

The first byte is the mode. Lower half, a mask: 1 destroys the worker with open
endpoints, 2 makes the n-th creation of a lane fail, 4 the n-th connection, 8
selects short messages. Upper half: n. A step is its number and its arguments;
missing bytes are 0.
"""
import pathlib

CONNECT, CLOSE, SEND, FAIL, REQUEST, REPLY, END, PIECE, BYTES, PROGRESS = \
    range(10)
FORCE = 16
LARGE, SYNC = 16, 32
OURS = 128


def step(*arguments):
    return bytes(arguments)


def progress(count=7):
    return step(PROGRESS, count)


USE = step(CONNECT, 0) + step(SEND, 0) + step(SEND, LARGE) + step(SEND, SYNC)
# endpoint, damage, number of lanes; for each lane: which field is wrong, its
# index
ASKED = step(REQUEST, 1, 0, 1, 0, 0)

SEEDS = {
    "use": step(0) + USE + progress() * 6 + step(CLOSE, 0) + progress(),
    "use_short": step(8) + USE + progress() * 9 + step(CLOSE, 0) + progress(),
    "abrupt": step(1) + USE + progress(),
    "close_early": step(0) + USE + step(CLOSE, 0) + step(CONNECT, 1) +
                   step(CLOSE, 1 | FORCE) + progress() * 6,
    "refused": step(0x22) + USE + progress() * 4,
    "not_connected": step(0x14) + USE + progress() * 4,
    "lost": step(0) + USE + step(FAIL, 0) + progress() +
            step(CONNECT, 1) + step(FAIL, 1 | 16) + progress(),
    "asked": step(0) + ASKED + progress() + step(END, OURS, 1) + progress() +
             step(END, 1, 0) + progress(),
    "asked_twice": step(0) + ASKED * 2 + progress(),
    "asked_four": step(0) + step(REQUEST, 2, 0, 4, 0, 0, 0, 1, 0, 2, 0, 3) +
                  progress(),
    "asked_three_more": step(0) + step(REQUEST, 2, 0, 3, 0, 1, 0, 2, 0, 3) +
                        progress(),
    "asked_nonsense": step(0) + step(REQUEST, 3, 0, 1, 15, 0, 7, 9, 3, 200) +
                      step(REQUEST, 3, 3, 1, 0, 0, 20, 1, 60) + progress(),
    "forged_reply": step(0) + USE +
                    step(REPLY, OURS, 0, 1, 1, 0, 0) + progress() +
                    step(CONNECT, 1) + step(REPLY, OURS | 64, 4, 0, 0xf0, 0) +
                    step(REPLY, OURS | 8, 4, 0, 0xf0, 0) + progress() * 3,
    "forged_ack": step(0) + USE + step(END, OURS, 1) + ASKED +
                  step(END, OURS | 4, 1) + progress() * 3,
    "pieces": step(0) + step(PIECE, 1, 0, 40, 0, 20) + bytes(20) +
              step(PIECE, 1, 0, 40, 20, 20) + bytes(20) +
              step(PIECE, 2, 1, 40, 0, 10) + bytes(10) +
              step(PIECE, 2, 1, 40, 11, 10) + bytes(10) +
              step(PIECE, 3, 48, 40, 11, 10) + bytes(10),
    "bytes": step(0) + step(BYTES, 1, 30) + bytes(range(30)) +
             step(BYTES, 2, 36) + bytes(36),
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus"
    folder.mkdir(exist_ok=True)
    for name, data in SEEDS.items():
        (folder / name).write_bytes(data)
