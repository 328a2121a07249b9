# SPDX-License-Identifier: BSD-3-Clause
"""Measures several settings of one library in turns. A unit is measured without
interruption: the same figures with each of its variants, in one process after
the other; each round begins with another variant. The first variant is the one
under test; the others are its rivals."""

import time

from . import programs, stats
from .machine import FOREIGN_LIMIT
from .rounds import Deadline


class Variant:
    """One setting. `program` replaces the program of the unit, unless None."""

    def __init__(self, name, env, args=(), program=None):
        self.name = name
        self.env = env
        self.args = list(args)
        self.program = program


class Unit:
    """`args` select the figures; `variants[0]` is the variant under test."""

    def __init__(self, name, args, variants, milliseconds=100):
        self.name = name
        self.args = list(args)
        self.variants = variants
        self.time = milliseconds
        self.tables = {variant.name: stats.Table() for variant in variants[1:]}
        self.rounds = 0
        self.version = None  # version of the library, after the first run
        self.disturbed = 0

    def units_of(self):
        """Returns figure -> unit, in order, for all measured figures."""
        units = {}
        for table in self.tables.values():
            for name, entry in table.entries.items():
                units.setdefault(name, entry["unit"])
        return units


def turned(items, number):
    number %= len(items)
    return items[number:] + items[:number]


def add_round(unit, runs, force):
    """Adds the results of one round. runs: variant name -> result of
    run_bench."""
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
    """Measures all units until the rounds or the time limit are used up."""
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
