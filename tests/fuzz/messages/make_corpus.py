#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the seeds in corpus/: small programs for the fuzz target.

An input is one byte of mode followed by steps: a byte that selects the step
(modulo 26, one of the names below) and its operands, of one byte each unless
another size is stated.

A request operand below 128 is the number of an operation; from 128, this byte and
the next form an invented request id. An endpoint operand is the slot of an
endpoint; from 192 it forms an invented id in the same way. A size operand is an
index into a table: 0 1 8 100 255 1000 2001 5000 20000.
"""
import pathlib

PUT, ABRUPT, ERR_MODE, GET = 1, 2, 4, 8

(BYTES, PROGRESS, RECV, SEND, RTR, DATA, DONE, ACK, RTS, EAGER, INTRODUCE,
 FAREWELL, CLOSE, OPEN, CANCEL, FREE, FLUSH, PROBE, INVALIDATE,
 RELEASE, ATS, AM, KEPT, SAY_AM, SAY_AM_RTS, FRAGMENT) = range(26)

WITHDRAW = 2  # a flag of an announcement

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


def rts(size, request, end=0, tag=0, flags=0, address=3, key=0):
    return bytes([RTS, tag, 1, size, end, request, flags, 0, address, key])


def rtr(sender, receiver, length=8, key=0, wrong_secret=0):
    return bytes([RTR, sender, length, wrong_secret, receiver, 0, 3, key])


def ats(request, status=0, wrong_secret=0):
    return bytes([ATS, request, wrong_secret, status])


def data(request, offset, length):
    return bytes([DATA, 0, request]) + offset.to_bytes(2, "big") + \
        bytes([length])


def am(size, kind=CONTIG, ident=0, action=NOTHING, flags=0, header=0, slot=0):
    return bytes([AM, slot | ident << 2 | action << 5 & 0xe0, size, kind,
                  flags | header << 4])


def kept(fetch, size=S20000, kind=CONTIG):
    return bytes([KEPT, fetch | kind << 1, size])


def say_am(ident, header, payload, reply=0, wrong=0):
    return bytes([SAY_AM, header, payload, reply, *([0] if reply else []),
                  ident, wrong])


def say_am_rts(ident, header, size, request, end=0, wrong=0, flags=0,
               address=3, key=0):
    return bytes([SAY_AM_RTS, header, ident, wrong, 1, size, end, request,
                  flags, 0, address, key])


FIRST_TAG, FIRST_AM, NEXT = range(3)
BY_BYTES, SHORT, CUT = 8, 16, 32


def first_tag(message, total, length, tag=0, request=None, end=0):
    return bytes([FRAGMENT, FIRST_TAG, end, message, total, tag,
                  *([0] if request is None else [1, request]), length])


def first_am(message, total, length, ident=0, header=8, wrong=0, end=0):
    return bytes([FRAGMENT, FIRST_AM, end, message, total, header, ident, wrong,
                  length])


def after(message, offset, length, end=0):
    return bytes([FRAGMENT, NEXT | BY_BYTES, end, message]) + \
        offset.to_bytes(2, "big") + bytes([length])


def done(request, status=0):
    return bytes([DONE, request, status])


def ack(request):
    return bytes([ACK, request])


def program(mode, *steps):
    return bytes([mode]) + b"".join(steps)


ALL = [send(size, tag=1, kind=kind)
       for size in (S0, S100, S5000, S20000)
       for kind in (CONTIG, IOV | SYNC, GENERIC)]

REPLY, WHOLE, RNDV, COPY = 1, 2, 4, 8
AMS = [am(size, kind, ident, NOTHING, flags, header)
       for size, kind, ident, flags, header in (
           (S8, CONTIG, 0, 0, 0), (S100, IOV, 1, COPY, 2),
           (S1, GENERIC, 0, REPLY, 1), (S5000, CONTIG, 0, RNDV, 2),
           (S5000, IOV, 1, RNDV | REPLY | COPY, 4),
           (S20000, CONTIG, 2, 0, 0), (S20000, GENERIC, 1, WHOLE, 3),
           (S2001, CONTIG, 4, RNDV, 0), (S1, CONTIG, 1, 0, 5),
           (S1, CONTIG, 3, REPLY, 0), (S255, CONTIG, 0, WHOLE | RNDV, 0))]

SEEDS = {
    "am": program(0, *[step + progress(2) for step in AMS], kept(1), kept(0),
                  kept(1, S8), progress(), kept(1, S20000, IOV), progress(),
                  close()),
    "am_waiting": program(ERR_MODE, *AMS, *AMS, progress(), kept(1),
                          progress(), close(0, FORCED), kept(0), progress()),
    "am_put_get": program(PUT | GET, *AMS, progress(), kept(1), kept(1),
                          progress(), bytes([RELEASE, 1]), progress()),
    "am_abrupt": program(ABRUPT, *AMS, progress(3), kept(1)),
    "am_forged": program(0, *[say_am(ident, header, payload, reply, wrong)
                              for ident in (0, 1, 2, 4, 210)
                              for header, payload in ((0, 0), (8, 1), (0, 36))
                              for reply in (0, 1)
                              for wrong in (0, 1, 64, 128)]),
    "am_forged_rts": program(GET, send(S100, 1, SYNC), progress(),
                             *[say_am_rts(ident, 9, size, 130, 0, wrong, flags,
                                          3, key)
                               for ident in (0, 1, 2, 4)
                               for size in (S1, S5000)
                               for wrong in (0, 1, 2, 4, 64)
                               for flags, key in ((0, 2), (32, 0))],
                             kept(1), kept(0), data(1, 0, 200), progress()),
    "plain": program(0, recv(S100), send(S100), recv(S5000), send(S5000),
                     progress(), progress(), send(S20000, tag=1), progress(),
                     recv(S20000, tag=1), progress(), close()),
    "every_size": program(ERR_MODE, *ALL, progress(), recv(S20000, 1, IOV),
                          recv(S20000, 1, GENERIC), bytes([PROBE, 1, S100]),
                          progress(), bytes([FLUSH, 0]), progress()),
    "put": program(PUT, recv(S20000), send(S20000), progress(), progress(),
                   bytes([RELEASE, 1]), recv(S5000), send(S5000), progress(),
                   close(0, FORCED), bytes([RELEASE, 0]), progress()),
    "get": program(GET, recv(S20000), send(S20000), progress(), progress(),
                   bytes([RELEASE, 1]), progress(), recv(S5000), send(S5000),
                   progress(), bytes([RELEASE, 0]), progress(), recv(S5000),
                   send(S5000), progress(), close(0, FORCED),
                   bytes([RELEASE, 1]), progress()),
    "forged_rts": program(GET | PUT, send(S5000, 1), progress(),
                          *[recv(S5000, kind=kind) + rts(S5000, 130, 0, 0,
                                                         flags, address, key)
                            for kind in (CONTIG, IOV, GENERIC)
                            for flags in (0, 1, 32)
                            for address in (3, 5, 9) for key in (0, 2, 66)],
                          bytes([RELEASE, 1]), progress()),
    "withdrawn": program(
        GET, send(S100, 1, SYNC), progress(),
        # withdraws an unexpected announcement: with another tag, from another
        # sender, with a wrong length; then twice
        rts(S5000, 130), rts(S0, 130, tag=1, flags=WITHDRAW),
        rts(S0, 130, 200, flags=WITHDRAW), rts(S0, 131, flags=WITHDRAW),
        rts(S0, 130, flags=WITHDRAW | 32), rts(S0, 130, flags=WITHDRAW),
        rts(S0, 130, flags=WITHDRAW),
        # withdraws announcements that are matched, that are received twice, or
        # that a probe has removed
        rts(S5000, 130), recv(S5000), rts(S0, 130, flags=WITHDRAW),
        rts(S5000, 131), rts(S5000, 131), rts(S0, 131, flags=WITHDRAW | 1),
        bytes([PROBE, 0, S5000]), rts(S0, 131, flags=WITHDRAW), progress(),
        # withdraws announcements of the user's own sends
        send(S5000, 2), send(S5000, 3), progress(), bytes([CANCEL, 3]),
        bytes([CANCEL, 4]), recv(S5000, 3), progress()),
    "forged_ats": program(GET, *[send(S5000)] * 8, ats(7), ats(0, 0, 255),
                          progress(), ats(0), ats(1, 1), ats(2, 0xf0),
                          rtr(3, 1, 8, 2), ats(3), ats(130), progress(),
                          bytes([RELEASE, 1])),
    "abrupt_get": program(GET | ABRUPT, recv(S20000), send(S20000),
                          progress(2), bytes([CANCEL, 0])),
    "forged_rtr": program(PUT, *[send(S5000)] * 8, rtr(7, 1), rtr(7, 1, 0),
                          progress(1), rtr(0, 1, 8, 2), rtr(0, 1, 8, 2),
                          progress(), rtr(1, 1, 8, 41), progress()),
    "rtr_for_receive": program(0, recv(S5000), send(S5000), progress(1),
                               rtr(0, 0), rtr(0, 0, 0), progress()),
    "forged_ack": program(0, send(S100, kind=SYNC), send(S5000, kind=SYNC),
                          ack(0), ack(1), progress(), ack(0), ack(1),
                          recv(S20000), recv(S20000), progress()),
    "fragments": program(
        0, send(S100, 1, SYNC), progress(),
        # fragments that arrive after their receive is posted, before it is
        # posted, and before and after
        recv(S5000), first_tag(0, S5000, S2001),
        *[after(0, 2001 + i * 1000, S1000) for i in range(3)],
        first_tag(1, S5000, S1000, request=0),
        bytes([PROBE, 0, S5000]), recv(S5000, kind=GENERIC),
        *[after(1, 1000 + i * 1000, S1000) for i in range(4)],
        first_tag(2, S2001, S1000), recv(S5000, kind=IOV),
        after(2, 1000, S1000), after(2, 2000, S1),
        first_tag(3, S5000, S1000), recv(S100), bytes([CANCEL, 4]),
        recv(S5000), first_tag(3, S5000, S1000), bytes([CANCEL, 5]),
        after(3, 1000, S1000), progress()),
    "forged_fragments": program(
        0, send(S100, 1, SYNC), progress(), recv(S5000),
        first_tag(0, S5000, S1000), first_tag(0, S5000, S1000),
        after(1, 0, S1), after(0, 0, S1000), recv(S5000),
        first_tag(0, S5000, S5000, end=200), first_tag(0, S0, S0),
        first_tag(0, S8, S100), bytes([FRAGMENT, NEXT | 1, 0, 0, S1, S1]),
        bytes([FRAGMENT, FIRST_TAG | 4, 0, 2] + [255] * 8 + [0, 0, S1000]),
        bytes([FRAGMENT, FIRST_TAG | CUT, 0, 3, S100, 0, 0, S100, 33]),
        first_tag(1, S5000, S1000), bytes([FAREWELL, 0]),
        after(1, 1000, S1000), progress()),
    "am_fragments": program(
        0, send(S100, 1, SYNC), progress(),
        *[step for ident in (0, 1, 2, 4) for wrong in (0, 1, 4, 5, 64, 128)
          for step in (first_am(0, S2001, S1000, ident, 8, wrong),
                       after(0, 1000, S1000), after(0, 2000, S1))],
        kept(1), kept(0), progress()),
    "abrupt_fragments": program(
        ABRUPT, send(S100, 1, SYNC), progress(), recv(S5000),
        first_tag(0, S5000, S1000), first_tag(1, S5000, S1000),
        first_am(2, S5000, S1000), bytes([PROBE, 0, S100])),
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
