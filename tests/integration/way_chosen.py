#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The scheme of a rendezvous (am, get or put) is selected by the bandwidth of
messages. Sends messages of 1 MiB over posix and cma with a high, a low and no
value of UCX_POSIX_BW, and reads the scheme from the counters.

    way_chosen.py COUNTED"""

import glob
import json
import os
import subprocess
import sys
import tempfile

LARGE = 5 << 20  # bytes that counted.c sends in large messages
FACTOR = float(os.environ.get("TEST_TIME_FACTOR", "1"))

failures = []


def ways(counted, **variables):
    """Returns scheme -> bytes of rendezvous that used it."""
    with tempfile.TemporaryDirectory() as folder:
        # after a slow measurement, messages of 1 MiB might be sent eagerly
        env = dict(os.environ, UCX_RNDV_THRESH="64k",
                   UCX_STATS_DEST="file:%s/%%p.json" % folder, **variables)
        ended = subprocess.run([counted], env=env, timeout=120 * FACTOR,
                               check=False, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
        if ended.returncode != 0:
            failures.append("%s: the traffic failed" % variables)
        found = {}
        for path in glob.glob(folder + "/*.json"):
            with open(path, encoding="utf-8") as text:
                counters = json.load(text)["totals"]["endpoint"]["counters"]
            for name, value in counters.items():
                if name.startswith("rndv_by/"):
                    way = name[len("rndv_by/"):]
                    found[way] = found.get(way, 0) + value["bytes"]
        return {way: count for way, count in found.items() if count > 0}


def main():
    counted = sys.argv[1]
    for bandwidth, way in ("100GBps", "am"), ("500MBps", "get"):
        found = ways(counted, UCX_POSIX_BW=bandwidth)
        if found != {way: LARGE}:
            failures.append("with UCX_POSIX_BW=%s data went %s, not by %s" %
                            (bandwidth, found, way))
    # measured: every scheme is correct if all data was sent
    found = ways(counted)
    if sum(found.values()) != LARGE or not set(found) <= {"am", "get", "put"}:
        failures.append("with nothing set data went %s" % found)
    # the user's setting takes precedence
    found = ways(counted, UCX_RNDV_SCHEME="get_zcopy")
    if found != {"get": LARGE}:
        failures.append("with UCX_RNDV_SCHEME=get_zcopy data went %s" % found)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
