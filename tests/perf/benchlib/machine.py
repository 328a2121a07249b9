# SPDX-License-Identifier: BSD-3-Clause
"""The machine that is measured on: whether others use it, and what it is."""

import os
import platform
import resource
import time

FOREIGN_LIMIT = 0.08  # share of the machine that others may use in a run


def busy_seconds():
    """CPU seconds that the machine has worked, interrupts left out."""
    with open("/proc/stat", encoding="ascii") as stat:
        user, nice, system, _, _, _, _, steal = map(
            int, stat.readline().split()[1:9])
    return (user + nice + system + steal) / os.sysconf("SC_CLK_TCK")


def load(seconds=1.0):
    """The share of the machine that is in use while we only wait."""
    before = busy_seconds()
    time.sleep(seconds)
    return (busy_seconds() - before) / seconds / os.cpu_count()


def own_seconds():
    """CPU seconds that we and the children we waited for have used."""
    usages = (resource.getrusage(resource.RUSAGE_SELF),
              resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Watch:
    """How much of the machine others use from now on."""

    def __init__(self):
        self.started = time.monotonic()
        self.before = busy_seconds() - own_seconds()

    def foreign(self):
        passed = time.monotonic() - self.started
        used = busy_seconds() - own_seconds() - self.before
        return max(used, 0) / max(passed, 1e-3) / os.cpu_count()


def describe():
    """For people who read a result later."""
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
