# SPDX-License-Identifier: BSD-3-Clause
"""How long a fresh process takes until its first message has arrived, and how
long the commands take that people type. Processes alternate one by one; what
else the machine does meanwhile drops them all."""

import os
import subprocess
import threading
import time

from . import programs, stats
from .machine import FOREIGN_LIMIT, Watch

PARTS = ["load", "init", "worker", "first", "all"]
LIMIT = 60  # seconds for one command


class Command:
    """A command of either side, timed as a whole, in ms."""

    def __init__(self, name, ours, theirs):
        self.name = name
        self.command = {"ours": ours, "theirs": theirs}


def install(build, folder):
    """Theirs is installed: what a build tree costs, whose libraries lie in many
    folders, is not part of it. Returns the folder of our programs. Where
    nothing was built, `build` is an installation itself."""
    if os.path.isdir(os.path.join(build, "meson-private")):
        programs.run_text(["meson", "install", "-C", build, "--no-rebuild",
                           "--quiet", "--destdir", folder], dict(os.environ))
    else:
        folder = build
    for place, _, names in os.walk(folder):
        if "ucx_info" in names and os.path.basename(place) == "bin":
            return place
    raise programs.Failure("%s installs no bin/ucx_info" % build)


def commands_of_both(ours, theirs):
    """Those that both have; `ours`, `theirs`: the folders of their programs."""
    return [Command(name, [os.path.join(ours, program), word],
                    [os.path.join(theirs, program), word])
            for name, program, word in (("info_d", "ucx_info", "-d"),
                                        ("plugins_list", "ucx-plugins",
                                         "list"))
            if all(os.access(os.path.join(folder, program), os.X_OK)
                   for folder in (ours, theirs))]


def commands(ours, reference_info):
    """Those that are there; `ours`: the folder of our programs."""
    mine = os.path.join(ours, "ucx_info")
    plugins = os.path.join(ours, "ucx-plugins")
    found = []
    if not os.access(reference_info, os.X_OK):
        return found
    if os.access(mine, os.X_OK):
        found.append(Command("info_d", [mine, "-d"], [reference_info, "-d"]))
    if os.access(plugins, os.X_OK):
        found.append(Command("plugins_list", [plugins, "list"],
                             [reference_info, "-d"]))
    return found


def time_command(command, env):
    """ms from starting the process until it has ended."""
    started = time.monotonic()
    try:
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
    except OSError as error:
        raise programs.Failure("%s: %s" % (command[0],
                                           error.strerror)) from None
    # Waiting with a time limit would look now and then only.
    limit = threading.Timer(LIMIT, process.kill)
    limit.start()
    process.wait()
    taken = (time.monotonic() - started) * 1e3
    limit.cancel()
    if process.returncode != 0:
        raise programs.Failure("%s ended with %d" % (" ".join(command),
                                                     process.returncode))
    return taken


def time_process(program, env):
    """us of each part of one fresh process's start."""
    return programs.run_json([program, str(time.monotonic_ns())], env)


def take_round(number, one_side):
    """one_side(side) of both, in alternating order."""
    order = ("ours", "theirs") if number % 2 == 0 else ("theirs", "ours")
    taken = {side: one_side(side) for side in order}
    return taken["ours"], taken["theirs"]


def add_parts(table, ours, theirs, counts):
    for part in PARTS:
        mine, other = ({"name": "start_" + part, "unit": "us",
                        "value": side.get(part, -1)} for side in (ours, theirs))
        table.add(mine, other, counts)


def measure_processes(table, tools, env, count, force, progress):
    """Adds the start_* figures of one environment of each side. Returns
    whether the machine was ours meanwhile."""
    taken = []
    watch = Watch()
    for number in range(count):
        progress.say("start-up %d of %d" % (number + 1, count))
        taken.append(take_round(number, lambda side: time_process(
            tools[side], env[side])))
    quiet = watch.foreign() <= FOREIGN_LIMIT
    # The first of each side reads what the others find in memory.
    for ours, theirs in taken[1:]:
        add_parts(table, ours, theirs, quiet or force)
    return quiet


def measure_commands(table, found, env, count, force, progress):
    quiet = True
    for one in found:
        taken = []
        watch = Watch()
        for number in range(count):
            progress.say("%s %d of %d" % (one.name, number + 1, count))
            taken.append(take_round(number, lambda side, one=one: time_command(
                one.command[side], env[side])))
        calm = watch.foreign() <= FOREIGN_LIMIT
        quiet = quiet and calm
        for ours, theirs in taken[1:]:
            mine, other = ({"name": one.name, "unit": "ms", "value": value}
                           for value in (ours, theirs))
            table.add(mine, other, calm or force)
    return quiet


def measure(tools, env, found, count, force, progress):
    """(table, quiet): all of it, with the given environments."""
    table = stats.Table()
    quiet = measure_processes(table, tools, env, count, force, progress)
    calm = measure_commands(table, found, env, count, force, progress)
    return table, quiet and calm


def versions(tools, env):
    """Which libraries they are."""
    return {side: time_process(tools[side], env[side])["version"]
            for side in ("ours", "theirs")}
