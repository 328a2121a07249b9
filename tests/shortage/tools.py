#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""shortage: one allocation of memory, or of a descriptor, fails in a tool; then
another one, in a new process. The tool ends by itself within a time limit. Either
its output is the usual one, or it reports the error: by a message on either
stream, and by its exit status unless it continues with an incomplete result.
--falls-back: other output with status 0 needs no message.

    tools.py [--falls-back] PRELOAD EVERY memory|descriptors PROGRAM ARGUMENT..."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

LIMIT = 60 * float(os.environ.get("TEST_TIME_FACTOR", "1"))
WORDS = re.compile(r"memory|space|descriptor|too many|cannot|could not|fail",
                   re.IGNORECASE)


def run(preload, what, command, nth):
    """Runs the tool. Returns status, output, messages, and the number of counted
    calls."""
    reader, writer = os.pipe()
    env = dict(os.environ, LD_PRELOAD=preload, SHORTAGE_NTH=str(nth),
               SHORTAGE_WHAT=what, SHORTAGE_REPORT=str(writer))
    try:
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              pass_fds=[writer], timeout=LIMIT, check=False)
        status, streams = done.returncode, [done.stdout, done.stderr]
    except subprocess.TimeoutExpired as late:
        status, streams = "not over after %g s" % LIMIT, [late.stdout or b"",
                                                          late.stderr or b""]
    os.close(writer)
    with os.fdopen(reader, "rb") as lines:
        calls = max([int(line) for line in lines] or [0])
    answer, messages = [stream.decode(errors="replace") for stream in streams]
    return status, usual(answer), messages, calls


def usual(answer):
    """Removes from the output what differs in every process: numbers, and their
    widths."""
    return re.sub(r"\s+", " ", re.sub(r"[0-9a-f.]*[0-9][0-9a-f.]*", "N", answer))


def fault(reference, result, falls_back):
    """Returns the error of a run in which a call failed, or None."""
    status, answer, messages = result[:3]
    if not isinstance(status, int) or status < 0:
        return "ended with %s" % status
    if status == reference[0] and answer == reference[1]:
        return None
    told = WORDS.search(messages)
    if status == 0:
        return None if told or falls_back else "another answer without a message"
    told = told or (answer != reference[1] and WORDS.search(answer))
    return None if told else "status %d without a message" % status


def main():
    falls_back = sys.argv[1] == "--falls-back"
    preload, every, what = sys.argv[1 + falls_back:4 + falls_back]
    command = sys.argv[4 + falls_back:]
    reference = run(preload, what, command, 0)
    calls = reference[3]
    if reference[0] != 0 or calls == 0:
        print("%s: status %s, %d calls; %s" % (command, reference[0], calls,
                                               reference[2]))
        return 1
    numbers = range(1, calls + 1, int(every))
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda nth: run(preload, what, command, nth),
                                numbers))
    faults = starved = 0
    for nth, result in zip(numbers, results):
        starved += result[0] != 0
        what_is_wrong = fault(reference, result, falls_back)
        if what_is_wrong is not None:
            faults += 1
            print("call %d: %s; it says: %s" % (nth, what_is_wrong,
                                                result[2].strip()))
    print("%d of %d calls tried, %d ended the program, %d faults" %
          (len(results), calls, starved, faults))
    if starved == 0:
        print("no call was needed: was anything preloaded?")
    return 1 if faults or starved == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
