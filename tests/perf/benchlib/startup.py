# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time from the start of a process to the arrival of its first
message, and the time of the command-line tools. Processes of both sides
alternate. If other programs use the machine meanwhile, all of these results are
dropped."""

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
    """Installs a build, because the distribution's UCX is installed, too: the
    libraries of a build tree are in many folders, which makes loading slower. If
    `build` is no build tree, it is an installation itself. Returns the folder of
    the installed programs."""
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
    """Returns the commands of both sides; `ours`, `theirs`: the folders of their
    programs."""
    return [Command(name, [os.path.join(ours, program), word],
                    [os.path.join(theirs, program), word])
            for name, program, word in (("info_d", "ucx_info", "-d"),
                                        ("plugins_list", "ucx-plugins",
                                         "list"))
            if all(os.access(os.path.join(folder, program), os.X_OK)
                   for folder in (ours, theirs))]


def commands(ours, reference_info):
    """Returns the commands that exist; `ours`: the folder of our programs."""
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
    """Returns the ms from the start of the process to its end."""
    started = time.monotonic()
    try:
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
    except OSError as error:
        raise programs.Failure("%s: %s" % (command[0],
                                           error.strerror)) from None
    # wait(timeout) polls with pauses, which would make the time inexact.
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
    """Runs one new process. Returns the us of each part of its start."""
    return programs.run_json([program, str(time.monotonic_ns())], env)


def take_round(number, one_side):
    """Calls one_side() for both sides, in alternating order."""
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
    whether no other programs used the machine meanwhile."""
    taken = []
    watch = Watch()
    for number in range(count):
        progress.say("start-up %d of %d" % (number + 1, count))
        taken.append(take_round(number, lambda side: time_process(
            tools[side], env[side])))
    quiet = watch.foreign() <= FOREIGN_LIMIT
    # Drop the first process of each side: it reads files that later ones find in
    # the page cache.
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
    """Returns (table, quiet) for processes and commands."""
    table = stats.Table()
    quiet = measure_processes(table, tools, env, count, force, progress)
    calm = measure_commands(table, found, env, count, force, progress)
    return table, quiet and calm


def versions(tools, env):
    """Returns the versions of both libraries."""
    return {side: time_process(tools[side], env[side])["version"]
            for side in ("ours", "theirs")}
