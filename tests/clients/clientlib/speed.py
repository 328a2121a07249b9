# SPDX-License-Identifier: BSD-3-Clause
"""`run --speed`: compares latency, bandwidth and message rate of pairs of ranks, a
ring and all-to-all of this library and the distribution's UCX with both MPIs, in
alternating rounds. By the rules of tests/perf/benchlib a round counts if the
floors before and after a figure (the latency of a cache line between the cores)
agree, and if no other programs use the machine."""

import os
import sys

from .job import Runner
from .programs import MPIS, ROOT
from .rows import Row, launcher, reference_library

sys.path.insert(0, os.path.join(ROOT, "tests", "perf"))

# pylint: disable=wrong-import-position
from benchlib import machine, programs, stats, tables
from benchlib.command import check_machine
from benchlib.rounds import Progress

# Ours must be at least as fast as the other library.
TIMES = ("lat_8", "all_16k", "all_128k")
RATES = ("bw_64k", "bw_1m", "rate_8", "rate_1k", "ring_1m")
TARGETS = {**{name: ("<=", 1.0) for name in TIMES},
           **{name: (">=", 1.0) for name in RATES}}
SIDES = {"core": "ours", "reference": "theirs"}
# None: each library selects the transport; within one host it is shared memory
TRANSPORTS = (None, "posix", "tcp")


def command_of(mpi, program, ranks):
    """Returns the words that start the ranks, each on its own core."""
    words = launcher(mpi) + (["--bind-to", "none"] if mpi == "openmpi" else [])
    for core in range(ranks):
        words += [":"] if core else []
        words += ["-n", "1", "taskset", "-c", str(core), program]
    return words


class Set:
    """One MPI over one set of transports, and the results of its rounds."""

    def __init__(self, mpi, transports, command, ranks):
        self.row = Row(mpi, "speed", ranks, transports, lambda library: command)
        self.table = stats.Table()
        self.rounds = self.disturbed = 0

    def measure(self, runner):
        """Returns figures by name, and whether no other programs used the
        machine."""
        watch = machine.Watch()
        status, text, _ = runner.job(self.row.command(runner.library), self.row,
                                     counted=False)
        quiet = watch.foreign() <= machine.FOREIGN_LIMIT
        if status != 0:
            raise programs.Failure(f"{self.row.title} over "
                                   f"{runner.library}: {text}")
        figures = programs.parse_json(text, [self.row.title])["figures"]
        return {figure["name"]: figure for figure in figures}, quiet

    def take(self, runners, force):
        """Measures one round; the order of the libraries alternates."""
        order  = runners if self.rounds % 2 == 0 else runners[::-1]
        taken  = {runner.library: self.measure(runner) for runner in order}
        quiet  = all(alone for _, alone in taken.values())
        self.rounds    += 1
        self.disturbed += not quiet
        for name, mine in taken["core"][0].items():
            self.table.add(mine, taken["reference"][0][name], quiet or force)

    def show(self, judged):
        rows  = stats.summarise(self.table, judged, TARGETS)
        lines = tables.set_lines(
            {"tls": self.row.transports, "cores": stats.cores_text(rows),
             "rounds": self.rounds, "disturbed": self.disturbed,
             "figures": rows}, {side: "" for side in SIDES.values()})
        next(lines)
        cores = stats.cores_text(rows)
        print(f"\n{self.row.title}: {self.rounds} rounds, {self.disturbed} of "
              f"them disturbed, cores {cores}")
        print("\n".join(lines))
        return [row["verdict"] for row in rows]


def measure_all(sets, runners, options):
    progress = Progress()
    for number in range(options.rounds):
        for one in sets:
            progress.say(f"round {number + 1} of {options.rounds}, "
                         f"{one.row.title}")
            one.take(runners, options.force)
    progress.done()


def run(options, built, work):
    """Returns an exit status like that of tests/perf/compare."""
    if not reference_library():
        print("skipped: there is no libucp.so.0 of the distribution to compare "
              "with; install libucx0")
        return 77
    cores = os.cpu_count()
    if options.ranks % 2 != 0 or not 2 <= options.ranks <= cores:
        print(f"--ranks is {options.ranks}, but must be an even number from 2 to "
              f"the {cores} cores of this machine")
        return programs.EXIT_USAGE
    sets = [Set(mpi, transports,
                command_of(mpi, built[mpi, "speed"], options.ranks),
                options.ranks)
            for mpi in MPIS if (mpi, "speed") in built
            for transports in TRANSPORTS]
    sets = [one for one in sets if options.only in one.row.title]
    if not sets:
        print("skipped: none of these is installed")
        return 77
    try:
        check_machine(options.force)
        measure_all(sets, [Runner(options, work, library) for library in SIDES],
                    options)
    except programs.Failure as failure:
        print(failure)
        return failure.code
    verdicts = sum((one.show(not options.force) for one in sets), [])
    if "missed" in verdicts:
        return programs.EXIT_MISSED
    return 0 if set(verdicts) == {"met"} else programs.EXIT_NO_JUDGEMENT
