#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A failed test counts as passed only if it passes at the second run, and if its
first run did not prove a fault (such as a crash or a data race). It is shown
in either case.

usage: second_try.py AGAIN TOTALS"""

import json
import os
import subprocess
import sys
import tempfile

PASSES, FAILS = ["true"], ["false"]

# name, result, exit status, output, command of the second run, expected verdict
CASES = [
    ("good", "OK", 0, "", FAILS, "passed"),
    ("absent", "SKIP", 77, "no such device", PASSES, "skipped"),
    ("steady", "FAIL", 1, "1 is not 2", FAILS, "failed"),
    ("passing", "FAIL", 1, "1 is not 2", PASSES, "unsteady"),
    ("late", "TIMEOUT", -15, "", PASSES, "unsteady"),
    ("died", "FAIL", -11, "", PASSES, "failed"),
    ("case died", "FAIL", 1, "Received signal 11", PASSES, "failed"),
    ("raced", "FAIL", 1, "WARNING: ThreadSanitizer: data race", PASSES,
     "failed"),
    ("overflowed", "FAIL", 1, "a.c:1: runtime error: shift", PASSES, "failed"),
]


def write_log(path):
    with open(path, "w", encoding="utf-8") as log:
        for name, result, status, output, command, _ in CASES:
            print(json.dumps({"name": "kind / " + name, "result": result,
                              "returncode": status, "stdout": output,
                              "command": command, "env": dict(os.environ),
                              "duration": 0.1}), file=log)


def main(again, totals):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "meson-logs"))
        path = os.path.join(folder, "meson-logs", "testlog.json")
        write_log(path)
        subprocess.run([again, path], check=True)
        done = subprocess.run([totals, path], check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    came = [case[-1] for case in CASES]
    unsteady = came.count("unsteady")
    wanted = "%d %d %d %d" % (came.count("passed") + unsteady,
                              came.count("failed"), came.count("skipped"),
                              unsteady)
    if done.stdout.strip() != wanted:
        sys.exit("counted %s, not %s" % (done.stdout.strip(), wanted))
    for name, _, _, output, _, end in CASES:
        head = {"failed": "-- FAILED", "unsteady": "-- UNSTEADY"}.get(end)
        if head is None:
            continue
        lines = [line for line in done.stderr.splitlines()
                 if line.startswith(head) and line.endswith("/ " + name)]
        if len(lines) != 1 or output not in done.stderr:
            sys.exit("%s is not shown as %s with what it printed:\n%s" %
                     (name, end, done.stderr))


if __name__ == "__main__":
    main(*sys.argv[1:])
