# SPDX-License-Identifier: BSD-3-Clause
"""Several settings of one library, in turns. A unit is what is taken in one
go: the same figures under each of its variants, one process after the other,
beginning with another variant each time. The first variant is the one that is
asked about; the others are its rivals."""

import time

from . import programs, stats
from .machine import FOREIGN_LIMIT
from .rounds import Deadline


class Variant:
    """`program`: another one than that of the unit; or None."""

    def __init__(self, name, env, args=(), program=None):
        self.name = name
        self.env = env
        self.args = list(args)
        self.program = program


class Unit:
    """`args` are what chooses the figures; `variants[0]` is asked about."""

    def __init__(self, name, args, variants, milliseconds=100):
        self.name = name
        self.args = list(args)
        self.variants = variants
        self.time = milliseconds
        self.tables = {variant.name: stats.Table() for variant in variants[1:]}
        self.rounds = 0
        self.version = None  # of the library, once it has run
        self.disturbed = 0

    def units_of(self):
        """Figure -> unit of measurement, in order, of all that was taken."""
        units = {}
        for table in self.tables.values():
            for name, entry in table.entries.items():
                units.setdefault(name, entry["unit"])
        return units


def turned(items, number):
    number %= len(items)
    return items[number:] + items[:number]


def add_round(unit, runs, force):
    """runs: variant name -> result of run_bench."""
    first = unit.variants[0].name
    unit.rounds += 1
    unit.version = runs[first]["version"]
    unit.disturbed += any(run["foreign_cpu"] > FOREIGN_LIMIT
                          for run in runs.values())
    for rival, table in unit.tables.items():
        quiet = force or all(runs[name]["foreign_cpu"] <= FOREIGN_LIMIT
                             for name in (first, rival))
        for name, mine in runs[first]["figures"].items():
            table.add(mine, runs[rival]["figures"][name], quiet,
                      (first, rival))


def take_round(unit, program, number, force):
    add_round(unit, {
        variant.name: programs.run_bench(variant.program or program,
                                         variant.env, unit.time,
                                         unit.args + variant.args)
        for variant in turned(unit.variants, number)}, force)


def run(units, program, rounds, limit, force, progress):
    """Rounds of all units until either is used up."""
    deadline = Deadline(limit)
    for number in range(rounds):
        for unit in units:
            if not deadline.has_time():
                return
            progress.say("round %d of %d, %s" % (number + 1, rounds,
                                                 unit.name))
            started = time.monotonic()
            take_round(unit, program, number, force)
            deadline.step(started)


def version_of(units):
    return next((unit.version for unit in units if unit.version), "unknown")


def disturbed_text(units):
    count = sum(unit.rounds for unit in units)
    return "%d of %d rounds disturbed" % (
        sum(unit.disturbed for unit in units), count)
