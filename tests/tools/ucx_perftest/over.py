#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ucx_perftest: runs every test over one transport, with two processes, and
checks the contents of messages.

    over.py PROGRAM TRANSPORT ucp|variants|uct"""

import json
import sys

from common import Tool, UCP_TESTS, UCT_TESTS, expect

SHORT = ("-n", "200", "-w", "30", "--check")
DEVICES = {"posix": "memory", "tcp": "lo"}

# Tests with options that change how messages are sent or what they contain.
VARIANTS = """
tag_lat -T 2
tag_bw -T 2 -M multi -s 100000
tag_lat -E sleep
tag_bw -E sleep -s 100000
ucp_am_lat -E sleep
stream_bw -E sleep -s 50000
ucp_get -E sleep -s 50000
tag_lat -U
tag_bw -U -s 50000
tag_bw -C -O 5
tag_bw -D iov,iov -s 10,4000,30000 -i 40000
tag_sync_bw -D contig,iov -s 10,4000,300
ucp_am_bw -D iov,iov -s 10,4000,100000
ucp_am_lat -H 16 -s 100
ucp_am_bw -H 30 -s 50000
stream_bw -D iov,iov -s 10,4000,300
stream_lat -r recv_data -s 100
stream_bw -r recv_data -s 50000
tag_bw -z -s 300000
ucp_put_bw -z -s 300000
ucp_get -z -s 100000 -O 4
ucp_get -s 100000 -B
ucp_put_lat -s 20000
ucp_put_bw -e -s 5000 -T 2
tag_lat -e -I
tag_bw -s 0
ucp_am_lat -s 0
ucp_fadd -s 4 -O 7
ucp_cswap -s 4
ucp_add -s 4
tag_bw -s 1m -n 20
ucp_am_bw -s 1m -n 20
""".strip().splitlines()

UCT_VARIANTS = """
am_lat -D shortiov
am_lat -D bcopy -s 100 -H 16
am_bw -D bcopy -s 1000
am_bw -D zcopy -s 1000 -O 3
am_bw -W 1
put_lat -D bcopy -s 100
put_lat -D zcopy -s 100
put_bw -D bcopy -s 100
put_bw -D zcopy -s 1000 -O 5
get -D bcopy -s 100
get -D zcopy -s 100 -O 5
fadd -s 4
cswap -s 4
""".strip().splitlines()


def run(tool, words):
    """Runs a test; the result must have the requested number of iterations and no
    wrong contents."""
    result = json.loads(tool.good("--self-fork", "-t", *words, "--json", "-"))
    result = result["results"][0]
    wanted = int(words[words.index("-n") + 1]) * result["threads"]
    expect(result["test"] == words[0] and result["iterations"] == wanted,
           "%s ran %s times" % (words[0], result["iterations"]))
    expect(result["checked"] and result["wrong"] == 0 and
           result["time_us"]["overall"] > 0 and
           result["messages_per_second"] > 0, "%s: %s" % (words[0], result))
    times = result["time_us"]
    expect(times["min"] <= times["50"] <= times["90"] <= times["99"] <=
           times["max"], "%s: percentiles in order: %s" % (words[0], times))
    return result


def with_count(line):
    words = line.split()
    if "-n" in words:
        return words + ["-w", "5", "--check"]
    return words + list(SHORT)


def ucp(tool, _):
    for test in UCP_TESTS:
        run(tool, [test] + list(SHORT))


def variants(tool, _):
    for line in VARIANTS:
        run(tool, with_count(line))


def uct(tool, transport):
    """Tests that the transport does not support are rejected with its name; all
    others are run."""
    place = ["-x", transport, "-d", DEVICES[transport]]
    ran = 0
    for line in UCT_TESTS + UCT_VARIANTS:
        words = with_count(line)
        status, _, err = tool.run("--self-fork", "-t", *words, *place)
        if status == 3:
            expect(transport in err and "Unsupported" not in err and
                   words[0] in err, "%s: a reason: %s" % (line, err))
            continue
        expect(status == 0 and err == "", "%s: %d %s" % (line, status, err))
        run(tool, words + place)
        ran += 1
    expect(ran >= 10, "%s can do more than %d tests" % (transport, ran))


def main():
    path, transport, case = sys.argv[1:]
    tool = Tool(path, UCX_TLS=transport)
    {"ucp": ucp, "variants": variants, "uct": uct}[case](tool, transport)


if __name__ == "__main__":
    main()
