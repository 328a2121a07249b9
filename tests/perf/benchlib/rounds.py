# SPDX-License-Identifier: BSD-3-Clause
"""Measures ours and theirs in rounds, for one or several sets of transports."""

import os
import statistics
import sys
import time

from . import programs, stats
from .machine import FOREIGN_LIMIT

RAW_FIGURE = "uct_am_8"
NO_RAW = 3  # exit status of uct_bench if there is no such transport


def wanted(name, only):
    return not only or any(name.startswith(part)
                           for part in only.split(",") if part)


class Progress:
    """Shows the progress of the measurement on a terminal."""

    def __init__(self, quiet=False):
        self.shown = sys.stderr.isatty() and not quiet

    def say(self, text):
        if self.shown:
            print("\r%-60s\r" % text[:60], end="", file=sys.stderr, flush=True)

    def done(self):
        self.say("")


class Deadline:
    """A time limit. has_time() is false if a step that takes as long as the
    longest one so far would exceed it."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds
        self.longest = 0

    def step(self, started):
        self.longest = max(self.longest, time.monotonic() - started)

    def has_time(self):
        return time.monotonic() + self.longest < self.end

    def left(self):
        return max(self.end - time.monotonic(), 0)


class Set:
    """One UCX_TLS for both libraries, and the results of its rounds."""

    def __init__(self, tls, env_ours, env_theirs):
        self.tls = tls
        self.env = {"ours": env_ours, "theirs": env_theirs}
        self.table = stats.Table()
        self.only = None  # replaces Rounds.only for this set
        self.count = 0
        self.disturbed = 0


def measure_raw(program, env, tls, milliseconds):
    """Returns the latency of a short message of our transport without UCP, and
    the floor (the latency of a cache line) to compare it with."""
    tl = next((name for name in tls.split(",") if name != "self"), "")
    if not tl or not program or not os.access(program, os.X_OK):
        return None
    raw = programs.run_json([program, "--json", "--tl", tl, "--time",
                             str(milliseconds)], env, may_fail=(NO_RAW,))
    if raw is None:
        return None
    mine = {"name": RAW_FIGURE, "unit": "us", "value": raw["value"],
            "floors": raw["floors"]}
    return mine, dict(mine, value=statistics.mean(raw["floors"]))


class Rounds:
    """`tools`: the programs ours, theirs, raw (or None); `only`: prefixes of
    figures, separated by commas; force: disturbed rounds count, too."""

    def __init__(self, tools, milliseconds, only=None, force=False):
        self.tools = tools
        self.time = milliseconds
        self.only = only
        self.force = force
        self.versions = {}

    def measure(self, one, side):
        only = one.only or self.only
        return programs.run_bench(self.tools[side], one.env[side], self.time,
                                  ["--only", only] if only else [])

    def take(self, one, number):
        """Measures one round of one set; ours is first in every other round."""
        order = ("ours", "theirs") if number % 2 == 0 else ("theirs", "ours")
        run = {side: self.measure(one, side) for side in order}
        self.versions = {side: run[side]["version"] for side in run}
        quiet = all(r["foreign_cpu"] <= FOREIGN_LIMIT for r in run.values())
        one.count += 1
        one.disturbed += not quiet
        for name, mine in run["ours"]["figures"].items():
            other = run["theirs"]["figures"].get(name, dict(mine, value=-1))
            one.table.add(mine, other, quiet or self.force)
        raw = wanted(RAW_FIGURE, self.only) and measure_raw(
            self.tools["raw"], one.env["ours"], one.tls, self.time)
        if raw:
            one.table.add(*raw, quiet or self.force)
        return quiet

    def run(self, sets, count, limit, progress):
        deadline = Deadline(limit)
        for number in range(count):
            for one in sets:
                if not deadline.has_time():
                    return
                started = time.monotonic()
                quiet = self.take(one, number)
                deadline.step(started)
                progress.say("round %d of %d, %s%s" % (
                    number + 1, count, one.tls,
                    "" if quiet else ": disturbed, dropped"))
