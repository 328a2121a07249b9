# SPDX-License-Identifier: BSD-3-Clause
"""The machine on which figures are measured: its load and its description."""

import os
import platform
import resource
import time

FOREIGN_LIMIT = 0.08  # limit of the other programs' share of all CPU time


def busy_seconds():
    """Returns the busy CPU seconds of the machine, without interrupts."""
    with open("/proc/stat", encoding="ascii") as stat:
        user, nice, system, _, _, _, _, steal = map(
            int, stat.readline().split()[1:9])
    return (user + nice + system + steal) / os.sysconf("SC_CLK_TCK")


def load(seconds=1.0):
    """Returns the busy share of all CPU time while this process sleeps."""
    before = busy_seconds()
    time.sleep(seconds)
    return (busy_seconds() - before) / seconds / os.cpu_count()


def own_seconds():
    """Returns the CPU seconds of this process and its ended children."""
    usages = (resource.getrusage(resource.RUSAGE_SELF),
              resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Watch:
    """Measures other programs' share of all CPU time since its creation."""

    def __init__(self):
        self.started = time.monotonic()
        self.before = busy_seconds() - own_seconds()

    def foreign(self):
        passed = time.monotonic() - self.started
        used = busy_seconds() - own_seconds() - self.before
        return max(used, 0) / max(passed, 1e-3) / os.cpu_count()


def describe():
    """Returns a description of the machine for the result file."""
    model = "unknown processor"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    model = line.partition(":")[2].strip()
                    break
    except OSError:
        pass
    return {"processor": model, "cores": os.cpu_count(),
            "kernel": ".".join(platform.release().split(".")[:2]),
            "date": time.strftime("%Y-%m-%d %H:%M")}
