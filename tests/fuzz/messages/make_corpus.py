#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds in corpus/: small programs for the fuzz target.

An input is one byte of mode and then steps: a byte that chooses (modulo 20,
the names below) and its operands, one byte each if nothing else is said.

A request is a number of an operation, or, from 128, made up from this byte
and the next. An end is a slot of an endpoint; from 192, made up likewise.
Sizes are an index into a table: 0 1 8 100 255 1000 2001 5000 20000.
"""
import pathlib

PUT, ABRUPT, ERR_MODE = 1, 2, 4

(BYTES, PROGRESS, RECV, SEND, RTR, DATA, DONE, ACK, RTS, EAGER, INTRODUCE,
 FAREWELL, CLOSE, OPEN, CANCEL, FREE, FLUSH, PROBE, INVALIDATE,
 RELEASE) = range(20)

S0, S1, S8, S100, S255, S1000, S2001, S5000, S20000 = range(9)
CONTIG, IOV, GENERIC, SYNC, WILD = 0, 1, 2, 64, 64
NO_IMM, FAST, FORCE = 4, 8, 12
NOTHING, CLOSES, FREES, RECEIVES, SENDS, CLOSES_SOFTLY = range(6)
FORCED = 16


def recv(size, tag=0, kind=CONTIG, action=NOTHING):
    return bytes([RECV, size, kind, tag | action << 2])


def send(size, tag=0, kind=CONTIG, action=NOTHING, slot=0):
    return bytes([SEND, slot | tag << 2 | action << 4, size, kind])


def progress(count=8):
    return bytes([PROGRESS, count - 1])


def close(slot=0, flags=0):
    return bytes([CLOSE, slot | flags])


def rts(size, request, end=0, tag=0):
    return bytes([RTS, tag, 1, size, end, request])


def rtr(sender, receiver, length=8, key=0):
    return bytes([RTR, key, sender, receiver, length, 0, 3])


def data(request, offset, length):
    return bytes([DATA, 0, request]) + offset.to_bytes(2, "big") + \
        bytes([length])


def done(request, status=0):
    return bytes([DONE, request, status])


def ack(request):
    return bytes([ACK, request])


def program(mode, *steps):
    return bytes([mode]) + b"".join(steps)


ALL = [send(size, tag=1, kind=kind)
       for size in (S0, S100, S5000, S20000)
       for kind in (CONTIG, IOV | SYNC, GENERIC)]

SEEDS = {
    "plain": program(0, recv(S100), send(S100), recv(S5000), send(S5000),
                     progress(), progress(), send(S20000, tag=1), progress(),
                     recv(S20000, tag=1), progress(), close()),
    "every_size": program(ERR_MODE, *ALL, progress(), recv(S20000, 1, IOV),
                          recv(S20000, 1, GENERIC), bytes([PROBE, 1, S100]),
                          progress(), bytes([FLUSH, 0]), progress()),
    "put": program(PUT, recv(S20000), send(S20000), progress(), progress(),
                   bytes([RELEASE, 1]), recv(S5000), send(S5000), progress(),
                   close(0, FORCED), bytes([RELEASE, 0]), progress()),
    "forged_rtr": program(PUT, *[send(S5000)] * 8, rtr(7, 1), rtr(7, 1, 0),
                          progress(1), rtr(0, 1, 8, 2), rtr(0, 1, 8, 2),
                          progress(), rtr(1, 1, 8, 41), progress()),
    "rtr_for_receive": program(0, recv(S5000), send(S5000), progress(1),
                               rtr(0, 0), rtr(0, 0, 0), progress()),
    "forged_ack": program(0, send(S100, kind=SYNC), send(S5000, kind=SYNC),
                          ack(0), ack(1), progress(), ack(0), ack(1),
                          recv(S20000), recv(S20000), progress()),
    "forged_data": program(0, send(S100, 1, SYNC), progress(), recv(S5000),
                           rts(S5000, 130), data(1, 4000, 255),
                           data(1, 0, 77), data(1, 4999, 2), data(1, 0, 1)),
    "generic_data": program(0, send(S100, 1, SYNC), progress(),
                            recv(S5000, 0, GENERIC), rts(S5000, 130),
                            *[data(1, i * 250, 250) for i in range(20)]),
    "forged_done": program(PUT, send(S100, 1, SYNC), progress(), recv(S5000),
                           rts(S5000, 130), done(1), recv(S5000),
                           rts(S5000, 130), done(2, 0xfd), progress()),
    "introductions": program(0, bytes([INTRODUCE, 0, 200, 5, 1]),
                             bytes([INTRODUCE, 1, 201, 6, 0, 20, 255]),
                             bytes([INTRODUCE, 2, 202, 7, 0, 30]),
                             bytes([INTRODUCE, 0, 0, 0]), rts(S5000, 1, 200),
                             bytes([FAREWELL, 200, 5]), progress()),
    "farewell": program(0, recv(S5000), send(S5000), progress(1),
                        bytes([FAREWELL, 0]), progress(),
                        bytes([FAREWELL, 0]), bytes([EAGER, 1, 0, 0, 0, 9]),
                        recv(S100), progress()),
    "callbacks_close": program(0, *[send(S100, action=CLOSES)] * 8,
                               recv(S100, action=CLOSES), progress(),
                               bytes([OPEN, 0]), recv(S100, action=RECEIVES),
                               send(S100, action=CLOSES_SOFTLY), progress(),
                               bytes([FLUSH, CLOSES << 2]), progress()),
    "callbacks_free": program(0, recv(S100, action=FREES),
                              send(S100, kind=NO_IMM, action=FREES),
                              send(S5000, action=FREES), progress(),
                              recv(S20000, kind=NO_IMM, action=FREES),
                              progress(), bytes([FREE, 1]),
                              send(S100, kind=FORCE), send(S100, kind=FAST)),
    "closing": program(0, *[send(S100)] * 6, send(S5000, 2), send(S1, 2, SYNC),
                       close(), progress(), bytes([FLUSH, 0]), recv(S5000, 2),
                       progress(), recv(S5000, 2), progress(), progress()),
    "failing": program(ERR_MODE, *ALL, bytes([INVALIDATE, 0]), progress(),
                       bytes([OPEN, 1]), send(S5000, slot=1), progress(1),
                       bytes([INVALIDATE, 1]), send(S8, slot=1), progress()),
    "abrupt": program(ABRUPT, *ALL, recv(S100, 3, CONTIG, RECEIVES),
                      recv(S100, 2, WILD), bytes([OPEN, 1]),
                      send(S5000, slot=1), progress(1), close(1)),
    "abrupt_put": program(PUT | ABRUPT, recv(S20000), send(S20000),
                          progress(2), bytes([CANCEL, 0]), bytes([CANCEL, 1])),
    "bytes": program(0, *[bytes([BYTES, i, n]) + bytes(n)
                          for i in range(10) for n in (0, 3, 36)]),
}

if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent / "corpus"
    folder.mkdir(exist_ok=True)
    for name, content in SEEDS.items():
        (folder / name).write_bytes(content)
